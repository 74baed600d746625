"""Bounds that end a search early, and the disks that are open while it runs."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace

from evenhand.search.spilling import Spill, SqliteDisk


@dataclass(frozen=True)
class Bounds:
    """Bounds of a search: states of one configuration, steps from the start, bytes of this process.  None: unbounded.

    With `spill`, a search continues on disk when it reaches its memory bound.
    """

    max_states: int | None = None
    depth: int | None = None
    max_memory: int | None = None
    spill: Spill | None = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        named = (("max_states", self.max_states), ("depth", self.depth), ("max_memory", self.max_memory))
        return " and ".join(f"{name}={bound}" for name, bound in named if bound is not None)


@contextmanager
def held(bounds: Bounds) -> Generator[Bounds]:
    """Yield the same bounds, and close every disk that a search opens under them, however it ends."""
    spill = bounds.spill
    if spill is None:
        yield bounds
        return
    with ExitStack() as stack:

        def opened() -> SqliteDisk:
            disk = spill()
            stack.callback(disk.close)
            return disk

        yield replace(bounds, spill=opened)
