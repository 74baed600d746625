"""What a claim's predicate takes: too few arguments, too many, in the wrong order, or of another kind."""

# Newcomers write no types, and so nothing here has any.
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
# pyright: basic
from __future__ import annotations

import functools

from tests.slips.examples import check, light
from tests.slips.kit import control, evenhand, slip


@slip("arguments", says=("never_dark", "argument"))
def a_predicate_without_arguments():
    """`def never_dark():`, looking at a global variable."""
    state = "red"

    @evenhand.always("The light is never dark.")
    def never_dark():
        return state != "dark"

    return check(light(), [never_dark])


@slip("arguments", says=("never_dark", "argument"))
def a_predicate_of_three():
    """`def never_dark(config, state, action)`, an invariant over a step."""

    @evenhand.always("The light is never dark.")
    def never_dark(config, state, action):
        return state != "dark"

    return check(light(), [never_dark])


@slip("arguments", says=("never_dark", "config|argument"))
def state_and_config_exchanged():
    """`def never_dark(state, config)`: the configuration, None, is compared, and is never dark."""

    @evenhand.always("The light is never dark.")
    def never_dark(state, config):
        return state != "dark"

    broken = light(step=lambda state, action: "dark")
    return check(broken, [never_dark])


@slip("arguments", says=("never_dark", "argument"), refuted=True)
def a_default_argument():
    """`def never_dark(state, forbidden="dark")`: the default is taken for the state, the state for the config."""

    @evenhand.always("The light is never dark.")
    def never_dark(state, forbidden="dark"):
        return state != forbidden

    return check(light(step=lambda state, action: "dark"), [never_dark])


@slip("arguments", says=("wrapper|never_dark", "argument"))
def a_wrapper_of_any_arguments():
    """A decorator of one's own without `functools.wraps`: `*args` does not tell what the claim takes."""

    def logged(test):
        def wrapper(*args):
            return test(*args)

        return wrapper

    @evenhand.always("The light is never dark.")
    @logged
    def never_dark(_config, state):
        return state != "dark"

    return check(light(), [never_dark])


@slip("arguments", says=("never_dark", "argument|keyword"))
def a_predicate_of_keywords_only():
    """`def never_dark(*, state)`."""

    @evenhand.always("The light is never dark.")
    def never_dark(*, state):
        return state != "dark"

    return check(light(), [never_dark])


@slip("arguments", says=("never_dark", "step|argument|after"))
def an_always_over_a_step():
    """An `always` whose argument is called `step` and used as one."""

    @evenhand.always("The light is never dark.")
    def never_dark(step):
        return step.after != "dark"

    return check(light(), [never_dark])


@slip("arguments", says=("goes_on", "step|argument"))
def an_each_step_over_before_and_after():
    """`def goes_on(before, after)`, as TLA+ has primed variables."""

    @evenhand.each_step("Each step changes the light.")
    def goes_on(before, after):
        return before != after

    return check(light(), [goes_on])


@slip("arguments", says=("goes_on", "step|argument"))
def an_each_step_over_states():
    """An `each_step` whose one argument is compared as if it were a state."""

    @evenhand.each_step("No step ends in the dark.")
    def goes_on(state):
        return state != "dark"

    return check(light(step=lambda state, action: "dark"), [goes_on])


@slip("arguments", says=("never_dark", "class|call|instance|init|type"))
def a_decorated_class():
    """A class, whose constructor takes the state; an instance is truthy."""

    @evenhand.always("The light is never dark.")
    class never_dark:
        def __init__(self, state):
            self.ok = state != "dark"

    return check(light(step=lambda state, action: "dark"), [never_dark])


@slip("arguments", says=("claims", "class"))
def a_static_method_in_the_wrong_order():
    """`@evenhand.always(...)` below `@staticmethod`, and the class is handed in."""

    class Claims:
        @staticmethod
        @evenhand.always("The light is never dark.")
        def never_dark(state):
            return state != "dark"

    return check(light(), Claims)


@slip("arguments", says=("claim", "bool", "built-in"))
def a_builtin_for_a_predicate():
    """`evenhand.always("…")(bool)`: a type for a predicate."""
    return check(light(), [evenhand.always("The light is something.")(bool)])


@control("arguments")
def config_and_state():
    """Both arguments, in their order."""

    @evenhand.always("The light is never dark.")
    def never_dark(_config, state):
        return state != "dark"

    return check(light(), [never_dark])


@control("arguments")
def a_claim_with_wrapped_predicate():
    """A decorator of one's own that keeps name and signature, as `functools.wraps` does."""

    def logged(test):
        @functools.wraps(test)
        def wrapper(state):
            return test(state)

        return wrapper

    @evenhand.always("The light is never dark.")
    @logged
    def never_dark(state):
        return state != "dark"

    return check(light(), [never_dark])
