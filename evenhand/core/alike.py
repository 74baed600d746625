"""Compare values that Python calls equal, and find values that are equal only to themselves.

A search keeps one of several equal states, so equality must not hide what a claim can see.  Python merges 1, 1.0 and
True, also 0.0 and -0.0, and a dataclass ignores fields with `compare=False`.  A state that holds an object without
`__eq__` equals no other state, so no run ever returns to it.
"""

# Values have any type here: pyright calls the types that `isinstance` leaves partially unknown.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import date, time
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from operator import attrgetter, is_
from types import MemberDescriptorType
from typing import Any, cast

from evenhand.core.answers import ModelError, kind_of, short

_EXACT = frozenset({bool, int, str, bytes, type(None), Fraction})
"""Types whose equal values are indistinguishable."""

FEW = 4
"""Parts up to which a loop compares faster than a call."""


def alike(one: Any, other: Any) -> bool:
    """Return whether two equal values are indistinguishable: same types in the same places, nothing left out."""
    if one is other:
        return True
    kind: Any = type(one)
    if kind is not type(other):
        return False
    if kind in _EXACT:
        return True
    if kind is tuple:
        return _alike_parts(one, other)
    compared = _COMPARISONS.get(kind)
    if compared is None:
        compared = _COMPARISONS[kind] = _comparison(kind)
    return compared(one, other)


def _alike_parts(ones: Sequence[Any], others: Sequence[Any]) -> bool:
    """Whether the parts of two equal values are alike: asked of each step to a known state, so no call for an atom."""
    if len(ones) > FEW and all(map(is_, ones, others)):  # kept parts, small numbers and texts of the code are identical
        return True
    for one, other in zip(ones, others):  # noqa: B905 (`strict` would triple the cost)
        if one is not other:
            kind: Any = type(one)
            if kind is not type(other):
                return False
            if kind is tuple:
                if not (all(map(is_, one, other)) or _alike_parts(one, other)):
                    return False
            elif kind not in _EXACT and not (_COMPARISONS.get(kind) or alike)(one, other):
                return False
    return True


def refuse_merge(known: Any, value: Any, what: str = "states") -> None:
    """Raise ModelError for two equal values that a claim can tell apart: keeping one would lose the other."""
    if not alike(known, value):
        raise ModelError(
            f"Python calls two {what} equal that a claim can tell apart: {where_unlike(known, value)}, in "
            f"{short(known)}. Use one type for each part, and let equality compare all of it"
        )


def deep_copy(value: Any) -> tuple[Any] | None:
    """Return a deep copy in a tuple, to detect mutations that the hash does not show; None if copying fails."""
    try:
        return (copy.deepcopy(value),)
    except Exception:
        return None


def where_unlike(one: Any, other: Any) -> str:
    """Describe where two equal values differ: the smallest differing parts, or the field that holds them."""
    if type(one) is type(other):
        for name, a, b in _parts(one, other):
            if not _same(a, b):
                inner = where_unlike(a, b)
                return f"{inner} in {name}" if name and " in " not in inner else inner
    return f"{short(one, 60)} ({type(one).__name__}) and {short(other, 60)} ({type(other).__name__})"


def only_itself(value: Any) -> str:
    """Describe the part of `value` that is equal only to itself; empty if there is none."""
    kind: Any = type(value)
    if kind in _EXACT:
        return ""
    if kind is float:
        return "nan, which is unequal to itself" if math.isnan(value) else ""
    if isinstance(value, tuple | frozenset | list | set):
        return next((found for part in cast("tuple[Any, ...]", value) if (found := only_itself(part))), "")
    if isinstance(value, Mapping):
        both = (part for entry in cast("Mapping[Any, Any]", value).items() for part in entry)
        return next((found for part in both if (found := only_itself(part))), "")
    identity = vars(object)["__eq__"]
    if is_dataclass(kind) and kind.__eq__ is not identity:
        return next((found for entry in fields(kind) if (found := only_itself(getattr(value, entry.name)))), "")
    if kind.__eq__ is identity and not isinstance(value, Enum | type):
        mend = "is a dataclass with eq=False; leave that out" if is_dataclass(kind) else "make it a frozen dataclass"
        if isinstance(value, Iterator) or callable(value):
            mend = "use a tuple, a number or a text"
        return f"{short(value, 80)} of type {kind_of(value)}, which has no `__eq__`: {mend}"
    return ""


