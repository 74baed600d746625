"""States as bytes and back, for a search that keeps them on a disk.

A state is a tree of frozen dataclasses, tuples and frozensets.  Its bytes are 32-bit numbers, the tree written from the
top: the kind of a node, and then its parts.  Leaves (text, members of an Enum, any other value) are kept in memory
once, by type and value, and written by number, so unpacking gives the very same leaves.  Only this packing can read the
bytes.  Equal states may have different bytes: they are found by hash and compared as the model compares them.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any

SHIFT = 29
SMALL, LEAF, TUPLE, SET, RECORD, NAMED = range(6)
LARGEST = (1 << SHIFT) - 1

_new: Any = object.__new__
_tuple: Any = tuple
_class_of: Callable[[Any], Any] = type
_set = object.__setattr__


class Packing:
    """A packing of the states of one search."""

    def __init__(self) -> None:
        self.leaves: list[Any] = []
        self.numbers: dict[tuple[type, Any], int] = {}
        self.classes: list[tuple[type[Any], tuple[str, ...]]] = []
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
        elif kind is tuple:
            made.append(TUPLE << SHIFT | len(value))
            for item in value:
                self._write(item, made)
        elif kind is frozenset:
            made.append(SET << SHIFT | len(value))
            for item in value:
                self._write(item, made)
        else:
            number = self.known.get(kind)
            if number is None:
                number = self._learn(kind)
            if number < 0:
                made.append(LEAF << SHIFT | self._leaf(kind, value))
                return
            names = self.classes[number][1]
            if _is_named(kind):
                made.append(NAMED << SHIFT | number)
                made.append(len(value))
                for item in value:
                    self._write(item, made)
                return
            made.append(RECORD << SHIFT | number)
            for name in names:
                self._write(getattr(value, name), made)

    def _learn(self, kind: Any) -> int:
        """The number of a class whose values can be taken apart; -1 if they are leaves."""
        apart = -1
        if _is_record(kind) or _is_named(kind):
            names = () if _is_named(kind) else tuple(entry.name for entry in fields(kind))
            self.classes.append((kind, names))
            apart = len(self.classes) - 1
        self.known[kind] = apart
        return apart

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
        match tag:
            case 0:
                return value
            case 1:
                return self.leaves[value]
            case 2:
                return tuple([self._read(numbers) for _ in range(value)])
            case 3:
                return frozenset([self._read(numbers) for _ in range(value)])
            case 4:
                kind, names = self.classes[value]
                record: Any = _new(kind)
                for name in names:
                    _set(record, name, self._read(numbers))
                return record
            case _:
                kind, _ = self.classes[value]
                return _tuple.__new__(kind, [self._read(numbers) for _ in range(next(numbers))])


def _is_record(kind: Any) -> bool:
    """Whether a class is a frozen dataclass whose values hold nothing beyond its fields."""
    if "__dataclass_params__" not in vars(kind) or not kind.__dataclass_params__.frozen:
        return False
    bases: tuple[Any, ...] = kind.__mro__[:-1]
    return all("__dataclass_params__" in vars(base) or base.__module__ in ("typing", "abc") for base in bases)


def _is_named(kind: Any) -> bool:
    """Whether a class is a `NamedTuple` whose values hold nothing beyond their items."""
    return tuple in kind.__mro__ and hasattr(kind, "_fields") and not kind.__dictoffset__
