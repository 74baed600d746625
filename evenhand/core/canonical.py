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

MAX_DEPTH = 64
"""Deepest nesting that `parse` and `canonical_bytes` accept; hostile texts nest deeper."""


def canonical_bytes(value: Json) -> bytes:
    """Return the RFC 8785 bytes of `value`.

    Raises ValueError for what JSON cannot hold: NaN, infinities, keys that are not strings, integers beyond 2**53
    (write those as text), nesting beyond `MAX_DEPTH`.
    """
    _check_depth(value)
    try:
        return rfc8785.dumps(value)
    except rfc8785.CanonicalizationError as error:
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
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite)
    except RecursionError as error:
        raise ValueError(f"nested deeper than {MAX_DEPTH} levels") from error
    _check_depth(value)
    return value


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"duplicate key {key!r}")
        found[key] = value
    return found


def _no_constant(name: str) -> Json:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if isinf(number):
        raise ValueError(f"the number {text:.40} is too large")
    return number


def _check_depth(value: Json) -> None:
    level: list[Json] = [value]
    for _ in range(MAX_DEPTH):
        below: list[Json] = []
        for item in level:
            if isinstance(item, dict):
                below.extend(cast(Any, item).values())
            elif isinstance(item, list | tuple):
                below.extend(cast("list[Json]", item))
        if not below:
            return
        level = below
    raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
