"""An explored graph as a file: DOT for drawing, GraphML and JSON for other tools.

Nodes are states, or with `--parts` the strongly connected parts, numbered in order of discovery; labels are described
values, inert, so that nothing in a state can break out of its label.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import networkx as nx

from evenhand.core.canonical import Json
from evenhand.core.text import describe
from evenhand.report.graphfile import Formats, dot, graphml, quoted, tagged, writer


def exporter(path: Path) -> Callable[[nx.DiGraph[Any]], None]:
    """Return the function that writes a graph to `path`, in the format of its suffix.

    Raises ValueError for an unknown suffix, NotWritable for a folder that cannot be written to.
    """
    write = writer(path, "--graph", SUFFIXES)
    return lambda graph: write(_plain(graph))


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


SUFFIXES: Formats = {".dot": _dot, ".graphml": _graphml, ".json": partial(tagged, "graph")}
"""The writer of each suffix."""
