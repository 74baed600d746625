"""The part of a state graph around a run, explored up to a bound, with deadlocks and livelocks marked.

A bound leaves states unexpanded, so every mark is one that more exploring cannot take back: a part is strongly
connected as far as is seen and may be larger; a deadlock is a state from which everything ahead was expanded and
nothing completes; a livelock is a fair part of expanded states that attempts and never progresses.  A missing mark
says nothing unless the whole region was expanded.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from evenhand.core.fairness import assumed, is_known
from evenhand.core.grouping import grouped
from evenhand.core.property import DeadlockFree, Liveness, Property
from evenhand.core.system import AnyStep, AnySystem
from evenhand.search.csr import components
from evenhand.search.lasso import Edges, fair_parts, need_of
from evenhand.search.liveness import can_complete

STEPS = 8_000
"""Steps that are taken at most: a third around the end of the run, the rest from its start."""

STATES = 1_500
"""States that are expanded at most."""

WIDE = 3_000
"""Actions of one state that are taken at most; a state with more counts as not expanded."""


@dataclass
class Edge:
    """All steps from one state to another: the first action in the model's order, its number, their count."""

    action: Any
    number: int
    weight: int = 0


@dataclass
class Region:
    """States by number, the edges between them, and which were expanded.

    `part` numbers the strongly connected part of each state; `stuck` and `circling` name the claims that are refuted by
    stopping in a state, or by staying in its part for ever.  `ends` are expanded states in which nothing is on offer.
    """

    states: list[Any] = field(default_factory=list[Any])
    number: dict[Any, int] = field(default_factory=dict[Any, int])
    edges: dict[tuple[int, int], Edge] = field(default_factory=dict[tuple[int, int], Edge])
    expanded: set[int] = field(default_factory=set[int])
    ends: set[int] = field(default_factory=set[int])
    cut: set[int] = field(default_factory=set[int])
    steps: int = 0
    part: list[int] = field(default_factory=list[int])
    stuck: dict[int, tuple[str, ...]] = field(default_factory=dict[int, tuple[str, ...]])
    circling: dict[int, tuple[str, ...]] = field(default_factory=dict[int, tuple[str, ...]])

    @property
    def whole(self) -> bool:
        """Whether every state was expanded."""
        return len(self.expanded) == len(self.states)

    def add(self, state: Any) -> int:
        """Return the number of a state, a new one if it has none."""
        if state not in self.number:
            self.number[state] = len(self.states)
            self.states.append(state)
        return self.number[state]

    def sizes(self) -> dict[int, int]:
        """Return the number of states of each part."""
        found: dict[int, int] = {}
        for part in self.part:
            found[part] = found.get(part, 0) + 1
        return found


class _Labels:
    """The predicates that each kind of step satisfies, for the claims about runs."""

    def __init__(self, system: AnySystem, config: Any, claims: Sequence[Property]) -> None:
        self.deadlocks = [one for one in claims if isinstance(one, DeadlockFree) and one.applies(config)]
        known = system.fair(config)
        self.livelocks = [
            one
            for one in claims
            if isinstance(one, Liveness) and one.begins == "loop"
            if one.applies(config) and is_known(known, one.fairness)
        ]
        self.fair = assumed(known, (name for one in self.livelocks for name in one.fairness))
        self.tests: dict[str, Callable[[AnyStep], bool]] = {}
        for dead in self.deadlocks:
            self.tests[f"completes {dead.name}"] = dead.completes
        for live in self.livelocks:
            self.tests[f"attempts {live.name}"], self.tests[f"progress {live.name}"] = live.tests
        self.bits = {name: 1 << place for place, name in enumerate((*self.tests, *(f"fair {n}" for n in self.fair)))}
        self.rows: dict[tuple[int, int, int], None] = {}

    def look(self, source: int, step: AnyStep, target: int) -> None:
        """Keep the step unless an equal row is kept."""
        satisfied = sum(self.bits[name] for name, test in self.tests.items() if test(step))
        satisfied += sum(
            self.bits[f"fair {name}"] for name, one in self.fair.items() if one.taken(step.before, step.action)
        )
        self.rows[source, target, satisfied] = None


