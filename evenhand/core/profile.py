"""What a protocol's arbitration profile asks: does position, a name, time … decide, can it deadlock or livelock?

A protocol names a claim of its own for each question it can answer.  The profile runs those claims where the protocol's
own plans run them and reads the answer off the verdict; a question without a claim stays unasked, which is no `no`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

__all__ = ["Aspect", "ProfileQuestion"]


class Aspect(Enum):
    """What may decide among agents, then what may become of a run; the sentence is the question."""

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

    What HOLDS answers `no` (`order decides nothing`, `deadlock_free`), except for a claim that something can happen and
    one that `affirms` (`the highest score wins`): there it answers `yes`.  `note` says what the answer leaves out.
    """

    aspect: Aspect
    claim: str
    system: str = ""
    affirms: bool = False
    note: str = ""
