"""States as bytes and back, for a search that keeps them on a disk.

A state is a tree of frozen dataclasses, tuples and frozensets.  Its bytes are 32-bit numbers, the tree written from the
top: a small number, a leaf, or the class of a node, the number of its parts, and these.  Leaves (text, members of an
Enum, any other value) are kept in memory once, by type and value, and written by number, so unpacking gives the very
same leaves.  Only this packing can read the bytes.  Equal states may have different bytes: they are found by hash and
compared as the model compares them.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterator
from dataclasses import fields
from functools import partial
from typing import Any, TypeAlias

SHIFT = 29
SMALL, LEAF, NODE = range(3)
LARGEST = (1 << SHIFT) - 1

Apart: TypeAlias = tuple[Callable[[Any], Collection[Any]], Callable[[list[Any]], Any]]
"""How the values of a class are taken apart, and put together again."""

_class_of: Callable[[Any], Any] = type


class Packing:
    """A packing of the states of one search."""

    def __init__(self) -> None:
        self.leaves: list[Any] = []
        self.numbers: dict[tuple[type, Any], int] = {}
        self.classes: list[Apart] = []
        self.known: dict[type[Any], int] = {}

    def pack(self, state: Any) -> bytes:
        """Return the bytes of a state; all of it must be hashable."""
        made = array("I")
        self._write(state, made)
        return made.tobytes()

    def unpack(self, body: bytes) -> Any:
        """Return the state that has these bytes."""
        return self._read(iter(array("I", body)))

    def _write(self, value: Any, made: array[int]) -> None:
        kind = _class_of(value)
        if kind is int and 0 <= value <= LARGEST:
            made.append(SMALL << SHIFT | value)
            return
        number = self.known.get(kind)
        if number is None:
            number = self._learn(kind)
        if number < 0:
            made.append(LEAF << SHIFT | self._leaf(kind, value))
            return
        parts = self.classes[number][0](value)
        made.append(NODE << SHIFT | number)
        made.append(len(parts))
        for part in parts:
            self._write(part, made)

    def _learn(self, kind: Any) -> int:
        """The number of a class whose values can be taken apart; -1 if they are leaves."""
        apart = _apart(kind)
        self.known[kind] = -1 if apart is None else len(self.classes)
        if apart is not None:
            self.classes.append(apart)
        return self.known[kind]

    def _leaf(self, kind: type, value: Any) -> int:
        key = (kind, value)
        number = self.numbers.get(key)
        if number is None:
            number = self.numbers[key] = len(self.leaves)
            if number > LARGEST:
                raise OverflowError(f"more than {LARGEST} different values in the states of one search")
            self.leaves.append(value)
        return number

    def _read(self, numbers: Iterator[int]) -> Any:
        code = next(numbers)
        tag, value = code >> SHIFT, code & LARGEST
        if tag == SMALL:
            return value
        if tag == LEAF:
            return self.leaves[value]
        return self.classes[value][1]([self._read(numbers) for _ in range(next(numbers))])


def _apart(kind: Any) -> Apart | None:
    """How the values of a class are taken apart; None for leaves."""
    if kind is tuple or kind is frozenset:
        return kind, kind
    if tuple in kind.__mro__ and hasattr(kind, "_fields") and not kind.__dictoffset__:
        return tuple, partial(tuple.__new__, kind)  # a `NamedTuple` whose values hold nothing beyond their items
    if not _is_record(kind):
        return None
    names = [entry.name for entry in fields(kind)]

    def record(parts: list[Any]) -> Any:
        made = object.__new__(kind)
        for name, part in zip(names, parts, strict=True):
            object.__setattr__(made, name, part)
        return made

    return (lambda value: [getattr(value, name) for name in names]), record


def _is_record(kind: Any) -> bool:
    """Whether a class is a frozen dataclass whose values hold nothing beyond its fields."""
    if "__dataclass_params__" not in vars(kind) or not kind.__dataclass_params__.frozen:
        return False
    bases: tuple[Any, ...] = kind.__mro__[:-1]
    return all("__dataclass_params__" in vars(base) or base.__module__ in ("typing", "abc") for base in bases)
