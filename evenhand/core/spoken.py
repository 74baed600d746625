"""The texts in an answer that are the protocol's own: those that neither the configuration nor the action brought."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from evenhand.core.canonical import Json
from evenhand.core.codec import encode
from evenhand.core.system import AnyStep

WORD = re.compile(r"\D*[^\W\d]\D*")
"""Ids, hashes, times and exact numbers have digits, and the words of a protocol have none."""


@dataclass(frozen=True)
class Spoken:
    """A text in a field of a record, however deep in it, and that record, encoded."""

    record: str
    field: str
    text: str
    whole: Json


def spoken(step: AnyStep) -> Iterator[Spoken]:
    """Yield the words in an answer that are its own."""
    brought = {*leaves(encode(step.config)), *leaves(encode(step.action))}
    for one in _told(encode(step.shown)):
        if one.text not in brought and WORD.fullmatch(one.text):
            yield one


def _told(value: Json, holder: tuple[str, str, Json] | None = None) -> Iterator[Spoken]:
    if isinstance(value, str) and value and holder is not None:
        record, name, whole = holder
        yield Spoken(record, name, value, whole)
    elif isinstance(value, list):
        for one in cast("list[Json]", value):
            yield from _told(one, holder)
    elif isinstance(value, dict) and "$enum" not in value:
        entries = cast("dict[str, Json]", value)
        for name, one in entries.items():
            if name != "$":
                yield from _told(one, (entries["$"], name, entries) if "$" in entries else holder)


def leaves(value: Json) -> Iterator[str]:
    """Yield every text in a value, without keys, tags and the words of enumerations."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in cast("list[Json]", value):
            yield from leaves(item)
    elif isinstance(value, dict) and "$enum" not in value:
        entries = cast("dict[str, Json]", value)
        kept = {"text": entries.get("text")} if entries.get("$") == "Atom" else entries
        for key, item in kept.items():
            if key != "$":
                yield from leaves(item)


def kinds(step: AnyStep) -> set[tuple[str, ...]]:
    """The class of the action, with the places that the answer fills and with each text of its own."""
    shown, name = encode(step.shown), type(step.action).__name__
    entries = cast("dict[str, Json]", shown) if isinstance(shown, dict) else {}
    filled = ",".join(sorted(entry for entry, value in entries.items() if value))
    return {(name, filled), *((one.record, one.field, one.text) for one in spoken(step))}
