"""Faults of admission: gates dropped, reordered, vacuous on empty lists, fooled by an author or by a path's text."""

from __future__ import annotations

from evenhand.core.records import replace
from evenhand.model.sovereign.artifacts import artifact_id
from evenhand.model.sovereign.constitution import cite, resolves
from evenhand.model.sovereign.kernel import Observations, path_of
from evenhand.model.sovereign.mutants.declare import LISTS, PLAIN, SINGLE, declare, fault
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


def _passes(_config: Config, _observations: Observations, _candidate: Candidate, _origin: str) -> bool:
    return False


DROPPED = completeness_dropped, authority_dropped, scope_dropped, compliance_dropped, io_dropped = tuple(
    declare(f"{name}_dropped", f"Gate {number} passes everything.", "6", SINGLE, {gate: _passes})
    for number, (gate, name) in enumerate(
        zip(GATES, ("completeness", "authority", "scope", "compliance", "io"), strict=True), start=1
    )
)


@fault("order", "6", PLAIN)
def gates_reversed() -> tuple[str, ...]:
    """The gates are asked from the last to the first."""
    return GATES[::-1]


@fault("order", "6", PLAIN)
def citation_gate_last() -> tuple[str, ...]:
    """Authority is asked for after everything else."""
    return (GATES[0], *GATES[2:], GATES[1])


@fault("order", "6", PLAIN)
def io_gate_first() -> tuple[str, ...]:
    """Paths are looked at before anything else."""
    return (GATES[4], *GATES[:4])


@fault("completeness", "4 INV-3", SINGLE)
def log_append_by_author_field(config: Config, observations: Observations, candidate: Candidate, origin: str) -> bool:
    """`author: kernel` makes a kernel."""
    # Kernel-only types pass for any request with `kernel` as its author.
    claimed = KERNEL if candidate.request.author == KERNEL else origin
    return REFERENCE.completeness(config, observations, candidate, claimed)


@fault("completeness", "4 INV-2", SINGLE)
def empty_citations_pass(config: Config, observations: Observations, candidate: Candidate, origin: str) -> bool:
    """No citation is as good as one."""
    clause = cite(config.constitution, config.constitution.clauses[0] if config.constitution.clauses else "")
    cited = candidate if candidate.citations else replace(candidate, citations=(clause,))
    return REFERENCE.completeness(config, observations, cited, origin)


@fault("authority_citation", "6", SINGLE)
def one_citation_covers_all(config: Config, _observations: Observations, candidate: Candidate, _origin: str) -> bool:
    """One resolving citation covers the others."""
    # None at all passes as well.
    cited = candidate.citations
    return bool(cited) and not any(resolves(config.constitution, citation) for citation in cited)


@fault("authority_citation", "6", SINGLE)
def citations_by_looks(_config: Config, _observations: Observations, candidate: Candidate, _origin: str) -> bool:
    """What looks like a citation is one."""
    return not all(citation.startswith("constitution:v") for citation in candidate.citations)


@fault("scope_claim", "6", SINGLE)
def empty_scope_passes(config: Config, observations: Observations, candidate: Candidate, origin: str) -> bool:
    """All of no observations are known."""
    scope = candidate.scope
    if scope is None or scope.observation_ids:
        return REFERENCE.scope_claim(config, observations, candidate, origin)
    return not resolves(config.constitution, scope.clause_ref)


@fault("scope_claim", "6", SINGLE)
def one_known_observation_suffices(
    config: Config, observations: Observations, candidate: Candidate, origin: str
) -> bool:
    """One known observation is enough."""
    scope = candidate.scope
    known = {artifact_id(one) for one in observations}
    if scope is None or not any(one in known for one in scope.observation_ids):
        return REFERENCE.scope_claim(config, observations, candidate, origin)
    return not resolves(config.constitution, scope.clause_ref)


