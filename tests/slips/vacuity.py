"""Claims that say nothing: antecedents never met, goals that cannot be, systems in which nothing happens."""

# Newcomers write no types, and so nothing here has any.
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
# pyright: basic
from __future__ import annotations

from tests.slips.examples import breakable, check, light
from tests.slips.kit import control, evenhand, slip


@slip("vacuity", says=("stays", "never met|antecedent|no step"))
def a_misspelt_action_in_when():
    """`when=` compares with "brake", which nobody does."""

    @evenhand.each_step("Breaking changes nothing.", when=lambda step: step.action == "brake")
    def stays(step):
        return step.before == step.after

    return check(breakable(), [stays])


@slip("vacuity", says=("short", "never met|antecedent"))
def a_misspelt_state_in_when():
    """`when=` of an invariant compares with "Red"."""

    @evenhand.always("Red is short.", when=lambda config, state: state == "Red")
    def short(state):
        return len(state) > 99

    return check(breakable(), [short])


@slip("vacuity", says=("stays", "never met|antecedent"))
def what_is_shown_where_nothing_is():
    """`when=` looks at `shown`, which a step without it leaves None."""

    @evenhand.each_step("A refusal changes nothing.", when=lambda step: step.shown == "refused")
    def stays(step):
        return step.before == step.after

    return check(breakable(), [stays])


@slip("vacuity", says=("answered", "never met|trigger|antecedent"))
def a_trigger_that_never_happens():
    """`trigger=` compares an action with a tuple."""

    @evenhand.leads_to("Breaking leads to blue.", trigger=lambda step: step.action == ("break",))
    def answered(step):
        return step.after == "blue"

    return check(breakable(), [answered])


@slip("vacuity", says=("goes_on", "never met|wants|antecedent"))
def nobody_ever_wants():
    """`wants` looks for a state that is spelt otherwise."""

    @evenhand.deadlock_free("Who waits gets blue.", wants=lambda state: state == "DARK")
    def goes_on(step):
        return step.after == "blue"

    return check(breakable(), [goes_on])


@slip("vacuity", says=("gets_on", "never met|attempt|antecedent"))
def nobody_ever_tries():
    """`attempts` looks for an action that is spelt otherwise."""

    @evenhand.livelock_free("Trying is not in vain.", attempts=lambda step: step.action == "try")
    def gets_on(step):
        return step.after == "blue"

    return check(breakable(), [gets_on])


@slip("vacuity", says=("few", "never met|antecedent"))
def a_monitor_that_never_speaks():
    """`when=` of a monitor waits for a value that `update` never gives."""

    @evenhand.monitor(
        "After ten steps it is blue.",
        start=lambda config: 0,
        update=lambda n, step: min(n + 1, 3),
        when=lambda config, n: n == 10,
    )
    def few(config, n):
        return False

    return check(breakable(), [few])


@slip("vacuity", says=("by_all", "compared|key|never"))
def a_key_of_everything():
    """The key has all of the step in it, the outcome as well: no two steps share it that differ."""

    @evenhand.determined_by("What follows depends on the light.", key=lambda step: step)
    def by_all(step):
        return step.after

    return check(breakable(), [by_all])


@slip("vacuity", says=("by_nothing", "never met|antecedent"))
def a_determined_by_that_never_speaks():
    """`when=` admits no step."""

    @evenhand.determined_by(
        "What follows depends on the action.", key=lambda step: step.action, when=lambda step: step.action == "none"
    )
    def by_nothing(step):
        return step.after

    return check(breakable(), [by_nothing])


@slip("vacuity", says=("any_order", "pair|never"))
def no_pairs():
    """`pairs` admits none, for it compares an action with itself."""

    @evenhand.commute(
        "Order does not matter.",
        pairs=lambda config, state, enabled: [(a, b) for a in enabled for b in enabled if a is not b and a == b],
    )
    def any_order(config, one, other):
        return False

    return check(breakable(), [any_order])


@slip("vacuity", says="goes_blue", refuted=True)
def a_goal_that_cannot_be():
    """A reachable goal of a state that is spelt otherwise."""

    @evenhand.reachable("It can go blue.")
    def goes_blue(step):
        return step.after == "blue"

    return check(breakable(), [goes_blue])


@slip("vacuity", says="starts_red", refuted=True)
def a_goal_at_the_start():
    """`reachable` of what is true at the start only: it speaks of steps."""

    @evenhand.reachable("It can be red.")
    def starts_red(step):
        return step.after == "red"

    return check(light(step=lambda state, action: "green"), [starts_red])


@slip("vacuity", says=("goes_on", "no step|never"))
def steps_of_a_system_without_actions():
    """A claim about steps, and nothing is ever on offer."""

    @evenhand.each_step("Each step changes the light.")
    def goes_on(step):
        return step.before != step.after

    return check(light(actions=lambda state: []), [goes_on])


@slip("vacuity", says=("never_late", "no step|never"))
def a_history_of_a_system_without_actions():
    """A monitor, and nothing ever happens."""

    @evenhand.monitor("Nothing is late.", start=lambda config: 0, update=lambda n, step: n)
    def never_late(config, n):
        return n == 0

    return check(light(actions=lambda state: []), [never_late])


@slip("vacuity", says=("goes_on", "never|wants|end|stuck"), refuted=True)
def a_deadlock_from_the_start():
    """Everybody wants and nothing is on offer at all."""

    @evenhand.deadlock_free("Nothing is stuck.", wants=lambda state: True)
    def goes_on(step):
        return step.after == "green"

    return check(light(actions=lambda state: []), [goes_on])


@slip("vacuity", says="comes", refuted=True)
def eventually_in_a_system_without_actions():
    """What must come, and nothing ever happens."""

    @evenhand.eventually("It goes green.")
    def comes(step):
        return step.after == "green"

    return check(light(actions=lambda state: []), [comes])


@slip("vacuity", says=("answered", "no step|never|trigger"))
def leads_to_in_a_system_without_actions():
    """What is followed, and nothing ever happens."""

    @evenhand.leads_to("Red leads to green.", trigger=lambda step: True)
    def answered(step):
        return step.after == "green"

    return check(light(actions=lambda state: []), [answered])


@slip("vacuity", says=("twins_agree", "never|twin"))
def twins_in_a_system_without_actions():
    """Two runs of which neither takes a step."""

    @evenhand.two_run(
        "Twins agree.",
        twins=lambda config, state, action: ["mirror"],
        config=lambda w, config: config,
        state=lambda w, config, state: state,
        other=lambda w, action: (action,),
    )
    def twins_agree(w, step, other):
        return step.after == other.after

    return check(light(actions=lambda state: []), [twins_agree])


@control("vacuity")
def an_antecedent_that_is_met():
    """`when=` of what does happen."""

    @evenhand.each_step("Breaking makes it dark.", when=lambda step: step.action == "break")
    def breaks(step):
        return step.after == "dark"

    return check(breakable(), [breaks])


@control("vacuity")
def an_invariant_of_a_system_without_actions():
    """The start is a state, and can be asked about."""

    @evenhand.always("It is red.")
    def red(state):
        return state == "red"

    return check(light(actions=lambda state: []), [red])
