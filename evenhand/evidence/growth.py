"""Keep old files valid as models grow: a field or reading added later, with a default, must not break them.

A file names every field of its values.  `completed` adds the fields that the model has gained since, with their
defaults, and names them, and `read_run` decodes a run so completed; `shape` records the fields of the observations, so
that `reduced` can drop later ones before digests are compared.  A field without a default, or one that is gone, still
fails loudly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, cast

from msgspec import convert, to_builtins

from evenhand.core.canonical import Json
from evenhand.core.codec import encode
from evenhand.core.verdict import Evidence
from evenhand.evidence.record import LassoRun, PairRun, Values, decode_run


def read_run(run: Values | LassoRun | PairRun, types: tuple[type, ...]) -> tuple[Evidence, tuple[str, ...]]:
    """Return the evidence of a file, later fields at their defaults, and the names of those.

    Raises ValueError that names the place for what these types do not allow.
    """
    data, put = completed(to_builtins(run), types)
    return decode_run(convert(data, type(run)), types), put


def completed(data: Json, types: tuple[type, ...]) -> tuple[Json, tuple[str, ...]]:
    """Return `data` with every later field at its default, and the names (`Class.field`) of those, each once."""
    known = {kind.__name__: kind for kind in types if is_dataclass(kind)}
    put: dict[str, None] = {}
    return _completed(data, known, put), tuple(put)


def _completed(data: Json, known: Mapping[str, type], put: dict[str, None]) -> Json:
    if isinstance(data, list):
        return [_completed(item, known, put) for item in cast("list[Json]", data)]
    if not isinstance(data, dict):
        return data
    entries = cast("dict[str, Json]", data)
    made = {key: _completed(item, known, put) for key, item in entries.items()}
    kind = known.get(entries["$"]) if isinstance(entries.get("$"), str) else None
    for entry in fields(cast("Any", kind)) if kind is not None else ():
        default = entry.default if entry.default_factory is MISSING else entry.default_factory()
        if entry.init and entry.name not in entries and default is not MISSING:
            made[entry.name] = encode(default)
            put[f"{cast('Any', kind).__name__}.{entry.name}"] = None
    return made


def shape(data: Json) -> dict[str, list[str]]:
    """Return the fields of every class in `data`, sorted."""
    found: dict[str, set[str]] = {}
    for record in _records(data):
        found.setdefault(record["$"], set()).update(key for key in record if key != "$")
    return {name: sorted(names) for name, names in sorted(found.items())}


def _records(data: Json) -> Iterator[dict[str, Any]]:
    if isinstance(data, list):
        for item in cast("list[Json]", data):
            yield from _records(item)
    elif isinstance(data, dict):
        entries = cast("dict[str, Any]", data)
        if isinstance(entries.get("$"), str):
            yield entries
        for item in entries.values():
            yield from _records(item)


def reduced(data: Json, known: Mapping[str, list[str]]) -> Json:
    """Return `data` with only the fields that `known` lists; a class that it does not list stays as it is."""
    if isinstance(data, list):
        return [reduced(item, known) for item in cast("list[Json]", data)]
    if not isinstance(data, dict):
        return data
    entries = cast("dict[str, Json]", data)
    name = entries.get("$")
    kept = {"$", *known[name]} if isinstance(name, str) and name in known else set(entries)
    return {key: reduced(item, known) for key, item in entries.items() if key in kept}
