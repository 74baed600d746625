"""The sentences of a protocol's source text, and the claims that can be false of a kernel that ignores them."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from evenhand.core.registry import folder

MOST = 2
"""Sentences that are quoted for one claim."""


@cache
def sentences(protocol: str) -> tuple[dict[str, Any], ...]:
    """Return the rows of `sentences.json` of a protocol, if it has one (docs/reference/sentences.md).

    `section` is the paragraph, `words` are the sentence or its beginning; `claims` and others say what it became.
    """
    table = folder("properties") / protocol / "sentences.json"
    return tuple(json.loads(table.read_text("utf-8"))) if table.is_file() else ()


def quoted(protocol: str, claim: str) -> list[str]:
    """Return sentences of the source that a claim stands for, each with its section; those of fewest claims first."""
    rows = [row for row in sentences(protocol) if claim in row.get("claims", ())]
    rows.sort(key=lambda row: len(row["claims"]))
    return [f"({row['section']}) “{row['words']}”" for row in rows[:MOST]]
