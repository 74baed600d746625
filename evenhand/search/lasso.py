"""Short runs that violate a liveness property: a run that ends too early, or a lasso whose loop is itself fair.

The stem is a shortest one.  The loop is short, not always shortest: it starts as the shortest cycle and is extended for
each unmet need, the nearest first, from several entries; the shrinker does the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from evenhand.search.csr import Flags, Ints

EFFORT = 400_000
"""Edges that the search for a short loop may visit before it tries fewer entries."""

PARTS = 8
"""Parts up to which the search for a stem checks after each step whether it may end."""

Stem: TypeAlias = tuple[Flags, Flags, Flags]
"""The edges that a stem may take: before waiting, to start waiting, and while waiting."""


@dataclass(frozen=True)
class Edges:
    """The graph of one configuration: `size` states, the first `initials` of them initial, edges as arrays.

    `action` is the number of an action that takes the edge.  Edges are sorted by source.  Runs go on from the states in
    `cut`, where a constraint keeps the search from following them: no edge leaves these, and none of them is an end.
    """

    size: int
    initials: int
    source: Ints
    target: Ints
    action: Ints
    cut: tuple[int, ...] = ()

    @property
    def ends(self) -> Flags:
        """The states from which no edge leads on, and none is kept back."""
        found = np.ones(self.size, dtype=np.bool_)
        found[self.source] = False
        found[list(self.cut)] = False
        return found


@dataclass(frozen=True)
class Need:
    """A need of a loop: `weak` or `strong` fairness, or `must` (take a serving edge in any case).

    `served` marks edges, `on_offer` the states in which a serving edge starts.
    """

    kind: str
    served: Flags
    on_offer: Flags

    def met(self, loop: Sequence[int], states: Sequence[int]) -> bool:
        """Return whether repeating `loop` (edges) through `states` for ever meets it."""
        if any(self.served[edge] for edge in loop):
            return True
        match self.kind:
            case "weak":
                return not all(self.on_offer[state] for state in states)
            case "strong":
                return not any(self.on_offer[state] for state in states)
            case _:
                return False


def nearest_run(
    edges: Edges, stem: Stem, ends: Flags, parts: Sequence[Ints], needs: Sequence[Need], *, waiting: bool = True
) -> tuple[int, tuple[int, ...], tuple[int, ...]] | None:
    """Return the shortest run found: its initial state, the actions of its stem, those of its loop (or none).

    A run waits from the start if `waiting`, else from an edge that starts it; it violates the property when, while
    waiting, it stops in a state that `ends`, or goes round one of `parts`.
    """
    if not parts and not ends.any():
        return None
    doors = [(np.unique(edges.source[part]), max(1, min(32, EFFORT // (len(part) + 1)))) for part in parts]
    distance, via = _layers(edges, stem, _enough(ends, doors), waiting=waiting)
    waits = distance[edges.size :]
    best: tuple[int, tuple[int, ...], tuple[int, ...]] | None = None
    stopped = np.flatnonzero(ends & (waits >= 0))
    if len(stopped):
        best = (*_back(edges, via, int(stopped[np.argmin(waits[stopped])])), ())
    for part, (entries, some) in zip(parts, doors, strict=True):
        entries = entries[waits[entries] >= 0]
        entries = entries[np.argsort(waits[entries], kind="stable")]
        for entry in entries[:some].tolist():
            far = int(waits[entry])
            if best is not None and far + 1 >= len(best[1]) + len(best[2]):
                break
            loop = tuple(int(edges.action[edge]) for edge in fair_loop(edges, part, entry, needs))
            if best is None or far + len(loop) < len(best[1]) + len(best[2]):
                best = (*_back(edges, via, entry), loop)
    return best


def _enough(ends: Flags, doors: Sequence[tuple[Ints, int]]) -> Callable[[Ints], bool]:
    """A test whether the shortest run is reached: a stop, or so many entries of every part."""

    def enough(waits: Ints) -> bool:
        if ends.any():
            return bool((waits[ends] >= 0).any())
        return len(doors) <= PARTS and all(np.count_nonzero(waits[states] >= 0) >= some for states, some in doors)

    return enough


def _layers(edges: Edges, stem: Stem, enough: Callable[[Ints], bool], *, waiting: bool) -> tuple[Ints, Ints]:
    """Search breadth-first (not waiting, then waiting): the distance of each state, and the edge that reached it.

    State `s` is at `s`, and waiting at `size + s`; -1 says that it was not reached.  An edge that starts waiting counts
    from `len(source)` on.
    """
    size, count = edges.size, len(edges.source)
    before, starts, during = stem
    distance = np.full(2 * size, -1, dtype=np.int64)
    via = np.full(2 * size, -1, dtype=np.int64)
    out = _Out(edges, np.arange(count))
    frontier = np.arange(edges.initials) + (size if waiting else 0)
    distance[frontier] = far = 0
    while len(frontier) and not enough(distance[size:]):
        far += 1
        states = frontier % size
        edge = out.of(states)
        waits = np.repeat(frontier >= size, out.degree(states))
        # Each edge may keep the phase or start waiting, in this order.
        ways = np.stack([np.where(waits, during[edge], before[edge]), ~waits & starts[edge]], axis=1)
        there = np.stack([edges.target[edge] + size * waits, edges.target[edge] + size], axis=1)
        taken = np.stack([edge, edge + count], axis=1)
        fresh = ways & (distance[there] < 0)
        nodes, taken = there[fresh], taken[fresh]
        _, first = np.unique(nodes, return_index=True)
        first.sort()
        frontier = nodes[first]
        distance[frontier], via[frontier] = far, taken[first]
    return distance, via


def _back(edges: Edges, via: Ints, state: int) -> tuple[int, tuple[int, ...]]:
    """The initial state and the actions that lead to waiting in `state`."""
    taken: list[int] = []
    node, count = edges.size + state, len(edges.source)
    while via[node] >= 0:
        began, edge = divmod(int(via[node]), count)
        taken.append(int(edges.action[edge]))
        node = int(edges.source[edge]) + (edges.size if node >= edges.size and not began else 0)
    return node % edges.size, tuple(reversed(taken))


class _Out:
    """Some edges by their source: `some` are edge numbers in increasing order."""

    def __init__(self, edges: Edges, some: Ints) -> None:
        self.some = some
        self.first = np.searchsorted(edges.source[some], np.arange(edges.size + 1))

    def degree(self, states: Ints) -> Ints:
        """The number of these edges that leave each state."""
        return self.first[states + 1] - self.first[states]

    def of(self, states: Ints) -> Ints:
        """The edges that leave these states, state by state."""
        many = self.degree(states)
        place = np.arange(int(many.sum())) - np.repeat(np.cumsum(many) - many, many)
        return self.some[place + np.repeat(self.first[states], many)]


def fair_loop(edges: Edges, part: Ints, entry: int, needs: Sequence[Need]) -> list[int]:
    """Return the edges of a loop through `entry`, inside a fair part, that meets every need itself."""
    out = _Out(edges, part)
    walk: list[int] = []
    at = entry
    while True:
        loop = [*walk, *_way(edges, out, at, lambda edge: edges.target[edge] == entry)]
        states = [int(edges.source[edge]) for edge in loop]
        unmet = next((need for need in needs if not need.met(loop, states)), None)
        if unmet is None:
            return loop
        walk += _way(edges, out, at, _serves(edges, unmet))
        at = int(edges.target[walk[-1]])


def _serves(edges: Edges, need: Need) -> Callable[[Ints], Flags]:
    """A test for edges that help to meet a need: they serve it, or leave where it is on offer."""
    if need.kind == "weak":
        return lambda edge: need.served[edge] | ~need.on_offer[edges.target[edge]]
    return lambda edge: need.served[edge]


def _way(edges: Edges, out: _Out, at: int, wanted: Callable[[Ints], Flags]) -> list[int]:
    """The shortest path of at least one edge whose last edge is wanted; a fair part always has one."""
    via = np.full(edges.size, -1, dtype=np.int64)
    frontier = np.asarray([at], dtype=np.int64)
    while len(frontier):
        edge = out.of(frontier)
        found = np.flatnonzero(wanted(edge))
        if len(found):
            way = [int(edge[found[0]])]
            while (node := int(edges.source[way[-1]])) != at:
                way.append(int(via[node]))
            return way[::-1]
        target = edges.target[edge]
        edge, target = edge[(via[target] < 0) & (target != at)], target[(via[target] < 0) & (target != at)]
        frontier, first = np.unique(target, return_index=True)
        frontier = target[np.sort(first)]
        via[frontier] = edge[np.sort(first)]
    raise AssertionError("a fair part offers what it needs; the search is wrong")
