"""What lies ahead of a drawn state: forays beside the run, within a budget of states.

A drawn run shows a loop only if it happens to go round it, and a dead end only if it happens to stop there.  So where a
run begins and where it stops, the machine takes every action on offer, nearest states first, until the region is closed
or its budget is spent.  Two rules look for evidence in a region.  `dead_end`: a state that wants to act, and from which
neither a completing step nor an unopened state is reachable.  `lasso`: a loop of steps that do not serve the claim, led
past each fairness assumption that it would break.  A region is a sample as well: it refutes, and shows nothing to hold.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from itertools import islice
from typing import Any

from evenhand.core.kinds import DeadlockFree, Liveness
from evenhand.core.system import AnyStep, AnySystem, Fairness
from evenhand.core.trace import AnyScenario, Lasso, Scenario
from evenhand.core.verdict import Evidence

AHEAD = 400
"""States that are opened ahead of one drawn state."""
AHEAD_OF_ALL = 1_000
"""States that are opened for one claim in a whole fuzzing, and as many again in its pursuit."""
WIDE = 128
"""A state that offers more actions than this counts as several; only a drawn one is opened then."""
WIDEST = 40 * WIDE
"""A drawn state that offers more actions than this stays unopened."""


@dataclass(frozen=True)
class Edge:
    """One step of a region; of several alike in target and tests, the first."""

    source: int
    target: int
    step: AnyStep


@dataclass
class Region:
    """States ahead of `states[0]`, in the order met; `edges[n]` is None where state n stays unopened.

    `opened` counts those that are not, but for those that offer nothing.
    """

    past: AnyScenario
    states: list[Any]
    edges: list[tuple[Edge, ...] | None] = field(default_factory=list[tuple[Edge, ...] | None])
    opened: int = 0

    @property
    def closed(self) -> bool:
        """Whether all that lies ahead was opened."""
        return None not in self.edges

    def every(self) -> Iterator[Edge]:
        """Yield every step."""
        for edges in self.edges:
            yield from edges or ()

    def of(self, number: int) -> tuple[Edge, ...]:
        """Return the steps that leave a state, none if it is unopened."""
        return self.edges[number] or ()

    def after(self, way: Sequence[Edge]) -> AnyScenario:
        """Return the run to the drawn state and on by these steps."""
        return Scenario(self.past.config, self.past.start, (*self.past.actions, *actions_of(way)))


def actions_of(way: Sequence[Edge]) -> tuple[Any, ...]:
    """Return the actions of some steps."""
    return tuple(edge.step.action for edge in way)


def region(
    system: AnySystem, past: AnyScenario, first: Any, tests: Sequence[Callable[[AnyStep], bool]], most: int
) -> Region:
    """Open up to `most` states ahead of `first`, the last state of a run, nearest first.

    `tests` are the predicates by which steps between the same two states are told apart.
    """
    made = Region(past, [first])
    numbers = {first: 0}
    while len(made.edges) < len(made.states):
        here = made.states[len(made.edges)]
        limit = WIDE if made.edges else WIDEST
        menu = tuple(islice(system.enabled(past.config, here), limit + 1)) if made.opened < most else None
        if menu is None or len(menu) > limit:
            made.edges.append(None)
            continue
        made.opened += -(-len(menu) // WIDE)
        found: dict[Any, Edge] = {}
        for action in menu:
            try:
                step = system.take(past.config, here, action)
            except Exception as error:
                error.add_note(f"ahead of a drawn run of {system.name}: state {here!r}, action {action!r}")
                raise
            target = numbers.setdefault(step.after, len(made.states))
            if target == len(made.states):
                made.states.append(step.after)
            found.setdefault((target, tuple(test(step) for test in tests)), Edge(len(made.edges), target, step))
        made.edges.append(tuple(found.values()))
    return made


def dead_end(ahead: Region, claim: DeadlockFree) -> AnyScenario | None:
    """Return a run to the nearest dead end of a region, None without one."""
    into: list[list[int]] = [[] for _ in ahead.states]
    hopeful = [number for number, edges in enumerate(ahead.edges) if edges is None]
    for edge in ahead.every():
        into[edge.target].append(edge.source)
        if claim.completes(edge.step):
            hopeful.append(edge.source)
    known = set(hopeful)
    while hopeful:
        fresh = [number for number in into[hopeful.pop()] if number not in known]
        known.update(fresh)
        hopeful += fresh
    for (number, _), way in _ways(ahead, lambda _edge, waits: (waits,), waits=False):
        if number not in known and claim.wants(ahead.past.config, ahead.states[number]):
            return ahead.after(way)
    return None


def lasso(ahead: Region, claim: Liveness, fair: Sequence[Fairness[Any, Any]], *, owes: bool) -> Evidence | None:
    """Return a run through a region that ends, or goes round for ever, without serving `claim`; None without one.

    `owes` says that the run up to the region has raised the claim and not served it.  The judge still has to agree.
    """
    raises, serves = claim.tests
    looped = claim.begins == "loop"
    if claim.begins == "start" and not owes:
        return None
    needs = [need(ahead, one.kind, serving(one)) for one in fair]
    if looped:
        needs.append(need(ahead, "must", raises))
    parts = _parts(ahead, [edge for edge in ahead.every() if not serves(edge.step)], needs)

    def moves(edge: Edge, waits: bool) -> tuple[bool, ...]:
        if looped or not (waits or raises(edge.step)):
            return (waits,)
        if serves(edge.step):
            return () if waits else (False,)
        return (True,) if waits else (False, True)

    for (number, waits), way in _ways(ahead, moves, waits=owes or looped):
        if not waits:
            continue
        stem = ahead.after(way)
        if not looped and ahead.edges[number] == ():
            return stem
        part = next((one for one in parts if number in one.steps), None)
        if part is not None:
            return Lasso(stem.config, stem.start, stem.actions, actions_of(part.round(number)))
    return None


def _ways(
    ahead: Region, moves: Callable[[Edge, bool], tuple[bool, ...]], *, waits: bool
) -> Iterator[tuple[tuple[int, bool], tuple[Edge, ...]]]:
    """Yield the states of a region, waiting or not, in order of distance, each with a shortest way to it."""
    start: tuple[int, bool] = (0, waits)
    ways: dict[tuple[int, bool], tuple[Edge, ...]] = {start: ()}
    queue: deque[tuple[int, bool]] = deque([start])
    while queue:
        at = queue.popleft()
        yield at, ways[at]
        for edge in ahead.of(at[0]):
            for phase in moves(edge, at[1]):
                there = (edge.target, phase)
                if there not in ways:
                    ways[there] = (*ways[at], edge)
                    queue.append(there)


@dataclass(frozen=True)
class Need:
    """What a loop has to meet: fairness, `weak` or `strong`, or `must` (take a serving step in any case)."""

    kind: str
    serves: Callable[[AnyStep], bool]
    offering: frozenset[int]


def serving(fairness: Fairness[Any, Any]) -> Callable[[AnyStep], bool]:
    """Return whether a step serves an assumption, as a predicate over steps."""
    return lambda step: fairness.taken(step.before, step.action)


def need(ahead: Region, kind: str, serves: Callable[[AnyStep], bool]) -> Need:
    """Return a need with the opened states that offer a serving step."""
    return Need(kind, serves, frozenset(edge.source for edge in ahead.every() if serves(edge.step)))


@dataclass(frozen=True)
class Part:
    """A strongly connected part of a region, its steps by their source, in which a loop can meet every need."""

    steps: Mapping[int, Sequence[Edge]]
    needs: Sequence[Need]

    def served(self, need: Need) -> bool:
        """Return whether some step of this part serves."""
        return any(need.serves(edge.step) for edges in self.steps.values() for edge in edges)

    def round(self, entry: int) -> list[Edge]:
        """Return the steps of a loop through `entry` that meets every need."""
        walk: list[Edge] = []
        for need in self.needs:
            if any(need.serves(edge.step) for edge in walk):
                continue
            at = walk[-1].target if walk else entry
            if self.served(need):
                walk += self._way(at, partial(_serves, need))
            elif need.kind == "weak" and at in need.offering:
                walk += self._way(at, partial(_leaves, need))
        at = walk[-1].target if walk else entry
        return walk if walk and at == entry else [*walk, *self._way(at, lambda edge: edge.target == entry)]

    def _way(self, at: int, wanted: Callable[[Edge], bool]) -> tuple[Edge, ...]:
        """A shortest way of at least one step, of which the last is wanted."""
        ways: dict[int, tuple[Edge, ...]] = {at: ()}
        queue = deque([at])
        while queue:
            number = queue.popleft()
            for edge in self.steps[number]:
                if wanted(edge):
                    return (*ways[number], edge)
                if edge.target not in ways:
                    ways[edge.target] = (*ways[number], edge)
                    queue.append(edge.target)
        raise AssertionError("a fair part offers what it needs; the region is wrong")


def _serves(need: Need, edge: Edge) -> bool:
    return need.serves(edge.step)


def _leaves(need: Need, edge: Edge) -> bool:
    """Whether the step ends where no serving step is on offer."""
    return edge.target not in need.offering


def _parts(ahead: Region, alive: Sequence[Edge], needs: Sequence[Need]) -> list[Part]:
    """The parts of the graph of `alive` steps in which a loop can meet every need.

    Where a strong assumption is offered and not served, the states that offer it are left out, and the rest is split
    again.
    """
    nx = import_module("networkx")  # it takes 0.2 s to import, and only claims about whole runs need it
    found: list[Part] = []
    graph: Any = nx.DiGraph((edge.source, edge.target) for edge in alive)
    for numbers in nx.strongly_connected_components(graph):
        inside = [edge for edge in alive if edge.source in numbers and edge.target in numbers]
        if not inside:
            continue
        steps: dict[int, list[Edge]] = {number: [] for number in sorted(numbers)}
        for edge in inside:
            steps[edge.source].append(edge)
        part = Part(steps, needs)
        unserved = [one for one in needs if not part.served(one)]
        if any(one.kind == "must" or (one.kind == "weak" and numbers <= one.offering) for one in unserved):
            continue
        starved = numbers & frozenset[int]().union(*(one.offering for one in unserved if one.kind == "strong"))
        if not starved:
            found.append(part)
            continue
        left = [edge for edge in inside if edge.source not in starved and edge.target not in starved]
        found += _parts(ahead, left, needs)
    return found
