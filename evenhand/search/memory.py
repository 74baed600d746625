"""The memory that this process holds, for searches with a bound on memory."""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path

WORKING = 48 << 20
"""Bytes that a search on disk needs beside the states that it keeps: the cache of its files, and its working data."""

_STATM = Path("/proc/self/statm")


def resident() -> int:
    """Return the bytes resident now or, where the system does not report them, the peak so far."""
    try:
        return int(_STATM.read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


class MemoryBudget:
    """A bound on memory, and whether it is reached.

    A search that can spill has to move to disk while there is still room to work in, `WORKING` bytes before the bound.
    The memory that a process holds anyway (Python, numpy) stays: a bound below that plus `WORKING` is raised to the
    sum.
    """

    def __init__(self, bound: int | None, *, spills: bool = False) -> None:
        self.limit = bound
        self.bound = bound
        if spills and bound is not None:
            self.limit = max(0, bound - WORKING)

    def spent(self, more: int = 0) -> bool:
        """Return whether the bound is reached, or would be with so many bytes more."""
        return self.limit is not None and resident() + more > self.limit

    def left(self) -> None:
        """Record that the search has moved to disk: from now on it may use working memory, up to the bound."""
        if self.bound is not None:
            self.limit = max(self.bound, resident() + WORKING)
