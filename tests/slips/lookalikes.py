"""Answers that look like answers: texts, numbers, pairs, members of an enumeration, arrays, objects."""

# Newcomers write no types, and so nothing here has any.
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
# pyright: basic
from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, IntEnum
from fractions import Fraction
from typing import Any

import numpy as np

from tests.slips.answers import cinema
from tests.slips.examples import breakable, check, light
from tests.slips.kit import control, evenhand, slip


@slip("lookalikes", says=("never_dark", "str"))
def an_error_message_for_the_user():
    """Returns what is wrong as text, and "" where nothing is: the wrong way round."""

    @evenhand.always("The light is never dark.")
    def never_dark(state):
        return "it is dark" if state == "dark" else "fine"

    return check(breakable(), [never_dark])


@slip("lookalikes", says=("never_dark", "int"))
def a_number_of_violations():
    """Counts violations; 0 is falsy where nothing is wrong, 1 truthy where something is."""

    @evenhand.always("The light is never dark.")
    def never_dark(state):
        return int(state == "dark") + 1

    return check(breakable(), [never_dark])


@slip("lookalikes", says=("never_dark", "int"))
def one_for_true():
    """Writes 1 and 0, as in C: right, but nobody can tell from a count."""

    @evenhand.always("The light is never dark.")
    def never_dark(state):
        return 0 if state == "dark" else 1

    return check(light(), [never_dark])


@slip("lookalikes", says=("never_dark", "tuple"))
def the_answer_and_a_reason():
    """Returns (answer, reason), as in Go; a pair is truthy."""

    @evenhand.always("The light is never dark.")
    def never_dark(state):
        return state != "dark", "it went out"

    return check(breakable(), [never_dark])


@slip("lookalikes", says=("never_dark", "tuple"))
def a_trailing_comma():
    """One comma too many makes the answer a tuple."""

    @evenhand.always("The light is never dark.")
    def never_dark(state):
        return (state != "dark",)

    return check(breakable(), [never_dark])


@slip("lookalikes", says=("never_dark", "set"))
def a_set_comparison_by_subtraction():
    """Returns what is left over, truthy if anything is."""

    @evenhand.always("Only lamps that exist are lit.")
    def never_dark(state):
        return {"red", "green", "dark"} - {state}

    return check(breakable(), [never_dark])


@slip("lookalikes", says=("never_dark", "match"))
def a_match_object():
    """Returns the match of a regular expression; None and a match are no booleans."""

    @evenhand.always("The light is red, green or dark.")
    def never_dark(state):
        return re.fullmatch("red|green|dark", state)

    return check(breakable(), [never_dark])


class Answer(Enum):
    """An enumeration: each member is truthy, NO as well."""

    YES = "yes"
    NO = "no"


@slip("lookalikes", says=("never_dark", "Answer"))
def an_enum_member():
    """Returns Answer.NO, which is truthy."""

    @evenhand.always("The light is never dark.")
    def never_dark(state):
        return Answer.NO if state == "dark" else Answer.YES

    return check(breakable(), [never_dark])


class Level(IntEnum):
    """An enumeration of integers."""

    BAD = 0
    POOR = 1


@slip("lookalikes", says=("never_dark", "Level"))
def an_int_enum_member():
    """POOR is meant to fail and is 1."""

    @evenhand.always("The light is never dark.")
    def never_dark(state):
        return Level.POOR if state == "dark" else Level(1)

    return check(breakable(), [never_dark])


@slip("lookalikes", says=("never_dark", "Status"))
def a_status_of_evenhand():
    """Returns `Status.REFUTED`, which is truthy as every member is."""

    @evenhand.always("The light is never dark.")
    def never_dark(state):
        return evenhand.Status.REFUTED if state == "dark" else evenhand.Status.HOLDS

    return check(breakable(), [never_dark])


@slip("lookalikes", says=("never_dark", "float|nan"))
def a_probability():
    """Returns how sure it is."""

    @evenhand.always("The light is never dark.")
    def never_dark(state):
        return 0.01 if state == "dark" else 0.99

    return check(breakable(), [never_dark])


@slip("lookalikes", says=("never_dark", "float|nan"))
def not_a_number():
    """A computed margin that is NaN, which is truthy."""

    @evenhand.always("The margin is positive.")
    def never_dark(_state):
        return float("inf") - float("inf")

    return check(breakable(), [never_dark])


@slip("lookalikes", says=("all_free", "array|ndarray"))
def an_array_of_answers():
    """Compares arrays elementwise and forgets `.all()`."""

    @evenhand.always("Every seat is free.")
    def all_free(seats):
        return np.array(seats) == "free"

    return check(cinema(), [all_free])


@slip("lookalikes", says=("all_free", "array|ndarray"))
def an_array_of_one_answer():
    """The same with one element, whose truth Python does take."""

    @evenhand.always("Every seat is free.")
    def all_free(seats):
        return np.array([seats[0] == "free"])

    return check(cinema(), [all_free])


@slip("lookalikes", says=("never_dark", "Always|claim"))
def a_claim_that_returns_a_claim():
    """Delegates to another claim by naming it."""

    @evenhand.always("The light is never dark.")
    def dark_never(state):
        return state != "dark"

    @evenhand.always("The light is never dark, either.")
    def never_dark(_state):
        return dark_never

    return check(breakable(), [never_dark])


@slip("lookalikes", says=("never_dark", "type|class"))
def an_exception_class():
    """Returns the exception instead of raising it."""

    @evenhand.always("The light is never dark.")
    def never_dark(state):
        return AssertionError if state == "dark" else True

    return check(breakable(), [never_dark])


@dataclass
class Verdict:
    """A class of the user's whose truth is not defined."""

    ok: bool


@slip("lookalikes", says=("never_dark", "Verdict"))
def an_object_with_an_ok_field():
    """Returns a result object, truthy whatever it says."""

    @evenhand.always("The light is never dark.")
    def never_dark(state):
        return Verdict(ok=state != "dark")

    return check(breakable(), [never_dark])


class Raising:
    """A class whose truth raises, as that of an array or of a symbolic expression does."""

    def __bool__(self) -> bool:
        raise ValueError("ambiguous")


@slip("lookalikes", says=("never_dark", "Raising"))
def an_object_whose_truth_raises():
    """Returns a symbolic expression, whose truth nobody can take."""

    @evenhand.always("The light is never dark.")
    def never_dark(_state):
        return Raising()

    return check(light(), [never_dark])


@slip("lookalikes", says=("never_dark", "z3|BoolRef"))
def a_z3_expression():
    """Returns an SMT formula, as the proofs have them."""
    from importlib import import_module

    z3: Any = import_module("z3")

    @evenhand.always("The light is never dark.")
    def never_dark(state):
        return z3.Bool("dark") == z3.BoolVal(state == "dark")

    return check(breakable(), [never_dark])


@control("lookalikes")
def a_numpy_bool_is_an_answer():
    """What numpy's comparison of numbers gives is an answer."""

    @evenhand.always("The light is never dark.")
    def never_dark(state):
        return np.int64(len(state)) > 2

    return check(light(), [never_dark])


@control("lookalikes")
def an_exact_comparison_is_an_answer():
    """Fractions compare to a bool."""

    @evenhand.always("A third of the seats is taken.")
    def a_third(seats):
        return Fraction(seats.count("taken"), len(seats)) == Fraction(1, 3)

    return check(cinema(), [a_third])
