"""Questions of a protocol's arbitration profile: does position, a name, time … decide, can it deadlock or livelock?

A protocol names a claim for each question it can answer, and says why a question has no meaning for it.  The profile
runs those claims under the protocol's own plans and derives the answer from the verdict.  A question without a claim
stays unasked, which is not `no`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Aspect(Enum):
    """One question: what may decide among agents, how a run may get stuck, or whether two may hold the same."""

    POSITION = "position"
    NAME = "name"
    TIME = "time"
    VALUE = "value"
    CONFIDENCE = "confidence"
    CONTENT = "content"
    HISTORY = "history"
    DEADLOCK = "deadlock"
    LIVELOCK = "livelock"
    EXCLUSION = "exclusion"

    @property
    def question(self) -> str:
        """The question in words."""
        if self is Aspect.EXCLUSION:
            return "can exclusion fail?"
        if self in (Aspect.DEADLOCK, Aspect.LIVELOCK):
            return f"can it {self.value}?"
        return f"does {self.value} decide?"


@dataclass(frozen=True)
class ProfileQuestion:
    """The claim that answers a question; an empty `system` means wherever it is planned.

    A claim that HOLDS answers `no` (`order decides nothing`, `deadlock_free`), except a claim that something can happen
    and one that `affirms` (`the highest score wins`): these answer `yes`.  `note` says what the answer leaves out;
    without a claim it says why the question has no meaning here.  `steps` names claims about single steps from which
    the answer follows for any size, where theorems prove them and not the claim itself.

    Raises ValueError for a question with neither claim nor note, or with parts of an answer and no claim.
    """

    aspect: Aspect
    claim: str = ""
    system: str = ""
    affirms: bool = False
    note: str = ""
    steps: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.claim and (not self.note or self.system or self.affirms or self.steps):
            raise ValueError(f"the question on {self.aspect.value} names no claim; then give a note alone: why not")
