"""Views of two epochs of the executable model: one structure with a second copy of some symbols.

`view_pair` is the usual view: the two epochs differ only in the `moved` symbols.  A renaming has separate sorts for
keys and agents.  None always means that a case lies outside the theory.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from evenhand.model.cud.renaming import Renaming, rename_shown, rename_state
from evenhand.model.cud.vocabulary import Shown
from evenhand.proofs.cud.encoding import (
    NOBODY,
    CudStep,
    element,
    facts_of,
    structure_of,
    universe_of,
)
from evenhand.proofs.cud.epoch import EPOCH, OBSERVED
from evenhand.proofs.cud.vocabulary import ACT, AUTH
from evenhand.smt.structure import Structure
from evenhand.smt.tables import Rows, constant, ones

SHARED = tuple(one.name for one in EPOCH.relations if {*one.domain} <= {ACT, AUTH})
"""Relations that a renaming preserves: they speak only of requests, artefacts and the epoch."""


def view_pair(
    step: CudStep, other: CudStep | None, *, moved: Collection[str], without: str = "", **constants: str
) -> Structure | None:
    """Return two epochs as one structure; None outside the theory, or if they differ in more than `moved`.

    `without` is an element of the first epoch that may be missing from the second; `constants` name elements.
    """
    first, second = facts_of(step), None if other is None else facts_of(other)
    if first is None or second is None:
        return None
    universe = universe_of((first, second))
    one, two = structure_of(first, universe), structure_of(second, universe)
    for name, rows in one.relations.items():
        if name in OBSERVED or name in moved:
            continue
        if rows != two.relations[name] and (
            not without
            or {row for row in rows if without not in row} != {row for row in two.relations[name] if without not in row}
        ):
            return None
    for name, table in one.functions.items():
        if name not in moved and any(two.functions[name][row] != e for row, e in table.items() if without not in row):
            return None
    copies = {f"{name}2": two.relations[name] for name in (*OBSERVED, *moved) if name in two.relations}
    functions = {**one.functions, **{f"{name}2": two.functions[name] for name in moved if name in two.functions}}
    functions |= {name: constant(element) for name, element in constants.items()}
    return Structure(universe, {**one.relations, **copies}, functions)


def view_leaving(w: tuple[str, str], step: CudStep, other: CudStep | None) -> Structure | None:
    """Return a step and the same step without agent `w[1]`, which leaves in this epoch or has left before it."""
    moved = ("submitted", "active", "exits", "locked", "balked")
    found = view_pair(step, other, moved=moved, without=element("act", w[1]), leaver=element("agent", w[1]))
    if found is None:
        return None
    own = next(one for name, one in zip(step.config.agents, step.before.agents, strict=True) if name == w[1])
    trail = ones(element("key", key) for key in own.last_scope or () if key in step.config.keys)
    return Structure(found.universe, {**found.relations, "trail": trail}, found.functions)


def view_vetoed(w: tuple[str, str, tuple[str, ...]], step: CudStep, other: CudStep) -> Structure | None:
    """Return a step and the same step with one more DENY, as one structure; None outside the theory.

    `w` is the target agent of the DENY, the operation and the keys.  The two share everything but the artefacts in
    force: in the first epoch, the DENY is not in force.
    """
    first, known = facts_of(step), {one.authority_id for one in step.config.authorities}
    extra = [one.authority_id for one in other.config.authorities if one.authority_id not in known]
    if first is None or len(extra) != 1 or w[0] not in first.requests:
        return None
    veto = element("auth", extra[0])
    found = view_pair(other, step, moved=("early",), without=veto, told=element("act", w[0]), veto=veto)
    return None if found is None else found.turned


def view_renamed(w: Renaming, step: CudStep, other: CudStep, shared: Collection[str] = SHARED) -> Structure | None:
    """Return a step and its renaming as a structure of the theory's two copies, which share the `shared` relations.

    Requests and artefacts are shared, keys and agents have fresh sorts.  None outside the theory, and where the two
    differ in something that the theory does not cover: anything shown but tokens and receipts, and the state after.
    """
    first, second = facts_of(step), facts_of(other)
    if first is None or second is None or _differs_elsewhere(w, step, other):
        return None
    one, two = structure_of(first, universe_of((first,))), structure_of(second, universe_of((second,)))
    back = {element("act", w.agent(n)): element("act", n) for n in first.requests}
    back |= {element("auth", w.authority(n)): element("auth", n) for n in first.authorities}
    back |= {element("act", NOBODY): element("act", NOBODY), element("auth", NOBODY): element("auth", NOBODY)}
    forth = {e: _second(e) for sort in ("Key", "Agent") for e in two.universe[sort]}
    if any(e not in back for sort in ("Act", "Auth") for e in two.universe[sort]):
        return None
    values = tuple(sorted({*one.universe["Value"], *two.universe["Value"]}))
    moved = {**back, **forth, **{e: e for e in values}}
    to_key: dict[tuple[str, ...], str] = {}
    to_key |= {(e,): _second(element("key", w.key(e.removeprefix("key:")))) for e in one.universe["Key"]}
    to_agent: dict[tuple[str, ...], str] = {}
    to_agent |= {(e,): _second(element("agent", w.agent(e.removeprefix("agent:")))) for e in one.universe["Agent"]}
    copy = {name: _rows(rows, moved) for name, rows in two.relations.items()}
    if any(copy[name] != one.relations[name] for name in shared):
        return None
    universe = {
        **one.universe,
        "Value": values,
        "Key2": tuple(_second(e) for e in two.universe["Key"]),
        "Agent2": tuple(_second(e) for e in two.universe["Agent"]),
    }
    relations = {**one.relations, **{f"{name}2": rows for name, rows in copy.items() if name not in shared}}
    functions: dict[str, Mapping[tuple[str, ...], str]] = {
        **one.functions,
        **{
            f"{name}2": {tuple(moved[e] for e in row): moved[value] for row, value in table.items()}
            for name, table in two.functions.items()
            if name != "mark"
        },
        **{f"{name}2": _images(one, two, name, moved, to_agent) for name in ("by", "holder")},
        "to_key": to_key,
        "from_key": {(value,): row[0] for row, value in to_key.items()},
        "to_agent": to_agent,
    }
    return Structure(universe, relations, functions)


def _images(
    one: Structure, two: Structure, name: str, moved: Mapping[str, str], to_agent: Mapping[tuple[str, ...], str]
) -> Mapping[tuple[str, ...], str]:
    """Return a function to agents in the second copy; for elements without facts, the image of the first's value."""
    return {
        tuple(moved[e] for e in row): to_agent[one.functions[name][row],] if row[0].endswith(f":{NOBODY}") else moved[e]
        for row, e in two.functions[name].items()
    }


def _rows(rows: Rows, moved: Mapping[str, str]) -> Rows:
    return frozenset(tuple(moved[e] for e in row) for row in rows)


def _second(element: str) -> str:
    """Return the fresh sort's counterpart of the element."""
    kind, _, name = element.partition(":")
    return f"{kind}2:{name}"


def _differs_elsewhere(w: Renaming, step: CudStep, other: CudStep) -> bool:
    """Return whether the second trace differs from the renamed step in something that the theory does not cover."""
    shown = rename_shown(w, step.shown)
    if _spoken_of(shown) != _spoken_of(other.shown):
        return False
    return shown != other.shown or rename_state(w, step.config, step.after) != other.after


def _spoken_of(shown: Shown) -> Any:
    log = [(entry.agent_id, entry.verdict, entry.fault) for entry in shown.log]
    return shown.tokens, shown.effects, shown.exits, log
