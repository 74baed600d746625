"""What a claim answers: anything but True or False, in every kind of claim."""

# Newcomers write no types, and so nothing here has any.
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
# pyright: basic
from __future__ import annotations

import asyncio
from typing import Any

from tests.slips.examples import breakable, check, light
from tests.slips.kit import control, evenhand, slip

SEATS = ("free", "free", "taken")


def cinema() -> Any:
    """A row of seats, one of which is taken; nobody moves."""
    return evenhand.system("cinema", initial=[SEATS], actions=lambda seats: ["look"], step=lambda seats, action: seats)


@slip("answers", says=("all_free", "generator"))
def a_generator_without_all():
    """Wrote the comprehension and forgot `all( )` around it."""

    @evenhand.always("Every seat is free.")
    def all_free(seats):
        return (seat == "free" for seat in seats)

    return check(cinema(), [all_free])


@slip("answers", says=("all_free", "list"))
def a_list_comprehension():
    """Returns the list of answers, which is truthy because it is not empty."""

    @evenhand.always("Every seat is free.")
    def all_free(seats):
        return [seat == "free" for seat in seats]

    return check(cinema(), [all_free])


@slip("answers", says=("all_free", "map"))
def a_map_object():
    """Returns `map(...)`, as in a language where that is a list."""

    @evenhand.always("Every seat is free.")
    def all_free(seats):
        return map("free".__eq__, seats)

    return check(cinema(), [all_free])


@slip("answers", says=("nobody_sits", "filter"))
def a_filter_object():
    """Means `not any(...)`; a filter is truthy, whether it finds anything or not."""

    @evenhand.always("Nobody sits anywhere.")
    def nobody_sits(seats):
        return filter(lambda seat: seat == "taken", seats)

    return check(cinema(), [nobody_sits])


@slip("answers", says=("all_free", "generator"))
def yields_the_answer():
    """Writes `yield` for `return`."""

    @evenhand.always("Every seat is free.")
    def all_free(seats):
        yield all(seat == "free" for seat in seats)

    return check(cinema(), [all_free])


@slip("answers", says=("all_free", "coroutine|async"))
def an_async_claim():
    """Writes `async def`, as everything else in the code base is."""

    @evenhand.always("Every seat is free.")
    async def all_free(seats):
        await asyncio.sleep(0)
        return all(seat == "free" for seat in seats)

    return check(cinema(), [all_free])


@slip("answers", says=("all_free", "async|generator"))
def an_async_generator_claim():
    """Both at once."""

    @evenhand.always("Every seat is free.")
    async def all_free(seats):
        for seat in seats:
            yield seat == "free"

    return check(cinema(), [all_free])


@slip("answers", says=("all_free", "function"))
def a_function_that_would_answer():
    """Returns a lambda over the state instead of calling it."""

    @evenhand.always("Every seat is free.")
    def all_free(seats):
        return lambda: all(seat == "free" for seat in seats)

    return check(cinema(), [all_free])


@slip("answers", says=("never_dark", "method|function"))
def a_method_that_was_not_called():
    """Forgets the parentheses of `state.isupper()`."""

    @evenhand.always("The light is shouted.")
    def never_dark(state):
        return state.isupper

    return check(breakable(), [never_dark])


@slip("answers", says=("never_dark", "None"))
def no_return():
    """Computes the comparison and forgets `return`."""

    @evenhand.always("The light is never dark.")
    def never_dark(state):
        state != "dark"  # noqa: B015  # pyright: ignore[reportUnusedExpression]

    return check(light(), [never_dark])


@slip("answers", says=("never_dark", "None"))
def asserts_instead_of_returning():
    """A test function, as pytest has them: it asserts and returns nothing."""

    @evenhand.always("The light is never dark.")
    def never_dark(state):
        assert state != "dark"

    return check(light(), [never_dark])


@slip("answers", says="never_dark", refuted=True)
def asserts_what_is_false():
    """The same where the assertion fails: the state that fails it is what the user wants to see."""

    @evenhand.always("The light is never dark.")
    def never_dark(state):
        assert state != "dark"
        return True

    return check(breakable(), [never_dark])


@slip("answers", says=("never_dark", "None"))
def returns_in_one_branch_only():
    """Falls off the end in the case that was not thought of."""

    @evenhand.always("Red is followed by green.")
    def never_dark(state):
        if state == "red":
            return True

    return check(light(), [never_dark])


@slip("answers", says=("never_dark", "NotImplemented"))
def not_implemented():
    """A stub that returns NotImplemented, which is truthy."""

    @evenhand.always("The light is never dark.")
    def never_dark(_state):
        return NotImplemented

    return check(breakable(), [never_dark])


@slip("answers", says=("never_dark", r"\.\.\.|ellipsis|None"))
def a_stub_of_dots():
    """A stub that returns `...`."""

    @evenhand.always("The light is never dark.")
    def never_dark(_state):
        return ...

    return check(breakable(), [never_dark])


@slip("answers", says=("never_dark", "wrapper"))
def a_claim_decorated_twice():
    """Wraps the predicate in a decorator of one's own that returns the wrapper, not its answer."""

    def logged(test):
        def wrapper(state):
            return lambda: test(state)

        return wrapper

    @evenhand.always("The light is never dark.")
    @logged
    def wrapper(state):
        return state != "dark"

    import dataclasses

    return check(breakable(), [dataclasses.replace(wrapper, name="never_dark")])


@control("answers")
def all_of_a_generator_is_an_answer():
    """The comprehension with `all( )` around it."""

    @evenhand.always("Every seat is one of two things.")
    def all_known(seats):
        return all(seat in ("free", "taken") for seat in seats)

    return check(cinema(), [all_known])
