"""Abstraction of a decision of the executable model to the theory.

`structure_of` reads a decision as a finite structure, from the observations, the candidates and what was shown.  It
does not run the kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
from evenhand.smt.tables import Rows, constant, line, ones, prop

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
    amounts = sorted({LIMIT, *(n for n in told if type(n) is int)})
    keys = sorted({*hashes, decision.winner} - {""}) or ["none"]
    citations = tuple(dict.fromkeys(citation for one in many for citation in one.citations))
    names = {citation: f"cite:{number}" for number, citation in enumerate(citations)}
    relations: dict[str, Rows] = {
        **_of_observations(obs, seen),
        **_of_candidates(config, seen, cands, many),
        **_of_outcome(decision, cands),
        "readable": ones(name for name, n in zip(obs, told, strict=True) if type(n) is int and n >= 0),
        "le": frozenset((str(one), str(two)) for one in amounts for two in amounts if one <= two),
        "cites": frozenset(
            (name, names[citation]) for name, one in zip(cands, many, strict=True) for citation in one.citations
        ),
        "resolving": ones(
            name for citation, name in names.items() if predicates.cites_what_is_there(config.constitution, citation)
        ),
        "before": line(cands),
        "less": line(keys),
    }
    spare = {"Obs": "obs:none", "Cand": "cand:none", "Cite": "cite:none"}
    universe = {
        "Obs": obs or (spare["Obs"],),
        "Cand": cands or (spare["Cand"],),
        "Cite": tuple(names.values()) or (spare["Cite"],),
        "Key": tuple(keys),
        "Amount": tuple(map(str, amounts)),
    }
    functions: dict[str, Mapping[tuple[str, ...], str]] = {
        "key": {(name,): one for name, one in zip(cands, hashes, strict=True)} or {(spare["Cand"],): keys[0]},
        "count": {(name,): str(n) if type(n) is int else str(LIMIT) for name, n in zip(obs, told, strict=True)}
        or {(spare["Obs"],): str(LIMIT)},
        "limit": constant(str(LIMIT)),
    }
    return Structure(universe, relations, functions)


def _is_of_theory(config: Config) -> bool:
    """Return whether readings and constitution are those of the theory."""
    kernel_only = [one.name for one in config.constitution.action_types if one.kernel_only]
    limit = config.constitution.limits.max_total_tokens_per_cycle
    return config.readings == Readings() and kernel_only == [model.LOG_APPEND] and limit == LIMIT


def _of_observations(names: tuple[str, ...], seen: tuple[model.Observation, ...]) -> dict[str, Rows]:
    def which(test: Callable[[model.Observation], bool]) -> Rows:
        return ones(name for name, one in zip(names, seen, strict=True) if test(one))

    return {
        "timestamp": which(lambda one: one.kind == "timestamp"),
        "proper": which(lambda one: predicates.is_timely((one,))),
        "failure": which(lambda one: bool(predicates.events_of((one,)))),
        "budget": which(lambda one: one.kind == "budget"),
    }


def _of_candidates(
    config: Config, seen: tuple[model.Observation, ...], names: tuple[str, ...], many: tuple[model.Candidate, ...]
) -> dict[str, Rows]:

    def those(test: Callable[[model.Candidate], bool]) -> Rows:
        return ones(name for name, one in zip(names, many, strict=True) if test(one))

    def is_log(one: model.Candidate) -> bool:
        return one.request.action_type == model.LOG_APPEND

    def fails(gate: str) -> Rows:
        return those(lambda one: gate in predicates.faults(config, seen, one))

    def lacking(one: model.Candidate) -> bool:
        """Return whether gate 1 has another complaint than a kernel-only type or no citation."""
        plain = replace(one, citations=one.citations or (cite(config.constitution, "x"),))
        if is_log(one):
            return one.request.author == "nobody"
        return model.GATES[0] in predicates.faults(config, seen, plain)

    return {
        "present": those(lambda _one: True),
        "lacks": those(lacking),
        "log_append": those(is_log),
        "unscoped": fails(model.GATES[2]),
        "undeclared": fails(model.GATES[3]),
        "outside": fails(model.GATES[4]),
    }


def _refused_for(decision: model.Decision) -> tuple[str, str]:
    """Return reason and gate of a refusal."""
    one = decision.refusal
    return ("", "") if one is None else (one.reason, one.failed_gate)


def _of_outcome(decision: model.Decision, names: tuple[str, ...]) -> dict[str, Rows]:
    at = {gate: frozenset[tuple[str, ...]]() for gate in ("", *model.GATES)}
    if decision.trace:
        for name, (_, gate) in zip(names, decision.trace, strict=True):
            at[gate] |= {(name,)}

    return {
        "exits": prop(decision.kind == "EXIT"),
        "untimely": prop(_refused_for(decision) == (model.MISSING_REQUIRED_OBSERVATION, model.REQUIRED_OBSERVATIONS)),
        "exhausted": prop(_refused_for(decision)[0] == model.BUDGET_EXHAUSTED),
        **{f"at_{number}": at[gate] for number, gate in enumerate(model.GATES, start=1)},
        "admitted": at[""],
        "acts": prop(decision.kind == "ACTION"),
        "refuses": prop(decision.kind == "REFUSE"),
        "wins": frozenset([(decision.winner,)]) if decision.kind == "ACTION" and decision.warrant else frozenset(),
        "warranted": prop(decision.warrant is not None),
    }
