"""Telemetry: the lines that a cycle owes to the five logs, and their LogAppend bundles (3.2, 6, 8.C).

Derivation is structural: it counts and measures canonical lines and never reads natural language (2.2).  Logging
is not recursive: a LogAppend owes no line of its own (7 A55).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from evenhand.core.canonical import canonical_bytes
from evenhand.model.sovereign.artifacts import artifact_id, bundle_hash, line_of, sha
from evenhand.model.sovereign.constitution import cite
from evenhand.model.sovereign.kernel import Observations, Rules, judged
from evenhand.model.sovereign.state import Config
from evenhand.model.sovereign.vocabulary import (
    ACTION,
    KERNEL,
    LOG_APPEND,
    STREAMS,
    Candidate,
    Decision,
    Record,
    Request,
)

TRACE_LINE = 160
"""Characters of a line of the traces: two hashes and a gate, of bounded length for every proposal."""


@lru_cache(maxsize=65_536)
def record_of(stream: str, line: str) -> Record:
    """Return the log intent for a line."""
    data = line.encode("utf-8")
    return Record(stream, len(line), len(data), sha(data))


@lru_cache(maxsize=65_536)
def traced(stream: str, *told: str) -> Record:
    """Return the log intent for a line of a trace, which tells hashes and a gate."""
    return Record(stream, TRACE_LINE, TRACE_LINE, sha(canonical_bytes(list(told))))


def intents(
    _config: Config, observations: Observations, candidates: tuple[Candidate, ...], decision: Decision
) -> tuple[Record, ...]:
    """Return the lines that a decision owes: each observation, each candidate, the decision, the traces."""
    made = [one for one in (decision.warrant, decision.refusal, decision.exit) if one is not None]
    found = [record_of(STREAMS[0], line_of(one)) for one in observations]
    found += [record_of(STREAMS[1], line_of(one)) for one in (*candidates, *made)]
    found += [traced(STREAMS[2], bundle, gate) for bundle, gate in decision.trace]
    if decision.kind == ACTION:
        found.append(traced(STREAMS[3], decision.winner))
    return tuple(found)


def trace_effect(_config: Config, request: Request) -> tuple[Record, ...]:
    """Return the line that an effect owes: its request's id, never its text; a LogAppend owes none."""
    if request.action_type == LOG_APPEND:
        return ()
    return (traced(STREAMS[4], artifact_id(request)),)


def trace_log(_config: Config, _logged: tuple[Record, ...]) -> tuple[Record, ...]:
    """Return the lines that a log commit owes: none (7 A55, A58)."""
    return ()


def bundles(config: Config, owed: tuple[Record, ...]) -> tuple[tuple[Record, ...], ...]:
    """Return owed lines in LogAppend bundles: one stream each, cut where another line would exceed lines or bytes."""
    limits = config.constitution.limits
    made: list[list[Record]] = []
    for stream in STREAMS:
        bundle: list[Record] = []
        for record in owed:
            if record.stream != stream:
                continue
            size = sum(one.size for one in bundle) + record.size
            if bundle and (len(bundle) >= limits.max_lines_per_warrant or size > limits.max_bytes_per_warrant):
                made.append(bundle)
                bundle = []
            bundle.append(record)
        if bundle:
            made.append(bundle)
    return tuple(tuple(bundle) for bundle in made)


def log_candidate(config: Config, bundle: tuple[Record, ...]) -> Candidate:
    """Return the LogAppend bundle that the host builds for lines of a stream; it cites the first clause, if any."""
    clauses = config.constitution.clauses
    lines = tuple(one.digest for one in bundle)
    request = Request(LOG_APPEND, (("jsonl_lines", lines), ("log_name", bundle[0].stream)), KERNEL)
    return Candidate(request, citations=tuple(cite(config.constitution, clause) for clause in clauses[:1]))


def log_admits(rules: Rules, config: Config, bundle: tuple[Record, ...]) -> bool:
    """Return whether the kernel issues a LogAppend warrant for these lines: the gates, and the limits per warrant."""
    limits = config.constitution.limits
    if len(bundle) > limits.max_lines_per_warrant or sum(one.size for one in bundle) > limits.max_bytes_per_warrant:
        return False
    if any(one.chars > limits.max_chars_per_line for one in bundle):
        return False
    return not judged(rules, config, (), log_candidate(config, bundle), KERNEL)


def log_hash(config: Config, bundle: tuple[Record, ...]) -> str:
    """Return the hash of the LogAppend bundle for these lines, which covers them (6, 7 A5)."""
    return bundle_hash(log_candidate(config, bundle), config.readings.bundle_hash_covers)


TELEMETRY_RULES: dict[str, Any] = {
    "intents": intents,
    "trace_effect": trace_effect,
    "trace_log": trace_log,
    "bundles": bundles,
    "log_admits": log_admits,
    "log_hash": log_hash,
}
"""The logger's share of the reference rules."""
