"""An explored graph as a picture, and as a file: DOT for drawing, GraphML and JSON for other tools,
Promela and TLA+ for other model checkers.

Nodes are states, or with `--parts` the strongly connected parts, numbered in order of discovery; labels are described
values, inert, so that nothing in a state can break out of its label.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import networkx as nx

from evenhand.core.canonical import Json
from evenhand.core.property import Property
from evenhand.core.text import describe
from evenhand.report.checkers import CHECKERS, invariants
from evenhand.report.drawing import Edge, Node, Picture
from evenhand.report.graphfile import Formats, dot, graphml, quoted, tagged, writer
from evenhand.report.phrases import plural
from evenhand.report.templates import shown

MOST = 80
"""States of a graph that a picture shows: those nearest to the start."""

EDGES = 100
"""Edges that are drawn at most; beyond it only the first edge to each state."""


_WIDE, _HIGH = 96, 40


def exporter(path: Path) -> Callable[[nx.DiGraph[Any], Sequence[Property]], None]:
    """Return the function that writes a graph (for model checkers with the claims) in the format of the suffix.

    Raises ValueError for an unknown suffix, NotWritable for a folder that cannot be written to.
    """
    write = writer(path, "--graph", SUFFIXES)

    def export(graph: nx.DiGraph[Any], claims: Sequence[Property]) -> None:
        plain = _plain(graph)
        if path.suffix in CHECKERS:
            if "mapping" in graph.graph:
                raise ValueError(f"--graph {path}: a model checker reads states, not components; leave --parts out")
            if not plain["complete"]:
                raise ValueError(
                    f"--graph {path}: the search ended at a bound, and a part of the graph is no model of the system; "
                    "raise --max-states or --depth, or choose a smaller scope"
                )
            states = {about["number"]: state for state, about in graph.nodes(data=True)}
            plain |= invariants(claims, graph.graph["config"], states)
        write(plain)

    return export


def _plain(graph: nx.DiGraph[Any]) -> dict[str, Json]:
    """Return the graph as numbers and described values: `nodes` by number, `edges` in their order."""
    numbers = {state: about["number"] for state, about in graph.nodes(data=True)}
    return {
        "system": str(graph.graph.get("system", "")),
        "variant": str(graph.graph.get("variant", "")),
        "complete": bool(graph.graph.get("complete")),
        "nodes": [
            {
                "id": about["number"],
                "state": _named(state, about),
                "depth": about["depth"],
                "initial": bool(about["initial"]),
                **({"states": len(about["members"])} if "members" in about else {}),
            }
            for state, about in graph.nodes(data=True)
        ],
        "edges": [
            {
                "source": numbers[source],
                "target": numbers[target],
                "action": describe(about["action"]),
                "weight": about["weight"],
            }
            for source, target, about in graph.edges(data=True)
        ],
    }


def _named(node: Any, about: dict[str, Any]) -> str:
    if "members" not in about:
        return describe(node)
    more = len(about["members"]) - 1
    return describe(about["first"]) + (f" and {more} more" if more else "")


def _dot(graph: dict[str, Json]) -> bytes:
    lines: list[str] = []
    for node in graph["nodes"]:
        shape = " peripheries=2" if node["initial"] else ""
        lines.append(f"  n{node['id']} [label={quoted(node['state'])}{shape}];")
    for edge in graph["edges"]:
        more = f" (and {edge['weight'] - 1} more)" if edge["weight"] > 1 else ""
        lines.append(f"  n{edge['source']} -> n{edge['target']} [label={quoted(edge['action'] + more)}];")
    return dot(graph["system"], lines)


def _graphml(graph: dict[str, Json]) -> bytes:
    made: nx.DiGraph[int] = nx.DiGraph(**{name: graph[name] for name in ("system", "variant", "complete")})
    for node in graph["nodes"]:
        made.add_node(node["id"], **{name: value for name, value in node.items() if name != "id"})
    for edge in graph["edges"]:
        made.add_edge(edge["source"], edge["target"], action=edge["action"], weight=edge["weight"])
    return graphml(made)


SUFFIXES: Formats = {".dot": _dot, ".graphml": _graphml, ".json": partial(tagged, "graph"), **CHECKERS}
"""The writer of each suffix."""


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