def region(system: AnySystem, claims: Sequence[Property], config: Any, states: Sequence[Any]) -> Region:
    """Return the region around a run that passed `states`: breadth first from its end, then from its start.

    The same run gives the same region: bounds count steps and states, never seconds.
    """
    made, labels = Region(), _Labels(system, config, claims)
    for state in states:
        made.add(state)
    _spread(system, config, made, labels, states[-1], STEPS // 3, STATES // 3)
    _spread(system, config, made, labels, states[0], STEPS, STATES)
    for state in states:
        _expand(system, config, made, labels, made.number[state], 2 * STEPS)
    _mark(made, labels, config)
    return made


def _spread(system: AnySystem, config: Any, made: Region, labels: _Labels, state: Any, steps: int, states: int) -> None:
    queue, seen = deque([made.add(state)]), {made.number[state]}
    ahead = grouped(made.edges)
    while queue and made.steps < steps and len(made.expanded) < states:
        at = queue.popleft()
        found = ahead.get(at, ()) if at in made.expanded else _expand(system, config, made, labels, at, steps)
        for target in found:
            if target not in seen:
                seen.add(target)
                queue.append(target)


def _expand(system: AnySystem, config: Any, made: Region, labels: _Labels, at: int, steps: int) -> tuple[int, ...]:
    """Take every action on offer in a state; return the states after.  Beyond a bound the state stays unexpanded."""
    if at in made.expanded or at in made.cut or made.steps >= steps:
        return ()
    state, found = made.states[at], dict[int, None]()
    before = made.steps
    for number, action in enumerate(islice(system.enabled(config, state), WIDE + 1)):
        if number == WIDE:
            made.cut.add(at)
            return tuple(found)
        made.steps += 1
        step = system.take(config, state, action)
        target = made.add(step.after)
        made.edges.setdefault((at, target), Edge(action, number)).weight += 1
        labels.look(at, step, target)
        found[target] = None
    made.expanded.add(at)
    if made.steps == before:
        made.ends.add(at)
    return tuple(found)


def _mark(made: Region, labels: _Labels, config: Any) -> None:
    """Number the parts, and find deadlocks and livelocks."""
    size = len(made.states)
    pairs = np.asarray(list(made.edges) or [(0, 0)], dtype=np.int64)
    made.part = components(size, pairs[:, 0], pairs[:, 1]).tolist()
    rows = sorted(row for row in labels.rows if row[0] in made.expanded)
    source, target, bits = (np.asarray([row[k] for row in rows], dtype=np.int64) for k in range(3))
    edges = Edges(size, 1, source, target, np.arange(len(rows), dtype=np.int64))

    def where(name: str) -> Any:
        return (bits & labels.bits[name]) != 0

    for dead in labels.deadlocks:
        # An unexpanded state may complete, so it counts as completing: no mark is wrong.
        open_ = np.asarray([at for at in range(size) if at not in made.expanded], dtype=np.int64)
        grown = Edges(size, 1, np.append(source, open_), np.append(target, open_), edges.action)
        completing = np.append(where(f"completes {dead.name}"), np.ones(len(open_), dtype=np.bool_))
        alive = can_complete(grown, completing)
        for at, state in enumerate(made.states):
            if not alive[at] and dead.wants(config, state):
                made.stuck[at] = (*made.stuck.get(at, ()), dead.name)
    for live in labels.livelocks:
        idle = ~where(f"progress {live.name}")
        needs = [
            need_of(labels.fair[name].kind, where(f"fair {name}"), edges)
            for name in assumed(labels.fair, live.fairness)
        ]
        needs.append(need_of("must", where(f"attempts {live.name}") & idle, edges))
        inside = idle & np.isin(target, np.asarray(sorted(made.expanded), dtype=np.int64))
        for part in fair_parts(edges, inside, needs):
            for at in np.unique(source[part]).tolist():
                made.circling[at] = (*made.circling.get(at, ()), live.name)
