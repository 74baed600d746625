"""Write runs in ITF, the informal trace format that Apalache, Quint and their viewers read.

Values come from the codec's JSON: integers become `#bigint`, sets `#set`, tuples `#tup`, and a record's class the field
`tag`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from evenhand.core.canonical import Json
from evenhand.core.codec import encode
from evenhand.core.system import AnySystem
from evenhand.core.trace import Lasso, Pair, replay
from evenhand.core.verdict import Evidence

ITF = ".itf.json"
"""How the names of files with such a trace end."""


def itf_value(data: Json) -> Json:
    """Return the ITF form of a value in the codec's form."""
    if isinstance(data, bool) or data is None or isinstance(data, str):
        return "null" if data is None else data
    if isinstance(data, int):
        return {"#bigint": str(data)}
    if isinstance(data, list):
        return {"#tup": [itf_value(item) for item in cast("list[Json]", data)]}
    if not isinstance(data, dict):
        return str(data)
    entries = cast("dict[str, Json]", data)
    keys = set(entries)
    if keys == {"$set"} and isinstance(members := entries["$set"], list):
        return {"#set": [itf_value(item) for item in cast("list[Json]", members)]}
    if keys == {"$int"}:
        return {"#bigint": entries["$int"]}
    if keys == {"$fraction"}:
        return entries["$fraction"]
    if keys == {"$enum", "name"}:
        return f"{entries['$enum']}.{entries['name']}"
    if keys == {"$scope"}:
        return itf_value(entries["$scope"])
    return {("tag" if key == "$" else key): itf_value(item) for key, item in entries.items()}


def itf(states: Sequence[Mapping[str, Json]], meta: Mapping[str, Any], loop: int | None = None) -> dict[str, Json]:
    """Return a trace whose states assign the same variables; `loop` is the index to which a lasso returns."""
    variables = list(states[0]) if states else []
    made: dict[str, Json] = {
        "#meta": {"format": "ITF", "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html", **meta},
        "vars": variables,
        "states": [
            {"#meta": {"index": number}, **{name: itf_value(state[name]) for name in variables}}
            for number, state in enumerate(states)
        ],
    }
    if loop is not None:
        made["loop"] = loop
    return made


def itf_of_run(system: AnySystem, evidence: Evidence, meta: Mapping[str, Any]) -> dict[str, Json]:
    """Return a run as ITF: for each state, the action that led there and its observation.

    Raises ValueError for a pair of runs, for which ITF has no form, and for values without an encoding.
    """
    if isinstance(evidence, Pair):
        raise ValueError("a pair of runs is no ITF trace")
    trace = replay(system, evidence.unrolled if isinstance(evidence, Lasso) else evidence)
    nothing: Json = None
    states: list[dict[str, Json]] = [{"state": encode(trace.scenario.start), "action": nothing, "shown": nothing}]
    for step in trace.steps:
        states.append({"state": encode(step.after), "action": encode(step.action), "shown": encode(step.shown)})
    return itf(states, meta, len(evidence.stem) if isinstance(evidence, Lasso) else None)
