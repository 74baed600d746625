"""Faults of admission: gates dropped, reordered, vacuous on empty lists, fooled by an author or by a path's text."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from evenhand.core.system import Mutant
from evenhand.model.sovereign.artifacts import artifact_id
from evenhand.model.sovereign.constitution import cite, resolves
from evenhand.model.sovereign.kernel import Observations, Rules, path_of
from evenhand.model.sovereign.mutants.declare import LISTS, PLAIN, SINGLE, declare
from evenhand.model.sovereign.state import Config
from evenhand.model.sovereign.step import REFERENCE
from evenhand.model.sovereign.vocabulary import (
    EXIT_TYPE,
    GATES,
    KERNEL,
    LOG_APPEND,
    READ_LOCAL,
    Candidate,
    Justification,
    ScopeClaim,
)

__all__ = ["GATE_MUTANTS"]


def _passes(_config: Config, _observations: Observations, _candidate: Candidate, _origin: str) -> bool:
    return False


def _reversed() -> tuple[str, ...]:
    return GATES[::-1]


def _citation_last() -> tuple[str, ...]:
    return (GATES[0], *GATES[2:], GATES[1])


def _io_first() -> tuple[str, ...]:
    return (GATES[4], *GATES[:4])


def _trusts_author(config: Config, observations: Observations, candidate: Candidate, origin: str) -> bool:
    """Kernel-only types pass for any request with `kernel` as its author."""
    claimed = KERNEL if candidate.request.author == KERNEL else origin
    return REFERENCE.completeness(config, observations, candidate, claimed)


def _vacuous_citations(config: Config, observations: Observations, candidate: Candidate, origin: str) -> bool:
    clause = cite(config.constitution, config.constitution.clauses[0] if config.constitution.clauses else "")
    cited = candidate if candidate.citations else replace(candidate, citations=(clause,))
    return REFERENCE.completeness(config, observations, cited, origin)


def _any_citation(config: Config, _observations: Observations, candidate: Candidate, _origin: str) -> bool:
    """One citation that resolves covers the others; none at all passes."""
    cited = candidate.citations
    return bool(cited) and not any(resolves(config.constitution, citation) for citation in cited)


def _looks_like_a_citation(_config: Config, _observations: Observations, candidate: Candidate, _origin: str) -> bool:
    """Any text of the form of a citation is one."""
    return not all(citation.startswith("constitution:v") for citation in candidate.citations)


def _vacuous_scope(config: Config, observations: Observations, candidate: Candidate, origin: str) -> bool:
    scope = candidate.scope
    if scope is None or scope.observation_ids:
        return REFERENCE.scope_claim(config, observations, candidate, origin)
    return not resolves(config.constitution, scope.clause_ref)


def _some_observation(config: Config, observations: Observations, candidate: Candidate, origin: str) -> bool:
    scope = candidate.scope
    known = {artifact_id(one) for one in observations}
    if scope is None or not any(one in known for one in scope.observation_ids):
        return REFERENCE.scope_claim(config, observations, candidate, origin)
    return not resolves(config.constitution, scope.clause_ref)


def _stale_observation(config: Config, _observations: Observations, candidate: Candidate, _origin: str) -> bool:
    """Any id of any length will do: observations of earlier cycles pass as this one's."""
    scope = candidate.scope
    return scope is not None and (not scope.observation_ids or not resolves(config.constitution, scope.clause_ref))


def _clause_unchecked(_config: Config, observations: Observations, candidate: Candidate, _origin: str) -> bool:
    scope = candidate.scope
    known = {artifact_id(one) for one in observations}
    return scope is not None and not (scope.observation_ids and set(scope.observation_ids) <= known)


def _no_justification(config: Config, observations: Observations, candidate: Candidate, origin: str) -> bool:
    said = candidate if candidate.justification is not None else replace(candidate, justification=Justification("-"))
    return REFERENCE.completeness(config, observations, said, origin)


def _no_scope_asked(config: Config, observations: Observations, candidate: Candidate, origin: str) -> bool:
    """A scope claim is not required; gate 3 then has nothing to check."""
    claimed = candidate if candidate.scope is not None else replace(candidate, scope=ScopeClaim((), ""))
    return REFERENCE.completeness(config, observations, claimed, origin)


def _more_fields(config: Config, observations: Observations, candidate: Candidate, origin: str) -> bool:
    known = tuple(entry for entry in candidate.request.fields if entry[0] != "zz")
    return REFERENCE.completeness(
        config, observations, replace(candidate, request=replace(candidate.request, fields=known)), origin
    )


def _unknown_author(config: Config, observations: Observations, candidate: Candidate, origin: str) -> bool:
    """Authors are not checked, whatever the reading."""
    lax = replace(config, readings=replace(config.readings, unknown_author="treat_as_reflection"))
    return REFERENCE.completeness(lax, observations, candidate, origin)


def _prefix(config: Config, _observations: Observations, candidate: Candidate, _origin: str) -> bool:
    path = path_of(candidate.request)
    io = config.constitution.io
    allowed = io.read_paths if candidate.request.action_type == READ_LOCAL else io.write_paths
    return path is not None and not path.startswith(tuple(allowed))


