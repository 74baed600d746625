"""Liveness: fairness that is misspelt, missing, or never serves, and what must come to pass and does not."""

# Newcomers write no types, and so nothing here has any.
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
# pyright: basic
from __future__ import annotations

from dataclasses import make_dataclass
from typing import Any

from tests.slips.examples import check, light, turns_green
from tests.slips.kit import control, evenhand, slip


def turning(step: Any, action: Any = None) -> bool:
    """`taken(state, action)`: a step that turns the light."""
    return bool(action == "next")


def lazy(**more: Any) -> Any:
    """A light that may wait for ever, or turn."""
    return light(
        actions=lambda state: ["wait", "next"],
        step=lambda state, action: state if action == "wait" else turns_green(state, action),
        **more,
    )


def fair(kind: Any, taken: Any = turning) -> Any:
    """The lazy light, turning under some fairness."""
    return lazy(fair={"turning": evenhand.Fairness(kind, taken)})


def turns(*fairness: str, **more: Any) -> Any:
    """It goes green some time, under fairness."""

    @evenhand.eventually("It goes green.", fairness=fairness, **more)
    def goes_green(step):
        return step.after == "green"

    return goes_green


@slip("liveness", says=("Weak", "weak|strong|kind"))
def fairness_with_a_capital():
    """`Fairness("Weak", …)`, which is taken for strong."""
    return check(fair("Weak"), [turns("turning")])


@slip("liveness", says=("wf", "weak|strong|kind"))
def fairness_of_tla():
    """`Fairness("wf", …)`, as TLA+ writes WF."""
    return check(fair("wf"), [turns("turning")])


@slip("liveness", says=("week", "weak"))
def a_week_of_fairness():
    """`Fairness("week", …)`."""
    return check(fair("week"), [turns("turning")])


@slip("liveness", says=("None", "weak|strong|kind"))
def fairness_of_no_kind():
    """`Fairness(None, …)`."""
    return check(fair(None), [turns("turning")])


@slip("liveness", says=("weak|strong|kind", "True|bool"))
def fairness_as_a_switch():
    """`Fairness(True, …)`, for strong."""
    return check(fair(True), [turns("turning")])


@slip("liveness", says=("Fairness", "kind|weak|order|str"))
def fairness_the_other_way_round():
    """`Fairness(taken, "weak")`."""
    return check(lazy(fair={"turning": evenhand.Fairness(turning, "weak")}), [turns("turning")])


@slip("liveness", says="Fairness|taken|missing")
def fairness_without_taken():
    """`Fairness("weak")`."""
    return check(lazy(fair={"turning": evenhand.Fairness("weak")}), [turns("turning")])


@slip("liveness", says=("turning|fair", "Fairness"))
def fairness_as_a_word():
    """`fair={"turning": "weak"}`, without what serves it."""
    return check(lazy(fair={"turning": "weak"}), [turns("turning")])


@slip("liveness", says=("turning|fair", "Fairness"))
def fairness_as_a_function():
    """`fair={"turning": taken}`, the function alone."""
    return check(lazy(fair={"turning": turning}), [turns("turning")])


@slip("liveness", says=("fair", "dict|mapping|name|list"))
def fairness_in_a_list():
    """`fair=[Fairness(…)]`, without names."""
    return check(lazy(fair=[evenhand.Fairness("weak", turning)]), [turns("turning")])


@slip("liveness", says=("fair", "dict|mapping|name|Fairness"))
def one_fairness_alone():
    """`fair=Fairness(…)`."""
    return check(lazy(fair=evenhand.Fairness("weak", turning)), [turns("turning")])


@slip("liveness", says=("fair", "dict|mapping|function|name"))
def fairness_of_the_full_record():
    """`fair=lambda config: {…}`, as the full record has it."""
    return check(lazy(fair=lambda config: {"turning": evenhand.Fairness("weak", turning)}), [turns("turning")])


@slip("liveness", says=("taken|turning", "generator|list|None|bool"))
def taken_that_yields():
    """`taken` of a Fairness is a generator: every step serves it, so every loop is fair."""
    return check(fair("weak", lambda state, action: (a == "next" for a in [action])), [turns("turning")])


@slip("liveness", says=("taken|turning", "None|bool"))
def taken_that_returns_nothing():
    """`taken` has no return: nothing serves it, so every loop is unfair, or none."""
    return check(fair("weak", lambda state, action: None), [turns("turning")])


@slip("liveness", says=("taken|turning", "str|bool"))
def taken_that_returns_the_action():
    """`taken` returns the action, which is truthy."""
    return check(fair("weak", lambda state, action: action), [turns("turning")])


@slip("liveness", says=("taken|turning", "argument"))
def taken_over_a_step():
    """`taken(step)`, as every other predicate is."""
    return check(fair("weak", lambda step: step.action == "next"), [turns("turning")])


@slip("liveness", says=("taken|turning", "call|function|predicate"))
def taken_as_an_action():
    """`Fairness("weak", "next")`, the action that is served."""
    return check(fair("weak", "next"), [turns("turning")])


@slip("liveness", says="turning|served|offer|taken", refuted=True)
def taken_the_other_way_round():
    """`taken(action, state)`: nothing ever serves it, and it constrains nothing."""
    return check(fair("weak", lambda action, state: action == "next"), [turns("turning")])


@slip("liveness", says=("turnin", "turning"))
def a_misspelt_fairness():
    """`fairness=("turnin",)`."""
    return check(fair("weak"), [turns("turnin")])


