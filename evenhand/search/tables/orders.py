"""Values that give the same in whatever order they are taken."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from enum import Enum
from fractions import Fraction
from itertools import pairwise
from typing import Any

from evenhand.core.alike import alike
from evenhand.search.containers import record_fields
from evenhand.search.tables.expressions import plain
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
    if not all(map(_is_ordered, every)):
        return False
    try:
        every.sort()  # any two that come to stand side by side have been compared
    except TypeError:
        return False
    return all(one != other or alike(one, other) for one, other in pairwise(every))


def _is_ordered(value: Any) -> bool:
    """Whether this is compared with any other value of its type in a total order, or with none."""
    kind: Any = type(value)
    if kind in _ORDERED or value is None:
        return True
    if issubclass(kind, Enum):
        return plain(value) and all(
            getattr(kind, name, None) in (None, getattr(object, name), getattr(int, name), getattr(str, name))
            for name in ("__lt__", "__gt__")
        )
    if kind is tuple:
        return all(map(_is_ordered, value))
    names = record_fields(kind)
    return names is not None and _by_fields(kind) and all(_is_ordered(getattr(value, name)) for name in names)


def _by_fields(kind: Any) -> bool:
    """Whether a record is compared as the tuple of its fields: by `tuple` itself, or as the decorator writes it."""
    if issubclass(kind, tuple):
        return all(getattr(kind, name) is getattr(tuple, name) for name in ("__lt__", "__gt__", "__le__", "__ge__"))
    codes = [getattr(vars(kind).get(name), "__code__", None) for name in ("__lt__", "__gt__")]
    return all(code is not None and code.co_qualname.startswith("__create_fn__") for code in codes)
