"""Drawn runs by themselves, and `replay`: `fuzz` without a search beside it."""

# Newcomers write no types, and so nothing here has any.
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
# pyright: basic
from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.slips.engines import LAMPS, a_generator
from tests.slips.examples import breakable, light, never_dark
from tests.slips.kit import control, evenhand, slip


def few(system: Any, claims: Any, *more: Any, **named: Any) -> Any:
    """Drawn runs, ten of them."""
    return evenhand.fuzz(system, claims, *more, **{"examples": 10, **named})


@slip("drawing", says=("a_generator", "generator"))
def drawing_a_generator():
    """`fuzz` with a claim that answers with a generator."""
    return few(breakable(), [a_generator])


@slip("drawing", says=("no_return", "None"))
def drawing_without_return():
    """`fuzz` with a claim that asserts and returns nothing."""

    @evenhand.each_step("The light is never dark.")
    def no_return(step):
        assert step.after

    return few(light(), [no_return])


@slip("drawing", says=("stays", "when", "generator"))
def drawing_a_generator_as_antecedent():
    """`fuzz` with an antecedent that is a generator."""

    @evenhand.each_step("What is dark stays dark.", when=lambda step: (s == "blue" for s in [step.before]))
    def stays(step):
        return step.after in ("red", "green", "dark")

    return few(breakable(), [stays])


@slip("drawing", says=("light", "step", "KeyError"))
def drawing_a_step_that_raises():
    """`fuzz` of a step that raises: what comes out is the bare KeyError."""
    return few(light(step=lambda state, action: LAMPS["lamp"]), [never_dark])


@slip("drawing", says=("never_dark", "KeyError"))
def drawing_a_claim_that_raises():
    """`fuzz` of a claim that raises."""

    @evenhand.always("The light is never dark.")
    def never_dark(state):
        return LAMPS["lamp"]

    return few(light(), [never_dark])


@slip("drawing", says=("light", "actions", "KeyError"))
def drawing_actions_that_raise():
    """`fuzz` of actions that raise."""
    return few(light(actions=lambda state: LAMPS["lamp"]), [never_dark])


@slip("drawing", says=("light", "actions", "str"))
def drawing_actions_as_text():
    """`fuzz` of actions that are one word."""
    return few(light(actions=lambda state: "next"), [never_dark])


@slip("drawing", says=("never_dark", "UnsatisfiedAssumption|assume"))
def drawing_with_an_assumption():
    """`assume(...)` in a claim: Hypothesis throws the example away in which the claim is false."""
    from hypothesis import assume

    @evenhand.always("The light is never dark.")
    def never_dark(state):
        assume(state != "dark")
        return state != "dark"

    return few(breakable(), [never_dark])


@slip("drawing", says=("light", "step", "UnsatisfiedAssumption|assume"))
def drawing_with_an_assumption_in_the_step():
    """`assume(...)` in the step: every example in which the light would break is thrown away."""
    from hypothesis import assume

    def step(state, action):
        assume(action != "break")
        return state

    return few(light(actions=lambda state: ["next", "break"], step=step), [never_dark])


@slip("drawing", says=("never_dark|step", "determin|same|twice|again|differ|and then|replay"), refuted=True)
def drawing_a_step_with_a_memory():
    """`fuzz` of a step that counts: what looks wrong once does not replay."""
    calls: list = []

    def step(state, action):
        calls.append(action)
        return "dark" if len(calls) == 50 else state

    return few(light(step=step), [never_dark])


@slip("drawing", says=("light", "chang|mutat"))
def drawing_a_step_that_mutates():
    """`fuzz` of a step that changes the state in place."""

    class Lamp:
        def __init__(self):
            self.switched = 0

        def __eq__(self, other):
            return isinstance(other, Lamp) and self.switched == other.switched

        def __hash__(self):
            return hash(self.switched)

    def step(state, action):
        state.switched = (state.switched + 1) % 3
        return state

    @evenhand.always("It is switched less than three times.")
    def seldom(state):
        return state.switched < 3

    return few(light(initial=[Lamp()], step=step), [seldom])


@control("drawing")
def drawing_one_claim_without_a_list():
    """`fuzz(system, never_dark)`."""
    return few(light(), never_dark)


@slip("drawing", says=("claim", "function|decorate"))
def drawing_a_plain_function():
    """`fuzz(system, [predicate])`."""
    return few(breakable(), [lambda state: state != "dark"])


