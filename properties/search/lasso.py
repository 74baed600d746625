"""Short runs that break a promise: a run that ends too early, or a lasso whose loop is itself fair.

The stem is a shortest one.  The loop is short, not always shortest: it starts as the shortest way round and
takes in what each unmet need asks for, the nearest first, from several entries; the shrinker does the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from evenhand.properties.search.csr import Flags, Ints

__all__ = ["Edges", "Need", "Stem", "fair_loop", "nearest_run"]

EFFORT = 400_000
"""Edges that the search for a short loop may look at before it settles for fewer entries."""

Stem: TypeAlias = tuple[Flags, Flags, Flags]
"""Which edges a stem may take: while nothing is awaited, to start waiting, and while waiting."""


@dataclass(frozen=True)
class Edges:
    """The graph of one configuration: `size` states, the first `initials` of them initial, edges as arrays.

    `action` is the number of an action that takes the edge.  Edges are sorted by source.
    """

    size: int
    initials: int
    source: Ints
    target: Ints
    action: Ints


@dataclass(frozen=True)
class Need:
    """What a loop must do: `weak` or `strong` fairness, or `must` (take a serving edge in any case).

    `served` marks edges, `on_offer` the states in which a serving edge starts.
    """

    kind: str
    served: Flags
    on_offer: Flags

    def met(self, loop: Sequence[int], states: Sequence[int]) -> bool:
        """Whether going round `loop` (edges) for ever, through `states`, meets it."""
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
    """The shortest run found: its initial state, the actions of its stem, the actions of its loop (or none).

    A run waits from the start if `waiting`, else from where an edge starts it; it is waiting when it stops in
    a state that `ends`, or goes round one of `parts`.
    """
    if not parts and not ends.any():
        return None
    distance, via = _layers(edges, stem, waiting=waiting)
    waits = {state: far for (state, waiting), far in distance.items() if waiting}
    best: tuple[int, tuple[int, ...], tuple[int, ...]] | None = None
    stopped = [state for state in np.flatnonzero(ends).tolist() if state in waits]
    if stopped:
        best = (*_back(edges, via, min(stopped, key=lambda state: (waits[state], state))), ())
    for part in parts:
        entries = [state for state in np.unique(edges.source[part]).tolist() if state in waits]
        entries.sort(key=lambda state: (waits[state], state))
        for entry in entries[: max(1, min(32, EFFORT // (len(part) + 1)))]:
            if best is not None and waits[entry] + 1 >= len(best[1]) + len(best[2]):
                break
            loop = tuple(int(edges.action[edge]) for edge in fair_loop(edges, part, entry, needs))
            if best is None or waits[entry] + len(loop) < len(best[1]) + len(best[2]):
                best = (*_back(edges, via, entry), loop)
    return best


_Node: TypeAlias = tuple[int, bool]
_Via: TypeAlias = Mapping[_Node, tuple[int, bool] | None]


def _layers(edges: Edges, stem: Stem, *, waiting: bool) -> tuple[dict[_Node, int], _Via]:
    """Breadth-first through (state, waiting or not): the distance of each node, and the edge it was reached by."""
    before, starts, during = (mask.tolist() for mask in stem)
    out = _outgoing(edges, np.arange(len(edges.source)))
    distance: dict[_Node, int] = {(sid, waiting): 0 for sid in range(edges.initials)}
    via: dict[_Node, tuple[int, bool] | None] = dict.fromkeys(distance)
    queue = list(distance)
    for node in queue:
        state, waits = node
        for edge, target in out.get(state, ()):
            onward: list[_Node] = []
            if waits and during[edge]:
                onward = [(target, True)]
            elif not waits:
                onward = [(target, False)] * before[edge] + [(target, True)] * starts[edge]
            for following in onward:
                if following not in distance:
                    distance[following] = distance[node] + 1
                    via[following] = (edge, waits)
                    queue.append(following)
    return distance, via


def _back(edges: Edges, via: _Via, state: int) -> tuple[int, tuple[int, ...]]:
    """The initial state and the actions that lead to waiting in `state`."""
    taken: list[int] = []
    node: _Node = (state, True)
    while (step := via[node]) is not None:
        edge, waited = step
        taken.append(int(edges.action[edge]))
        node = (int(edges.source[edge]), waited)
    return node[0], tuple(reversed(taken))


def _outgoing(edges: Edges, some: Ints) -> dict[int, list[tuple[int, int]]]:
    out: dict[int, list[tuple[int, int]]] = {}
    for edge, source, target in zip(
        some.tolist(), edges.source[some].tolist(), edges.target[some].tolist(), strict=True
    ):
        out.setdefault(source, []).append((edge, target))
    return out


def fair_loop(edges: Edges, part: Ints, entry: int, needs: Sequence[Need]) -> list[int]:
    """A loop through `entry` inside a fair part that meets every need itself: its edges."""
    out = _outgoing(edges, part)
    walk: list[int] = []
    at = entry
    while True:
        loop = [*walk, *_way(out, at, lambda edge: edges.target[edge] == entry)]
        states = [int(edges.source[edge]) for edge in loop]
        unmet = next((need for need in needs if not need.met(loop, states)), None)
        if unmet is None:
            return loop
        walk += _way(out, at, _serves(edges, unmet))
        at = int(edges.target[walk[-1]])


def _serves(edges: Edges, need: Need) -> Callable[[int], bool]:
    """Which edges bring a loop closer to meeting a need: those that serve it, or leave what it asks for."""
    if need.kind == "weak":
        return lambda edge: bool(need.served[edge] or not need.on_offer[edges.target[edge]])
    return lambda edge: bool(need.served[edge])


def _way(out: Mapping[int, Sequence[tuple[int, int]]], at: int, wanted: Callable[[int], bool]) -> list[int]:
    """The shortest way of at least one edge whose last edge is wanted; in a fair part there always is one."""
    via: dict[int, tuple[int, int]] = {}
    queue, seen = [at], {at}
    for node in queue:
        for edge, target in out.get(node, ()):
            if wanted(edge):
                way = [edge]
                while node != at:
                    edge, node = via[node]
                    way.append(edge)
                return way[::-1]
            if target not in seen:
                seen.add(target)
                via[target] = (edge, node)
                queue.append(target)
    raise AssertionError("a fair part offers what it needs; the search is wrong")
