"""Claims about whole runs, decided on the closed graph of one configuration.

An infinite run of a finite graph ends in one strongly connected part, so a liveness property is violated in just two
ways: by a run that ends, or by a lasso.  An edge carries the set of predicates (triggers, goals, attempts, fairness)
that its joint actions satisfy; edges with different sets stay different.  A part of the graph is *fair* if a loop can
stay in it for ever without violating an assumption:

- weak: the loop serves it, or passes a state in which no serving action is on offer;
- strong: the loop serves it, or passes no state in which one is.

If a part offers but does not serve a strong assumption, the states that offer it are removed, and the rest is analysed
again.  Runs are maximal: one ends only where nothing is on offer.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.core.fairness import assumed
from evenhand.core.kinds import DeadlockFree
from evenhand.core.ltl import atoms_of
from evenhand.core.system import AnyStep, AnySystem, Fairness
from evenhand.core.temporal import AboutRuns, Temporal, fairness_of
from evenhand.search.csr import Flags, Ints, ahead, components
from evenhand.search.graph import Watcher
from evenhand.search.lasso import Edges, Need, nearest_run
from evenhand.search.walk import Walk
from evenhand.search.witness import Tally


@dataclass(frozen=True)
class Taken:
    """A fairness assumption as a predicate over steps."""

    fairness: Fairness[Any, Any]

    def __call__(self, step: AnyStep) -> bool:
        """Return whether the step serves it."""
        return self.fairness.taken(step.before, step.action)


class Labels(Watcher):
    """A watcher that keeps the edges: target, predicates that the step satisfies, number of the first such action."""

    def __init__(self, system: AnySystem, config: Any, claims: Sequence[AboutRuns | Temporal]) -> None:
        self.claims = tuple(claim.name for claim in claims)
        self.name = "a predicate of " + ", ".join(map(repr, self.claims))
        self.system, self.fair = system, system.fair(config)
        self.says = {claim.name: claim.says(config) for claim in claims if isinstance(claim, Temporal)}
        more = [atom.test for says in self.says.values() for atom in atoms_of(says) if atom.of == "step"]
        self.tests = predicates_of(system, self.fair, claims, more)
        self.distinct = {bit: test for test, bit in self.tests.items()}
        self.sets: dict[int, int] = {}
        self.counts: list[int] = []
        self.source, self.target, self.label, self.action = (array("q") for _ in range(4))
        self.here: dict[tuple[int, int], int] = {}

    def look(self, step: AnyStep, action: int, there: int, /) -> None:
        """Evaluate the predicates on the step, and keep its edge unless an equal one is known."""
        satisfied = 0
        for bit, test in self.distinct.items():
            if test(step):
                satisfied |= 1 << bit
        label = self.sets.setdefault(satisfied, len(self.sets))
        if label == len(self.counts):
            self.counts.append(0)
        self.counts[label] += 1
        self.here.setdefault((there, label), action)

    def leave(self, sid: int, _state: Any, /) -> None:
        """Write the edges of a state, in the order of their actions."""
        for (there, label), action in self.here.items():
            self.source.append(sid)
            self.target.append(there)
            self.label.append(label)
            self.action.append(action)
        self.here = {}

    def edges(self, walk: Walk) -> Edges:
        """Return the whole graph as arrays."""
        size = len(walk.states)
        source, target, action = (
            np.asarray(column, dtype=np.int64) for column in (self.source, self.target, self.action)
        )
        initials = walk.levels[1] if len(walk.levels) > 1 else size
        if not walk.outside and (walk.open or not (target < 0).any()):
            return Edges(size, initials, source, target, action)
        cut = (*sorted(walk.outside), size)  # the last one stands for what lies beyond a step outside
        return Edges(size + 1, initials, source, np.where(target < 0, size, target), action, cut)

    def graph(self, walk: Walk) -> RunGraph:
        """Return the graph on which claims are decided."""

        def wanting(wants: Callable[[Any, Any], bool]) -> list[int]:
            return [sid for sid, state in enumerate(walk.states) if wants(walk.config, state)]

        return RunGraph(walk, self.fair, lambda: self.edges(walk), self.where, self.count, wanting)

    def where(self, test: Callable[[Any], bool]) -> Flags:
        """Return the edges that satisfy a predicate."""
        bit = self.tests[test]
        table = np.asarray([bool(satisfied >> bit & 1) for satisfied in self.sets], dtype=np.bool_)
        return table[np.asarray(self.label, dtype=np.int64)] if len(table) else np.zeros(0, dtype=np.bool_)

    def count(self, test: Callable[[Any], bool]) -> int:
        """Return how many steps (joint actions) satisfy a predicate."""
        bit = self.tests[test]
        return sum(count for satisfied, count in zip(self.sets, self.counts, strict=True) if satisfied >> bit & 1)


def predicates_of(
    system: AnySystem,
    fair: Mapping[str, Fairness[Any, Any]],
    claims: Sequence[AboutRuns | Temporal],
    more: Sequence[Callable[[Any], bool]] = (),
) -> dict[Callable[[Any], bool], int]:
    """Number the predicates of these claims, of the fairness that they assume, and `more` of them.

    One function in two roles (`progress`, `completes`) has one number.  Raises UnknownName.
    """
    found: dict[Callable[[Any], bool], int] = {}
    functions: dict[Any, int] = {}
    for test in more:
        found[test] = functions.setdefault(getattr(test, "__wrapped__", test), len(functions))
    for claim in claims:
        for test in () if isinstance(claim, Temporal) else tests_of(claim):
            found[test] = functions.setdefault(getattr(test, "__wrapped__", test), len(functions))
        of = f"fairness assumption of claim {claim.name!r} in {system.label}:"
        for taken in map(Taken, assumed(fair, fairness_of(claim), of).values()):
            found[taken] = functions.setdefault(taken, len(functions))
    return found


def tests_of(claim: AboutRuns) -> tuple[Callable[[Any], bool], ...]:
    """Return the predicates that decide a claim."""
    if isinstance(claim, DeadlockFree):
        return (claim.completes,)
    return claim.tests[1:] if claim.begins == "start" else claim.tests


def need_of(kind: str, served: Flags, edges: Edges) -> Need:
    """Return an assumption on the graph: the edges that serve it, the states that offer one of those."""
    on_offer = np.zeros(edges.size, dtype=np.bool_)
    on_offer[edges.source[served]] = True
    return Need(kind, served, on_offer)


def fair_parts(edges: Edges, alive: Flags, needs: Sequence[Need]) -> list[Ints]:
    """Return the parts of the graph of `alive` edges in which a loop can meet every need, each as its edges.

    Each part is strongly connected and has an edge; going through all of it for ever is fair.
    """
    parts: list[Ints] = []
    left = np.flatnonzero(alive)
    while len(left):
        source, target = edges.source[left], edges.target[left]
        component = components(edges.size, source, target)
        key = component[source]
        inside = key == component[target]
        left, key = left[inside], key[inside]
        if not len(left):
            break
        if bool((key != key[0]).any()):
            order = np.argsort(key, kind="stable")  # stable: the edges of each part stay in their order
            left, key = left[order], key[order]
        first = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
        part_of = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(left))))
        hopeless = np.zeros(len(first), dtype=np.bool_)
        again = np.zeros(len(first), dtype=np.bool_)
        banned = np.zeros(edges.size, dtype=np.bool_)
        for need in needs:
            served = np.logical_or.reduceat(need.served[left], first)
            on_offer = need.on_offer[edges.source[left]]
            match need.kind:
                case "weak":
                    hopeless |= ~served & np.logical_and.reduceat(on_offer, first)
                case "strong":
                    starved = ~served & np.logical_or.reduceat(on_offer, first)
                    again |= starved
                    banned[edges.source[left[starved[part_of] & on_offer]]] = True
                case _:
                    hopeless |= ~served
        last = np.append(first, len(left))[1:]
        parts += [left[first[part] : last[part]] for part in np.flatnonzero(~hopeless & ~again)]
        again &= ~hopeless
        if not again.any():
            break
        left = np.sort(left[again[part_of]])
        left = left[~banned[edges.source[left]] & ~banned[edges.target[left]]]
    return parts


def can_complete(edges: Edges, completing: Flags) -> Flags:
    """Return the states from which some continuation completes (EF): those that reach a completing edge."""
    seeds = np.zeros(edges.size, dtype=np.bool_)
    seeds[edges.source[completing]] = True
    seeds[list(edges.cut)] = True  # what lies beyond may complete
    return ahead(edges.size, edges.target, edges.source, seeds)


@dataclass(frozen=True)
class RunGraph:
    """The graph of one configuration, however it was made.

    `walk` is the search that found it.  `edges` is called only if the graph is closed.  `where` and `count` give the
    edges, and the number of steps (joint actions), that satisfy a predicate, `wanting` the numbers of the states that
    satisfy one.  `many` says for how many states some stand.
    """

    walk: Any
    fair: Mapping[str, Fairness[Any, Any]]
    edges: Callable[[], Edges]
    where: Callable[[Callable[[Any], bool]], Flags]
    count: Callable[[Callable[[Any], bool]], int]
    wanting: Callable[[Callable[[Any, Any], bool]], Sequence[int]]
    many: Callable[[Sequence[int]], int] = len


def decide(claim: AboutRuns, graph: RunGraph) -> Tally:
    """Decide one claim on the graph of one configuration; on an open graph only count."""
    transitions, is_open = graph.walk.transitions, graph.walk.open
    if is_open:
        tests = tests_of(claim)
        met = graph.count(tests[0]) if len(tests) > 1 else transitions
        return Tally(1, transitions, met)
    edges = graph.edges()
    if isinstance(claim, DeadlockFree):
        return _deadlock(claim, graph, edges)
    named = {name: Taken(one) for name, one in assumed(graph.fair, claim.fairness).items()}
    needs = [need_of(taken.fairness.kind, graph.where(taken), edges) for taken in named.values()]
    more = {f"steps serving {name}": graph.count(taken) for name, taken in named.items()}
    ends = edges.ends
    every = np.ones(len(edges.source), dtype=np.bool_)
    raises, serves = claim.tests
    alive = ~graph.where(serves)
    total = transitions
    if claim.begins == "start":
        total = met = graph.many(range(edges.initials))
        found = nearest_run(edges, (~every, ~every, alive), ends, fair_parts(edges, alive, needs), needs)
    elif claim.begins == "step":
        met = graph.count(raises)
        stem = (every, graph.where(raises) & alive, alive)
        found = nearest_run(edges, stem, ends, fair_parts(edges, alive, needs), needs, waiting=False)
    else:
        met = graph.count(raises)
        wanted = [*needs, need_of("must", graph.where(raises) & alive, edges)]
        parts = fair_parts(edges, alive, wanted)
        found = nearest_run(edges, (~every, ~every, every), np.zeros_like(ends), parts, wanted)
    if found is not None:
        return Tally(1, total, met, 1, graph.walk.run_of(*found), more=more)
    doubts: tuple[str, ...] = ()
    if not ends.any() and not fair_parts(edges, every, needs):
        doubts = ("no run at all satisfies the fairness it assumes",)
    return Tally(1, total, met, 0, None, doubts, more)


def _deadlock(claim: DeadlockFree, graph: RunGraph, edges: Edges) -> Tally:
    alive = can_complete(edges, graph.where(claim.completes))
    wanting = graph.wanting(claim.wants)
    stuck = [sid for sid in wanting if not alive[sid]]
    finding = graph.walk.finding(stuck[0]) if stuck else None
    return Tally(1, graph.many(range(edges.size)), graph.many(wanting), graph.many(stuck), finding)
