"""Questions of a protocol's arbitration profile: does position, a name, time … decide, can it deadlock or livelock?

A protocol names a claim for each question it can answer.  The profile runs those claims under the protocol's own plans
and derives the answer from the verdict.  A question without a claim stays unasked, which is not `no`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Aspect(Enum):
    """One question: what may decide among agents, or how a run may get stuck."""

    POSITION = "position"
    NAME = "name"
    TIME = "time"
    VALUE = "value"
    CONFIDENCE = "confidence"
    CONTENT = "content"
    HISTORY = "history"
    DEADLOCK = "deadlock"
    LIVELOCK = "livelock"

    @property
    def question(self) -> str:
        """The question in words."""
        if self in (Aspect.DEADLOCK, Aspect.LIVELOCK):
            return f"can it {self.value}?"
        return f"does {self.value} decide?"


@dataclass(frozen=True)
class ProfileQuestion:
    """The claim that answers a question; an empty `system` means wherever it is planned.

    A claim that HOLDS answers `no` (`order decides nothing`, `deadlock_free`), except a claim that something can happen
    and one that `affirms` (`the highest score wins`): these answer `yes`.  `note` says what the answer leaves out.
    """

    aspect: Aspect
    claim: str
    system: str = ""
    affirms: bool = False
    note: str = ""
