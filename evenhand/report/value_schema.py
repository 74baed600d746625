"""A JSON Schema of what a protocol's kernels are asked and show, from the types of its model."""

from __future__ import annotations

import types
import typing
from dataclasses import is_dataclass
from enum import Enum
from fractions import Fraction
from typing import Any

from evenhand.core.atoms import Atom, Opaque
from evenhand.core.bundle import Bundle
from evenhand.core.canonical import Json
from evenhand.core.codec import field_hints
from evenhand.report.vocabulary import Words

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_PLAIN: dict[Any, dict[str, Json]] = {
    bool: {"type": "boolean"},
    str: {"type": "string"},
    None: {"type": "null"},
    types.NoneType: {"type": "null"},
    int: {"anyOf": [{"type": "integer"}, {"type": "object", "required": ["$int"]}]},
    Fraction: {"type": "object", "required": ["$fraction"], "properties": {"$fraction": {"type": "string"}}},
}


def schema_of(bundle: Bundle, words: typing.Iterable[Words]) -> dict[str, Json]:
    """Return the schema of a protocol, for each system: the configuration, the start, the actions and what is shown.

    It describes the model's own values.  A kernel may show less: see the markers `$unknown`, `$opaque`, `$near`,
    `$bag` and `$chosen`.
    """
    parts: dict[str, Json] = {}
    systems: dict[str, Json] = {}
    for one in words:
        for kind in (*one.system.types, Atom, Opaque):
            parts.setdefault(kind.__name__, _class(kind))
        systems[one.system.name] = {
            "type": "object",
            "properties": {
                "config": _any_of(one.configs),
                "start": _any_of(one.states),
                "action": _any_of(one.kinds),
                "shown": _any_of(one.shown),
            },
        }
    return {
        "$schema": DIALECT,
        "$id": f"urn:evenhand:{bundle.name}:1",
        "title": f"What kernels of {bundle.name} are asked and show",
        "description": "Each property is a system of the protocol.",
        "type": "object",
        "properties": systems,
        "$defs": parts,
    }


def _any_of(kinds: typing.Iterable[type]) -> Json:
    found: list[Json] = [_hint(kind) for kind in kinds]
    return found[0] if len(found) == 1 else {"anyOf": found}


def _class(kind: Any) -> Json:
    name: str = kind.__name__
    if issubclass(kind, Enum):
        members: list[Json] = list(kind.__members__)
        return {"type": "object", "required": ["$enum", "name"], "additionalProperties": False,
                "properties": {"$enum": {"const": name}, "name": {"enum": members}}}  # fmt: skip
    hints = field_hints(kind)
    properties: dict[str, Json] = {"$": {"const": name}, **{field: _hint(hint) for field, hint in hints.items()}}
    return {"type": "object", "required": list(properties), "additionalProperties": False, "properties": properties}


def _hint(hint: Any) -> dict[str, Json]:
    """Return the schema of an annotation; `{}`, which allows everything, for a form unknown here."""
    if hint in _PLAIN:
        return _PLAIN[hint]
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [_hint(one) for one in inner]}
    if origin is typing.Literal:
        return {"enum": list(inner)}
    if origin is typing.Annotated:
        return _hint(inner[0])
    if origin is tuple and len(inner) == 2 and inner[1] is Ellipsis:
        return {"type": "array", "items": _hint(inner[0])}
    if origin is tuple:
        ordered: list[Json] = [_hint(one) for one in inner]
        return {"type": "array", "prefixItems": ordered, "minItems": len(ordered), "maxItems": len(ordered)}
    if origin is frozenset:
        members: Json = {"type": "array", "items": _hint(inner[0])}
        return {"type": "object", "required": ["$set"], "properties": {"$set": members}}
    if isinstance(hint, type) and (is_dataclass(hint) or issubclass(hint, Enum)):
        return {"$ref": f"#/$defs/{hint.__name__}"}
    return {}
