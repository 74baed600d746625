"""Ranks for the certificate of a search: a number for each state, by which claims about whole runs can be checked.

`evenhand_certificates.searches.ranks` says what they must obey, and checks it; nothing here is trusted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from evenhand.core.canonical import Json
from evenhand.core.fairness import assumed
from evenhand.core.kinds import DeadlockFree, Liveness, Property
from evenhand.core.system import AnySystem
from evenhand.search.bounds import Bounds
from evenhand.search.csr import Flags, Ints, Out, ahead, components, spread
from evenhand.search.graph import search
from evenhand.search.lasso import Edges, Need, need_of
from evenhand.search.liveness import Labels, Taken


class NoRanks(Exception):
    """A claim about whole runs that has no ranks: it is false, or the graph is open."""


def configuration(
    system: AnySystem, config: Any, number: int, claims: Sequence[Property], bounds: Bounds
) -> dict[str, Json]:
    """Return what a certificate says of one configuration: its states, steps and successors, and ranks.

    Raises NoRanks for a claim that is false, and for a graph that the bounds leave open.
    """
    runs = [claim for claim in claims if isinstance(claim, DeadlockFree | Liveness) and claim.applies(config)]
    labels = Labels(system, config, runs)
    walk = search(system, config, number, (labels,), bounds)
    if walk.open:
        raise NoRanks(f"the search is open: {bounds}")
    edges = labels.edges(walk)
    ranks: dict[str, Json] = {}
    for claim in runs:
        if isinstance(claim, DeadlockFree):
            ranks[claim.name] = [*_deadlock(claim, labels.where(claim.completes), edges, walk.states, config)]
        else:
            ranks[claim.name] = _liveness(claim, labels, edges)
    successors = [set[int]() for _ in walk.states]
    for source, target in zip(labels.source, labels.target, strict=True):
        successors[source].add(target)
    written = "".join(f"{sorted(targets)}\n" for targets in successors)
    return {
        "states": len(walk.states),
        "steps": walk.transitions,
        "graph": f"sha256:{hashlib.sha256(written.encode()).hexdigest()}",
        "ranks": ranks,
    }


def _deadlock(claim: DeadlockFree, completing: Flags, edges: Edges, states: Any, config: Any) -> list[int | None]:
    """The distance of each state from a step that completes; None where no continuation does."""
    ranks: list[int | None] = [None] * edges.size
    into = Out(edges.size, edges.target, np.argsort(edges.target, kind="stable"))
    for far, (_, new, _) in enumerate(spread(into, edges.source, np.unique(edges.source[completing]))):
        for sid in new.tolist():
            ranks[sid] = far
    for sid, rank in enumerate(ranks):
        if rank is None and claim.wants(config, states[sid]):
            raise NoRanks(f"{claim.name}: nothing completes from state {sid}")
    return ranks


def _liveness(claim: Liveness, labels: Labels, edges: Edges) -> dict[str, Json]:
    """The ranks of a claim that what is raised is served."""
    raises, serves = claim.tests
    alive = ~labels.where(serves)
    raising = labels.where(raises) if claim.begins != "start" else np.zeros(len(edges.source), dtype=np.bool_)
    owing = np.zeros(edges.size, dtype=np.bool_)
    match claim.begins:
        case "start":
            owing[: edges.initials] = True
        case "step":
            owing[edges.target[raising & alive]] = True
        case "loop":
            owing[:] = True
    owed = ahead(edges.size, edges.source[alive], edges.target[alive], owing) if owing.any() else owing
    needs: dict[str, Need] = {}
    for name, one in assumed(labels.fair, claim.fairness).items():
        needs[name] = need_of(one.kind, labels.where(Taken(one)), edges)
    must = raising if claim.begins == "loop" else None
    made = _levels(edges, np.flatnonzero(alive & owed[edges.source]), owed, needs, must)
    if made is None:
        raise NoRanks(f"{claim.name}: a fair loop serves nothing")
    return made


def _levels(
    edges: Edges, left: Ints, states: Flags, needs: dict[str, Need], must: Flags | None
) -> dict[str, Json] | None:
    """Ranks of some states by the strongly connected parts of these edges; None where a part has no reason to end.

    `must` are the edges of which a loop takes one to matter (None: every loop matters).
    """
    source, target = edges.source[left], edges.target[left]
    part = components(edges.size, source, target)
    within = part[source] == part[target]
    reasons: dict[int, dict[str, Json]] = {}
    for number in np.unique(part[source[within]]).tolist():
        inside = left[within & (part[source] == number)]
        if must is not None and not must[inside].any():
            continue
        reason = _reason(edges, inside, needs, must)
        if reason is None:
            return None
        reasons[number] = reason
    ranks: list[Json] = [rank if member else None for rank, member in zip(part.tolist(), states.tolist(), strict=True)]
    return {"ranks": ranks, "quiet": {str(number): reason for number, reason in reasons.items()}}


def _reason(edges: Edges, inside: Ints, needs: dict[str, Need], must: Flags | None) -> dict[str, Json] | None:
    """Why no fair run stays in a part, whose edges are these; None if one does."""
    for name, need in needs.items():
        if need.served[inside].any():
            continue
        offering = need.on_offer[edges.source[inside]]
        if need.kind == "weak" and offering.all():
            return {"assumption": name}
        if need.kind == "strong" and offering.any():
            rest = inside[~offering & ~need.on_offer[edges.target[inside]]]
            states = np.zeros(edges.size, dtype=np.bool_)
            states[edges.source[rest]] = states[edges.target[rest]] = True
            deeper = _levels(edges, rest, states, needs, must)
            if deeper is not None:
                return {"assumption": name, **deeper}
    return None
