"""Constraints mean what they mean to TLC: a state outside is checked, and no run goes on from there.

The oracle is written from that sentence alone: it follows every step that stays inside from every state found inside.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from random import Random
from typing import Any

import pytest

import evenhand
from evenhand.core.ltl import F, G, state
from evenhand.core.property import LeadsTo, Property
from evenhand.core.trace import Lasso
from evenhand.evidence.judge import judge
from tests.known import alternating_bit

SIZE = 12
Graph = dict[int, tuple[int, ...]]


def drawn(seed: int) -> tuple[Graph, frozenset[int], frozenset[tuple[int, int]]]:
    """A graph, its states outside, and its edges outside."""
    random = Random(seed)
    graph = {node: tuple(random.sample(range(SIZE), random.randint(0, 3))) for node in range(SIZE)}
    edges = [(node, after) for node, targets in graph.items() for after in targets]
    states = frozenset(node for node in range(SIZE) if random.random() < 0.2)
    return graph, states, frozenset(edge for edge in edges if random.random() < 0.25)


def system_of(graph: Graph, outside: frozenset[int], edges: frozenset[tuple[int, int]]) -> Any:
    """The graph as a system; an action is the node that it leads to."""
    return evenhand.system(
        "graph",
        initial=[0, 1],
        actions=lambda state: graph[state],
        step=lambda state, action: action,
        constraint=lambda state: state not in outside,
        action_constraint=lambda step: (step.before, step.after) not in edges,
    )


def oracle(graph: Graph, outside: frozenset[int], edges: frozenset[tuple[int, int]]) -> tuple[set[int], set[int]]:
    """The states that are found, and those from which runs go on."""
    found, inside = {0, 1}, {0, 1} - outside
    waiting = sorted(inside)
    while waiting:
        node = waiting.pop()
        for after in graph[node]:
            found.add(after)
            if (node, after) not in edges and after not in outside and after not in inside:
                inside.add(after)
                waiting.append(after)
    return found, inside


def is_run_inside(graph: Graph, outside: frozenset[int], edges: frozenset[tuple[int, int]], run: list[int]) -> bool:
    """Whether every state but the last is inside, and reached by a step inside."""
    steps = list(pairwise(run))
    return all(after in graph[before] for before, after in steps) and not (
        {*run[:-1]} & outside or {*steps[:-1]} & edges
    )


@pytest.mark.parametrize("seed", range(60))
def test_the_search_goes_on_inside_alone(seed: int) -> None:
    """States, steps, verdicts about states, steps and histories, and the evidence are those of the oracle."""
    graph, outside, edges = drawn(seed)
    system = system_of(graph, outside, edges)
    found, inside = oracle(graph, outside, edges)
    claims = [avoids(node) for node in range(2, SIZE)] + [no_step_to(node) for node in range(SIZE)] + [short_runs()]
    result = evenhand.explore(system, claims)
    assert (result.states, result.states - result.outside) == (len(found), len(inside))
    assert result.transitions == sum(len(graph[node]) for node in inside)
    stepped = {after for node in inside for after in graph[node]}
    for verdict in result.verdicts[:-1]:
        kind, _, node = verdict.claim.rpartition("_")
        wrong = int(node) in (found if kind == "avoids" else stepped)
        right = "HOLDS" if kind == "avoids" or stepped else "UNDECIDED"  # without a step there is nothing to check
        assert verdict.status.value == ("REFUTED" if wrong else right), verdict
        assert "outside were checked" in verdict.scope["constrained"]
        if isinstance(verdict.evidence, evenhand.Scenario):
            run = [verdict.evidence.start, *verdict.evidence.actions]
            assert is_run_inside(graph, outside, edges, run)
    assert result.verdicts[-1].holds == (0 < longest(graph, outside, edges) <= 4)


def avoids(node: int) -> Property:
    """A claim that is false in one state."""
    return named(evenhand.always("It stays away.")(lambda state: state != node), f"avoids_{node}")


def no_step_to(node: int) -> Property:
    """A claim that is false of the steps to one state."""
    return named(evenhand.each_step("No step leads there.")(lambda step: step.after != node), f"no_step_to_{node}")


def short_runs() -> Property:
    """A claim that is false after five steps, which a history counts."""
    count = evenhand.monitor("Runs are short.", start=lambda _config: 0, update=lambda past, _step: min(5, past + 1))
    return named(count(lambda _config, past: past < 5), "short_runs")


def named(claim: Property, name: str) -> Property:
    """The claim with another name."""
    return replace(claim, name=name)


def longest(graph: Graph, outside: frozenset[int], edges: frozenset[tuple[int, int]]) -> int:
    """The length of a longest run, at most five."""
    ends, length = {0, 1} - outside, 0
    while ends and length < 5:
        nodes = ends
        steps = [(node, after) for node in nodes for after in graph[node]]
        length += bool(steps)
        ends = {after for step in steps if step not in edges and (after := step[1]) not in outside}
        if not steps:
            break
    return length


def counter(**more: Any) -> Any:
    """A counter without end."""
    return evenhand.system("counter", initial=[0], actions=lambda _state: [1, 2], step=lambda at, by: at + by, **more)


@evenhand.always("It is small.")
def small(state: int) -> bool:
    """The constraint and one step more."""
    return state < 12


@evenhand.always("It is smaller.")
def smaller(state: int) -> bool:
    """A state outside violates it."""
    return state < 11


@evenhand.reachable("It gets far.")
def gets_far(step: Any) -> bool:
    """Only beyond the constraint."""
    return bool(step.after == 50)


@evenhand.eventually("It gets to 50.")
def comes_far(step: Any) -> bool:
    """True of the counter, and false of its runs inside, which all are cut."""
    return bool(step.after == 50)


def test_a_state_outside_is_checked_and_leaves_whole_runs_open() -> None:
    """An invariant holds or fails one step outside; a goal not met inside, and a claim about whole runs, stay open."""
    bounded = counter(constraint=lambda state: state < 10)
    found = evenhand.explore(bounded, [small, smaller, gets_far, comes_far])
    assert [verdict.status.value for verdict in found.verdicts] == ["HOLDS", "REFUTED", "UNDECIDED", "UNDECIDED"]
    assert (found.states, found.outside, found.complete) == (12, 2, True)
    assert all("constraint lets" in verdict.because for verdict in found.verdicts[2:])


@pytest.mark.parametrize("stutter", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_a_claim_about_whole_runs_is_refuted_inside_or_left_open(seed: int, *, stutter: bool) -> None:
    """REFUTED if and only if a loop or an end inside breaks it; HOLDS only if nothing is cut."""
    graph, outside, edges = drawn(seed)
    system = system_of(graph, outside, edges)
    _, inside = oracle(graph, outside, edges)
    calls = (
        evenhand.temporal("It comes to 5 or beyond.", name="comes", stutter=stutter)(lambda: F(state(is_far))),
        evenhand.temporal("Again and again.", name="recurs", stutter=stutter)(lambda: G(F(state(is_far)))),
    )
    kept = {node: [after for after in graph[node] if (node, after) not in edges and after in inside] for node in inside}
    cut = any(len(kept[node]) < len(graph[node]) for node in inside) or inside != {0, 1} | inside
    for verdict, avoids_from in zip(evenhand.explore(system, calls).verdicts, ({0, 1} & inside, inside), strict=True):
        low = {node for node in inside if not is_far(node)}
        stuck = {node for node in low if not graph[node] or stutter or loops(node, kept, low)}
        starts = avoids_from & low
        broken = bool(reach(starts, kept, low) & stuck)
        wanted = "REFUTED" if broken else "UNDECIDED" if cut else "HOLDS"
        assert verdict.status.value == wanted, (verdict, kept)


def test_a_trigger_behind_other_runs_inside_is_found() -> None:
    """The run that raises and never serves lies behind a step that the goal calls served."""
    moves = {"a": {"out": "c", "to b": "b", "stay": "a"}, "b": {"raise": "c"}, "c": {"loop": "c"}}
    system: Any = evenhand.system(
        "served",
        initial=["a"],
        actions=lambda state: [*moves[state]],
        step=lambda state, action: moves[state][action],
        shows=False,
        action_constraint=lambda step: step.action != "out",
    )
    served = LeadsTo(
        name="served",
        sentence="Who raises is served.",
        trigger=lambda step: step.action == "raise",
        goal=lambda step: step.action in ("to b", "stay", "out"),
    )
    (verdict,) = evenhand.explore(system, [served]).verdicts
    assert verdict.status.name == "REFUTED"
    assert isinstance(verdict.evidence, Lasso)
    assert verdict.evidence.stem == ("to b", "raise")
    assert judge(system, served, verdict.evidence)


def is_far(node: int) -> bool:
    """A goal."""
    return node >= 5


def reach(starts: set[int], kept: dict[int, list[int]], within: set[int]) -> set[int]:
    """The nodes that are reached through nodes within."""
    found, waiting = set(starts), list(starts)
    while waiting:
        for after in kept[waiting.pop()]:
            if after in within and after not in found:
                found.add(after)
                waiting.append(after)
    return found


def loops(node: int, kept: dict[int, list[int]], within: set[int]) -> bool:
    """Whether a run comes back to a node through nodes within."""
    return node in reach({after for after in kept[node] if after in within}, kept, within)


@pytest.mark.slow
def test_random_runs_stay_inside() -> None:
    """The machine finds what is one step outside, and never what lies beyond."""
    bounded = counter(constraint=lambda state: state < 10)
    verdicts = evenhand.fuzz(bounded, [small, smaller], examples=60, steps=30, seed=1).verdicts
    assert [verdict.status.value for verdict in verdicts][1] == "REFUTED"
    assert verdicts[0].evidence is None
    unbounded = evenhand.fuzz(counter(), [small], examples=60, steps=30, seed=1)
    assert unbounded.verdicts[0].evidence is not None


def test_the_judge_refuses_a_run_that_goes_on_outside() -> None:
    """The same run is evidence without the constraint."""
    run = evenhand.Scenario(None, 0, (2,) * 6)
    assert judge(counter(), small, run)
    inside = judge(counter(constraint=lambda state: state < 10), small, run)
    assert not inside and "after action 5, which leaves the constraint" in inside.reason


def test_the_published_count_of_a_constrained_specification() -> None:
    """TLC counts the states inside: 240 of the alternating bit protocol, whose queues have no bound of their own."""
    longest = alternating_bit.LONGEST

    def few(state: alternating_bit.State) -> bool:
        return len(state.messages) <= longest and len(state.acks) <= longest

    def actions(state: alternating_bit.State) -> list[alternating_bit.Action]:
        sends = [("send", value) for value in alternating_bit.DATA]
        acts = sends if state.acknowledged == state.bit else [("resend", state.sent)]
        offered = [act for act in alternating_bit.actions(state) if act[0] not in ("send", "resend", "acknowledge")]
        return [*acts, ("acknowledge", state.received_bit), *offered]

    unbounded = evenhand.system(
        "unbounded", initial=alternating_bit.STARTS, actions=actions, step=alternating_bit.step, constraint=few
    )
    found = evenhand.explore(unbounded, [alternating_bit.no_early_ack])
    assert found.holds
    assert found.states - found.outside == 240


@pytest.mark.parametrize(
    ("more", "error", "words"),
    [
        ({"constraint": 3}, TypeError, "`constraint` is a function constraint"),
        ({"constraint": lambda _one, _two: True}, TypeError, "called as constraint"),
        ({"action_constraint": "step"}, TypeError, "`action_constraint` is a function"),
        ({"constraint": lambda _state: None}, evenhand.ModelError, "returned None"),
        ({"constraint": lambda state: 1 // state == 0}, evenhand.ModelError, "on state 0 raised ZeroDivisionError"),
    ],
)
def test_a_wrong_constraint_is_refused(more: Any, error: type[Exception], words: str) -> None:
    """One message that names the system."""
    with pytest.raises(error, match=words) as caught:
        evenhand.explore(counter(**more), [small], max_states=50)
    assert "counter" in str(caught.value)
