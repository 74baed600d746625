"""Abstraction of a decision of the executable model to the theory.

`structure_of` reads a decision as a finite structure, from the observations, the candidates and what was shown.  It
does not run the kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from evenhand.model.sovereign import vocabulary as model
from evenhand.model.sovereign.artifacts import artifact_id
from evenhand.model.sovereign.constitution import REFERENCE_CONSTITUTION, cite
from evenhand.model.sovereign.readings import Readings
from evenhand.model.sovereign.state import Config, Decide
from evenhand.model.sovereign.step import SovereignStep
from evenhand.properties.sovereign import predicates
from evenhand.smt.structure import Structure
from evenhand.smt.tables import line, structure

LIMIT = REFERENCE_CONSTITUTION.limits.max_total_tokens_per_cycle


def named(things: tuple[Any, ...], sort: str) -> tuple[str, ...]:
    """Return an element for each thing of a list, by content and number of occurrence, independent of its place."""
    seen: dict[Any, int] = {}
    names: list[str] = []
    for thing in things:
        seen[thing] = seen.get(thing, 0) + 1
        digest = artifact_id(thing) if not isinstance(thing, model.Candidate) else _full(thing)
        names.append(f"{sort}:{digest[:16]}.{seen[thing]}")
    return tuple(names)


def _full(one: model.Candidate) -> str:
    return predicates.bundle_of("content_and_author_and_time", one).hex()


def structure_of(step: SovereignStep) -> Structure | None:
    """Return a decision as a structure, with observations; None under other readings or flags of a constitution."""
    action: Any = step.action
    decision, config = step.shown.decision, step.config
    if decision is None or not isinstance(action, Decide) or not _is_of_theory(config):
        return None
    seen, many = action.observations, predicates.offered(config, action.candidates)
    if decision.trace and len(decision.trace) != len(many):
        return None
    obs, cands = named(seen, "obs"), named(many, "cand")
    hashes = [predicates.bundle_of("content", one).hex() for one in many]
    told = [model.field(one.payload, "llm_output_token_count") if one.kind == "budget" else None for one in seen]
    counts = {name: n for name, n in zip(obs, told, strict=True) if type(n) is int}
    amounts = sorted({LIMIT, *counts.values()})
    keys = sorted({*hashes, decision.winner} - {""}) or ["none"]
    citations = tuple(dict.fromkeys(citation for one in many for citation in one.citations))
    names = {citation: f"cite:{number}" for number, citation in enumerate(citations)}
    there = {citation for citation in names if predicates.cites_what_is_there(config.constitution, citation)}
    offered = dict(zip(cands, many, strict=True))
    universe = {"Obs": obs or ("obs:none",), "Cand": cands or ("cand:none",), "Cite": names.values() or ("cite:none",)}
    return structure(
        {**universe, "Key": keys, "Amount": map(str, amounts)},
        {
            **_of_observations(dict(zip(obs, seen, strict=True))),
            **_of_candidates(config, seen, offered),
            **_of_outcome(decision, cands),
            "readable": {name for name, n in counts.items() if n >= 0},
            "le": {(str(one), str(two)) for one in amounts for two in amounts if one <= two},
            "cites": {(name, names[citation]) for name, one in offered.items() for citation in one.citations},
            "resolving": {names[citation] for citation in there},
            "before": line(cands),
            "less": line(keys),
            "key": dict(zip(cands, hashes, strict=True)) or {"cand:none": keys[0]},
            "count": {name: str(counts.get(name, LIMIT)) for name in universe["Obs"]},
            "limit": str(LIMIT),
        },
    )


def _is_of_theory(config: Config) -> bool:
    """Return whether readings and constitution are those of the theory."""
    kernel_only = [one.name for one in config.constitution.action_types if one.kernel_only]
    limit = config.constitution.limits.max_total_tokens_per_cycle
    return config.readings == Readings() and kernel_only == [model.LOG_APPEND] and limit == LIMIT


def _of_observations(seen: Mapping[str, model.Observation]) -> dict[str, set[str]]:
    return {
        "timestamp": {name for name, one in seen.items() if one.kind == "timestamp"},
        "proper": {name for name, one in seen.items() if predicates.is_timely((one,))},
        "failure": {name for name, one in seen.items() if predicates.events_of((one,))},
        "budget": {name for name, one in seen.items() if one.kind == "budget"},
    }


def _of_candidates(
    config: Config, seen: tuple[model.Observation, ...], many: Mapping[str, model.Candidate]
) -> dict[str, set[str]]:
    faults = {name: predicates.faults(config, seen, one) for name, one in many.items()}

    def is_log(one: model.Candidate) -> bool:
        return one.request.action_type == model.LOG_APPEND

    def lacking(one: model.Candidate) -> bool:
        """Return whether gate 1 has another complaint than a kernel-only type or no citation."""
        plain = replace(one, citations=one.citations or (cite(config.constitution, "x"),))
        if is_log(one):
            return one.request.author == "nobody"
        return model.GATES[0] in predicates.faults(config, seen, plain)

    failing = dict(zip(("unscoped", "undeclared", "outside"), model.GATES[2:], strict=True))
    return {
        "present": {*many},
        "lacks": {name for name, one in many.items() if lacking(one)},
        "log_append": {name for name, one in many.items() if is_log(one)},
        **{word: {name for name in many if gate in faults[name]} for word, gate in failing.items()},
    }


def _refused_for(decision: model.Decision) -> tuple[str, str]:
    """Return reason and gate of a refusal."""
    one = decision.refusal
    return ("", "") if one is None else (one.reason, one.failed_gate)


def _of_outcome(decision: model.Decision, names: tuple[str, ...]) -> dict[str, Any]:
    reported = zip(names, (gate for _, gate in decision.trace), strict=True) if decision.trace else ()
    at = {name: gate for name, gate in reported}
    gates = {**{f"at_{number}": gate for number, gate in enumerate(model.GATES, start=1)}, "admitted": ""}
    return {
        "exits": decision.kind == "EXIT",
        "untimely": _refused_for(decision) == (model.MISSING_REQUIRED_OBSERVATION, model.REQUIRED_OBSERVATIONS),
        "exhausted": _refused_for(decision)[0] == model.BUDGET_EXHAUSTED,
        **{word: {name for name, found in at.items() if found == gate} for word, gate in gates.items()},
        "acts": decision.kind == "ACTION",
        "refuses": decision.kind == "REFUSE",
        "wins": {decision.winner} if decision.kind == "ACTION" and decision.warrant else set[str](),
        "warranted": decision.warrant is not None,
    }