_COMPARISONS: dict[Any, Callable[[Any, Any], bool]] = {}


def _comparison(kind: Any) -> Callable[[Any, Any], bool]:
    """How to tell equal values of this type apart."""
    if issubclass(kind, Enum):
        return is_
    if issubclass(kind, float):
        return lambda one, other: bool(one) or math.copysign(1.0, one) == math.copysign(1.0, other)
    if issubclass(kind, complex):
        return lambda one, other: alike(one.real, other.real) and alike(one.imag, other.imag)
    if issubclass(kind, Decimal):
        return lambda one, other: bool(one.as_tuple() == other.as_tuple())
    for base in (int, str, bytes):
        if issubclass(kind, base):  # a subclass may define its own equality
            return lambda one, other: (
                bool(base.__eq__(one, other)) and all(_same(a, b) for _, a, b in _parts(one, other))
            )
    if issubclass(kind, date | time):
        return lambda one, other: bool(one.isoformat() == other.isoformat())
    if issubclass(kind, tuple | list):
        return _alike_parts
    if issubclass(kind, frozenset | set):
        return _same_members
    # A dataclass compares its fields, unless one has `compare=False` or the class defines `__eq__`.
    if is_dataclass(kind) and all(entry.compare for entry in fields(kind)) and fields(kind):
        names = [entry.name for entry in fields(kind)]
        values = attrgetter(*names, *names[: len(names) == 1])  # of one name alone it gives no tuple
        made = getattr(vars(kind).get("__eq__"), "__code__", None)
        if made is not None and made.co_qualname.startswith("__create_fn__"):  # by the decorator: all fields are equal
            return lambda one, other: (
                all(map(is_, ones := values(one), others := values(other))) or _alike_parts(ones, others)
            )
        return lambda one, other: all(map(_same, values(one), values(other)))
    return lambda one, other: all(_same(a, b) for _, a, b in _parts(one, other))


def _same(one: Any, other: Any) -> bool:
    return one is other or (bool(one == other) and alike(one, other))


def _same_members(one: Any, other: Any) -> bool:
    ones, others = tuple(one), tuple(other)
    if ones != others:  # in another order
        others = tuple(map({member: member for member in other}.__getitem__, ones))
    return _alike_parts(ones, others)


def _parts(one: Any, other: Any) -> Iterator[tuple[str, Any, Any]]:
    """The parts of two equal values of one type, paired, each with the name of its field (empty if it has none)."""
    if is_dataclass(one):
        yield from (
            (f"field `{entry.name}`", getattr(one, entry.name), getattr(other, entry.name)) for entry in fields(one)
        )
    elif isinstance(one, tuple | list):
        yield from (("", a, b) for a, b in zip(cast("tuple[Any, ...]", one), other, strict=True))
    elif isinstance(one, frozenset | set):
        there = {member: member for member in other}
        yield from (("", member, there[member]) for member in cast("set[Any]", one))
    elif isinstance(one, Mapping):
        there = {key: key for key in other}
        for key, value in cast("Mapping[Any, Any]", one).items():
            yield "", key, there[key]
            yield f"entry {short(key, 40)}", value, other[key]
    else:
        # An attribute that only one of the two has counts as a cached value.
        mine, others = _attributes(one), _attributes(other)
        yield from ((f"attribute `{name}`", value, others[name]) for name, value in mine.items() if name in others)


def _attributes(value: Any) -> dict[str, Any]:
    """The attributes of an object, in its dictionary or in slots."""
    every = (one for kind in type(value).__mro__ for one in vars(kind).items())
    slots = [name for name, kept in every if isinstance(kept, MemberDescriptorType) and hasattr(value, name)]
    return {name: getattr(value, name) for name in slots} | getattr(value, "__dict__", {})