@slip("drawing", says=("never_dark", "two|twice"))
def drawing_two_of_one_name():
    """Two claims of one name: what is counted of both is that of one."""
    return few(light(), [never_dark, replace(never_dark, sentence="Again.")])


@slip("drawing", says=("never_dark", "other|light|speak"))
def drawing_what_is_about_another_system():
    """`fuzz` with a claim of `systems=("other",)`."""
    return few(light(), [replace(never_dark, systems=("other",))])


@slip("drawing", says="system|name|str")
def drawing_a_name():
    """`fuzz("light", …)`, by name as on the command line."""
    return few("light", [never_dark])


@slip("drawing", says=("examples", "0|at least"))
def drawing_nothing():
    """`examples=0`."""
    return evenhand.fuzz(light(), [never_dark], examples=0)


@slip("drawing", says=("steps", "bool|int|True"))
def drawing_with_a_switch():
    """`steps=True`, which is one step."""
    return few(light(), [never_dark], steps=True)


@slip("drawing", says=("seed", "str|int"))
def drawing_with_a_word():
    """`seed="lucky"`."""
    return few(light(), [never_dark], seed="lucky")


@slip("drawing", says="generator|Generator|strateg")
def drawing_from_a_strategy():
    """`fuzz(system, claims, st.integers())`."""
    from hypothesis import strategies

    return few(light(), [never_dark], strategies.integers())


@slip("drawing", says=("generator", "other|light"))
def drawing_for_another_system():
    """A generator that names another system."""
    from hypothesis import strategies

    from evenhand.core.generator import Generator, Rule

    rules = (Rule("next", lambda draw, config, scope, state: "next"),)
    drawn = Generator("other", lambda scope, readings: strategies.none(), rules)
    return few(light(), [never_dark], drawn)


@slip("drawing", says=("rule|generator", "next|draw|never|none|no"))
def drawing_by_no_rule():
    """A generator without rules: no run takes a step."""
    from hypothesis import strategies

    from evenhand.core.generator import Generator

    return few(breakable(), [never_dark], Generator("light", lambda scope, readings: strategies.none(), ()))


@slip("drawing", says=("next_rule", "draw|action|argument"))
def a_rule_of_one_argument():
    """`Rule("next_rule", lambda draw: "next")`."""
    from hypothesis import strategies

    from evenhand.core.generator import Generator, Rule

    one_argument: Any = lambda draw: "next"  # noqa: E731
    drawn = Generator("light", lambda scope, readings: strategies.none(), (Rule("next_rule", one_argument),))
    return few(light(), [never_dark], drawn)


@slip("drawing", says=("actions|action, …", "str|tuple|next"))
def replaying_one_action_as_text():
    """`Scenario(None, "red", "next")`, whose letters are taken for actions."""
    return evenhand.replay(breakable(), evenhand.Scenario(None, "red", "next"))


@slip("drawing", says=("Scenario|scenario", "tuple|list"))
def replaying_a_list_of_actions():
    """`replay(system, ["next", "break"])`, without start and configuration."""
    return evenhand.replay(breakable(), ["next", "break"])


@slip("drawing", says=("scenario|Scenario", "Trace|trace"))
def replaying_a_trace():
    """`replay(system, trace)`, what an earlier replay gave."""
    trace = evenhand.replay(breakable(), evenhand.Scenario(None, "red", ("next",)))
    return evenhand.replay(breakable(), trace)


@slip("drawing", says=("scenario|Scenario", "None"))
def replaying_evidence_that_is_not_there():
    """`replay(system, verdict.evidence)` of a claim that holds: there is none."""
    (verdict,) = evenhand.explore(light(), [never_dark]).verdicts
    return evenhand.replay(light(), verdict.evidence)


@slip("drawing", says=("light", "step", "KeyError"))
def replaying_a_step_that_raises():
    """`replay` of a step that raises."""
    broken = light(step=lambda state, action: LAMPS["lamp"])
    return evenhand.replay(broken, evenhand.Scenario(None, "red", ("next",)))


@control("drawing")
def drawing_as_one_should():
    """`fuzz` of what holds."""
    return few(light(), [never_dark])


@control("drawing")
def replaying_as_one_should():
    """A run from the start, of actions on offer."""
    return evenhand.replay(breakable(), evenhand.Scenario(None, "red", ("next", "break")))
