"""Claims about whole runs, decided on the closed graph of one configuration.

A claim that what is raised is served is a formula of temporal logic, like those that a user writes.  A run that breaks
a formula is a run of the product of the graph with an automaton of its denial, and an infinite run of a finite graph
ends in one strongly connected part: so it ends, or is a lasso.  An edge carries the set of predicates (triggers, goals,
attempts, fairness) that its joint actions satisfy; edges with different sets stay different.  Runs are maximal: one
ends only where nothing is on offer, or anywhere if the claim allows stuttering.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evenhand.core.fairness import assumed
from evenhand.core.kinds import DeadlockFree, Liveness
from evenhand.core.ltl import Atom, F, Formula, G, Negation, atoms_of
from evenhand.core.system import AnyStep, AnySystem, Fairness
from evenhand.core.temporal import AboutRuns, Temporal, fairness_of, without_consequences
from evenhand.search.automaton import TooLarge, automaton
from evenhand.search.csr import Flags, ahead
from evenhand.search.graph import Watcher
from evenhand.search.lasso import Edges, Need, fair_parts, need_of
from evenhand.search.product import STOPS, Words, accepted
from evenhand.search.walk import Walk
from evenhand.search.witness import Tally

CUT = "no run inside the constraint breaks it, and the constraint lets some go on unseen"
"""The doubt about a claim about whole runs, some of which were not followed to their end."""

NOTHING_BREAKS_IT = "every run whatsoever keeps it: the formula is true of all words"


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


def decided(claim: AboutRuns | Temporal, labels: Labels, walk: Walk) -> Tally:
    """Return the tally of a claim about whole runs after an explicit search."""
    tally = decide(claim, labels.graph(walk), labels.says.get(claim.name))
    if tally.finding is None and labels.system.constrained and labels.edges(walk).cut:
        return replace(tally, doubts=(CUT, *tally.doubts))
    return tally


def decide(claim: AboutRuns | Temporal, graph: RunGraph, says: Formula | None = None) -> Tally:
    """Decide one claim on the graph of one configuration; on an open graph only count.

    A claim in temporal logic brings the formula that it `says`.
    """
    total = met = graph.walk.transitions
    raised = isinstance(claim, Liveness) and claim.begins != "start"
    if isinstance(claim, Liveness) and raised:
        met = graph.count(claim.tests[0])
    if graph.walk.open:
        return Tally(1, total, met)
    edges = graph.edges()
    if isinstance(claim, DeadlockFree):
        return _deadlock(claim, graph, edges)
    if not raised:
        total = met = graph.many(range(edges.initials))
    formula = formula_of(claim) if isinstance(claim, Liveness) else says
    assert formula is not None
    try:
        against = automaton(Negation(formula))
        premise = without_consequences(formula) if isinstance(claim, Temporal) else None
        unmet = None if premise is None else automaton(Negation(premise))
    except TooLarge as error:
        return Tally(1, 0, 0, doubts=(str(error),))
    named = {name: Taken(one) for name, one in assumed(graph.fair, claim.fairness).items()}
    more = {f"steps serving {name}": graph.count(taken) for name, taken in named.items()}
    words = _words(claim, formula, graph, edges, list(named.values()))
    found = accepted(words, against)
    if found is not None:
        return Tally(1, total, met, 1, graph.walk.run_of(*found), more=more)
    doubts = () if against.transitions else (NOTHING_BREAKS_IT,)
    every = np.ones(len(words.edges.source), dtype=np.bool_)
    if not edges.ends.any() and not fair_parts(words.edges, every, words.needs):
        doubts = (*doubts, "no run at all satisfies the fairness it assumes")
    if unmet is not None and accepted(words, unmet) is None:
        met = 0
    return Tally(1, total, met, 0, None, doubts, more)


def formula_of(claim: Liveness) -> Formula:
    """Return a claim that what is raised is served as a formula."""
    raises, serves = (Atom("step", test, test) for test in claim.tests)
    match claim.begins:
        case "start":
            return F(serves)
        case "step":
            return G(raises >> F(serves))
        case _:
            return G(F(raises)) >> G(F(serves))


def _words(
    claim: Liveness | Temporal, formula: Formula, graph: RunGraph, edges: Edges, fairness: Sequence[Taken]
) -> Words:
    """The runs of the graph, with a copy of each state in which one may stop; copies are numbered from `size` on."""
    size, stutter = edges.size, isinstance(claim, Temporal) and claim.stutter
    stops = np.setdiff1d(np.arange(size), edges.cut) if stutter else np.flatnonzero(edges.ends)
    copies, state = size + np.arange(len(stops)), np.concatenate([np.arange(size), stops])
    source = np.concatenate([edges.source, stops, copies])
    target = np.concatenate([edges.target, copies, copies])
    action = np.concatenate([edges.action, np.full(2 * len(stops), STOPS, dtype=np.int64)])
    never = np.zeros(2 * len(stops), dtype=np.bool_)
    true: dict[Atom, Flags] = {}
    for atom in atoms_of(formula):
        if atom.of == "state":
            flags = np.zeros(size, dtype=np.bool_)
            flags[np.asarray(graph.wanting(atom.test), dtype=np.int64)] = True
            true[atom] = flags[state[source]]
        else:
            true[atom] = np.concatenate([graph.where(atom.test), never])
    needs: list[Need] = []
    for taken in fairness:
        need = need_of(taken.fairness.kind, graph.where(taken), edges)
        needs.append(Need(need.kind, np.concatenate([need.served, never]), need.on_offer[state]))
    return Words(Edges(size + len(stops), edges.initials, source, target, action), true, tuple(needs))


def _deadlock(claim: DeadlockFree, graph: RunGraph, edges: Edges) -> Tally:
    alive = can_complete(edges, graph.where(claim.completes))
    wanting = graph.wanting(claim.wants)
    stuck = [sid for sid in wanting if not alive[sid]]
    finding = graph.walk.finding(stuck[0]) if stuck else None
    return Tally(1, graph.many(range(edges.size)), graph.many(wanting), graph.many(stuck), finding)
