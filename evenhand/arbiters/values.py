"""Outcomes as values that can be compared and renamed, whatever types a kernel uses."""

# Outcomes have any type: pyright calls the types that `isinstance` leaves partially unknown.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Mapping, Set
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from evenhand.core import symmetry

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")

Names = Mapping[str, str]
"""New names by old ones."""


class Labelling(dict[Any, Any]):
    """New labels by old ones: numbers may be labels, whereas no agent's name inside a value is a number."""


def comparable(value: Any, *, loose: bool = False) -> Hashable:
    """Return a hashable form: equal for equal content, whatever the order of dictionaries, sets or memory addresses.

    A `loose` form is also equal for lists with the same content in another order.
    """
    kind = type(value)
    if kind is str:
        return ("str", value)
    if kind is dict:
        return ("mapping", frozenset([(comparable(key), comparable(part, loose=loose)) for key, part in value.items()]))
    match value:
        case Enum():
            return (type(value).__name__, value.name)
        case None | str() | bytes() | bool():
            return (type(value).__name__, value)
        case int() | float():
            return ("number", "nan" if value != value else value)
        case Mapping():
            return comparable(dict(value), loose=loose)
        case Set():
            return ("set", frozenset(map(comparable, value)))
        case list() | tuple():
            parts = [comparable(part, loose=loose) for part in value]
            return ("bag", frozenset(Counter(parts).items())) if loose else ("sequence", tuple(parts))
        case _:
            return _described(value, loose)


def _described(value: Any, loose: bool) -> Hashable:
    if is_dataclass(value) and not isinstance(value, type):
        return (type(value).__name__, *(comparable(getattr(value, entry.name), loose=loose) for entry in fields(value)))
    listed: Any = getattr(value, "tolist", None)  # numpy, torch
    if listed is not None:
        return comparable(listed(), loose=loose)
    return (type(value).__name__, _ADDRESS.sub("", repr(value)))


def renamed(value: Any, names: Names) -> Any:
    """Return `value` with every text that is a name (or number that is a label) replaced, inside containers too."""
    return symmetry.renamed(value, names, numbers=isinstance(names, Labelling))


def fixed(value: Hashable) -> str:
    """Return a text of a comparable value that is the same under any hash seed."""
    if isinstance(value, frozenset):
        return "{" + ",".join(sorted(map(fixed, value))) + "}"
    if isinstance(value, tuple):
        return "(" + ",".join(map(fixed, value)) + ")"
    return repr(value)


def fresh(text: str) -> str:
    """Return an equal text that is another object; texts of one letter are always the same object."""
    return f"{text} "[:-1]
