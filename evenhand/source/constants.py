"""What a function reads from outside, a global or a default, as a value."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, cast

from evenhand.smt.logic import FALSE, TRUE
from evenhand.source.classes import is_named_tuple, names_of
from evenhand.source.refusal import refuse
from evenhand.source.values import Cases, Const, Fixed, Record, Truth, Value, leaf, listed


@dataclass(frozen=True, eq=False)
class Lookup:
    """A dictionary of known keys: true if it has any; whether two are equal is not read."""

    entries: tuple[tuple[Any, Value], ...]

    def __len__(self) -> int:
        return len(self.entries)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Lookup) and other is not self:
            raise refuse("two dictionaries compared", "compare their entries")
        return other is self

    __hash__ = object.__hash__


def known(value: Any) -> Value:
    """Return a Python value that a function reads from outside (a global, a default) as a value.

    Raises Unreadable for one that could change, or that has no counterpart.
    """
    match value:
        case bool():
            return Truth(TRUE if value else FALSE)
        case None | str() | int() | Enum() | FunctionType() | BuiltinFunctionType() | type() | ModuleType():
            return Cases(((TRUE, Const(value)),))
        case tuple():
            held = cast("Any", value)
            cls: type = held.__class__
            if is_named_tuple(cls):
                return Record(cls, {one: known(getattr(held, one)) for one in names_of(cls)})
            if cls is not tuple:
                raise refuse("a tuple of a class of its own", "make it a NamedTuple or a frozen dataclass")
            return Fixed(tuple(known(one) for one in cast("tuple[Any, ...]", value)))
        case frozenset():
            members = cast("frozenset[Any]", value)
            return listed([known(one) for one in sorted(members, key=repr)], "set")
        case dict():
            entries = cast("dict[Any, Any]", value).items()
            return leaf(Const(Lookup(tuple((key, known(one)) for key, one in entries))))
        case _ if is_dataclass(value) and not isinstance(value, type):
            return Record(type(value), {one.name: known(getattr(value, one.name)) for one in fields(value)})
        case _ if callable(value):
            return Cases(((TRUE, Const(value)),))
        case _:
            raise refuse(f"a {type(value).__name__} has no counterpart in logic", "use records, tuples, sets and enums")
