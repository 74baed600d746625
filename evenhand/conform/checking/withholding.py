"""Decode observations with gaps into values that a claim cannot read where a gap is.

A record with gaps is of a subclass of its class, whose reads of the missing fields raise `StateNeeded`, as do
comparisons in which nothing known differs: even `x is None` cannot go by unnoticed.  A tuple or set with a gap is a gap
as a whole, because its length and its members' identity are read without a call; only a text or number that is there
for certain (`GAP`) is withheld alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from functools import cache
from typing import Any, TypeGuard, cast

from evenhand.conform.adapters.wire import UNKNOWN
from evenhand.conform.checking.claims import StateNeeded, Withheld
from evenhand.conform.checking.comparing import normal
from evenhand.conform.checking.words import GAP, gaps
from evenhand.core.atoms import Atom, Opaque
from evenhand.core.canonical import Json
from evenhand.core.codec import classes_by_name, decode, field_hints, fits


def decode_with_gaps(data: Json, types: Sequence[type]) -> Any:
    """Return the value that `data` (`Reading.seen`) encodes; what is unknown in it cannot be read.

    Raises ValueError as `decode` does.
    """
    known = classes_by_name((Atom, Opaque, *types))
    return _decoded(data, known, tuple(types), "$")


def is_withheld(value: Any) -> TypeGuard[Withheld]:
    """Return whether a value is withheld as a whole, without reading it."""
    return type(value) is Withheld


def _decoded(data: Json, known: Mapping[str, type], types: tuple[type, ...], path: str) -> Any:
    if data in (UNKNOWN, GAP):
        return Withheld()
    if not gaps(data):
        try:
            return decode(normal(data), *types)
        except ValueError as error:
            raise ValueError(f"{path}{str(error).removeprefix('$')}") from error
    if isinstance(data, list):
        entries = cast("list[Json]", data)
        items = [_decoded(one, known, types, f"{path}[{at}]") for at, one in enumerate(entries)]
        whole = any(is_withheld(item) and one != GAP for item, one in zip(items, entries, strict=True))
        return Withheld() if whole else tuple(items)
    assert isinstance(data, dict)
    record = cast("dict[str, Json]", data)
    if "$" not in record:
        return Withheld()  # a set
    return _record(record, known, types, path)


def _record(data: dict[str, Json], known: Mapping[str, type], types: tuple[type, ...], path: str) -> Any:
    name = data["$"]
    kind = known.get(name) if isinstance(name, str) else None
    if kind is None or not is_dataclass(kind):
        raise ValueError(f"{path}: unknown dataclass {name!r:.60}")
    if more := sorted(data.keys() - field_hints(kind).keys() - {"$"}):
        raise ValueError(f"{path}: {kind.__name__} has no field {', '.join(more):.80}")
    values: dict[str, Any] = {}
    missing: set[str] = set()
    for name, hint in field_hints(kind).items():
        value = _decoded(data[name], known, types, f"{path}.{name}")
        if is_withheld(value):
            missing.add(name)
        elif not gaps(data[name]) and not fits(value, hint):
            raise ValueError(f"{path}.{name}: {kind.__name__}.{name} cannot be {value!r:.60}")
        values[name] = value
    partly: Any = _with_gaps(kind, frozenset(missing))
    made: Any = object.__new__(partly)
    for name, value in values.items():
        object.__setattr__(made, name, value)
    return made


@cache
def _with_gaps(kind: type, missing: frozenset[str]) -> type:
    """A subclass of `kind` whose fields `missing` cannot be read: what has gaps differs from others, or is unknown."""

    def read(self: Any, name: str) -> Any:
        if name in missing or name == "__dict__":
            raise StateNeeded
        return object.__getattribute__(self, name)

    def refuse(*_arguments: Any) -> Any:
        raise StateNeeded

    def equal(self: Any, other: Any) -> bool:
        return _equal(kind, self, other)

    body: dict[str, Any] = {"__slots__": (), "__getattribute__": read, "__eq__": equal, "__module__": kind.__module__}
    body |= dict.fromkeys(("__hash__", "__repr__"), refuse)
    return type(kind.__name__, (kind,), body)


def _equal(kind: type, one: Any, other: Any) -> bool:
    """Whether two are equal: they are not if something differs that is known of both.  Raises StateNeeded."""
    if not isinstance(other, kind):
        return False
    unknown = False
    for name in field_hints(kind):
        try:
            if getattr(one, name) != getattr(other, name):
                return False
        except StateNeeded:
            unknown = True
    if unknown:
        raise StateNeeded
    return True
