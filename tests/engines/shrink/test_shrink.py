"""Planted faults shrink to their known minimum, from any run that found them.

The minimum has an independent origin: every shorter run, or every smaller lasso, tried by brute force.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import pytest

from evenhand.core.property import EachStep, LeadsTo, LivelockFree, Property, TwoRun
from evenhand.core.system import AnyStep, AnySystem
from evenhand.core.trace import Lasso, Pair, Scenario, replay, replay_lasso
from evenhand.core.verdict import Evidence
from evenhand.evidence.judge import refutes, restate
from evenhand.evidence.shrink import Shrinker, shrink
from tests.models import counter, lock, naive
from tests.models.lock import Act


@dataclass(frozen=True)
class Planted:
    """A planted fault, the claim that it violates, the claim's meaning for brute force, the least length."""

    name: str
    system: AnySystem
    claim: Property
    fails: Callable[[list[AnyStep]], bool]
    least: int


def two_inside(steps: list[AnyStep]) -> bool:
    """Mutual exclusion is false in the end."""
    return bool(steps) and [place for _, place in steps[-1].after.at].count("in") > 1


def three_entries(steps: list[AnyStep]) -> bool:
    """Three entries in all."""
    return [step.shown for step in steps].count("in") == 3


def over_budget(steps: list[AnyStep]) -> bool:
    """More is held than there is."""
    return bool(steps) and bool(sum(amount for _, amount in steps[-1].after.held) > steps[-1].config.budget)


def somebody_lucky(steps: list[AnyStep]) -> bool:
    """An agent is admitted although its request does not fit."""
    if not steps:
        return False
    held, asked = steps[-1].before.held, steps[-1].action
    wanted = sum(n for _, n in held) + sum(n for _, n in asked if n > 0)
    return bool(wanted > steps[-1].config.budget and steps[-1].shown != ())


PLANTED = (
    Planted("careless", lock.lock(3, lock.CARELESS), lock.MUTUAL_EXCLUSION, two_inside, 4),
    Planted("favours_first", lock.lock(3, lock.FAVOURS_FIRST), lock.MUTUAL_EXCLUSION, two_inside, 4),
    Planted("jams", lock.lock(3, lock.JAMS), lock.AT_MOST_TWO_ENTRIES, three_entries, 8),
    Planted("each_alone", counter.counter(3, 4, 3, counter.EACH_ALONE), counter.WITHIN_BUDGET, over_budget, 1),
    Planted("first_come", counter.counter(3, 4, 3, counter.FIRST_COME), counter.NO_WINNER, somebody_lucky, 1),
)


def by_name(planted: Planted) -> str:
    """Return the id of a parameter."""
    return planted.name


def found_blindly(planted: Planted, count: int) -> Iterator[Scenario[Any, Any, Any]]:
    """Return long random runs that refute the claim."""
    random = Random(planted.name)
    while count:
        scenario, steps = naive.random_run(planted.system, random, 40)
        if any(planted.fails(steps[:i]) for i in range(len(steps) + 1)):
            count -= 1
            yield scenario


def small(system: AnySystem, claim: Property, evidence: Evidence) -> Evidence:
    """Return the evidence shrunk, as the engines do it."""
    return restate(system, claim, shrink(system, evidence, lambda less: refutes(system, claim, less)))


@pytest.mark.parametrize("planted", PLANTED, ids=by_name)
def test_twenty_long_runs_shrink_to_the_known_minimum(planted: Planted) -> None:
    """Every result still refutes, and has only actions on offer."""
    for scenario in found_blindly(planted, 20):
        less = small(planted.system, planted.claim, scenario)
        assert isinstance(less, Scenario)
        assert refutes(planted.system, planted.claim, less)
        assert len(less.actions) == planted.least
        for step in replay(planted.system, less).steps:
            assert planted.system.is_enabled(step.config, step.before, step.action)


@pytest.mark.parametrize("planted", PLANTED[:2] + PLANTED[3:], ids=by_name)
def test_brute_force_knows_no_shorter_run(planted: Planted) -> None:
    """The pinned minimum is that of every run up to that length."""
    assert naive.shortest_failing(planted.system, planted.fails, planted.least) == planted.least


def test_brute_force_knows_no_shorter_way_to_three_entries() -> None:
    """Each entry is asked for, and each but the last is left: 3 + 3 + 2; no run of 7 does it."""
    system = lock.lock(1)
    config = next(iter(system.all_configs()))
    start = next(iter(system.initial(config)))
    runs: list[tuple[Any, int]] = [(start, 0)]
    for _ in range(7):
        runs = [
            (step.after, entries + (step.shown == "in"))
            for state, entries in runs
            for step in (system.take(config, state, action) for action in system.enabled(config, state))
        ]
        assert all(entries < 3 for _, entries in runs)


