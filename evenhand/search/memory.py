"""The memory that this process holds, for searches with a bound on memory."""

from __future__ import annotations

import resource
import sys

from evenhand.processes.group import memory_of

WORKING = 48 << 20
"""Bytes that a search on disk needs beside the states that it keeps: the cache of its files, and its working data."""


def resident() -> int:
    """Return the bytes resident now or, where the system does not report them, the peak so far."""
    now = memory_of()
    return peak() if now is None else now


def peak() -> int:
    """Return the most bytes that this process ever held."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


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

    def spent(self) -> bool:
        """Return whether the bound is reached."""
        return self.limit is not None and resident() > self.limit

    def left(self) -> None:
        """Record that the search has moved to disk: from now on it may use working memory, up to the bound."""
        if self.bound is not None:
            self.limit = max(self.bound, resident() + WORKING)
