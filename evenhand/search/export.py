"""The explored graph as a networkx graph, for drawing and for other algorithms."""

from __future__ import annotations

from typing import Any

import networkx as nx

from evenhand.core.system import AnyStep, AnySystem
from evenhand.search.bounds import Bounds
from evenhand.search.graph import Watcher, search
from evenhand.search.steps import nth_action


class _Pairs(Watcher):
    """The pairs of states that a step joins: the first action, and the number of steps."""

    name = "the export"

    def __init__(self) -> None:
        self.pairs: dict[tuple[int, int], tuple[int, int]] = {}

    def look(self, _step: AnyStep, action: int, there: int, /) -> None:
        """Count the step; states beyond a bound are left out."""
        if there >= 0:
            first, count = self.pairs.get((self.sid, there), (action, 0))
            self.pairs[self.sid, there] = (first, count + 1)


def as_networkx(system: AnySystem, config: Any, number: int, bounds: Bounds) -> nx.DiGraph[Any]:
    """Return the graph of one configuration; see `Exploration.to_networkx`."""
    pairs = _Pairs()
    walk = search(system, config, number, (pairs,), bounds)
    graph: nx.DiGraph[Any] = nx.DiGraph(system=system.name, variant=system.variant, complete=not walk.open)
    graph.graph["config"] = config
    for sid, state in enumerate(walk.states):
        graph.add_node(state, number=sid, depth=walk.depth_of(sid), initial=walk.parents[sid] < 0)
    for (source, target), (action, weight) in pairs.pairs.items():
        before = walk.states[source]
        graph.add_edge(before, walk.states[target], action=nth_action(system, config, before, action), weight=weight)
    return graph


def condensed(graph: nx.DiGraph[Any]) -> nx.DiGraph[Any]:
    """Return the condensation of a graph; see `Exploration.condensation`."""
    parts: nx.DiGraph[Any] = nx.condensation(graph)
    mapping: dict[Any, int] = parts.graph["mapping"]
    made: nx.DiGraph[Any] = nx.DiGraph(**graph.graph, mapping=mapping)
    for state, about in graph.nodes(data=True):  # in order of discovery: nearest first, initial states before others
        part = mapping[state]
        if part not in made:
            made.add_node(part, members=parts.nodes[part]["members"], first=state, **about)
    for source, target, about in graph.edges(data=True):
        here, there = mapping[source], mapping[target]
        if here == there:
            continue
        if made.has_edge(here, there):
            made.edges[here, there]["weight"] += about["weight"]
        else:
            made.add_edge(here, there, **about)
    return made