@fault("scope_claim", "6, 13.12", PLAIN)
def stale_observations_pass(config: Config, _observations: Observations, candidate: Candidate, _origin: str) -> bool:
    """Observation ids are not compared with this cycle's."""
    # Any id of any length will do: observations of earlier cycles pass as this one's.
    scope = candidate.scope
    return scope is not None and (not scope.observation_ids or not resolves(config.constitution, scope.clause_ref))


@fault("scope_claim", "4 INV-2", PLAIN)
def scope_clause_unchecked(_config: Config, observations: Observations, candidate: Candidate, _origin: str) -> bool:
    """The clause of a scope claim need not resolve."""
    scope = candidate.scope
    known = {artifact_id(one) for one in observations}
    return scope is not None and not (scope.observation_ids and set(scope.observation_ids) <= known)


@fault("completeness", "6", PLAIN)
def justification_not_required(config: Config, observations: Observations, candidate: Candidate, origin: str) -> bool:
    """A bundle without justification is complete."""
    said = candidate if candidate.justification is not None else replace(candidate, justification=Justification("-"))
    return REFERENCE.completeness(config, observations, said, origin)


@fault("completeness", "5.1", PLAIN)
def scope_not_required(config: Config, observations: Observations, candidate: Candidate, origin: str) -> bool:
    """A bundle without scope claim is complete."""
    # Gate 3 then has nothing to check.
    claimed = candidate if candidate.scope is not None else replace(candidate, scope=ScopeClaim((), ""))
    return REFERENCE.completeness(config, observations, claimed, origin)


@fault("completeness", "6", PLAIN)
def unknown_fields_ignored(config: Config, observations: Observations, candidate: Candidate, origin: str) -> bool:
    """Fields too many are ignored."""
    known = tuple(entry for entry in candidate.request.fields if entry[0] != "zz")
    return REFERENCE.completeness(
        config, observations, replace(candidate, request=replace(candidate.request, fields=known)), origin
    )


@fault("completeness", "8.A", SINGLE)
def unknown_author_passes(config: Config, observations: Observations, candidate: Candidate, origin: str) -> bool:
    """Anybody may be the author."""
    # Whatever the reading.
    lax = replace(config, readings=replace(config.readings, unknown_author="treat_as_reflection"))
    return REFERENCE.completeness(lax, observations, candidate, origin)


@fault("io_allowlist", "6", SINGLE)
def path_as_prefix_string(config: Config, _observations: Observations, candidate: Candidate, _origin: str) -> bool:
    """A path is judged by the text it begins with."""
    path = path_of(candidate.request)
    io = config.constitution.io
    allowed = io.read_paths if candidate.request.action_type == READ_LOCAL else io.write_paths
    return path is not None and not path.startswith(tuple(allowed))


@fault("io_allowlist", "6", SINGLE)
def read_and_write_paths_merged(config: Config, observations: Observations, candidate: Candidate, origin: str) -> bool:
    """What may be written may be read, and the other way about."""
    io = config.constitution.io
    both = tuple(dict.fromkeys((*io.read_paths, *io.write_paths)))
    wide = replace(io, read_paths=both, write_paths=both)
    other = replace(config, constitution=replace(config.constitution, io=wide))
    return REFERENCE.io_allowlist(other, observations, candidate, origin)


@fault("offer", "6", SINGLE)
def exit_bundles_offered(_config: Config, candidates: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    """The host offers Exit bundles."""
    return candidates


@fault("offer", "6", LISTS)
def only_the_first_is_looked_at(config: Config, candidates: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    """Later candidates are not judged."""
    return REFERENCE.offer(config, candidates)[:1]


@fault("offer", "4 INV-3", SINGLE)
def log_append_dropped_by_host(config: Config, candidates: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    """The host hides LogAppend bundles from the gates."""
    # As it drops Exit: the refusal then names no gate.
    found = REFERENCE.offer(config, candidates)
    return tuple(one for one in found if one.request.action_type not in (LOG_APPEND, EXIT_TYPE))


@fault("failed_gate", "6", LISTS)
def last_gate_reported(_config: Config, trace: tuple[tuple[str, str], ...]) -> str:
    """A refusal names the last candidate's gate."""
    return trace[-1][1] if trace else ""
