"""The part of a state graph around a run, explored up to a bound, with deadlocks and livelocks marked.

A bound leaves states unexpanded, so every mark is one that more exploring cannot take back: a part is strongly
connected as far as is seen and may be larger; a deadlock is a state from which everything ahead was expanded and
nothing completes; a livelock is a fair part of expanded states that attempts and never progresses.  A missing mark
says nothing unless the whole region was expanded.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np

from evenhand.core.fairness import assumed, is_known
from evenhand.core.grouping import grouped
from evenhand.core.property import DeadlockFree, Liveness, Property
from evenhand.core.system import AnyStep, AnySystem
from evenhand.core.temporal import AboutRuns, fairness_of
from evenhand.search.csr import Flags, components
from evenhand.search.lasso import Edges, fair_parts, need_of
from evenhand.search.liveness import Labels, Taken, can_complete

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


def region(system: AnySystem, claims: Sequence[Property], config: Any, states: Sequence[Any]) -> Region:
    """Return the region around a run that passed `states`: breadth first from its end, then from its start.

    The same run gives the same region: bounds count steps and states, never seconds.
    """
    known = system.fair(config)
    marked = [
        one
        for one in claims
        if isinstance(one, DeadlockFree) or (isinstance(one, Liveness) and one.begins == "loop")
        if one.applies(config) and is_known(known, fairness_of(one))
    ]
    made, labels = Region(), Labels(system, config, marked)
    for state in states:
        made.add(state)
    _spread(system, config, made, labels, states[-1], STEPS // 3, STATES // 3)
    _spread(system, config, made, labels, states[0], STEPS, STATES)
    for state in states:
        _expand(system, config, made, labels, made.number[state], 2 * STEPS)
    _mark(made, labels, marked, config)
    return made


def _spread(system: AnySystem, config: Any, made: Region, labels: Labels, state: Any, steps: int, states: int) -> None:
    queue, seen = deque([made.add(state)]), {made.number[state]}
    ahead = grouped(made.edges)
    while queue and made.steps < steps and len(made.expanded) < states:
        at = queue.popleft()
        found = ahead.get(at, ()) if at in made.expanded else _expand(system, config, made, labels, at, steps)
        for target in found:
            if target not in seen:
                seen.add(target)
                queue.append(target)


def _expand(system: AnySystem, config: Any, made: Region, labels: Labels, at: int, steps: int) -> tuple[int, ...]:
    """Take every action on offer in a state; return the states after.  Beyond a bound the state stays unexpanded."""
    if at in made.expanded or at in made.cut or made.steps >= steps:
        return ()
    state, found = made.states[at], dict[int, None]()
    before = made.steps
    for number, action in enumerate(islice(system.enabled(config, state), WIDE + 1)):
        if number == WIDE:
            made.cut.add(at)
            labels.here.clear()
            return tuple(found)
        made.steps += 1
        step = system.take(config, state, action)
        target = made.add(step.after)
        made.edges.setdefault((at, target), Edge(action, number)).weight += 1
        labels.look(step, number, target)
        found[target] = None
    labels.leave(at, state)
    made.expanded.add(at)
    if made.steps == before:
        made.ends.add(at)
    return tuple(found)


def _mark(made: Region, labels: Labels, claims: Sequence[AboutRuns], config: Any) -> None:
    """Number the parts, and find deadlocks and livelocks."""
    size = len(made.states)
    pairs = np.asarray(list(made.edges) or [(0, 0)], dtype=np.int64)
    made.part = components(size, pairs[:, 0], pairs[:, 1]).tolist()
    order = np.argsort(np.asarray(labels.source, dtype=np.int64), kind="stable")
    source, target = (np.asarray(column, dtype=np.int64)[order] for column in (labels.source, labels.target))
    edges = Edges(size, 1, source, target, np.arange(len(order), dtype=np.int64))

    def where(test: Callable[[AnyStep], bool]) -> Flags:
        return labels.where(test)[order]

    for dead in (claim for claim in claims if isinstance(claim, DeadlockFree)):
        # An unexpanded state may complete, so it counts as one beyond which steps were not followed: no mark is wrong.
        cut = tuple(at for at in range(size) if at not in made.expanded)
        alive = can_complete(replace(edges, cut=cut), where(dead.completes))
        for at, state in enumerate(made.states):
            if not alive[at] and dead.wants(config, state):
                made.stuck[at] = (*made.stuck.get(at, ()), dead.name)
    for live in (claim for claim in claims if isinstance(claim, Liveness)):
        attempts, progress = live.tests
        idle = ~where(progress)
        needs = [need_of(one.kind, where(Taken(one)), edges) for one in assumed(labels.fair, live.fairness).values()]
        needs.append(need_of("must", where(attempts) & idle, edges))
        inside = idle & np.isin(target, np.asarray(sorted(made.expanded), dtype=np.int64))
        for part in fair_parts(edges, inside, needs):
            for at in np.unique(source[part]).tolist():
                made.circling[at] = (*made.circling.get(at, ()), live.name)
