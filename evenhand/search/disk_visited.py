"""The states of a search whose memory has ended: the first in memory, all later ones on a disk.

A `DiskVisited` replaces a walk's lists and dictionary, with the same numbers.  A state is looked up in memory, then
among recent states, then on the disk by its hash; a hit is compared as the model compares states, so that two states
are one here if and only if they are one in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from evenhand.core.alike import refuse_merge
from evenhand.search.packing import Packing
from evenhand.search.spilling import SqliteDisk

RECENT = 1 << 12
"""Recent states that are kept as objects; at most twice as many."""


class DiskVisited:
    """A numbering of states, like a walk's; `first` is the first number on the disk, `count` the next free one."""

    def __init__(
        self,
        disk: SqliteDisk,
        ids: Mapping[Any, int],
        states: Sequence[Any],
        parents: Sequence[int],
        actions: Sequence[int],
    ) -> None:
        self.disk = disk
        self.packing = Packing()
        self.ids = ids
        self.first = self.count = len(states)
        self.states = Column(self, states, self._state)
        self.parents = Column(self, parents, lambda number: disk.kept("parent", number))
        self.actions = Column(self, actions, lambda number: disk.kept("action", number))
        self.young: dict[Any, tuple[Any, int]] = {}
        self.old: dict[Any, tuple[Any, int]] = {}
        self.last: tuple[int, Any] = (-1, None)

    def get(self, state: Any) -> int | None:
        """Return the number of a state, None for a new one.  Raises ModelError as `refuse_merge` does."""
        number = self.ids.get(state)
        if number is not None:
            return number
        known = self.young.get(state)
        if known is None:
            known = self.old.get(state) or self._on_disk(state)
            if known is not None:
                self._meet(*known)
        if known is None:
            return None
        refuse_merge(known[0], state)
        return known[1]

    def add(self, state: Any, parent: int, action: int) -> int:
        """Number a new state."""
        number = self.count
        self.disk.put(number, hash(state), self.packing.pack(state), parent, action)
        self.count += 1
        self._meet(state, number)
        return number

    def _on_disk(self, state: Any) -> tuple[Any, int] | None:
        for number, body in self.disk.alike(hash(state)):
            known = self.packing.unpack(body)
            if known == state:
                return known, number
        return None

    def _meet(self, state: Any, number: int) -> None:
        if len(self.young) >= RECENT:
            self.young, self.old = {}, self.young
        self.young[state] = state, number

    def _state(self, number: int) -> Any:
        if self.last[0] != number:
            self.last = number, self.packing.unpack(self.disk.kept("body", number))
        return self.last[1]


class Column:
    """One list of a walk, whose later part is read from the disk."""

    def __init__(self, disk_visited: DiskVisited, near: Sequence[Any], far: Callable[[int], Any]) -> None:
        self.disk_visited, self.near, self.far = disk_visited, near, far

    def __len__(self) -> int:
        return self.disk_visited.count

    def __getitem__(self, number: Any, /) -> Any:
        if isinstance(number, slice):
            return [self[one] for one in range(*number.indices(len(self)))]
        if not 0 <= number < len(self):
            raise IndexError(f"there are {len(self)} states, none of number {number}")
        return self.near[number] if number < self.disk_visited.first else self.far(number)

    def __iter__(self) -> Iterator[Any]:
        return (self[number] for number in range(len(self)))
