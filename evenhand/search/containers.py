"""Records and tuples taken apart and put together, without running any of their code."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Hashable, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from functools import cache, cached_property
from types import MemberDescriptorType, SimpleNamespace
from typing import Any

SCALARS = frozenset({bool, int, str, bytes, type(None), Fraction})
"""Types of a single value whose operations depend on the value alone."""

_UNKNOWN: Any = SimpleNamespace(frozen=False)
_ITEM = type(vars(namedtuple("_", "x"))["x"])  # pyright: ignore[reportUntypedNamedTuple]
"""What gives an item of a named tuple its name."""


@cache
def record_fields(kind: Hashable) -> tuple[str, ...] | None:
    """Return the fields of a class that is nothing but a record: a named tuple or a frozen dataclass; else None."""
    given: Any = kind
    bases: tuple[type, ...] = given.__mro__
    if issubclass(given, tuple):
        names = getattr(given, "_fields", None)
        special = ("__eq__", "__hash__", "__iter__", "__getitem__", "__len__", "__contains__", "__getattribute__")
        own = all(getattr(given, name) is getattr(tuple, name) for name in special)
        own = own and isinstance(names, tuple) and all(type(getattr(given, name, None)) is _ITEM for name in names)
        return names if own and not hasattr(given, "__getattr__") else None
    if not is_dataclass(given) or not vars(given).get("__dataclass_params__", _UNKNOWN).frozen:
        return None
    every = fields(given)
    if "__eq__" not in vars(given):
        return None  # an inherited equality may compare fewer fields
    made = getattr(getattr(given, "__eq__", None), "__code__", None)
    if made is None or made.co_filename != "<string>" or not all(one.compare for one in every):
        return None  # equality that the decorator did not write may ignore what a claim can see
    if given.__getattribute__ is not object.__getattribute__ or hasattr(given, "__getattr__"):
        return None
    names = tuple(one.name for one in every)
    slots = {name for base in bases for name, one in vars(base).items() if type(one) is MemberDescriptorType}
    return names if slots.issubset(names) else None  # a slot beside the fields may hold anything


@cache
def _holding(kind: Hashable) -> frozenset[str]:
    """What values of a record class may hold: its fields, and what is made of these and kept."""
    given: Any = kind
    every = [entry for base in given.__mro__ for entry in vars(base).items()]
    return frozenset(record_fields(kind) or ()) | {name for name, one in every if type(one) is cached_property}


def fields_of(value: Any) -> tuple[str, ...] | None:
    """Return the fields of a value that is nothing but a record, and holds nothing beside them; else None."""
    kind: Any = type(value)
    names = record_fields(kind)
    more = names is not None and not _holding(kind).issuperset(getattr(value, "__dict__", ()))
    return None if more else names


def make_record(kind: Any, values: Sequence[Any]) -> Any:
    """Return a record of that class without running any of its code."""
    if issubclass(kind, tuple):
        return tuple.__new__(kind, values)
    made = object.__new__(kind)
    for name, value in zip(record_fields(kind) or (), values, strict=True):
        object.__setattr__(made, name, value)
    return made


def parts_of(value: Any) -> tuple[Any, tuple[Any, ...]] | None:
    """Return the class and the parts of a container; None for anything else."""
    kind: Any = type(value)
    if kind is tuple:
        return tuple, value
    if kind in SCALARS or issubclass(kind, Enum):
        return None
    names = fields_of(value)
    return None if names is None else (kind, tuple(getattr(value, name) for name in names))
