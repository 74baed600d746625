"""Systems of joint choices, and claims about them, that look past what a search from tables follows.

By name: the system, the claims, and whether the tables serve them all (2), some of the claims (1), or nothing (0).
"""

# Ways around types are the subject, and newcomers write none.
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
# pyright: basic
from __future__ import annotations

import functools
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evenhand.core.kinds import Always, DeadlockFree, EachStep, LeadsTo, LivelockFree, Monitor, Reachable
from evenhand.core.property import Property
from evenhand.core.relations import DeterminedBy
from evenhand.core.system import AnySystem, Fairness, Joint, Scope, Separated, System

ALL, SOME, NONE = 2, 1, 0

WAYS: dict[str, tuple[Callable[[], tuple[AnySystem, Sequence[Property]]], int]] = {}


@dataclass(frozen=True)
class Pair:
    """Two agents' parts, and one that no step reads."""

    x: Any
    y: Any
    z: Any = 0


@dataclass(frozen=True)
class Seen:
    """An observation: who moved, and by how much in all."""

    moved: tuple[str, ...]
    total: int


def _agents(_config, _state):
    return ("a", "b")


def _choices(_config, _scope, _state, _agent):
    return range(3)


def _step(_rules, _config, state, action):
    made = dict(action)
    gained = sum(made.values())
    moved = tuple(agent for agent, choice in action if choice)
    if gained > 2:
        return state, Seen((), 0)
    after = Pair((state.x + made.get("a", 0)) % 4, (state.y + made.get("b", 0)) % 5, state.z)
    return after, Seen(moved, gained)


def joint(
    step: Any = _step,
    agents: Any = _agents,
    choices: Any = _choices,
    join: Any = None,
    start: Any = Pair(0, 0),
    **more: Any,
) -> AnySystem:
    """A system of two agents that choose 0, 1 or 2 at the same time."""
    return System(
        name="joint",
        rules=None,
        configs=lambda _scope, _readings: ("only",),
        initial=lambda _config: (start, replace(start, z=1)) if isinstance(start, Pair) else (start,),
        step=step,
        joint=Joint(agents, choices, join or (lambda _config, _state, picked: picked), lambda action: action),
        scope=Scope(),
        **more,
    )


def _made(action: Any) -> dict[Any, Any]:
    return dict(action)


def _of(state: Any) -> Any:
    return state


def each(check: Any, when: Any = None, name: str = "each") -> EachStep:
    """A claim about steps."""
    more = {} if when is None else {"when": when}
    return EachStep(name=name, sentence="Something is so in each step.", source="test", check=check, **more)


def always(check: Any) -> Always:
    """A claim about states."""
    return Always(name="always", sentence="Something is so in each state.", source="test", check=check)


def monitor(start: Any, update: Any, ok: Any, name: str = "watched") -> Monitor:
    """A claim about histories."""
    return Monitor(
        name=name,
        sentence="Something is so all along.",
        source="test",
        start=lambda _config: start,
        update=update,
        ok=ok,
    )


def way(expected: int) -> Any:
    """Register what makes a system and its claims."""

    def register(make: Any) -> Any:
        WAYS[make.__name__] = (make, expected)
        return make

    return register


# Followed.


@way(ALL)
def nothing_is_claimed():
    return joint(), ()


@way(ALL)
def parts_that_change_late():
    """Five parts have one value until the sum is large enough, and are added to it then."""

    def step(_rules, _config, state, action):
        total = min(24, state.x + sum(_made(action).values()) + sum(state.y))
        return Pair(total, tuple(int(total >= 4 * place) for place in range(1, 6)), state.z), Seen((), sum(state.y))

    return joint(step, start=Pair(0, (0,) * 5)), (each(lambda step: step.shown.total < 5 or step.before.x >= 20),)


@way(ALL)
def claims_about_states_and_steps():
    return joint(), (
        always(lambda _config, state: state.x != 3 or state.y != 4),
        each(lambda step: step.before.x == step.after.x or step.before.y == step.after.y),
        each(lambda step: step.shown.total < 3, when=lambda step: bool(step.shown.moved), name="shown"),
    )


