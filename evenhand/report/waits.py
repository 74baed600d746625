"""A wait-for graph in words, and as a file: DOT for drawing, GraphML and JSON for other tools."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import networkx as nx

from evenhand.core.canonical import Json
from evenhand.core.text import describe, inert
from evenhand.report.graphfile import Formats, dot, graphml, quoted, tagged, writer
from evenhand.report.phrases import plural

if TYPE_CHECKING:
    from evenhand.search.waiting import WaitFor

SHOWN = 3
"""Completions of one edge that are written in words; a file has them all."""


def waits_exporter(path: Path) -> Callable[[WaitFor], None]:
    """Return the function that writes a wait-for graph to `path`, in the format of its suffix.

    Raises ValueError for an unknown suffix, NotWritable for a folder that cannot be written to.
    """
    write = writer(path, "--wait-for", FORMATS)
    return lambda found: write(wait_for_json(found))


def wait_for_json(found: WaitFor) -> dict[str, Json]:
    """Return the graph as described values: `agents`, edges with what is waited for, and the `cycles`."""
    return {
        "system": found.system.name,
        "variant": found.system.variant,
        "steps": len(found.run.actions),
        "state": describe(found.state),
        "agents": [inert(agent) for agent in found.agents],
        "edges": [
            {
                "waiter": inert(waiter),
                "holder": inert(holder),
                "for": [
                    {"what": describe(one.what), "holds": one.holds, "gives": one.gives, "beside": [*one.beside]}
                    for one in about["waits"]
                ],
            }
            for waiter, holder, about in found.to_networkx().edges(data=True)
        ],
        "cycles": [[inert(agent) for agent in cycle] for cycle in found.cycles],
        "unknown": [inert(line) for line in found.unknown],
    }


def wait_lines(found: WaitFor) -> list[str]:
    """Return the graph in words: a line for each edge, each cycle, and each unknown."""
    formatted = wait_for_json(found)
    lines = [f"after {plural(formatted['steps'], 'step')}, in {formatted['state']}:"]
    for edge in formatted["edges"]:
        whats = [one["what"] + _how(one) for one in edge["for"]]
        more = f" and {len(whats) - SHOWN} more" if len(whats) > SHOWN else ""
        lines.append(f"  {edge['waiter']} waits for {edge['holder']}: {'; '.join(whats[:SHOWN])}{more}")
    if not formatted["edges"]:
        lines.append(f"  no agent waits ({', '.join(formatted['agents']) or 'there are no agents'})")
    lines += [f"  a circular wait: {' -> '.join([*cycle, cycle[0]])}" for cycle in formatted["cycles"]]
    return lines + [f"  unknown: {line}" for line in formatted["unknown"]]


def _how(one: dict[str, Json]) -> str:
    beside = f" together with {', '.join(map(inert, one['beside']))}" if one["beside"] else ""
    if not one["holds"]:
        return " (can help)"
    gives = {True: "can give it", False: "cannot give it back", None: "it is unknown whether it can give it"}
    return f" (holds it{beside}; {gives[one['gives']]})"


def _dot(formatted: dict[str, Json]) -> bytes:
    circular = {pair for cycle in formatted["cycles"] for pair in pairwise([*cycle, cycle[0]])}
    lines = [f"  {quoted(agent)};" for agent in formatted["agents"]]
    for edge in formatted["edges"]:
        label = r"\n".join(quoted(one["what"] + _how(one))[1:-1] for one in edge["for"])
        bold = " style=bold" if (edge["waiter"], edge["holder"]) in circular else ""
        lines.append(f'  {quoted(edge["waiter"])} -> {quoted(edge["holder"])} [label="{label}"{bold}];')
    return dot(formatted["system"], lines)


def _graphml(formatted: dict[str, Json]) -> bytes:
    made: nx.DiGraph[str] = nx.DiGraph(**{name: formatted[name] for name in ("system", "variant", "steps", "state")})
    made.add_nodes_from(formatted["agents"])
    for edge in formatted["edges"]:
        what = "\n".join(one["what"] for one in edge["for"])
        holds = any(one["holds"] for one in edge["for"])
        gives = all(one["gives"] is True for one in edge["for"])
        made.add_edge(edge["waiter"], edge["holder"], what=what, holds=holds, gives=gives)
    return graphml(made)


FORMATS: Formats = {".dot": _dot, ".graphml": _graphml, ".json": partial(tagged, "waits")}
"""The writer of each suffix."""