def test_simplest_configuration_and_lowest_choices() -> None:
    """Two agents, a budget of one, one unit each: no part can be smaller."""
    planted = PLANTED[3]
    for scenario in found_blindly(planted, 10):
        less = small(planted.system, planted.claim, scenario)
        assert isinstance(less, Scenario)
        assert (len(less.config.agents), less.config.budget) == (2, 1)
        assert [amount for _, amount in less.actions[0]] == [1, 1]


def test_same_input_same_output() -> None:
    """Shrinking uses neither random draws nor clocks."""
    planted = PLANTED[0]
    for scenario in found_blindly(planted, 3):
        assert small(planted.system, planted.claim, scenario) == small(planted.system, planted.claim, scenario)


def test_what_is_small_already_stays() -> None:
    """When every pass is idle, running again changes nothing."""
    for planted in PLANTED:
        for scenario in found_blindly(planted, 2):
            less = small(planted.system, planted.claim, scenario)
            assert small(planted.system, planted.claim, less) == less


def test_there_is_nothing_to_keep_in_what_does_not_fail() -> None:
    """The shrinker tells a caller that forgot to judge."""
    planted = PLANTED[0]
    scenario = replace(next(found_blindly(planted, 1)), actions=())
    with pytest.raises(ValueError, match="does not fail"):
        small(planted.system, planted.claim, scenario)


def test_the_limit_counts_calls_and_keeps_the_best_so_far() -> None:
    """For any limit the result still refutes."""
    planted, calls = PLANTED[0], list[Evidence]()

    def still_fails(evidence: Evidence) -> bool:
        calls.append(evidence)
        return refutes(planted.system, planted.claim, evidence)

    scenario = next(found_blindly(planted, 1))
    for limit in (0, 1, 5):
        calls.clear()
        less = shrink(planted.system, scenario, still_fails, limit=limit)
        assert refutes(planted.system, planted.claim, less)
        assert len(calls) <= limit + 1


def test_a_hostile_action_is_kept_and_honest_ones_stay_honest() -> None:
    """`fly` is on no menu; it causes the failure, so it must not be dropped for not being on offer."""
    system = lock.lock(3)
    claim = EachStep(
        name="nobody_flies_with_someone_inside",
        sentence="",
        check=lambda step: not (step.action.verb == "fly" and step.before.inside()),
    )
    random = Random(5)
    scenario, steps = naive.random_run(system, random, 30)
    inside = next(i for i, step in enumerate(steps) if step.after.inside())
    hostile = replace(scenario, actions=(*scenario.actions[: inside + 1], Act("fly", "p2"), *scenario.actions[-3:]))
    less = small(system, claim, hostile)
    assert isinstance(less, Scenario)
    assert [action.verb for action in less.actions] == ["ask", "enter", "fly"]


def test_a_hostile_choice_inside_a_joint_action_is_kept() -> None:
    """One agent asks for 99, which no menu has; the other agents' choices are lowered around it."""
    system = counter.counter(3, 4)
    claim = EachStep(name="x", sentence="", check=lambda step: all(amount < 99 for _, amount in step.action))
    config = next(iter(system.all_configs()))
    start = next(iter(system.initial(config)))
    rounds = ((("a0", 1), ("a1", 2), ("a2", -1)), (("a0", 3), ("a1", 99), ("a2", 2)), (("a0", 1), ("a1", 0), ("a2", 0)))
    less = small(system, claim, Scenario(config, start, rounds))
    assert isinstance(less, Scenario)
    assert less.actions == ((("a1", 99),),)


# Lassos


@dataclass(frozen=True)
class Starved:
    """A liveness claim that is false, under some fairness, and the least size of a lasso that shows it."""

    name: str
    claim: LeadsTo | LivelockFree
    least: int


STARVED = (
    Starved("unfair", lock.enters(), 2),
    Starved("weak", lock.enters("weak_p0"), 4),
    Starved("weak_and_leaving", lock.enters("weak_p0", "leave"), 4),
    Starved("knocking", lock.no_livelock(), 4),
    Starved("knocking_under_strong", lock.no_livelock("strong_p0", "strong_p1"), 4),
)


def starved(case: Starved) -> str:
    """Return the id of a parameter."""
    return case.name


def long_lassos(claim: Property, count: int) -> Iterator[Lasso[Any, Any, Any]]:
    """Return random walks that are lassos refuting the claim, with ten actions or more."""
    system, random = lock.lock(3), Random(claim.name)
    while count:
        scenario, steps = naive.random_run(system, random, 24)
        states = [scenario.start, *(step.after for step in steps)]
        for end in range(len(steps), 9, -1):
            entries = [i for i in range(end) if states[i] == states[end]]
            found = [
                Lasso(scenario.config, scenario.start, scenario.actions[:i], scenario.actions[i:end]) for i in entries
            ]
            refuting = [lasso for lasso in found if refutes(system, claim, lasso)]
            if refuting:
                count -= 1
                yield refuting[0]
                break