@way(ALL)
def claims_that_ask_for_the_action():
    return joint(), (
        each(lambda step: dict(step.action)["a"] != 2 or step.after.x != 1),
        each(lambda step: sum(dict(step.action).values()) == step.shown.total, name="total"),
    )


@way(ALL)
def a_claim_that_asks_for_the_action_in_some_states_alone():
    return joint(), (each(lambda step: step.before.x != 2 or dict(step.action)["b"] != 2),)


@way(ALL)
def a_claim_that_asks_for_the_action_where_an_unread_part_is_one():
    return joint(), (each(lambda step: step.before.z == 0 or dict(step.action)["b"] != 2),)


@way(ALL)
def a_claim_about_a_part_that_no_step_reads():
    return joint(), (each(lambda step: step.after.z == 0 or step.after.x < 3),)


@way(ALL)
def a_goal():
    return joint(), (Reachable(name="goal", sentence="A goal.", source="test", goal=lambda step: step.after.x == 3),)


@way(ALL)
def a_goal_that_asks_for_the_action():
    return joint(), (
        Reachable(
            name="goal",
            sentence="A goal.",
            source="test",
            goal=lambda step: dict(step.action)["a"] == 1 and step.before.y == 4,
        ),
    )


@way(ALL)
def claims_about_runs():
    fair: Any = {
        "a_moves": Fairness("weak", lambda _state, action: _made(action)["a"] > 0),
        "b_moves": Fairness("strong", lambda state, action: _made(action)["b"] == 2 and _of(state).x > 0),
    }
    return joint(fair=lambda _config: fair), (
        LeadsTo(
            name="leads",
            sentence="Leads.",
            source="test",
            trigger=lambda step: step.after.x == 1,
            goal=lambda step: step.after.x == 0,
            fairness=("a_moves",),
        ),
        LivelockFree(
            name="live",
            sentence="Live.",
            source="test",
            attempts=lambda step: sum(dict(step.action).values()) > 3,
            progress=lambda step: step.after.y == 3,
            fairness=("a_moves", "b_moves"),
        ),
        DeadlockFree(
            name="free",
            sentence="Free.",
            source="test",
            wants=lambda _config, state: state.x < 3,
            completes=lambda step: step.after.x == 3,
        ),
    )


@way(ALL)
def monitors():
    return joint(), (
        monitor(0, lambda value, step: min(3, value + 1) if step.shown.moved else 0, lambda _config, value: value < 3),
        monitor(
            (0, True),
            lambda value, step: (step.after.x, value[0] <= step.after.x),
            lambda _config, value: value[1],
            name="pairs",
        ),
        monitor(
            "",
            lambda value, step: "late" if step.before.z and step.after.y == 2 else value,
            lambda _c, _v: True,
            "text",
        ),
        monitor(0, lambda value, step: 4 if step.shown.moved else value, lambda _config, value: value < 4, "four"),
    )


@way(ALL)
def a_monitor_that_never_returns():
    return joint(), (monitor(0, lambda value, step: None, lambda _config, _value: True),)


@way(ALL)
def offers_that_depend_on_the_state():
    def choices(_config, _scope, state, agent):
        return range(1 + (state.x if agent == "a" else 2))

    def agents(_config, state):
        return ("a", "b") if state.y < 3 else ("b",)

    return joint(agents=agents, choices=choices, start=Pair(1, 0)), (each(lambda step: len(step.action) == 2),)


@way(ALL)
def nobody_is_left():
    return joint(agents=lambda _config, state: ("a", "b") if state.x < 2 else ()), (
        DeadlockFree(
            name="free",
            sentence="Free.",
            source="test",
            wants=lambda _config, _state: True,
            completes=lambda step: step.after.y == 2,
        ),
    )


@way(ALL)
def an_empty_menu():
    return joint(choices=lambda _config, _scope, state, agent: range(3 if agent == "a" or state.x < 2 else 0)), ()


@way(ALL)
def a_step_that_reads_everything():
    def step(_rules, _config, state, action):
        made = dict(action)
        return Pair((state.x + made["a"]) % 4, (state.y + made["b"] + state.z) % 5, state.z), Seen((), 0)

    return joint(step), (each(lambda step: step.after.y != 4),)


