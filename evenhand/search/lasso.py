"""Fair parts of a graph, and short loops in one.

A part is *fair* if a loop can stay in it for ever without violating an assumption:

- weak: the loop serves it, or passes a state in which no serving action is on offer;
- strong: the loop serves it, or passes no state in which one is.

If a part offers but does not serve a strong assumption, the states that offer it are removed, and the rest is analysed
again.  A loop is short, not always shortest: it starts as the shortest cycle and is extended for each unmet need, the
nearest first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.search.csr import Flags, Ints, Out, components, spread, way_back


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


def fair_loop(edges: Edges, part: Ints, entry: int, needs: Sequence[Need]) -> list[int]:
    """Return the edges of a loop through `entry`, inside a fair part, that meets every need itself."""
    out = Out(edges.size, edges.source, part)
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


def _way(edges: Edges, out: Out, at: int, wanted: Callable[[Ints], Flags]) -> list[int]:
    """The shortest path of at least one edge whose last edge is wanted; a fair part always has one."""
    for edge, _, via in spread(out, edges.target, np.asarray([at], dtype=np.int64)):
        found = edge[wanted(edge)]
        if len(found):
            return [*way_back(via, edges.source, int(edges.source[found[0]])), int(found[0])]
    raise AssertionError("a fair part offers what it needs; the search is wrong")
