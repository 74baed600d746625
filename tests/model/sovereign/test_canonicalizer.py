"""Whatever the text, one reading of it or one reason why not; never an exception, never two readings."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.model.canonical import canonical_text
from evenhand.model.sovereign.canonicalizer import (
    AMBIGUOUS_MULTI_BLOCK,
    NO_JSON,
    PARSE_ERROR,
    REJECTIONS,
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
    """Texts put together from pieces that break parsers, the same on every machine."""
    draws = Draws(seed)
    return ["".join(PIECES[draws.below(len(PIECES))] for _ in range(draws.below(9))) for _ in range(count)]


def holds_of(text: str) -> None:
    """One outcome, stable, and if it is a reading then of the one block that there is."""
    found = canonicalize(text)
    assert canonicalize(text) == found
    if found.rejection:
        assert found.rejection in REJECTIONS and found.text == "" and found.value is None
        assert proposed(text, usual()) == ()
        return
    value = found.value
    assert isinstance(value, dict) and canonical_text(value) == found.text
    inner, unfinished = blocks(normalize(text))
    assert len(inner) == 1 and not unfinished
    assert json.loads(inner[0]) == value
    assert canonicalize(found.text).text == found.text
    proposed(text, usual())


@pytest.mark.parametrize(
    ("text", "rejection"),
    [
        ("", NO_JSON),
        ("no braces", NO_JSON),
        ('{"a":1}', ""),
        ('prose {"a":1} prose', ""),
        ('{"a":1} {"b":2}', AMBIGUOUS_MULTI_BLOCK),
        ('{"a":1} {', AMBIGUOUS_MULTI_BLOCK),
        ("{", PARSE_ERROR),
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
    """13.3, and what it leaves open: an unfinished block beside a finished one is ambiguous."""
    assert canonicalize(text).rejection == rejection
    holds_of(text)


def test_hostile_texts_have_one_reading() -> None:
    """Some of them here."""
    outcomes = {canonicalize(text).rejection for text in hostile("quick", 3_000)}
    assert outcomes == {"", *REJECTIONS}
    for text in hostile("quick", 3_000):
        holds_of(text)


@pytest.mark.deep
def test_a_hundred_thousand_hostile_texts_have_one_reading() -> None:
    """All of them here."""
    for text in hostile("deep", 100_000):
        holds_of(text)


@settings(max_examples=150, derandomize=True, database=None, deadline=None)
@given(st.text(alphabet=st.characters(codec=None), max_size=60))
def test_any_text_has_one_reading(text: str) -> None:
    """Surrogates, controls and all."""
    holds_of(text)


def test_a_second_reading_would_be_seen() -> None:
    """The check fires: a canonicalizer that took the last of two blocks would give a reading of two."""
    inner, _ = blocks('{"a":1} {"b":2}')
    with pytest.raises(AssertionError):
        assert len(inner) == 1
