"""The parts of a claim beside its predicate: antecedents, triggers, keys, pairs, twins, the monitor and fairness."""

# Newcomers write no types, and so nothing here has any.
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
# pyright: basic
from __future__ import annotations

from dataclasses import replace

from tests.slips.examples import breakable, check, light, never_dark
from tests.slips.kit import control, evenhand, slip


@slip("parts", says=("stays", "when", "generator"))
def a_generator_as_antecedent():
    """`when` of an each_step is a generator: the claim speaks of every step, and seems to be met."""

    @evenhand.each_step("What is dark stays dark.", when=lambda step: (step.before == "purple" for _ in [0]))
    def stays(step):
        return step.after in ("red", "green", "dark")

    return check(breakable(), [stays])


@slip("parts", says=("stays", "when", "None"))
def an_antecedent_that_returns_nothing():
    """`when` forgets its return, so that the claim is never asked."""

    def is_dark(step):
        _ = step.before == "dark"

    @evenhand.each_step("What is dark stays dark.", when=is_dark)
    def stays(step):
        return step.after == "dark"

    return check(breakable(), [stays])


@slip("parts", says=("stays", "when", "str"))
def an_antecedent_that_returns_what_it_found():
    """`when` returns the action, which is truthy."""

    @evenhand.each_step("Breaking makes it dark.", when=lambda step: step.action)
    def stays(step):
        return step.action != "break" or step.after == "dark"

    return check(breakable(), [stays])


@slip("parts", says=("red_is_short", "when", "generator|list"))
def an_antecedent_about_states():
    """`when` of an always returns the lamps that are lit, as a list."""

    @evenhand.always("Red has three letters.", when=lambda config, state: [state == "red"])
    def red_is_short(_config, state):
        return len(state) >= 3

    return check(light(), [red_is_short])


@slip("parts", says=("red_is_short", "when"), refuted=True)
def an_antecedent_of_one_argument():
    """`when` of an always over (state), as the predicate itself may be."""

    @evenhand.always("Red has three letters.", when=lambda state: state == "green")
    def red_is_short(state):
        return len(state) == 3

    return check(light(), [red_is_short])


@slip("parts", says=("red_is_short", "when"))
def an_antecedent_that_is_a_value():
    """`when="red"`, the state rather than a test for it."""

    @evenhand.always("Red has three letters.", when="red")
    def red_is_short(state):
        return len(state) == 3

    return check(light(), [red_is_short])


@slip("parts", says=("red_is_short", "when"))
def an_antecedent_that_is_true():
    """`when=True`, for a claim that always speaks."""

    @evenhand.always("Red has three letters.", when=True)
    def red_is_short(state):
        return len(state) >= 3

    return check(light(), [red_is_short])


@slip("parts", says=("answered", "trigger", "generator"))
def a_generator_as_trigger():
    """The trigger of a leads_to is a generator."""

    @evenhand.leads_to("Purple leads to green.", trigger=lambda step: (step.after == "purple" for _ in [0]))
    def answered(step):
        return step.after in ("red", "green")

    return check(light(), [answered])


@slip("parts", says=("answered", "trigger", "None"))
def a_trigger_that_returns_nothing():
    """The trigger has no return, so that nothing ever has to be answered."""

    def asks(step):
        _ = step.after == "red"

    @evenhand.leads_to("Red leads to purple.", trigger=asks)
    def answered(step):
        return step.after == "purple"

    return check(light(), [answered])


@slip("parts", says=("answered", "trigger"))
def a_trigger_that_names_an_action():
    """`trigger="next"`, the action rather than a test of the step."""

    @evenhand.leads_to("Each step leads to green.", trigger="next")
    def answered(step):
        return step.after == "green"

    return check(light(), [answered])


@slip("parts", says=("answered", "trigger"))
def a_trigger_over_states():
    """A trigger of two arguments, config and state, as in `wants`."""

    @evenhand.leads_to("Red leads to green.", trigger=lambda config, state: state == "red")
    def answered(step):
        return step.after == "green"

    return check(light(), [answered])


@slip("parts", says=("can_go_on", "wants", "None"))
def wants_that_returns_nothing():
    """`wants` has no return: nobody wants anything, so nothing is stuck."""

    def waits(state):
        _ = state == "dark"

    @evenhand.deadlock_free("Who waits gets light.", wants=waits)
    def can_go_on(step):
        return step.after == "red"

    return check(breakable(), [can_go_on])


@slip("parts", says=("can_go_on", "wants", "list|generator"))
def wants_that_lists_who_wants():
    """`wants` lists those who want: an empty list is no answer."""

    @evenhand.deadlock_free("Who waits gets light.", wants=lambda state: [] if state == "dark" else [state])
    def can_go_on(step):
        return step.after == "red"

    return check(breakable(), [can_go_on])


@slip("parts", says=("gets_on", "attempts", "None|generator"))
def attempts_that_yield():
    """`attempts` as a generator function."""

    def tries(step):
        yield step.action == "never"

    @evenhand.livelock_free("Trying is not in vain.", attempts=tries)
    def gets_on(step):
        return step.after == "green"

    return check(light(), [gets_on])


@slip("parts", says=("gets_on", "attempts", "None"))
def attempts_that_return_nothing():
    """`attempts` has no return: nobody tries, so nothing is in vain."""

    def tries(step):
        _ = step.action == "next"

    @evenhand.livelock_free("Trying is not in vain.", attempts=tries)
    def gets_on(step):
        return step.after == "purple"

    return check(light(), [gets_on])


@slip("parts", says=("never_dark", "applies", "None|generator"))
def applies_that_returns_nothing():
    """`applies` has no return, so that the claim is made nowhere."""
    return check(light(), [replace(never_dark, applies=lambda config: None)])


@slip("parts", says=("never_dark", "applies", "generator"))
def applies_that_is_a_generator():
    """`applies` is a generator: the claim seems to be made everywhere."""
    return check(light(), [replace(never_dark, applies=lambda config: (c for c in [config]))])


@slip("parts", says=("never_dark", "configuration|applies"))
def applies_nowhere():
    """`applies` compares with a configuration that a quick system does not have."""
    return check(light(), [replace(never_dark, applies=lambda config: config == "production")])


@slip("parts", says=("never_dark", "applies"))
def applies_without_argument():
    """`applies=lambda: True`."""
    return check(light(), [replace(never_dark, applies=lambda: True)])


@control("parts")
def parts_that_answer():
    """Antecedent and predicate over steps, as they should be."""

    @evenhand.each_step("Breaking makes it dark.", when=lambda step: step.action == "break")
    def breaks(step):
        return step.after == "dark"

    return check(breakable(), [breaks])