def _write_is_read(config: Config, observations: Observations, candidate: Candidate, origin: str) -> bool:
    """Writable paths may be read, and the other way round."""
    io = config.constitution.io
    both = tuple(dict.fromkeys((*io.read_paths, *io.write_paths)))
    wide = replace(io, read_paths=both, write_paths=both)
    other = replace(config, constitution=replace(config.constitution, io=wide))
    return REFERENCE.io_allowlist(other, observations, candidate, origin)


def _exit_offered(_config: Config, candidates: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    return candidates


def _only_first(config: Config, candidates: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    """Only the first candidate is looked at."""
    return REFERENCE.offer(config, candidates)[:1]


def _drops_log_append(config: Config, candidates: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    """The host drops LogAppend bundles as it drops Exit: the refusal then names no gate."""
    found = REFERENCE.offer(config, candidates)
    return tuple(one for one in found if one.request.action_type not in (LOG_APPEND, EXIT_TYPE))


def _last_gate(_config: Config, trace: tuple[tuple[str, str], ...]) -> str:
    return trace[-1][1] if trace else ""


def _first_rejected(name: str, sentence: str, source: str, **functions: Any) -> Mutant[Rules]:
    return declare(name, sentence, source, "lists", SINGLE, **functions)


GATE_MUTANTS: tuple[Mutant[Rules], ...] = (
    _first_rejected("completeness_dropped", "Gate 1 passes everything.", "6", completeness=_passes),
    _first_rejected("authority_dropped", "Gate 2 passes everything.", "6", authority_citation=_passes),
    _first_rejected("scope_dropped", "Gate 3 passes everything.", "6", scope_claim=_passes),
    _first_rejected("compliance_dropped", "Gate 4 passes everything.", "6", constitution_compliance=_passes),
    _first_rejected("io_dropped", "Gate 5 passes everything.", "6", io_allowlist=_passes),
    declare(
        "gates_reversed",
        "The gates are asked from the last to the first.",
        "6",
        "candidates",
        PLAIN,
        order=_reversed,
    ),
    declare(
        "citation_gate_last",
        "Authority is asked for after everything else.",
        "6",
        "candidates",
        PLAIN,
        order=_citation_last,
    ),
    declare("io_gate_first", "Paths are looked at before anything else.", "6", "candidates", PLAIN, order=_io_first),
    _first_rejected(
        "log_append_by_author_field", "`author: kernel` makes a kernel.", "4 INV-3", completeness=_trusts_author
    ),
    _first_rejected(
        "empty_citations_pass", "No citation is as good as one.", "4 INV-2", completeness=_vacuous_citations
    ),
    _first_rejected(
        "one_citation_covers_all", "One resolving citation covers the others.", "6", authority_citation=_any_citation
    ),
    _first_rejected(
        "citations_by_looks", "What looks like a citation is one.", "6", authority_citation=_looks_like_a_citation
    ),
    _first_rejected("empty_scope_passes", "All of no observations are known.", "6", scope_claim=_vacuous_scope),
    declare(
        "one_known_observation_suffices",
        "One known observation is enough.",
        "6",
        "lists",
        SINGLE,
        scope_claim=_some_observation,
    ),
    declare(
        "stale_observations_pass",
        "Observation ids are not compared with this cycle's.",
        "6, 13.12",
        "candidates",
        PLAIN,
        scope_claim=_stale_observation,
    ),
    declare(
        "scope_clause_unchecked",
        "The clause of a scope claim need not resolve.",
        "4 INV-2",
        "candidates",
        PLAIN,
        scope_claim=_clause_unchecked,
    ),
    declare(
        "justification_not_required",
        "A bundle without justification is complete.",
        "6",
        "candidates",
        PLAIN,
        completeness=_no_justification,
    ),
    declare(
        "scope_not_required",
        "A bundle without scope claim is complete.",
        "5.1",
        "candidates",
        PLAIN,
        completeness=_no_scope_asked,
    ),
    declare(
        "unknown_fields_ignored", "Fields too many are ignored.", "6", "candidates", PLAIN, completeness=_more_fields
    ),
    _first_rejected("unknown_author_passes", "Anybody may be the author.", "8.A", completeness=_unknown_author),
    _first_rejected("path_as_prefix_string", "A path is judged by the text it begins with.", "6", io_allowlist=_prefix),
    declare(
        "read_and_write_paths_merged",
        "What may be written may be read, and the other way about.",
        "6",
        "lists",
        SINGLE,
        io_allowlist=_write_is_read,
    ),
    _first_rejected("exit_bundles_offered", "The host offers Exit bundles.", "6", offer=_exit_offered),
    declare("only_the_first_is_looked_at", "Later candidates are not judged.", "6", "lists", LISTS, offer=_only_first),
    _first_rejected(
        "log_append_dropped_by_host",
        "The host hides LogAppend bundles from the gates.",
        "4 INV-3",
        offer=_drops_log_append,
    ),
    declare(
        "last_gate_reported", "A refusal names the last candidate's gate.", "6", "lists", LISTS, failed_gate=_last_gate
    ),
)
"""Faults of admission."""
