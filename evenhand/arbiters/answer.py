"""The answer to one question about a kernel."""

from __future__ import annotations

from dataclasses import dataclass

from evenhand.arbiters.question import Witness
from evenhand.core.verdict import Status


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
