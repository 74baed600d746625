"""JSON primitives as model values: values that differ in JSON stay different."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.atoms import Atom, Opaque, atom

primitives = st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False, allow_infinity=False)


@given(primitives)
def test_a_primitive_comes_back(value: Any) -> None:
    """Equal and of the same type."""
    made = atom(value)
    assert isinstance(made, Atom)
    assert made.value == value
    assert type(made.value) is type(value)


@given(primitives, primitives)
def test_atoms_are_equal_only_for_one_json_value(one: Any, two: Any) -> None:
    """Python's 1 == 1.0 == True must not merge two states."""
    same = type(one) is type(two) and one == two
    assert (atom(one) == atom(two)) is same


def test_what_python_confuses_stays_apart() -> None:
    """The pairs that `==` merges."""
    assert len({atom(value) for value in (1, 1.0, True, "1", "true", None, "null", 0, False, "")}) == 10


@pytest.mark.parametrize(
    ("value", "what"),
    [
        (float("nan"), "nan"),
        (float("inf"), "infinity"),
        (float("-inf"), "infinity"),
        ({}, "object"),
        ([1], "list"),
        ((1,), "list"),
        (b"", "bytes"),
        (print, "function"),
    ],
)
def test_what_is_no_primitive_is_named(value: Any, what: str) -> None:
    """An `Opaque`, which no honest client can send."""
    assert atom(value) == Opaque(what)


def test_negative_zero_is_zero() -> None:
    """RFC 8785, section 3.2.2.3: one number, one text."""
    assert atom(-0.0) == atom(0.0)


def test_atoms_read_as_in_python() -> None:
    """Text in quotes, so that the text "1" and the number 1 differ in a trace."""
    assert [str(atom(value)) for value in ("1", 1, True, None)] == ["'1'", "1", "true", "null"]
