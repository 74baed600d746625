"""Telemetry and logs: the lines owed, the effect of limits, and the loss of records."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass

from evenhand.core.canonical import canonical_bytes
from evenhand.core.plan import refuted
from evenhand.core.property import determined_by, each_step, monitor
from evenhand.core.records import replace
from evenhand.model.sovereign.artifacts import artifact_id, as_json
from evenhand.model.sovereign.constitution import Constitution, cite
from evenhand.model.sovereign.state import Config, Cycle, Decide, Log
from evenhand.model.sovereign.vocabulary import ACTION, STREAMS, Candidate, Record, Request
from evenhand.properties.sovereign.predicates import (
    DECIDING,
    KernelStep,
    bundle_of,
    decides,
    decision_of,
    fed,
    same_request,
)


def _logs(step: KernelStep) -> bool:
    return bool(step.shown.logged or step.shown.lost)


def _bundled(step: KernelStep) -> bool:
    return bool(step.shown.log_bundles)


@each_step(
    "A decision owes a line for each observation, candidate and gate's verdict, one for its record, one for a winner.",
    source="3.2, 2.2",
    systems=DECIDING,
    when=decides,
)
def decisions_owe_what_they_are_made_of(step: KernelStep) -> bool:
    """Counted by stream; an effect owes one line more."""
    seen, many = fed(step)
    one = decision_of(step)
    counts = Counter(record.stream for record in step.shown.intents)
    done = [effect for effect in step.shown.effects if effect.action_type != "LogAppend"]
    wanted = (len(seen), len(many) + 1, len(one.trace), int(one.kind == ACTION), len(done))
    return tuple(counts[stream] for stream in STREAMS) == wanted


def _line(artefact: object) -> tuple[int, int, str]:
    """Characters, bytes and hash of an artefact's line."""
    line = canonical_bytes(as_json(artefact))
    return len(line.decode("utf-8")), len(line), hashlib.sha256(line).hexdigest()


@each_step(
    "The lines of observations and artefacts that a decision owes are the artefacts' canonical JSON.",
    source="3.2, 7 A5",
    systems=DECIDING,
    when=decides,
    version=2,
)
def owed_lines_are_the_artefacts(step: KernelStep) -> bool:
    """In characters, in bytes, and by their hash; what a trace's line holds, no sentence says."""
    seen, many = fed(step)
    one = decision_of(step)
    made = [record for record in (one.warrant, one.refusal, one.exit) if record is not None]
    wanted = {STREAMS[0]: Counter(map(_line, seen)), STREAMS[1]: Counter(map(_line, (*many, *made)))}
    return all(
        Counter((owed.chars, owed.size, owed.digest) for owed in step.shown.intents if owed.stream == stream) == lines
        for stream, lines in wanted.items()
    )


@determined_by(
    "The lines that a cycle owes follow from the constitution, what was observed, proposed and decided, and the "
    "effects: a replay derives the same lines anew.",
    source="7 A33, 4 INV-4",
    systems=("agent", "session"),
    key=lambda step: (
        step.config.constitution,
        step.config.readings,
        fed(step),
        step.shown.decision,
        step.shown.effects,
    ),
    when=decides,
)
def owed_lines_follow_from_what_is_logged(step: KernelStep) -> tuple[Record, ...]:
    """No history and no condition of a session; in which order the lines are owed, no sentence says."""
    return tuple(sorted(step.shown.intents, key=repr))


def _may_log(constitution: Constitution) -> bool:
    """Whether the constitution allows the kernel a LogAppend for the host's bundle at all."""
    kinds = [one for one in constitution.action_types if one.name == "LogAppend"]
    longest = constitution.limits.max_chars_per_field
    if longest is not None and longest < max(map(len, STREAMS)):
        return False
    if not kinds or ("authority_citations" in kinds[0].requires and not constitution.clauses):
        return False
    if {"scope_claim", "justification"} & set(kinds[0].requires):
        return False
    return any(path in ("./logs/", "./logs", "logs/", "logs") for path in constitution.io.write_paths)


