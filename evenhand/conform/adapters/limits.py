"""The limits of a kernel and of everything that it starts."""

from __future__ import annotations

from dataclasses import dataclass

from evenhand.processes.group import MEBIBYTES, PROCESSES

CORE_SECONDS = 3_600
"""Processor seconds of one child, a last resort: the parent ends silent children long before."""


@dataclass(frozen=True)
class KernelLimits:
    """The limits of one kernel with everything that it starts.  Raises ValueError for a limit that is not above 0.

    `seconds` without an answer before it counts as hanging, `startup` seconds for the first answer (those in which it
    waits for a processor do not count), `mebibytes` of memory and `processes` of all together, `answer` bytes in one
    answer.
    """

    seconds: float = 2.0
    startup: float = 20.0
    mebibytes: int = MEBIBYTES
    answer: int = 4 * 2**20
    processes: int = PROCESSES

    def __post_init__(self) -> None:
        for name in ("seconds", "startup", "mebibytes", "answer", "processes"):
            if getattr(self, name) <= 0:
                raise ValueError(f"the limit {name} must be above 0, not {getattr(self, name)}")
