"""`--wait-for`: wait-for graphs of reachable states (`explore`) and of recorded runs (`show`)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from evenhand.cli.console import BadUse, usage
from evenhand.core.canonical import Json
from evenhand.core.system import AnySystem
from evenhand.core.trace import Pair
from evenhand.core.verdict import Evidence
from evenhand.report.phrases import plural
from evenhand.report.waits import wait_for_json, wait_lines, waits_exporter
from evenhand.search.waiting import circular_waits, waits_after

Told: TypeAlias = tuple[dict[str, Json], list[str]]
"""The addition to `--json`, and the same in lines."""
Waits: TypeAlias = Callable[[int | None, int | None, int | None], Told]
"""A search for waits within bounds: states of one configuration, depth, and MB of memory."""


def waiting(system: AnySystem, path: Path) -> Waits:
    """Return the search for waits in all reachable states; it writes the most informative graph."""
    with usage():
        write = waits_exporter(path)

    def look(max_states: int | None, depth: int | None, max_memory: int | None) -> Told:
        with usage():
            most = None if max_memory is None else max_memory << 20
            found = circular_waits(system, max_states=max_states, depth=depth, max_memory=most)
            if found.first is None:
                raise ValueError(f"{system.name} has no state, so no agent waits")
            write(found.first)
        counts: dict[str, Json] = {
            "states": found.states,
            "waiting": found.waiting,
            "circular": found.circular,
            "complete": found.complete,
        }
        end = "" if found.complete else " (NOT complete)"
        line = (
            f"waits: in {found.waiting} of {plural(found.states, 'state')} an agent waits, "
            f"in {found.circular} in a circle{end}"
        )
        return {"wait_for": {**counts, "graph": wait_for_json(found.first)}}, [line, *wait_lines(found.first)]

    return look


def waiting_after(system: AnySystem, evidence: Evidence, path: Path) -> Told:
    """The waits at the end of a run, written to `path`."""
    if isinstance(evidence, Pair):
        raise BadUse("--wait-for is about the end of one run, and this counterexample compares two; leave it out")
    with usage():
        write = waits_exporter(path)
        found = waits_after(system, evidence)
        write(found)
    return {"wait_for": {"graph": wait_for_json(found)}}, wait_lines(found)
