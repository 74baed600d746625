"""Canonical JSON: the published vectors, and the refusals."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.canonical import MAX_DEPTH, canonical_bytes, canonical_text, digest, parse

texts = st.text(st.characters(codec="utf-8"), max_size=6)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


@given(values)
def test_canonical_bytes_are_json_and_a_fixed_point(value: Any) -> None:
    """Reading them gives the value; writing that gives the bytes; any JSON reader agrees."""
    written = canonical_bytes(value)
    assert parse(written) == json.loads(written) == value
    assert canonical_bytes(parse(written)) == written


@given(values)
def test_the_short_way_gives_the_bytes_of_the_package(value: Any) -> None:
    """Plain values are written by the standard library, the others by an implementation of RFC 8785."""
    assert canonical_bytes(value) == rfc8785.dumps(value)


@given(st.dictionaries(texts, st.integers(0, 9), min_size=2, max_size=6))
def test_the_order_of_keys_says_nothing(entries: dict[str, int]) -> None:
    """An object is a set of pairs."""
    backwards = dict(reversed(entries.items()))
    assert canonical_bytes(entries) == canonical_bytes(backwards)
    assert digest(entries) == digest(backwards)


def test_the_published_example() -> None:
    """RFC 8785, section 3.2.2 (input) and 3.2.3 (output)."""
    numbers = [333333333.33333329, 1e30, 4.50, 2e-3, 0.000000000000000000000000001]
    value = {"numbers": numbers, "string": '\u20ac$\u000f\u000aA\'B"\\\\"/', "literals": [None, True, False]}
    expected = (
        '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )
    assert canonical_text(value) == expected


def test_keys_sort_by_utf_16() -> None:
    """RFC 8785, section 3.2.3: a surrogate pair (U+1F600) comes before U+FB33, whose code point is lower."""
    assert list(parse(canonical_bytes({"\ufb33": 1, "\U0001f600": 2, "\r": 3, "1": 4}))) == [
        "\r",
        "1",
        "\U0001f600",
        "\ufb33",
    ]


def test_a_digest_is_sha_256_over_the_bytes() -> None:
    """The expected digest is computed by hand."""
    assert digest({"b": 1, "a": []}) == "sha256:" + hashlib.sha256(b'{"a":[],"b":1}').hexdigest()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2**53, -(2**53), {1: "a"}, {"a": object()}, b"x"])
def test_what_json_cannot_hold_is_refused(value: Any) -> None:
    """ValueError, never a rounded number or a key turned into text."""
    with pytest.raises(ValueError, match="not canonical JSON"):
        canonical_bytes([value])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a":1,"a":2}', "duplicate key 'a'"),
        ('[{"b":{"a":1,"a":1}}]', "duplicate key 'a'"),
        ("[NaN]", "NaN is not JSON"),
        ("[-Infinity]", "-Infinity is not JSON"),
        ("[1e400]", "the number 1e400 is too large"),
        ('{"a":', "line 1 column"),
        ("[1] [2]", "Extra data"),
        ("", "line 1 column 1"),
    ],
)
def test_a_sloppy_text_is_refused(text: str, why: str) -> None:
    """Including texts that Python's reader accepts by default."""
    with pytest.raises(ValueError, match=r".") as caught:
        parse(text)
    assert why in str(caught.value)


@pytest.mark.parametrize("depth", [MAX_DEPTH - 1, MAX_DEPTH])
@pytest.mark.parametrize("pair", ["[]", "{}"])
def test_the_limit_of_nesting_is_exact(depth: int, pair: str) -> None:
    """One level less is accepted, so the limit is exact."""
    text = "[" * depth + "1" + "]" * depth if pair == "[]" else '{"a":' * depth + "1" + "}" * depth
    if depth < MAX_DEPTH:
        canonical_bytes(parse(text))
        return
    with pytest.raises(ValueError, match="nested deeper"):
        parse(text)
    with pytest.raises(ValueError, match="nested deeper"):
        canonical_bytes(json.loads(text))


def test_a_very_deep_text_is_refused_without_a_crash() -> None:
    """The text is deeper than Python's own recursion limit."""
    with pytest.raises(ValueError, match="nested deeper"):
        parse("[" * 200_000 + "]" * 200_000)