@way(ALL)
def a_part_moves():
    def step(_rules, _config, state, action):
        return Pair(state.y, state.x, dict(action)["a"]), Seen((), 0)

    return joint(step, start=Pair(0, 1)), (each(lambda step: step.after.x == 0),)


@way(ALL)
def a_set_that_grows():
    def step(_rules, _config, state, action):
        return Pair(state.x | {dict(action)["a"]}, (state.y + 1) % 2, state.z), Seen((), 0)

    return joint(step, start=Pair(frozenset(), 0)), (each(lambda step: 2 not in step.after.x),)


@way(ALL)
def a_tuple_of_changing_length():
    def step(_rules, _config, state, action):
        return Pair((*state.x[-2:], dict(action)["a"]), state.y, state.z), Seen((), 0)

    return joint(step, start=Pair((), 0)), (each(lambda step: step.after.x != (2, 2, 1)),)


@way(ALL)
def facts_shared_by_claims():
    def facts(step):
        return sum(dict(step.action).values())

    return joint(), (
        each(lambda step: step.once(facts) < 4),
        each(lambda step: step.once(facts) != 2 or step.after.x != 2, name="other"),
    )


@way(ALL)
def claims_that_compare_before_and_after():
    def reads(_rules, _config, _state):
        return ()

    def apply(_rules, _config, state, found):
        made = dict(found)
        x = 1 - state.x if state.y % 2 and made["a"] else state.x
        return Pair(x, (state.y + made["b"]) % 3, state.z), Seen((), 0)

    def step(rules, config, state, action):
        return apply(rules, config, state, tuple((agent, min(choice, 1)) for agent, choice in action))

    separated: Any = Separated(
        reads, lambda _rules, _config, _key, _agent, x: min(x, 1), lambda _rules, _config, _key, made: made, apply
    )
    same = each(lambda step: dict(step.action)["a"] == 2 or step.after.x == step.before.x)
    return joint(step, separated=separated), (
        same,
        each(lambda step: len(step.action) == 2 and step.after.z == step.before.z, name="other"),
    )


@way(ALL)
def an_exception_of_the_models_own():
    def step(_rules, _config, state, action):
        try:
            there = ("a", "b", "c")[state.x]
        except IndexError:
            there = "none"
        return Pair((state.x + dict(action)["a"]) % 5, len(there), state.z), Seen((), 0)

    return joint(step), (each(lambda step: step.after.y != 4),)


def separated() -> AnySystem:
    """The system of `_step` with its parts, where choices that are too large together count for nothing."""

    def merge(_rules, _config, _key, made):
        return tuple(made) if sum(gain for _, gain in made) <= 2 else ()

    def apply(_rules, _config, state, verdict):
        made = dict(verdict)
        moved = tuple(agent for agent, gain in verdict if gain)
        after = Pair((state.x + made.get("a", 0)) % 4, (state.y + made.get("b", 0)) % 5, state.z)
        return after, Seen(moved, sum(made.values()))

    parts: Any = Separated(lambda _rules, _config, _state: None, lambda _r, _c, _k, _a, gain: gain, merge, apply)
    return joint(separated=parts)


@way(ALL)
def a_separated_step():
    return separated(), (
        each(lambda step: dict(step.action)["a"] != 2 or step.after.x != 1),
        each(lambda step: step.shown.total < 3, name="shown"),
        monitor(0, lambda value, step: min(3, value + 1) if step.shown.moved else 0, lambda _config, value: value < 3),
    )


@way(ALL)
def fairness_that_depends_on_the_state():
    fair: Any = {"a_moves": Fairness("weak", lambda state, action: _made(action)["a"] > 0 and _of(state).y != 2)}
    system = replace(separated(), fair=lambda _config: fair)
    return system, (
        LeadsTo(
            name="leads",
            sentence="Leads.",
            source="test",
            trigger=lambda step: step.after.x == 1,
            goal=lambda step: step.after.x == 0,
            fairness=("a_moves",),
        ),
    )


