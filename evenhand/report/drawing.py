"""A small explored graph as a picture: states by depth from left to right, states in a cycle in one colour.

Of a large graph only a part is drawn; the rest is counted in words.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import networkx as nx

from evenhand.core.text import describe, inert
from evenhand.report.phrases import plural

if TYPE_CHECKING:
    import networkx as nx

MOST = 80
"""States that a picture shows: those nearest to the start."""

EDGES = 100
"""Edges that are drawn at most; beyond it only the first edge to each state."""

_INK, _CYCLE = "currentColor", "#a01322"
_WIDE, _HIGH = 96, 40


def graph_svg(graph: nx.DiGraph[Any]) -> str:
    """Return the graph of `Exploration.to_networkx` as SVG; hovering over a state or an edge describes it."""
    every: list[Any] = sorted(graph.nodes, key=lambda node: graph.nodes[node]["number"])
    shown = every[:MOST]
    places = _places(graph, shown)
    cycles = {node for part in nx.strongly_connected_components(graph) if len(part) > 1 for node in part}
    width = max((x for x, _ in places.values()), default=0) + 60
    height = max((y for _, y in places.values()), default=0) + 60
    lines: list[str] = []
    edges = [edge for edge in graph.edges(data=True) if edge[0] in places and edge[1] in places and edge[0] != edge[1]]
    drawn = edges if len(edges) <= EDGES else _first_ways(graph, edges)
    for before, after, about in drawn:
        (x, y), (u, v) = places[before], places[after]
        path = f"M{x} {y} Q{(x + u) // 2} {(y + v) // 2 - (0 if u > x else 26)} {u} {v}"
        formatted = escape(inert(describe(about["action"])))
        colour = _CYCLE if before in cycles and after in cycles else _INK
        lines.append(
            f'<path d="{path}" fill="none" stroke="{colour}" stroke-opacity=".6"><title>{formatted}</title></path>'
        )
    for node in shown:
        (x, y), about = places[node], graph.nodes[node]
        colour = _CYCLE if node in cycles else _INK
        ring = f'stroke="{colour}" stroke-width="{4 if about["initial"] else 1.5}"'
        lines.append(
            f'<g><title>{escape(inert(describe(node)))}</title><circle cx="{x}" cy="{y}" r="12" fill="Canvas" {ring}/>'
            f'<text x="{x}" y="{y + 4}" font-size="10" text-anchor="middle" fill="{colour}">{about["number"]}</text>'
            "</g>"
        )
    left_out = [(len(every) - len(shown), "state"), (len(edges) - len(drawn), "edge")]
    if formatted := " and ".join(plural(number, what) for number, what in left_out if number):
        lines.append(f'<text x="8" y="{height - 6}" font-size="12" fill="{_INK}">not drawn: {formatted}</text>')
    head = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}" font-family="system-ui, sans-serif"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="State graph" {head}>{"".join(lines)}</svg>'


def _first_ways(graph: nx.DiGraph[Any], edges: list[Any]) -> list[Any]:
    """Return for each state the first edge that leads to it from a state one step nearer to the start."""
    found: dict[Any, Any] = {}
    for before, after, about in sorted(edges, key=lambda edge: graph.nodes[edge[0]]["number"]):
        if graph.nodes[before]["depth"] + 1 == graph.nodes[after]["depth"]:
            found.setdefault(after, (before, after, about))
    return list(found.values())


def _places(graph: nx.DiGraph[Any], shown: list[Any]) -> dict[Any, tuple[int, int]]:
    rows: dict[int, int] = {}
    places: dict[Any, tuple[int, int]] = {}
    for node in shown:
        depth: int = graph.nodes[node]["depth"]
        row = rows[depth] = rows.get(depth, -1) + 1
        places[node] = (30 + _WIDE * depth + 18 * (row % 2), 30 + _HIGH * row)
    return places
