"""The limits of a kernel process; where a system lacks one, the parent's checks of clock and memory remain."""

from __future__ import annotations

from dataclasses import dataclass

CORE_SECONDS = 3_600
"""Processor seconds of one child, a last resort: the parent ends silent children long before."""


@dataclass(frozen=True)
class KernelLimits:
    """The limits of one kernel process.  Raises ValueError for a limit that is not above 0.

    `seconds` without an answer before it counts as hanging, `startup` seconds for the first answer, `mebibytes` of
    memory, `answer` bytes in one answer.
    """

    seconds: float = 2.0
    startup: float = 20.0
    mebibytes: int = 1_024
    answer: int = 4 * 2**20

    def __post_init__(self) -> None:
        for name in ("seconds", "startup", "mebibytes", "answer"):
            if getattr(self, name) <= 0:
                raise ValueError(f"the limit {name} must be above 0, not {getattr(self, name)}")