# One claim is left to the search below, the others are not.


@way(SOME)
def a_claim_that_compares_identity():
    return joint(), (
        each(lambda step: step.before is not step.after),
        each(lambda step: step.after.x < 3, name="other"),
    )


@way(SOME)
def a_claim_that_asks_for_types():
    return joint(), (
        each(lambda step: type(step.after.x) is int),
        each(lambda step: step.after.x < 3, name="other"),
    )


@way(SOME)
def a_claim_that_keeps_what_it_is_given():
    kept: list[Any] = []

    def check(step):
        kept[:] = [*kept[-1:], step.before.x]
        return kept[0] >= 0

    return joint(), (each(check), each(lambda step: step.after.x < 3, name="other"))


@way(SOME)
def a_claim_with_a_cache():
    @functools.lru_cache
    def small(x):
        return x < 3

    return joint(), (each(lambda step: small(step.after.x)), each(lambda step: step.after.x < 3, name="other"))


@way(SOME)
def a_claim_that_swallows_everything():
    def check(step):
        try:
            return dict(step.action)["a"] < 5
        except BaseException:
            return False

    return joint(), (each(check), each(lambda step: step.after.x < 3, name="other"))


@way(SOME)
def a_monitor_that_asks_for_the_action():
    return joint(), (
        monitor(0, lambda value, step: max(value, dict(step.action)["a"]), lambda _config, value: value < 2),
        each(lambda step: step.after.x < 3, name="other"),
    )


@way(SOME)
def a_monitor_that_hides_that_it_asks():
    def update(value, step):
        try:
            return dict(step.action)["a"]
        except BaseException:
            return value

    return joint(), (monitor(0, update, lambda _config, value: value < 2), each(lambda step: step.after.x < 3))


@way(SOME)
def keys_and_values():
    return joint(), (
        DeterminedBy(
            name="keys",
            sentence="Keys.",
            source="test",
            key=lambda step: (step.before.x, step.action),
            value=lambda step: step.after.x,
            across=False,
        ),
        each(lambda step: step.after.x < 3, name="other"),
    )


def _or_none(_rules, _config, state, action):
    made = dict(action)
    y = 0 if state.y is None else None if made["b"] == 2 else state.y
    return Pair((state.x + made["a"]) % 3, y, state.z), Seen((), made["a"])


@way(ALL)
def a_step_that_compares_identity():
    return joint(_or_none, start=Pair(0, None)), ()


@way(ALL)
def a_separated_step_that_compares_identity():
    def apply(rules, config, state, verdict):
        return _or_none(rules, config, state, verdict or (("a", 0), ("b", 0)))

    def step(rules, config, state, action):
        return apply(rules, config, state, action if sum(dict(action).values()) <= 2 else ())

    given: Any = separated().separated
    parts = replace(given, apply=apply)
    return joint(step, start=Pair(0, None), separated=parts), ()


@way(ALL)
def offers_and_claims_that_compare_identity():
    return joint(
        _or_none,
        choices=lambda _config, _scope, state, _agent: range(2 if state.y is None else 3),
        start=Pair(0, None),
    ), (
        always(lambda _config, state: state.y is None or state.x < 2),
        each(lambda step: step.after.y is not None or step.before.y is None),
        each(lambda step: dict(step.action)["a"] == 0 or step.after.y is None, name="acting"),
    )


@way(ALL)
def monitors_that_compare_identity():
    def update(value, step):
        return step.after.x if value is None else None if step.after.y is None else value

    return joint(_or_none, start=Pair(0, None)), (monitor(None, update, lambda _config, value: value != 2),)


@way(ALL)
def a_step_with_a_cache():
    @functools.lru_cache
    def more(x, y):
        return (x + y) % 4

    def step(_rules, _config, state, action):
        return Pair(more(state.x, dict(action)["a"]), state.y, state.z), Seen((), 0)

    return joint(step), ()


# Refused.


@way(NONE)
def a_step_that_asks_for_types():
    def step(_rules, _config, state, action):
        return Pair("text" if type(state.x) is int else 0, dict(action)["a"], state.z), Seen((), 0)

    return joint(step), ()