@pytest.mark.parametrize("case", STARVED, ids=starved)
def test_long_lassos_shrink_to_the_known_minimum(case: Starved) -> None:
    """Still closed, still fair by the textbook, still refuting; as small as the minimum of brute force."""
    system = lock.lock(3)
    for lasso in long_lassos(case.claim, 10):
        less = small(system, case.claim, lasso)
        assert isinstance(less, Lasso)
        assert refutes(system, case.claim, less)
        _, loop = replay_lasso(system, less)
        for name in case.claim.fairness:
            assert naive.fair_by_definition(system, less.config, list(loop), lock.fair(less.config)[name])
        assert len(less.stem) + len(less.loop) == case.least


@pytest.mark.parametrize("case", STARVED, ids=starved)
def test_brute_force_knows_no_smaller_lasso(case: Starved) -> None:
    """Every lasso of two processes, and of one, up to the pinned size."""
    sizes = [
        size
        for size in range(1, case.least + 1)
        for system in (lock.lock(1), lock.lock(2))
        for lasso, steps in naive.all_lassos(system, size)
        if _violates(case.claim, system, lasso, steps)
    ]
    assert min(sizes) == case.least


def _violates(
    claim: LeadsTo | LivelockFree, system: AnySystem, lasso: Lasso[Any, Any, Any], steps: list[AnyStep]
) -> bool:
    """Return whether a lasso refutes the claim, by its meaning over stem and loop."""
    stem, loop = steps[: len(lasso.stem)], steps[len(lasso.stem) :]
    assumptions = lock.fair(lasso.config)
    if not all(
        name in assumptions and naive.fair_by_definition(system, lasso.config, loop, assumptions[name])
        for name in claim.fairness
    ):
        return False
    if isinstance(claim, LivelockFree):
        return any(map(claim.attempts, loop)) and not any(map(claim.progress, loop))
    after = max((i for i, step in enumerate(stem) if claim.goal(step)), default=-1)
    asked = any(map(claim.trigger, [*stem[after + 1 :], *loop]))
    return asked and not any(map(claim.goal, loop))


# Pairs


def test_a_pair_of_orders_keeps_its_common_past() -> None:
    """Two asks, then two entries in either order; the third process and every detour are gone."""
    system = lock.lock(3)
    config = next(iter(system.all_configs()))
    start = next(iter(system.initial(config)))
    words = "ask2 enter2 idle1 ask1 leave2 ask0 idle0 ask2 enter2 leave2"
    past = tuple(Act(word[:-1], f"p{word[-1]}") for word in words.split())
    one, two = Act("enter", "p0"), Act("enter", "p1")
    pair = Pair(Scenario(config, start, (*past, one, two)), Scenario(config, start, (*past, two, one)), "")
    less = small(system, lock.ENTRIES_COMMUTE, pair)
    assert isinstance(less, Pair)
    assert refutes(system, lock.ENTRIES_COMMUTE, less)
    assert len(less.left.actions) == len(less.right.actions) == 4
    assert len(less.left.config.processes) == 2


def test_the_runs_of_a_pair_shrink_apart_where_they_may() -> None:
    """Equal keys with different values need no common past."""
    system = lock.lock(3, lock.FAVOURS_FIRST)
    random = Random(11)
    seen: dict[Any, tuple[Any, Scenario[Any, Any, Any]]] = {}
    while True:
        scenario, steps = naive.random_run(system, random, 30)
        key, value = lock.BY_PLACE.key(steps[-1]), lock.BY_PLACE.value(steps[-1])
        if key in seen and seen[key][0] != value:
            break
        seen.setdefault(key, (value, scenario))
    less = small(system, lock.BY_PLACE, Pair(seen[key][1], scenario, ""))
    assert isinstance(less, Pair)
    assert refutes(system, lock.BY_PLACE, less)
    assert {len(less.left.actions), len(less.right.actions)} == {4}, "ask, ask, enter, enter; let in and kept out"


def test_a_two_run_pair_gets_its_computed_run_back() -> None:
    """The shrinker empties the redundant run; `restate` computes it."""
    system = lock.lock(3, lock.FAVOURS_FIRST)
    claim: TwoRun = lock.ANONYMOUS
    random = Random(12)
    while True:
        scenario, _ = naive.random_run(system, random, 25)
        if refutes(system, claim, Pair(scenario, scenario, "")):
            break
    less = small(system, claim, Pair(scenario, scenario, ""))
    assert isinstance(less, Pair)
    assert refutes(system, claim, less)
    assert (len(less.left.actions), len(less.right.actions)) == (4, 1)


def test_every_pass_proposes_something_somewhere() -> None:
    """Otherwise that pass would be untested."""
    system = lock.lock(3, lock.CARELESS)
    scenario = next(found_blindly(PLANTED[0], 1))
    scenario = replace(scenario, actions=scenario.actions[:12])  # short enough for pairs of actions
    lasso = next(one for one in long_lassos(lock.enters(), 30) if min(len(one.stem), len(one.loop)) > 2)
    pair = Pair(scenario, scenario, "")
    for evidence in (scenario, lasso, pair):
        for proposals in Shrinker(system, evidence, lambda _less: True).passes:
            assert next(proposals(evidence), None) is not None, proposals.__name__
