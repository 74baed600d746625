"""Canonical JSON (RFC 8785) and digests of it.

All output of evenhand (fixtures, vectors, reports, records) is canonical JSON, so that equal content is equal bytes.
Digests are SHA-256 of those bytes.
"""

from __future__ import annotations

import hashlib
import json
from math import isinf
from typing import Any, TypeAlias, cast

import rfc8785

Json: TypeAlias = Any
"""A JSON value as Python reads it: None, bool, int, float, str, list, dict with string keys."""

EXACT = 2**53
"""Integers of this size and beyond are no JSON numbers: readers that use doubles would round them."""

_WORDS = (str, bool, type(None))
_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
"""Gives the bytes of RFC 8785, faster, for plain values: no floats, keys in ASCII, which any order sorts."""

MAX_DEPTH = 64
"""Deepest nesting that `parse` and `canonical_bytes` accept; hostile texts nest deeper."""


def canonical_bytes(value: Json) -> bytes:
    """Return the RFC 8785 bytes of `value`.

    Raises ValueError for what JSON cannot hold: NaN, infinities, keys that are not strings, integers beyond 2**53
    (write those as text), nesting beyond `MAX_DEPTH`.
    """
    plain = check_depth(value)
    try:
        return _encoder.encode(value).encode("utf-8") if plain else rfc8785.dumps(value)
    except (UnicodeEncodeError, rfc8785.CanonicalizationError) as error:
        raise ValueError(f"not canonical JSON: {error}") from error


def canonical_text(value: Json) -> str:
    """Return `canonical_bytes` as text."""
    return canonical_bytes(value).decode("utf-8")


def digest(value: Json) -> str:
    """Return `sha256:` and the hexadecimal SHA-256 of the canonical bytes of `value`."""
    return "sha256:" + hashlib.sha256(canonical_bytes(value)).hexdigest()


def parse(text: str | bytes) -> Json:
    """Read one JSON text strictly: no duplicate keys, no NaN, no infinity, no nesting beyond `MAX_DEPTH`.

    Raises ValueError that says what is wrong and where.
    """
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=no_constant, parse_float=finite)
    except RecursionError as error:
        raise ValueError(f"nested deeper than {MAX_DEPTH} levels") from error
    check_depth(value)
    return value


def object_in(value: Json) -> dict[str, Json]:
    """Return a value that is a JSON object, an empty one in place of any other."""
    return cast("dict[str, Json]", value) if isinstance(value, dict) else {}


def is_json(text: str) -> bool:
    """Return whether a text is JSON by its grammar alone, whatever `parse` says of its keys, numbers and depth."""
    try:
        json.loads(text, parse_constant=no_constant)
    except RecursionError:  # too deep to say; nobody else may read it either
        return True
    except ValueError:
        return False
    return True


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"duplicate key {key!r}")
        found[key] = value
    return found


def no_constant(name: str) -> Json:
    """Refuse NaN and the infinities, for `json.loads`."""
    raise ValueError(f"{name} is not JSON")


def finite(text: str) -> float:
    """Return a number of JSON, for `json.loads`.  Raises ValueError for one beyond all floats."""
    number = float(text)
    if isinf(number):
        raise ValueError(f"the number {text:.40} is too large")
    return number


def check_depth(value: Json, most: int = MAX_DEPTH) -> bool:
    """Return whether a value is plain.  Raises ValueError for one that is nested too deeply."""
    plain, level = True, [value]
    for _ in range(most):
        below: list[Json] = []
        for item in level:
            if isinstance(item, dict):
                entries = cast("dict[Any, Json]", item)
                below.extend(entries.values())
                plain = plain and all(type(key) is str and key.isascii() for key in entries)
            elif isinstance(item, list | tuple):
                below.extend(cast("list[Json]", item))
            else:
                plain = plain and (type(item) in _WORDS or (type(item) is int and -EXACT < item < EXACT))
        if not below:
            return plain
        level = below
    raise ValueError(f"nested deeper than {most} levels")