@slip("liveness", says=("fairness", "tuple|str|text|list"))
def fairness_named_without_a_tuple():
    """`fairness="turning"`, whose letters are taken for names."""

    @evenhand.eventually("It goes green.", fairness="turning")
    def goes_green(step):
        return step.after == "green"

    return check(fair("weak"), [goes_green])


@slip("liveness", says=("fairness", "t\\b|tuple|str|name"))
def fairness_of_one_letter():
    """`fairness="t"`, which happens to be the one letter that is a name."""

    @evenhand.eventually("It goes green.", fairness="t")
    def goes_green(step):
        return step.after == "green"

    return check(lazy(fair={"t": evenhand.Fairness("weak", turning)}), [goes_green])


@slip("liveness", says=("fairness", "Fairness|name|str"))
def the_fairness_itself():
    """`fairness=(Fairness(…),)` in the claim, not its name."""

    @evenhand.eventually("It goes green.", fairness=(evenhand.Fairness("weak", turning),))
    def goes_green(step):
        return step.after == "green"

    return check(lazy(), [goes_green])


@slip("liveness", says=("fairness", "weak|turning|none|unknown"))
def the_kind_for_the_name():
    """`fairness=("weak",)`, the kind where the name goes."""
    return check(fair("weak"), [turns("weak")])


@slip("liveness", says=("goes_green|fairness", "None|tuple"))
def fairness_none():
    """`fairness=None`."""

    @evenhand.eventually("It goes green.", fairness=None)
    def goes_green(step):
        return step.after == "green"

    return check(light(), [goes_green])


@slip("liveness", says="goes_green", refuted=True)
def no_fairness_at_all():
    """Expects that what can happen happens: without fairness it may wait for ever."""
    return check(lazy(), [turns()])


@slip("liveness", says="goes_green", refuted=True)
def fairness_that_only_the_system_has():
    """Fairness in the system, and none named in the claim."""
    return check(fair("weak"), [turns()])


@slip("liveness", says="goes_green", refuted=True)
def weak_where_strong_is_needed():
    """The turn is on offer in every second state only: weak fairness owes it nothing."""
    system = light(
        initial=[("red", 0)],
        actions=lambda state: ["wait", "next"] if state[1] == 0 else ["wait"],
        step=lambda state, action: ("green", 0) if action == "next" else (state[0], 1 - state[1]),
        fair={"turning": evenhand.Fairness("weak", turning)},
    )

    @evenhand.eventually("It goes green.", fairness=("turning",))
    def goes_green(step):
        return step.after[0] == "green"

    return check(system, [goes_green])


@slip("liveness", says="goes_green|finishes", refuted=True)
def a_run_that_ends_before():
    """Nothing is on offer in the second state, so the run ends without what must come."""
    system = light(
        actions=lambda state: ["next"] if state == "red" else [],
        step=lambda state, action: "amber",
        fair={"turning": evenhand.Fairness("strong", turning)},
    )
    return check(system, [turns("turning")])


@slip("liveness", says=("goes_green", "40|bound|max_states|closed|open"), sampled=True)
def liveness_of_an_open_graph():
    """A clock in the state: the graph never closes, and nothing can be said of what goes on for ever."""

    @evenhand.eventually("The clock shows a million.")
    def goes_green(step):
        return step.after >= 1_000_000

    system = evenhand.system("clock", initial=[0], actions=lambda state: ["tick"], step=lambda state, action: state + 1)
    return check(system, [goes_green], max_states=40)


@slip("liveness", says="goes_green", refuted=True)
def eventually_about_the_start():
    """What is true at the start only: `eventually` speaks of steps, and none leads there."""

    @evenhand.eventually("It is red at some time.")
    def goes_green(step):
        return step.after == "red"

    return check(light(step=lambda state, action: "green"), [goes_green])


@slip("liveness", says=("fairness", "wants|deadlock_free|goes_on"))
def fairness_of_a_deadlock_claim():
    """`fairness=` of a deadlock_free, which has none."""

    @evenhand.deadlock_free("Nothing is stuck.", wants=lambda state: True, fairness=("turning",))
    def goes_on(step):
        return step.after == "green"

    return check(fair("weak"), [goes_on])


@slip("liveness", says="gets_on", refuted=True)
def a_livelock_that_is_there():
    """Waits in vain: the goal of the retry is never met."""

    @evenhand.livelock_free("Waiting is not in vain.", attempts=lambda step: step.action == "wait")
    def gets_on(step):
        return step.after == "amber"

    return check(lazy(), [gets_on])


@slip("liveness", says=("fair", "assumption"))
def fairness_of_each_agent_without_assumption():
    """`per_agent(name, agents)` in a function of the configuration."""
    made = evenhand.system(
        "light",
        config=make_dataclass("Config", [("agents", tuple)], frozen=True),
        scope={"agents": 2},
        initial=lambda config: ["red"],
        actions=lambda config, state: ["next"],
        step=lambda config, state, action: "green",
        fair=lambda config: evenhand.per_agent("turning", config.agents),
    )
    return check(made, [turns("turning")])


@control("liveness")
def weak_fairness():
    """The turn is always on offer: weak fairness brings it."""
    return check(fair("weak"), [turns("turning")])


@control("liveness")
def fairness_in_a_list_of_names():
    """`fairness=["turning"]`, a list of names."""

    @evenhand.eventually("It goes green.", fairness=["turning"])
    def goes_green(step):
        return step.after == "green"

    return check(fair("strong"), [goes_green])


@control("liveness")
def a_light_that_cannot_wait():
    """No fairness is needed where nothing else can happen."""
    return check(light(), [turns()])
