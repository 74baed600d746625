"""Values that give the same in whatever order they are taken."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from enum import Enum
from fractions import Fraction
from typing import Any

from evenhand.core.alike import alike
from evenhand.search.tables.expressions import plain, record_fields
from evenhand.search.tables.proxies import settled_within

_ORDERED = frozenset({bool, int, str, bytes, Fraction})
"""Types of which any two values are either the same or one is the smaller."""


def all_alike(values: Sequence[Any]) -> bool:
    """Whether equal values among these cannot be told apart: then it does not matter which a set keeps."""
    first: dict[Hashable, Any] = {}
    every = [settled_within(one) for one in values]
    return all(plain(one) and alike(first.setdefault(one, one), one) for one in every)


def exactly_ordered(values: Sequence[Any]) -> bool:
    """Whether Python sorts these in one way, however they come: no sets, no floats, no order of the model's own."""
    every = [settled_within(one) for one in values]
    return all(map(plain, every)) and _exact(every)


def _exact(values: Sequence[Any]) -> bool:
    if all(one == values[0] and alike(one, values[0]) for one in values):
        return True  # nothing is ever asked but whether they are equal
    kind: Any = type(values[0])
    if any(type(one) is not kind for one in values):
        return False
    if kind in _ORDERED:
        return True
    own: Any = kind  # an enum may have an order of its own
    if issubclass(kind, Enum):
        return own.__lt__ in (int.__lt__, str.__lt__) and own.__gt__ in (int.__gt__, str.__gt__)
    if kind is not tuple and (record_fields(kind) is None or not _by_fields(kind)):
        return False
    return _as_tuples([one if issubclass(kind, tuple) else _parts(kind, one) for one in values])


def _parts(kind: Any, record: Any) -> tuple[Any, ...]:
    return tuple(getattr(record, name) for name in record_fields(kind) or ())


def _as_tuples(values: Sequence[tuple[Any, ...]]) -> bool:
    """Whether the first parts are ordered, and among those with equal first parts the rest."""
    groups: dict[Any, list[tuple[Any, ...]]] = {}
    for one in values:
        if one:
            groups.setdefault(one[0], []).append(one[1:])
    return _exact([one[0] for one in values if one]) and all(map(_as_tuples, groups.values()))


def _by_fields(kind: Any) -> bool:
    """Whether a record is compared as the tuple of its fields: by `tuple` itself, or as the decorator writes it."""
    if issubclass(kind, tuple):
        return all(getattr(kind, name) is getattr(tuple, name) for name in ("__lt__", "__gt__", "__le__", "__ge__"))
    codes = [getattr(vars(kind).get(name), "__code__", None) for name in ("__lt__", "__gt__")]
    return all(code is not None and code.co_qualname.startswith("__create_fn__") for code in codes)