@way(NONE)
def an_offer_that_asks_for_types():
    return joint(choices=lambda _config, _scope, state, _agent: range(3 if type(state.x) is int else 1)), ()


@way(NONE)
def a_join_that_reads_the_state():
    def join(_config, state, picked):
        return tuple((agent, (choice + state.x) % 3) for agent, choice in picked)

    return replace(separated(), separated=None, joint=Joint(_agents, _choices, join, lambda action: action)), (
        each(lambda step: dict(step.action)["a"] < 2),
    )


@way(NONE)
def true_beside_one():
    def step(_rules, _config, state, action):
        return Pair(state.x, dict(action)["a"] == 2 if state.y else dict(action)["a"], state.z), Seen((), 0)

    return joint(step, start=Pair(0, 0)), ()


@way(NONE)
def a_step_that_draws():
    dice = random.Random(1)

    def step(_rules, _config, state, action):
        return Pair((state.x + dice.randrange(2)) % 3, 0, state.z), Seen((), 0)

    return joint(step), ()


@way(NONE)
def a_step_that_counts_its_calls():
    calls: list[int] = []

    def step(_rules, _config, state, action):
        calls.append(1)
        return Pair((state.x + (len(calls) > 40)) % 3, dict(action)["a"], state.z), Seen((), 0)

    return joint(step), ()


class Marked:
    """What has room for a mark that equality does not compare."""

    __slots__ = ("mark",)


@dataclass(frozen=True)
class Loose:
    number: int


@dataclass(frozen=True, slots=True)
class Tight(Marked):
    number: int


def _marks(kind):
    """Choices of which that of `b` has a mark, and a claim that sees it."""

    def choices(_config, _scope, _state, agent):
        made = [kind(number) for number in range(3)]
        for one in made:
            object.__setattr__(one, "mark", agent == "b" and one.number == 2)
        return made

    def step(rules, config, state, action):
        return _step(rules, config, state, tuple((agent, choice.number) for agent, choice in action))

    unmarked = each(lambda step: not any(choice.mark for _, choice in step.action))
    return joint(step, choices=choices), (unmarked,)


@way(NONE)
def equal_choices_with_other_attributes():
    return _marks(Loose)


@way(NONE)
def equal_choices_with_other_slots():
    return _marks(Tight)


def _told_apart(judged, verdict):
    """Twelve choices each; the last is 1 and not True somewhere, which is told only where both agents take it."""

    def judge(_rules, _config, _key, _agent, choice):
        return judged(choice)

    def merge(_rules, _config, _key, made):
        return verdict([str(judgement) for _, judgement in made])

    def apply(_rules, _config, state, made):
        return Pair((state.x + (str(made) == "True")) % 2, state.y, state.z), None

    def step(rules, config, state, action):
        made = tuple((agent, judge(rules, config, 0, agent, choice)) for agent, choice in action)
        return apply(rules, config, state, merge(rules, config, 0, made))

    parts: Any = Separated(lambda _rules, _config, _state: 0, judge, merge, apply)
    system = joint(step, choices=lambda *_given: range(12), separated=parts)
    return system, (always(lambda _config, state: not state.x),)


@way(NONE)
def equal_judgements_of_other_types():
    return _told_apart(lambda choice: True if choice == 11 else min(choice, 1), lambda made: made == ["True", "True"])


@way(NONE)
def equal_verdicts_of_other_types():
    return _told_apart(lambda choice: choice, lambda made: True if made == ["11", "11"] else int(made[0] == "1"))


@way(NONE)
def equal_choices_of_other_types():
    """Where the first agent is at 1, the last choice is True: both must take it to go on."""

    def choices(_config, _scope, state, _agent):
        return (*range(2, 13), True if state.x else 1)

    def step(_rules, _config, state, action):
        made = [str(choice) for _, choice in action]
        return Pair(2 if made == ["True", "True"] else max(state.x, int(made[0] == "2")), state.y, state.z), None

    return joint(step, choices=choices), (always(lambda _config, state: state.x < 2),)
