"""How much memory this process holds, for searches that are told to stay below a bound."""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path

__all__ = ["WORKING", "MemoryBudget", "resident"]

WORKING = 48 << 20
"""Bytes that a search on a disk needs beside what it keeps: the cache of its files, and what it works on just now."""

_STATM = Path("/proc/self/statm")


def resident() -> int:
    """Bytes resident now; where the system does not say, the most there ever were."""
    try:
        return int(_STATM.read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


class MemoryBudget:
    """A bound on memory, and whether it is reached.

    A search that may go on elsewhere has to leave its memory while there is still room to work in, `WORKING` bytes
    before the bound.  What a process holds anyway (Python, numpy) cannot leave: a bound below that and the room to
    work in means just that much.
    """

    def __init__(self, bound: int | None, *, spills: bool = False) -> None:
        self.limit = bound
        self.bound = bound
        if spills and bound is not None:
            self.limit = max(0, bound - WORKING)

    def spent(self, more: int = 0) -> bool:
        """Whether the bound is reached, or would be with so many bytes more."""
        return self.limit is not None and resident() + more > self.limit

    def left(self) -> None:
        """The search has left memory: from here on it may take what it works with, up to the bound."""
        if self.bound is not None:
            self.limit = max(self.bound, resident() + WORKING)
