"""An independent oracle for small systems, written from the definitions and not from the engine.

Reachability is a fixpoint over sets.  Loops are found by trying every set of states: a loop can visit exactly the
states of a set for ever if the set is strongly connected (by Warshall's closure). Its fairness follows the definition
of weak and strong fairness.  No part is fast.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from evenhand.core.property import (
    Always,
    DeadlockFree,
    EachStep,
    Eventually,
    LeadsTo,
    LivelockFree,
    Monitor,
    Property,
    Reachable,
)
from evenhand.core.system import AnyStep, AnySystem


@dataclass(frozen=True)
class Graph:
    """All reachable states of a configuration, by distance, and all steps out of them."""

    config: Any
    starts: frozenset[Any]
    rings: tuple[frozenset[Any], ...]
    steps: tuple[AnyStep, ...]

    @property
    def states(self) -> frozenset[Any]:
        """Return all states."""
        return frozenset[Any]().union(*self.rings)

    @property
    def ends(self) -> frozenset[Any]:
        """Return the states without any step."""
        return self.states - {step.before for step in self.steps}


def graph_of(system: AnySystem, config: Any) -> Graph:
    """Return the graph by rings of states: those at distance 0, 1, 2 … until a ring is empty."""

    def out(state: Any) -> list[AnyStep]:
        return [system.take(config, state, action) for action in system.enabled(config, state)]

    starts = frozenset(system.initial(config))
    rings, known = [starts], set(starts)
    while ring := frozenset(step.after for state in rings[-1] for step in out(state)) - known:
        rings.append(ring)
        known |= ring
    return Graph(config, starts, tuple(rings), tuple(step for state in known for step in out(state)))


def graphs_of(system: AnySystem) -> tuple[Graph, ...]:
    """Return the graph of every configuration."""
    return tuple(graph_of(system, config) for config in system.all_configs())


def sizes(graphs: Iterable[Graph]) -> tuple[int, int, int, int]:
    """Return states, steps, distinct pairs of states, depth."""
    graphs = list(graphs)
    return (
        sum(len(graph.states) for graph in graphs),
        sum(len(graph.steps) for graph in graphs),
        sum(len({(step.before, step.after) for step in graph.steps}) for graph in graphs),
        max(len(graph.rings) - 1 for graph in graphs),
    )


@dataclass(frozen=True)
class Answer:
    """The expected result: `true` (a goal met, for `Reachable`), the shortest evidence where it is certain, counts."""

    true: bool
    length: int | None = None
    met: int | None = None
    violations: int | None = None


def expected(system: AnySystem, claim: Property, graphs: Iterable[Graph]) -> Answer:
    """Return the expected result over all configurations."""
    answers = [_one(system, claim, graph) for graph in graphs]
    lengths = [answer.length for answer in answers if answer.length is not None]
    good = any(a.true for a in answers) if isinstance(claim, Reachable) else all(a.true for a in answers)
    return Answer(
        good,
        min(lengths, default=None),
        _sum(answer.met for answer in answers),
        _sum(answer.violations for answer in answers),
    )


def _sum(counts: Iterable[int | None]) -> int | None:
    known = list(counts)
    return None if None in known else sum(count for count in known if count is not None)


def _one(system: AnySystem, claim: Property, graph: Graph) -> Answer:
    far = {state: distance for distance, ring in enumerate(graph.rings) for state in ring}
    match claim:
        case Always():
            met = [state for state in graph.states if claim.when(graph.config, state)]
            bad = [state for state in met if not claim.check(graph.config, state)]
            return Answer(not bad, min((far[s] for s in bad), default=None), len(met), len(bad))
        case EachStep():
            about = [step for step in graph.steps if claim.when(step)]
            wrong = [step for step in about if not claim.check(step)]
            length = min((far[step.before] + 1 for step in wrong), default=None)
            return Answer(not wrong, length, len(about), len(wrong))
        case Reachable():
            hits = [step for step in graph.steps if claim.goal(step)]
            return Answer(bool(hits), min((far[step.before] + 1 for step in hits), default=None), None, len(hits))
        case Monitor():
            return _history(claim, graph)
        case DeadlockFree():
            alive = _behind(graph.steps, {step.before for step in graph.steps if claim.completes(step)})
            want = [state for state in graph.states if claim.wants(graph.config, state)]
            stuck = [state for state in want if state not in alive]
            return Answer(not stuck, min((far[s] for s in stuck), default=None), len(want), len(stuck))
        case Eventually():
            mild = [step for step in graph.steps if not claim.goal(step)]
            return Answer(not _can_wait_for_ever(system, graph, mild, graph.starts, claim.fairness))
        case LeadsTo():
            mild = [step for step in graph.steps if not claim.goal(step)]
            after = {step.after for step in mild if claim.trigger(step)}
            triggers = sum(1 for step in graph.steps if claim.trigger(step))
            return Answer(not _can_wait_for_ever(system, graph, mild, frozenset(after), claim.fairness), met=triggers)
        case LivelockFree():
            idle = [step for step in graph.steps if not claim.progress(step)]
            tried = sum(1 for step in graph.steps if claim.attempts(step))
            loops = fair_sets(system, graph, idle, claim.fairness)
            return Answer(not any(any(claim.attempts(s) for s in inside) for _, inside in loops), met=tried)
        case _:
            raise NotImplementedError(claim.kind)


def _history(claim: Monitor, graph: Graph) -> Answer:
    value = claim.start(graph.config)
    ring = {(start, value) for start in graph.starts}
    known, met, bad, length, first = set(ring), set[Any](), set[Any](), 0, None
    while ring:
        length += 1
        new = {(s.after, claim.update(v, s)) for state, v in ring for s in graph.steps if s.before == state}
        # A start that is reached again is a history like any other.
        met |= {node for node in new if claim.when(graph.config, node[1])}
        wrong = {node for node in new if node in met and not claim.ok(graph.config, node[1])}
        if wrong and first is None:
            first = length
        bad |= wrong
        ring = new - known
        known |= new
    return Answer(not bad, first, len(met), len(bad))


def _behind(steps: Iterable[AnyStep], seeds: set[Any]) -> set[Any]:
    """Return the least fixpoint of the seeds and the states with a step into the set."""
    steps = list(steps)
    while more := {step.before for step in steps if step.after in seeds} - seeds:
        seeds = seeds | more
    return seeds


def _can_wait_for_ever(
    system: AnySystem, graph: Graph, mild: list[AnyStep], first: frozenset[Any], fairness: tuple[str, ...]
) -> bool:
    """Return whether a run of mild steps from one of the `first` states ends, or goes on for ever fairly."""
    known = set(first)
    while more := {step.after for step in mild if step.before in known} - known:
        known |= more
    loops = fair_sets(system, graph, mild, fairness)
    return bool(known & graph.ends) or any(states & known for states, _ in loops)


def fair_sets(
    system: AnySystem, graph: Graph, allowed: list[AnyStep], fairness: tuple[str, ...]
) -> list[tuple[frozenset[Any], list[AnyStep]]]:
    """Yield every set of states that a fair loop of allowed steps can visit for ever, with all steps inside it.

    All steps inside a set satisfy at least as many assumptions as some of them, and the actions on offer depend on the
    states alone, so it is enough to check all steps together.
    """
    assumed = [system.fair(graph.config)[name] for name in fairness]
    found: list[tuple[frozenset[Any], list[AnyStep]]] = []
    for size in range(1, len(graph.states) + 1):
        for chosen in itertools.combinations(sorted(graph.states, key=repr), size):
            states = frozenset(chosen)
            inside = [step for step in allowed if step.before in states and step.after in states]
            if inside and _connected(states, inside) and all(_obeys(f, states, inside, graph) for f in assumed):
                found.append((states, inside))
    return found


def _connected(states: frozenset[Any], steps: list[AnyStep]) -> bool:
    reach = {(step.before, step.after) for step in steps}
    for middle, one, other in itertools.product(states, repeat=3):
        if (one, middle) in reach and (middle, other) in reach:
            reach.add((one, other))
    return all(pair in reach for pair in itertools.product(states, repeat=2))


def _obeys(fairness: Any, states: frozenset[Any], inside: list[AnyStep], graph: Graph) -> bool:
    if any(fairness.taken(step.before, step.action) for step in inside):
        return True
    offering = {step.before for step in graph.steps if fairness.taken(step.before, step.action)}
    return not states <= offering if fairness.kind == "weak" else not states & offering
