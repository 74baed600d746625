"""The picture of a graph: states as numbered circles, steps between them; hovering over either describes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import networkx as nx

from evenhand.core.text import describe
from evenhand.report.phrases import plural
from evenhand.report.templates import shown

MOST = 80
"""States of a graph that a picture shows: those nearest to the start."""

EDGES = 100
"""Edges that are drawn at most; beyond it only the first edge to each state."""

_WIDE, _HIGH = 96, 40


class Node(NamedTuple):
    """A state; `cycle` marks one that can come again."""

    x: int
    y: int
    number: int
    title: str
    cycle: bool = False
    initial: bool = False


class Edge(NamedTuple):
    """A step; `path` is that of SVG."""

    path: str
    title: str
    cycle: bool = False


class Words(NamedTuple):
    """A line of text."""

    x: int
    y: int
    words: str
    weight: int = 400
    quiet: bool = False
    cycle: bool = False


class Picture(NamedTuple):
    """What is drawn, and a note on what is not."""

    label: str
    width: int
    height: int
    nodes: list[Node]
    edges: list[Edge]
    note: str = ""
    texts: Sequence[Words] = ()


def graph_svg(graph: nx.DiGraph[Any]) -> str:
    """Return the graph of `Exploration.to_networkx` as SVG: states by depth, those in a cycle in one colour.

    Of a large graph only a part is drawn; the rest is counted in words.
    """
    every: list[Any] = sorted(graph.nodes, key=lambda node: graph.nodes[node]["number"])
    places = _places(graph, every[:MOST])
    cycles = {node for part in nx.strongly_connected_components(graph) if len(part) > 1 for node in part}
    inside = [edge for edge in graph.edges(data=True) if edge[0] in places and edge[1] in places and edge[0] != edge[1]]
    drawn = inside if len(inside) <= EDGES else _first_ways(graph, inside)
    edges: list[Edge] = []
    for before, after, about in drawn:
        (x, y), (u, v) = places[before], places[after]
        path = f"M{x} {y} Q{(x + u) // 2} {(y + v) // 2 - (0 if u > x else 26)} {u} {v}"
        edges.append(Edge(path, describe(about["action"]), before in cycles and after in cycles))
    nodes = [
        Node(*place, graph.nodes[node]["number"], describe(node), node in cycles, graph.nodes[node]["initial"])
        for node, place in places.items()
    ]
    left_out = [(len(every) - len(nodes), "state"), (len(inside) - len(drawn), "edge")]
    words = " and ".join(plural(number, what) for number, what in left_out if number)
    width, height = (max((place[axis] for place in places.values()), default=0) + 60 for axis in (0, 1))
    note = f"not drawn: {words}" if words else ""
    return shown("picture", Picture("State graph", width, height, nodes, edges, note))


def _first_ways(graph: nx.DiGraph[Any], edges: list[Any]) -> list[Any]:
    """Return for each state the first edge that leads to it from a state one step nearer to the start."""
    found: dict[Any, Any] = {}
    for before, after, about in sorted(edges, key=lambda edge: graph.nodes[edge[0]]["number"]):
        if graph.nodes[before]["depth"] + 1 == graph.nodes[after]["depth"]:
            found.setdefault(after, (before, after, about))
    return list(found.values())


def _places(graph: nx.DiGraph[Any], nodes: list[Any]) -> dict[Any, tuple[int, int]]:
    rows: dict[int, int] = {}
    places: dict[Any, tuple[int, int]] = {}
    for node in nodes:
        depth: int = graph.nodes[node]["depth"]
        row = rows[depth] = rows.get(depth, -1) + 1
        places[node] = (30 + _WIDE * depth + 18 * (row % 2), 30 + _HIGH * row)
    return places
