"""Abstraction and concretisation between the theory of a decision and the executable model.

`structure_of` reads a decision as a finite structure, from the observations, the candidates and what was shown;
`scene` writes a structure as a cycle.  Hashes cannot be chosen, so a scene searches for justifications whose bundles
have the order of the structure.  Neither runs the kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from evenhand.core.trace import Scenario
from evenhand.model.sovereign import vocabulary as model
from evenhand.model.sovereign.artifacts import artifact_id
from evenhand.model.sovereign.constitution import REFERENCE_CONSTITUTION, cite
from evenhand.model.sovereign.menus import ESCAPES, TREE, candidate
from evenhand.model.sovereign.readings import Readings
from evenhand.model.sovereign.state import Act, Config, Decide, State
from evenhand.model.sovereign.step import SovereignStep, initial
from evenhand.properties.sovereign import predicates
from evenhand.smt.structure import Structure
from evenhand.smt.tables import Rows, constant, in_order, line, ones, prop, rank

LIMIT = REFERENCE_CONSTITUTION.limits.max_total_tokens_per_cycle
TRIES = 4_000


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


def _observation(structure: Structure, name: str, amounts: Mapping[str, int]) -> model.Observation:
    told = structure.relations
    if (name,) in told["timestamp"]:
        return model.Observation(
            "timestamp", (("iso8601_utc", "2026-02-12T12:00:00Z" if (name,) in told["proper"] else ""),)
        )
    if (name,) in told["failure"]:
        return model.Observation("system", (("event", "startup_integrity_fail"),))
    if (name,) in told["budget"]:
        count = amounts[structure.functions["count"][(name,)]]
        return model.Observation("budget", (("llm_output_token_count", count if (name,) in told["readable"] else "x"),))
    return model.Observation("user_input", (("text", name),))


def _amounts(structure: Structure) -> dict[str, int]:
    """Return a count for each amount, in the structure's order; the limit's is the constitution's."""
    names = structure.universe["Amount"]
    place = rank(structure.relations["le"], names)
    zero = place[structure.functions["limit"][()]]
    return {name: LIMIT + (place[name] - zero) for name in names}


def scene(structure: Structure, only: str = "present") -> Scenario[Config, State, Act] | None:
    """Return a cycle that matches the structure; None if none does, or no justification gives the order of hashes."""
    told = structure.relations
    amounts = _amounts(structure)
    seen = tuple(_observation(structure, name, amounts) for name in structure.universe["Obs"])
    here = [name for name in structure.universe["Cand"] if (name,) in told[only]]
    ids = tuple(artifact_id(one) for one in seen)[:1]
    keys = structure.functions["key"]
    hashes = {keys[(name,)] for name in structure.universe["Cand"]}
    wanted = in_order(told["less"], hashes)
    made: dict[str, model.Candidate] = {}
    for place, wished in enumerate(wanted):
        name = next(n for n in structure.universe["Cand"] if keys[(n,)] == wished)
        found = _in_place(structure, name, ids, place, len(wanted))
        if found is None:
            return None
        made[wished] = found
    many = [_by(made[keys[(name,)]], (name,) in told["lacks"]) for name in here]
    order = rank(told["before"], here)
    listed = tuple(one for _, one in sorted(zip(here, many, strict=True), key=lambda pair: order[pair[0]]))
    config = Config(tree=TREE)
    return Scenario(config, initial(config)[0], (Decide(seen, listed),))


def _by(one: model.Candidate, lacks: bool) -> model.Candidate:
    """Return the candidate, with the author "nobody" where something must be lacking."""
    if not lacks:
        return one
    return replace(one, request=replace(one.request, author="nobody"))


def _in_place(structure: Structure, name: str, ids: tuple[str, ...], place: int, of: int) -> model.Candidate | None:
    """Return a candidate with an element's faults and its hash in part `place` of `of`; None: none found."""
    for number in range(TRIES):
        one = _content(structure, name, ids, f"why {number}")
        if predicates.bundle_of("content", one)[0] * of // 256 == place:
            return one
    return None


def _content(structure: Structure, name: str, ids: tuple[str, ...], why: str) -> model.Candidate:
    told = structure.relations
    bad = (name,) in told["outside"]
    if (name,) in told["log_append"]:
        fields: Any = (("jsonl_lines", ()), ("log_name", "../../x" if bad else "artifacts"))
        base = candidate((), model.NOTIFY, why=why, author="kernel")
        base = replace(base, request=model.Request(model.LOG_APPEND, fields, "kernel"))
    elif (name,) in told["undeclared"]:
        base = candidate((), "Shell", why=why)
    else:
        base = candidate((), model.WRITE_LOCAL, path=ESCAPES[0] if bad else "workspace/x", why=why)
    cited = [one for who, one in sorted(told["cites"]) if who == name]
    clauses = REFERENCE_CONSTITUTION.clauses
    listed = tuple(_citation(structure, one, clauses) for one in cited)
    scope = base.scope
    assert scope is not None
    bound = () if (name,) in told["unscoped"] else ids
    return replace(base, citations=listed, scope=replace(scope, observation_ids=bound))


def _citation(structure: Structure, one: str, clauses: tuple[str, ...]) -> str:
    """Return a citation for an element: distinct elements have distinct texts."""
    number = structure.universe["Cite"].index(one)
    if (one,) in structure.relations["resolving"]:
        pointers = ("/limits", "/version", "/clauses", "/io_policy", "")
        names = (*clauses, *pointers)
        return cite(REFERENCE_CONSTITUTION, names[number % len(names)])
    return cite(REFERENCE_CONSTITUTION, f"NO-{number}")
