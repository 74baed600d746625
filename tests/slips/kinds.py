"""What the predicates of the other kinds of claim answer: goals, completions, progress, sameness."""

# Newcomers write no types, and so nothing here has any.
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
# pyright: basic
from __future__ import annotations

from tests.slips.examples import breakable, check, light
from tests.slips.kit import evenhand, slip


@slip("kinds", says=("swaps", "generator"))
def a_generator_in_each_step():
    """Forgets `all( )` in a claim about steps."""

    @evenhand.each_step("Nothing goes dark.")
    def swaps(step):
        return (state != "dark" for state in (step.before, step.after))

    return check(breakable(), [swaps])


@slip("kinds", says=("swaps", "None"))
def a_step_claim_that_asserts():
    """Asserts about a step and returns nothing."""

    @evenhand.each_step("A step changes the light.")
    def swaps(step):
        assert step.before != step.after

    return check(light(), [swaps])


@slip("kinds", says=("goes_purple", "generator"))
def a_generator_as_a_goal():
    """A goal that nothing meets, as a generator: everything meets it."""

    @evenhand.reachable("The light can go purple.")
    def goes_purple(step):
        return (state == "purple" for state in [step.after])

    return check(light(), [goes_purple])


@slip("kinds", says=("goes_purple", "str"))
def a_goal_that_returns_the_state():
    """Returns the state that was reached, which is truthy."""

    @evenhand.reachable("The light can go purple.")
    def goes_purple(step):
        return step.after or "purple"

    return check(light(), [goes_purple])


@slip("kinds", says=("comes_to_purple", "generator"))
def a_generator_as_what_must_come():
    """An `eventually` whose goal is a generator."""

    @evenhand.eventually("The light goes purple some time.")
    def comes_to_purple(step):
        return (step.after == "purple" for _ in range(1))

    return check(light(), [comes_to_purple])


@slip("kinds", says=("answered", "NoneType|None"))
def a_leads_to_without_return():
    """The goal of a `leads_to` has no return."""

    @evenhand.leads_to("Red leads to green.", trigger=lambda step: step.after == "red")
    def answered(step):
        _ = step.after == "green"

    return check(light(), [answered])


@slip("kinds", says=("can_go_on", "generator"))
def a_generator_as_completion():
    """`completes` of deadlock_free as a generator: nothing is a deadlock."""

    @evenhand.deadlock_free("Whoever waits is served.", wants=lambda state: state == "red")
    def can_go_on(step):
        return (step.after == "served" for _ in range(1))

    return check(light(), [can_go_on])


@slip("kinds", says=("gets_on", "str"))
def progress_as_text():
    """`progress` of livelock_free returns what was done, which is truthy."""

    @evenhand.livelock_free("Trying is not in vain.", attempts=lambda step: True)
    def gets_on(step):
        return f"went to {step.after}"

    return check(light(), [gets_on])


@slip("kinds", says=("few", "generator"))
def a_monitor_that_yields():
    """`ok` of a monitor as a generator."""

    @evenhand.monitor("At most one step.", start=lambda config: 0, update=lambda n, step: min(n + 1, 3))
    def few(_config, n):
        yield n <= 1

    return check(light(), [few])


@slip("kinds", says=("order_is_nothing", "generator"))
def sameness_as_a_generator():
    """`same` of commute as a generator."""

    @evenhand.commute("Order does not matter.", pairs=lambda config, state, enabled: [("next", "break")])
    def order_is_nothing(_config, one, other):
        return (a == b for a, b in [(one.after, other.after)])

    return check(breakable(), [order_is_nothing])


@slip("kinds", says=("twins_agree", "tuple"))
def agreement_as_a_pair():
    """`agree` of two_run returns the two values instead of comparing them."""

    @evenhand.two_run(
        "Runs agree.",
        twins=lambda config, state, action: ["twin"],
        config=lambda w, config: config,
        state=lambda w, config, state: state,
        other=lambda w, action: ("break",),
    )
    def twins_agree(_w, step, other):
        return step.after, other.after

    return check(breakable(), [twins_agree])
