"""For any text: one reading or one reason to reject it; never an exception, never two readings."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.core.canonical import canonical_bytes, canonical_text
from evenhand.model.sovereign.artifacts import sha
from evenhand.model.sovereign.canonicalizer import (
    AMBIGUOUS_MULTI_BLOCK,
    NO_JSON,
    PARSE_ERROR,
    REJECTIONS,
    Canonical,
    blocks,
    canonicalize,
    normalize,
)
from evenhand.model.sovereign.conditions import Draws
from evenhand.model.sovereign.menus import usual
from evenhand.model.sovereign.proposals import proposed

PIECES = (
    '{"a":1}',
    "{",
    "}",
    '"',
    "\\",
    "'",
    "[",
    "]",
    ":",
    ",",
    '{"a":1,"a":2}',
    '{"a":"}"}',
    '{"a":"\\""}',
    "\r\n",
    "\x00",
    "\ud800",
    "\u202e",
    "e\u0301",
    "1e999",
    "NaN",
    "9" * 30,
    "```json",
    "null",
    '{"\\ud800":1}',
    "{" * 80,
    " ",
    "\ufeff",
)


def hostile(seed: str, count: int) -> list[str]:
    """Yield texts made of pieces that break parsers, the same on every machine."""
    draws = Draws(seed)
    return ["".join(PIECES[draws.below(len(PIECES))] for _ in range(draws.below(9))) for _ in range(count)]


def first_wins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of a reader that keeps the first of two equal keys."""
    return dict(reversed(pairs))


READERS: tuple[Callable[[str], Any], ...] = (
    json.loads,  # keeps the last of two equal keys
    lambda text: json.loads(text, object_pairs_hook=first_wins),
    lambda text: json.loads(text, parse_int=float),  # reads numbers as a language without integers does
    lambda text: json.loads(text, parse_constant=lambda word: word),  # NaN is a number in some readers only
)
"""Readers of JSON that differ where a text leaves room."""


def holds_of(text: str, reader: Callable[[str], Canonical] = canonicalize) -> None:
    """Check for one stable outcome; a reading is that of the only block, and the same for every reader."""
    found = reader(text)
    assert reader(text) == found
    if found.rejection:
        assert found.rejection in REJECTIONS and found.text == "" and found.value is None
        assert proposed(text, usual()) == ()
        return
    value = found.value
    assert isinstance(value, dict) and canonical_text(value) == found.text
    inner, _ = blocks(normalize(text))
    assert len(inner) == 1
    for one in READERS:
        assert one(inner[0]) == value
    assert reader(found.text).text == found.text
    proposed(text, usual())


@pytest.mark.parametrize(
    ("text", "rejection"),
    [
        ("", NO_JSON),
        ("no braces", NO_JSON),
        ('{"a":1}', ""),
        ('prose {"a":1} prose', ""),
        ('{"a":1} {"b":2}', AMBIGUOUS_MULTI_BLOCK),
        ('{"a":1} {', ""),
        ("{", NO_JSON),
        ('{ {"a":1}', NO_JSON),
        ("{]}", PARSE_ERROR),
        ('{"a":1,"a":2}', PARSE_ERROR),
        ('{"a":NaN}', PARSE_ERROR),
        ('{"a":1e999}', PARSE_ERROR),
        ('{"a":"}"}', ""),
        ('{"a":"\\\\"}', ""),
        ("{" * 90 + "}" * 90, PARSE_ERROR),
        ('{"a":"\\ud800"}', PARSE_ERROR),
        ('it\'s {"a":1}', ""),
    ],
)
def test_a_text_is_read_or_rejected(text: str, rejection: str) -> None:
    """13.3, and its open case: what is never closed is no block, alone or beside one."""
    assert canonicalize(text).rejection == rejection
    holds_of(text)


def test_an_unfinished_block_may_be_read_as_one() -> None:
    """The other reading; texts without one are read alike."""
    told = {text: canonicalize(text, unfinished="a_block").rejection for text in ("{", '{"a":1} {', '{"a":1}', "")}
    assert list(told.values()) == [PARSE_ERROR, AMBIGUOUS_MULTI_BLOCK, "", NO_JSON]


def test_hostile_texts_have_one_reading() -> None:
    """A sample."""
    outcomes = {canonicalize(text).rejection for text in hostile("quick", 3_000)}
    assert outcomes == {"", *REJECTIONS}
    for text in hostile("quick", 3_000):
        holds_of(text)


@pytest.mark.deep
def test_a_hundred_thousand_hostile_texts_have_one_reading() -> None:
    """All of them."""
    for text in hostile("deep", 100_000):
        holds_of(text)


@settings(max_examples=150, derandomize=True, database=None, deadline=None)
@given(st.text(alphabet=st.characters(codec=None), max_size=60))
def test_any_text_has_one_reading(text: str) -> None:
    """Surrogates, controls and all other characters."""
    holds_of(text)


def _accepted(text: str, value: Any) -> Canonical:
    """Return the answer of a careless canonicalizer for an accepted value."""
    data = canonical_bytes(value)
    return Canonical(sha(text.encode("utf-8", "surrogatepass")), data.decode(), sha(data))


def _careless(take: Callable[[str], Any]) -> Callable[[str], Canonical]:
    """Return a canonicalizer that first calls `take` on a value, and the honest one where that raises."""

    def read(text: str) -> Canonical:
        try:
            return _accepted(text, take(normalize(text)))
        except (ValueError, IndexError, RecursionError, AttributeError):
            return canonicalize(text)

    return read


def _last_block(text: str) -> Any:
    return json.loads(blocks(text)[0][-1])


def _any_constant(text: str) -> Any:
    (inner,) = blocks(text)[0]
    return json.loads(inner, parse_constant=lambda _word: 0)


def _any_number(text: str) -> Any:
    (inner,) = blocks(text)[0]
    return json.loads(inner, parse_int=lambda digits: int(digits) % 10)


def _first_key(text: str) -> Any:
    (inner,) = blocks(text)[0]
    return json.loads(inner, object_pairs_hook=first_wins)


@pytest.mark.parametrize("take", [_last_block, _any_constant, _any_number, _first_key])
def test_a_second_reading_is_seen(take: Callable[[str], Any]) -> None:
    """The check fails on the last of two blocks, a word for a number, a number cut short, the first of two keys."""
    texts = [*hostile("quick", 1_000), '{"a":NaN}', '{"a":12345678901234567890}', '{"a":1,"a":2}', '{"a":1} {"b":2}']

    def seen(text: str) -> bool:
        try:
            holds_of(text, _careless(take))
        except AssertionError:
            return True
        return False

    assert any(map(seen, texts))
