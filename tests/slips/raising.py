"""Callbacks that raise: in a system, in every part of every kind of claim, and with every odd exception."""

# Newcomers write no types, and so nothing here has any.
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
# pyright: basic
from __future__ import annotations

import sys
from typing import Any

from tests.slips.examples import check, light, never_dark
from tests.slips.kit import control, evenhand, slip


def boom(*_given: Any) -> Any:
    """Whatever is asked, this fails, with a KeyError whose text is a bare name."""
    raise KeyError("lamp")


def fails_with(error: BaseException) -> Any:
    """A callback that raises this."""

    def fails(*_given: Any) -> Any:
        raise error

    return fails


def takes_two(step: Any) -> Any:
    """A system with two actions and that step."""
    return light(actions=lambda state: ["next", "break"], step=step)


@slip("raising", says=("light", "step", "KeyError", "lamp", "red"))
def a_step_that_misses_a_key():
    """A table that lacks an entry: a KeyError says nothing but the key."""
    return check(takes_two(lambda state, action: {"green": "red"}["lamp"]), [never_dark])


@slip("raising", says=("light", "step", "ValueError", "break"))
def a_step_that_refuses_by_raising():
    """`raise ValueError("not now")` for an action that is not allowed."""

    def step(state, action):
        if action == "break":
            raise ValueError("not now")
        return state

    return check(takes_two(step), [never_dark])


@slip("raising", says=("light", "step", "AssertionError"))
def a_step_that_asserts():
    """A bare `assert` in the step: the error has no text at all."""

    def step(state, action):
        assert action == "next"
        return state

    return check(takes_two(step), [never_dark])


@slip("raising", says=("light", "step", "NotImplementedError"))
def a_step_that_is_not_written_yet():
    """`raise NotImplementedError`."""
    return check(takes_two(fails_with(NotImplementedError())), [never_dark])


@slip("raising", says=("light", "step", "StopIteration"))
def a_step_that_stops_an_iteration():
    """`next(...)` without a default: StopIteration ends whatever loop it is called from, without a word."""
    return check(takes_two(lambda state, action: next(iter(()))), [never_dark])


@slip("raising", says=("light", "actions", "StopIteration"))
def actions_that_stop_an_iteration():
    """The same in `actions`: the state seems to have no action."""
    return check(light(actions=lambda state: [next(iter(()))]), [never_dark])


@slip("raising", says=("never_dark", "StopIteration"))
def a_claim_that_stops_an_iteration():
    """The same in a claim."""

    @evenhand.always("The light is one of the list.")
    def never_dark(state):
        return next(lamp for lamp in ["green"] if lamp == state) == state

    return check(light(), [never_dark])


@slip("raising", says=("light", "step", "SystemExit|exit"))
def a_step_that_exits():
    """The main function of a program as a step: it ends with `sys.exit(0)`, which looks like success."""
    return check(takes_two(lambda state, action: sys.exit(0)), [never_dark])


@slip("raising", says=("never_dark", "SystemExit|exit"))
def a_claim_that_exits():
    """`sys.exit(0)` in a claim."""

    @evenhand.always("The light is never dark.")
    def never_dark(state):
        sys.exit(0)

    return check(light(), [never_dark])


@slip("raising", says=("light", "actions", "SystemExit|exit"))
def actions_that_exit():
    """`sys.exit(0)` in `actions`."""
    return check(light(actions=lambda state: sys.exit(0)), [never_dark])


@slip("raising", says=("light", "step", "CancelledError"))
def a_step_that_is_cancelled():
    """`asyncio.CancelledError`, which is no Exception."""
    import asyncio

    return check(takes_two(fails_with(asyncio.CancelledError())), [never_dark])


@slip("raising", says=("light", "step", "RecursionError"))
def a_step_that_recurses():
    """A recursion without an end."""

    def step(state, action):
        return step(state, action)

    return check(takes_two(step), [never_dark])


@slip("raising", says=("light", "step", "UnsatisfiedAssumption|assume"))
def a_step_that_assumes():
    """`hypothesis.assume(...)` in the step: drawn runs where it fails are thrown away."""
    from hypothesis import assume

    def step(state, action):
        assume(action != "break")
        return state

    return check(takes_two(step), [never_dark])


@slip("raising", says=("never_dark", "UnsatisfiedAssumption|assume"))
def a_claim_that_assumes():
    """`assume(state != "dark")` as an antecedent: the one case that matters is thrown away."""
    from hypothesis import assume

    @evenhand.always("The light is never dark.")
    def never_dark(state):
        assume(state != "dark")
        return state != "dark"

    return check(takes_two(lambda state, action: "dark" if action == "break" else state), [never_dark])


@slip("raising", says=("never_dark", "Skipped|skip"))
def a_claim_that_skips():
    """`pytest.skip(...)` in a claim: the test would be skipped, without a word about the state."""
    import pytest

    @evenhand.always("The light is never dark.")
    def never_dark(state):
        if state == "dark":
            pytest.skip("not now")
        return True

    return check(takes_two(lambda state, action: "dark" if action == "break" else state), [never_dark])


@slip("raising", says=("never_dark", "Failed|not now|pytest"), refuted=True)
def a_claim_that_fails_the_test():
    """`pytest.fail(...)` in a claim."""
    import pytest

    @evenhand.always("The light is never dark.")
    def never_dark(state):
        if state == "dark":
            pytest.fail("not now")
        return True

    return check(takes_two(lambda state, action: "dark" if action == "break" else state), [never_dark])


@slip("raising", says=("light", "step", "long|ValueError"))
def an_error_of_many_lines():
    """The exception's text is a page of a parser's output."""
    return check(takes_two(fails_with(ValueError("a long\nstory\n" * 100))), [never_dark])


class Unprintable(Exception):
    """An exception that cannot be shown."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


@slip("raising", says=("light", "step", "Unprintable"))
def an_error_that_cannot_be_shown():
    """The exception's own `__str__` raises."""
    return check(takes_two(fails_with(Unprintable())), [never_dark])


class Unshowable:
    """A state that cannot be shown."""

    def __repr__(self) -> str:
        raise RuntimeError("no repr")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unshowable)

    def __hash__(self) -> int:
        return 1


@slip("raising", says=("light", "repr|Unshowable|shown"), refuted=True)
def a_state_that_cannot_be_shown():
    """`__repr__` of a state raises, where a refutation wants to show it."""

    @evenhand.always("The light is never dark.")
    def never_dark(state):
        return state == "red"

    return check(light(step=lambda state, action: Unshowable()), [never_dark])


@slip("raising", says=("light", "actions", "KeyError"))
def actions_that_raise():
    """`actions` looks up the state in a table that lacks it."""
    return check(light(actions=lambda state: {"red": ["next"]}[state]), [never_dark])


@slip("raising", says=("light", "actions", "KeyError"))
def actions_that_raise_halfway():
    """A generator of actions that fails after the first."""

    def actions(state):
        yield "next"
        raise KeyError(state)

    return check(light(actions=actions), [never_dark])


@slip("raising", says=("light", "initial", "KeyError"))
def an_initial_generator_that_raises():
    """`initial` is a generator that fails after the first state."""

    def initial():
        yield "red"
        raise KeyError("lamp")

    return check(light(initial=initial()), [never_dark])


@control("raising")
def an_error_that_the_step_catches():
    """What is caught in the step is the step's own business."""

    def step(state, action):
        try:
            return {"red": "green"}[state]
        except KeyError:
            return "red"

    return check(takes_two(step), [never_dark])
