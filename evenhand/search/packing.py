"""States as bytes and back, for a search that keeps them on a disk.

A state is a tree of records, tuples and frozensets.  Its bytes are 32-bit numbers, the tree written from the top: a
small number, a leaf, or the class of a node, the number of its parts, and these.  Leaves (text, members of an Enum,
classes, any other value) are kept in memory, one of those that are alike, and written by number.  Only this packing can
read the bytes.  Equal states may have different bytes: they are found by hash and compared as the model compares them.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator
from typing import Any

from evenhand.core.alike import alike
from evenhand.search.containers import make_record, parts_of

SHIFT = 29
SMALL, LEAF, NODE = (tag << SHIFT for tag in range(3))
LARGEST = (1 << SHIFT) - 1


class Packing:
    """A packing of the states of one search."""

    def __init__(self) -> None:
        self.leaves: list[Any] = []
        self.numbers: dict[tuple[Any, Any], list[int]] = {}

    def pack(self, state: Any) -> bytes:
        """Return the bytes of a state; all of it must be hashable."""
        made = array("I")
        self._write(state, made)
        return made.tobytes()

    def unpack(self, body: bytes) -> Any:
        """Return the state that has these bytes."""
        return self._read(iter(array("I", body)))

    def _write(self, value: Any, made: array[int]) -> None:
        kind: Any = type(value)
        if kind is int and 0 <= value <= LARGEST:
            made.append(SMALL | value)
            return
        node: tuple[Any, Collection[Any]] | None = (kind, value) if kind is frozenset else parts_of(value)
        if node is None:
            made.append(LEAF | self._leaf(kind, value))
            return
        made.append(NODE | self._leaf(type, node[0]))
        made.append(len(node[1]))
        for part in node[1]:
            self._write(part, made)

    def _leaf(self, kind: Any, value: Any) -> int:
        known = self.numbers.setdefault((kind, value), [])
        for number in known:
            if alike(self.leaves[number], value):
                return number
        if len(self.leaves) > LARGEST:
            raise OverflowError(f"more than {LARGEST} different values in the states of one search")
        known.append(len(self.leaves))
        self.leaves.append(value)
        return known[-1]

    def _read(self, numbers: Iterator[int]) -> Any:
        code = next(numbers)
        tag, value = code & ~LARGEST, code & LARGEST
        if tag == SMALL:
            return value
        leaf = self.leaves[value]
        if tag == LEAF:
            return leaf
        parts = [self._read(numbers) for _ in range(next(numbers))]
        return leaf(parts) if leaf is tuple or leaf is frozenset else make_record(leaf, parts)