@each_step(
    "A whole cycle logs each line that it owes, or says that it is lost, and no other line.",
    source="2.2: the cycle ends with its log",
    systems=("session", "constitutions"),
    when=decides,
)
def cycles_log_or_lose_what_they_owe(step: KernelStep) -> bool:
    """Nothing is left owed when a cycle ends."""
    shown = step.shown
    return Counter(shown.intents) == Counter((*shown.logged, *shown.lost)) and step.after.owed == ()


@each_step(
    "What is logged keeps the limits of a LogAppend warrant; there is one where anything is logged, none elsewhere.",
    source="6, 8.A",
    systems=("agent", "session", "constitutions"),
)
def logged_lines_keep_the_limits(step: KernelStep) -> bool:
    """Lines, characters, bytes; at least as many warrants as streams and line limits need, none if none is allowed."""
    limits = step.config.constitution.limits
    logged = step.shown.logged
    if not logged:
        return step.shown.log_warrants == 0
    least = 0
    for stream in STREAMS:
        mine = [one for one in logged if one.stream == stream]
        least += -(-len(mine) // limits.max_lines_per_warrant) if mine else 0
        if mine and sum(one.size for one in mine) > limits.max_bytes_per_warrant * step.shown.log_warrants:
            return False
    short = all(one.chars <= limits.max_chars_per_line for one in logged)
    return short and _may_log(step.config.constitution) and step.shown.log_warrants >= least


@each_step(
    "Each LogAppend has its own warrant, and together they hold the lines that are logged, and no others.",
    source="6, 8.A",
    systems=("agent", "session", "constitutions"),
)
def log_bundles_hold_what_is_logged(step: KernelStep) -> bool:
    """By stream, and each line by its hash; a bundle without a line needs no warrant."""
    made = step.shown.log_bundles
    held = Counter((one.stream, line) for one in made for line in one.lines)
    whole = held == Counter((one.stream, one.digest) for one in step.shown.logged)
    return whole and len(made) == step.shown.log_warrants and all(one.lines for one in made)


@each_step(
    "The hash of a LogAppend bundle covers its lines.",
    source="6, 7 A5",
    systems=("agent", "session", "constitutions"),
    when=_bundled,
)
def the_hash_of_a_log_covers_its_lines(step: KernelStep) -> bool:
    """The lines by their hashes, with the stream and the host's citation of the first clause, if there is one."""
    law = step.config.constitution
    cited = tuple(cite(law, clause) for clause in law.clauses[:1])
    for one in step.shown.log_bundles:
        request = Request("LogAppend", (("jsonl_lines", one.lines), ("log_name", one.stream)), "kernel")
        if one.bundle != bundle_of(step.config.readings.bundle_hash_covers, Candidate(request, citations=cited)).hex():
            return False
    return True


@determined_by(
    "LogAppend bundles of other lines have other hashes, whatever a hash is made of.",
    source="6, 7 A5",
    systems=("agent", "session", "constitutions"),
    key=lambda step: tuple(one.bundle for one in step.shown.log_bundles),
    when=_bundled,
)
def other_lines_have_another_hash(step: KernelStep) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Holds of a kernel with bundles of its own form too, as long as no two that differ share a hash."""
    return tuple((one.stream, one.lines) for one in step.shown.log_bundles)


@each_step(
    "Logging loses nothing but lines of bundles that the limits, or the constitution, do not admit.",
    source="6",
    systems=("agent", "session", "constitutions"),
    when=_logs,
)
def logging_loses_only_the_inadmissible(step: KernelStep) -> bool:
    """Where every line is short enough and a LogAppend may be issued, all lines are written."""
    limits = step.config.constitution.limits
    every = (*step.shown.logged, *step.shown.lost)
    short = all(one.chars <= limits.max_chars_per_line and one.size <= limits.max_bytes_per_warrant for one in every)
    sound = short and limits.max_lines_per_warrant > 0 and _may_log(step.config.constitution)
    return not step.shown.lost or not sound


def _most_warrants(constitution: Constitution, lines: int, size: int) -> int:
    """Most bundles for a stream of this many lines and bytes, if each bundle is filled before the next begins.

    A bundle ends at a line that is one too many (never after the last line), or at one that with it exceeds the bytes.
    Two such ends share at most one bundle, so each stands for half of the bytes that a warrant carries.
    """
    limits = constitution.limits
    by_lines = (lines - 1) // limits.max_lines_per_warrant
    by_bytes = 0 if size <= limits.max_bytes_per_warrant else 2 * size // limits.max_bytes_per_warrant
    return 1 + by_lines + by_bytes


@each_step(
    "Lines of one stream share a warrant as far as the limits let them.",
    source="6, deltas 1 and 2 of v0.1.1: `jsonl_lines` is an array, and a limit is per warrant",
    systems=("agent", "session", "constitutions"),
    when=lambda step: bool(step.shown.logged),
)
def lines_share_warrants(step: KernelStep) -> bool:
    """An upper bound: a stream that fits one warrant has one, and lines that are lost have none."""
    most = 0
    for stream in STREAMS:
        mine = [one for one in step.shown.logged if one.stream == stream]
        lost = [one for one in step.shown.lost if one.stream == stream]
        if mine:
            size = sum(one.size for one in (*mine, *lost))
            bundles = _most_warrants(step.config.constitution, len(mine) + len(lost), size)
            most += min(len(mine), bundles - bool(lost))
    return step.shown.log_warrants <= most


@each_step(
    "Logging is not recursive: it owes no line of its own, and leaves nothing owed.",
    source="7 A55, 7 A58",
    systems=("agent",),
    when=lambda step: isinstance(step.action, Log),
)
def logging_is_not_recursive(step: KernelStep) -> bool:
    """No log of the log."""
    return step.shown.intents == () and step.after.owed == () and not step.shown.effects


@dataclass(frozen=True)
class _Owing:
    """An observer's knowledge: whether something was done, whether its lines wait to be logged, whether one is lost."""

    done: bool = False
    pending: bool = False
    lost: bool = False


def _something_done(_config: Config, known: _Owing) -> bool:
    return known.done


def _watched(known: _Owing, step: KernelStep) -> _Owing:
    if isinstance(step.action, Cycle | Log) or step.shown.logged or step.shown.lost:
        done = known.pending or bool(step.shown.effects)
        return _Owing(done, False, done and bool(step.shown.lost))
    if isinstance(step.action, Decide) and decides(step):
        return _Owing(known.pending, False, known.pending)
    pending = known.pending or bool(step.shown.effects)
    return replace(known, done=pending, pending=pending, lost=False)


@monitor(
    "Whatever was done is in the logs, with what it was decided from, before the next cycle.  (Stated to be refuted.)",
    source="2.2, 8.D",
    systems=("agent", "session", "constitutions"),
    start=lambda _config: _Owing(),
    update=_watched,
    when=_something_done,
    expected=(
        refuted(
            "a host that stops between use and log loses what it owed; nothing is written ahead",
            system="agent",
        ),
        refuted(
            "limits contradict each other where a candidate's line is longer than a log line, or no LogAppend is "
            "declared",
            system="constitutions",
        ),
    ),
)
def every_effect_is_recorded(_config: Config, known: _Owing) -> bool:
    """Fails for a line too long for a log, a host that stops before the log, a constitution without logs."""
    return not known.lost


@each_step(
    "A request's line names its artefacts by the hash of what they say: equal artefacts, equal ids.",
    source="7 A5, 14.12",
    systems=DECIDING,
    when=lambda step: decides(step) and bool(fed(step)[1]),
)
def scope_claims_are_bound_to_observations(step: KernelStep) -> bool:
    """Whether the winner names observations of this cycle by the ids of their contents."""
    warrant = decision_of(step).warrant
    if warrant is None:
        return True
    seen, many = fed(step)
    ids = {artifact_id(one) for one in seen}
    return any(
        same_request(one.request, warrant.request) and (one.scope is None or set(one.scope.observation_ids) <= ids)
        for one in many
    )
