"""Parts of a claim that raise: each is to be named, beside the claim."""

# Newcomers write no types, and so nothing here has any.
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
# pyright: basic
from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.slips.examples import check, light, mirrored, never_dark
from tests.slips.kit import evenhand, slip
from tests.slips.raising import boom


@slip("raising_parts", says=("stays", "when", "KeyError"))
def an_antecedent_that_raises():
    """`when` of an each_step."""

    @evenhand.each_step("Something.", when=boom)
    def stays(step):
        return True

    return check(light(), [stays])


@slip("raising_parts", says=("stays", "KeyError", "next"))
def a_step_claim_that_raises():
    """The predicate of an each_step: the action should be named."""

    @evenhand.each_step("Something.")
    def stays(step):
        return boom()

    return check(light(), [stays])


@slip("raising_parts", says=("red_is_short", "when", "KeyError"))
def an_antecedent_about_states_that_raises():
    """`when` of an always."""

    @evenhand.always("Something.", when=boom)
    def red_is_short(config, state):
        return True

    return check(light(), [red_is_short])


@slip("raising_parts", says=("goes_blue", "KeyError"))
def a_goal_that_raises():
    """The goal of a reachable."""

    @evenhand.reachable("Something.")
    def goes_blue(step):
        return boom()

    return check(light(), [goes_blue])


@slip("raising_parts", says=("comes", "KeyError"))
def an_eventuality_that_raises():
    """The goal of an eventually."""

    @evenhand.eventually("Something.")
    def comes(step):
        return boom()

    return check(light(), [comes])


@slip("raising_parts", says=("answered", "trigger", "KeyError"))
def a_trigger_that_raises():
    """The trigger of a leads_to."""

    @evenhand.leads_to("Something.", trigger=boom)
    def answered(step):
        return True

    return check(light(), [answered])


@slip("raising_parts", says=("goes_on", "wants", "KeyError"))
def wants_that_raises():
    """`wants` of a deadlock_free, over (config, state)."""

    @evenhand.deadlock_free("Something.", wants=lambda config, state: boom())
    def goes_on(step):
        return True

    return check(light(), [goes_on])


@slip("raising_parts", says=("goes_on", "KeyError"))
def completes_that_raises():
    """`completes` of a deadlock_free."""

    @evenhand.deadlock_free("Something.", wants=lambda state: True)
    def goes_on(step):
        return boom()

    return check(light(), [goes_on])


@slip("raising_parts", says=("gets_on", "attempts", "KeyError"))
def attempts_that_raise():
    """`attempts` of a livelock_free."""

    @evenhand.livelock_free("Something.", attempts=boom)
    def gets_on(step):
        return False

    return check(light(), [gets_on])


def counting(**changes: Any) -> Any:
    """A monitor with a part that raises."""
    given = {"start": lambda config: 0, "update": lambda n, step: min(n + 1, 3), **changes}

    @evenhand.monitor("At most three.", **given)
    def few(config, n):
        return n <= 3

    return few


@slip("raising_parts", says=("few", "start", "KeyError"))
def a_start_that_raises():
    """`start` of a monitor."""
    return check(light(), [counting(start=boom)])


@slip("raising_parts", says=("few", "update", "KeyError"))
def an_update_that_raises():
    """`update` of a monitor."""
    return check(light(), [counting(update=boom)])


@slip("raising_parts", says=("few", "when", "KeyError"))
def a_monitors_antecedent_that_raises():
    """`when` of a monitor."""
    return check(light(), [counting(when=boom)])


@slip("raising_parts", says=("by_before", r"\bkey\b", "KeyError"))
def a_key_that_raises():
    """`key` of a determined_by."""

    @evenhand.determined_by("Something.", key=boom)
    def by_before(step):
        return step.after

    return check(light(), [by_before])


@slip("raising_parts", says=("any_order", "pairs", "KeyError"))
def pairs_that_raise():
    """`pairs` of a commute."""

    @evenhand.commute("Something.", pairs=boom)
    def any_order(config, one, other):
        return True

    return check(light(), [any_order])


@slip("raising_parts", says=("any_order", "KeyError"))
def a_sameness_that_raises():
    """`same` of a commute."""

    @evenhand.commute("Something.", pairs=lambda config, state, enabled: [("next", "next")])
    def any_order(config, one, other):
        return boom()

    return check(light(), [any_order])


@slip("raising_parts", says=("twins_agree", r"\btwins\b", "KeyError"))
def twins_that_raise():
    """`twins` of a two_run."""
    return check(light(), [mirrored(twins=boom)])


@slip("raising_parts", says=("twins_agree", r"`state`|twin state|\bstate\b of|\bstate\(", "KeyError"))
def a_twin_state_that_raises():
    """`state` of a two_run."""
    return check(light(), [mirrored(state=boom)])


@slip("raising_parts", says=("twins_agree", r"\bother\b", "KeyError"))
def another_action_that_raises():
    """`other` of a two_run."""
    return check(light(), [mirrored(other=boom)])


@slip("raising_parts", says=("never_dark", "applies", "KeyError"))
def applies_that_raises():
    """`applies` of any claim."""
    return check(light(), [replace(never_dark, applies=boom)])


@slip("raising_parts", says=("light", "taken|fair", "KeyError"))
def a_fairness_that_raises():
    """`taken` of a Fairness."""

    @evenhand.eventually("It goes green.", fairness=("turning",))
    def goes_green(step):
        return step.after == "blue"

    return check(light(fair={"turning": evenhand.Fairness("weak", boom)}), [goes_green])
