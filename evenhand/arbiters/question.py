"""What a question is, and its answer with a witness."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from evenhand.arbiters.kernels import Subject
from evenhand.arbiters.plays import Play, Shown
from evenhand.core.verdict import Status


class Unable(Exception):
    """A play that a question cannot be asked of; the message says why."""


@dataclass(frozen=True)
class Witness:
    """A play that breaks a claim, the play beside it (None: one run is enough), and what each showed.

    `names` leads from the first play's names to the second's; `change` says in words what differs between the plays,
    `why` what is wrong.
    """

    play: Play
    shown: Shown
    why: str
    change: str = ""
    other: Play | None = None
    also: Shown | None = None
    names: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Answer:
    """The answer to one question: HOLDS, REFUTED with a witness, or UNDECIDED with the reason.

    `named` is what decides, `plays` how many were tried, `drawn` how many of them by chance, `complete` whether all
    within the bounds were, `allowed` the author's reason for an exception.  `open`: it could be asked, and was left
    undecided for lack of time, or because a process failed.
    """

    question: str
    sentence: str
    status: Status
    because: str = ""
    named: str = ""
    witness: Witness | None = None
    plays: int = 0
    drawn: int = 0
    complete: bool = False
    allowed: str = ""
    open: bool = False

    @property
    def length(self) -> int:
        """The rounds of the witness."""
        return 0 if self.witness is None else len(self.witness.play.rounds)


class Question(ABC):
    """One question about a kernel.

    `name` is its name in reports and exceptions, `sentence` the claim that a clean kernel satisfies, `needs` the
    abilities without which it cannot be asked: one of each group.
    """

    name: ClassVar[str]
    sentence: ClassVar[str]
    needs: ClassVar[tuple[tuple[str, ...], ...]] = ()
    after: ClassVar[tuple[str, ...]] = ("repetition",)
    """Questions whose findings explain one of this, so that it is asked only where they found none."""
    rounds: ClassVar[int] = 1
    """The rounds of the shortest play that it can be asked of."""
    unstarted: ClassVar[bool] = False
    """Whether it is asked of a kernel that does not start, too."""

    def missing(self, subject: Subject) -> str:
        """Return what the kernel would have to offer; empty if the question can be asked."""
        lacking = [" or ".join(group) for group in self.needs if not subject.abilities.intersection(group)]
        return " and no ".join(lacking)

    @abstractmethod
    def ask(self, subject: Subject, play: Play, shown: Shown) -> Witness | None:
        """Return the witness that this play gives, None if it gives none.  Raises Unable."""

    def again(self, witness: Witness) -> tuple[Play, ...]:
        """Return the plays of which it is to be asked, in this order, to see the same finding again."""
        return (witness.play,)

    def named(self, subject: Subject, witness: Witness) -> str:
        """Return what decides in the witness, as far as variants of it show."""
        del subject
        return witness.why
