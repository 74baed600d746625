"""The pure kernel: required observations, integrity, budget, five gates, selector, warrant (2.2, 3.2, 6).

`Rules` is everything that a mutant may replace, the executor's and the logger's functions included.  No function here
reads a clock, randomness or a file; of natural language it reads only the presence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from evenhand.core.records import dataclass
from evenhand.model.sovereign.artifacts import artifact_id, bundle_hash, covered
from evenhand.model.sovereign.constitution import CITATIONS, JUSTIFICATION, REQUIREMENTS, SCOPE_CLAIM, resolves
from evenhand.model.sovereign.paths import Place, lexical, normal_form, roots, under, within_prefix
from evenhand.model.sovereign.state import Config, Held, Spent, State
from evenhand.model.sovereign.vocabulary import (
    ACTION,
    AUTHORS,
    BUDGET,
    BUDGET_EXHAUSTED,
    DUPLICATE_BUNDLE,
    EXIT,
    EXIT_TYPE,
    GATES,
    INTEGRITY_EVENTS,
    KERNEL,
    LOG_APPEND,
    MISSING_REQUIRED_OBSERVATION,
    NO_ADMISSIBLE_ACTION,
    NOTIFY,
    READ_LOCAL,
    REFLECTION,
    REFUSE,
    REQUIRED_OBSERVATIONS,
    SYSTEM,
    TIMESTAMP,
    WRITE_LOCAL,
    Candidate,
    Decision,
    Exit,
    Observation,
    Record,
    Refusal,
    Request,
    Warrant,
    field,
)

Observations = tuple[Observation, ...]
Gate = Callable[[Config, Observations, Candidate, str], bool]
"""Whether a candidate fails: of this configuration, after these observations, from `reflection` or the `kernel`."""

FIELDS: dict[str, tuple[str, ...]] = {
    NOTIFY: ("message",),
    READ_LOCAL: ("path",),
    WRITE_LOCAL: ("content", "path"),
    LOG_APPEND: ("jsonl_lines", "log_name"),
    EXIT_TYPE: (),
}
"""The exact fields of a request of each type."""


@dataclass(frozen=True)
class Rules:
    """The functions of kernel, executor and logger."""

    offer: Callable[[Config, tuple[Candidate, ...]], tuple[Candidate, ...]]
    cycle_time: Callable[[Config, Observations], str | None]
    integrity: Callable[[Config, Observations], str]
    overspent: Callable[[Config, Observations], bool]
    order: Callable[[], tuple[str, ...]]
    completeness: Gate
    authority_citation: Gate
    scope_claim: Gate
    constitution_compliance: Gate
    io_allowlist: Gate
    hashed: Callable[[Config, Candidate], str]
    select: Callable[[Config, tuple[tuple[str, Candidate], ...]], Candidate]
    failed_gate: Callable[[Config, tuple[tuple[str, str], ...]], str]
    issue: Callable[[Config, Candidate, str, str], Warrant | None]
    on_exit: Callable[[Config, tuple[Candidate, ...], str], Warrant | None]
    stamp: Callable[[Config, str], str]
    valid: Callable[[Config, State, str, Warrant, Request], str]
    place: Callable[[Config, State, Held], Place | None]
    permitted: Callable[[Config, Request, Place | None], bool]
    spend: Callable[[Config, State, str, Warrant], frozenset[Spent]]
    restart: Callable[[Config, State, str], State]
    age: Callable[[Config, State], State]
    intents: Callable[[Config, Observations, tuple[Candidate, ...], Decision], tuple[Record, ...]]
    trace_effect: Callable[[Config, Request], tuple[Record, ...]]
    trace_log: Callable[[Config, tuple[Record, ...]], tuple[Record, ...]]
    bundles: Callable[[Config, tuple[Record, ...]], tuple[tuple[Record, ...], ...]]
    log_admits: Callable[[Rules, Config, tuple[Record, ...]], bool]
    log_hash: Callable[[Config, tuple[Record, ...]], str]
    settle: Callable[[Config, State, str, int], State]


def offer(config: Config, candidates: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    """Return the candidates that the host passes on: no Exit bundles, unless the reading leaves them to the gates."""
    if config.readings.exit_candidate == "admitted_by_gates":
        return candidates
    return tuple(one for one in candidates if one.request.action_type != EXIT_TYPE)


def cycle_time(_config: Config, observations: Observations) -> str | None:
    """Return the observed time; None unless exactly one TIMESTAMP with a text was observed (X.E1)."""
    found = [one for one in observations if one.kind == TIMESTAMP]
    time = field(found[0].payload, "iso8601_utc") if len(found) == 1 else None
    return time if isinstance(time, str) and time else None


def integrity(_config: Config, observations: Observations) -> str:
    """Return the least integrity event by name, so that order decides nothing; empty without one."""
    events = [field(one.payload, "event") for one in observations if one.kind == SYSTEM]
    return min((event for event in events if isinstance(event, str) and event in INTEGRITY_EVENTS), default="")


def overspent(config: Config, observations: Observations) -> bool:
    """Return whether the reported tokens are too many or cannot be compared (fail closed)."""
    readings = config.readings
    counts = [field(one.payload, "llm_output_token_count") for one in observations if one.kind == BUDGET]
    if not counts:
        return readings.budget_absent == "refuse"
    if readings.budget_count == "exactly_one" and len(counts) > 1:
        return True
    if readings.budget_count == "last":
        counts = counts[-1:]
    total = 0
    for count in counts:
        if not isinstance(count, int) or (count < 0 and readings.negative_budget == "refuse"):
            return True
        total += count
    return total > config.constitution.limits.max_total_tokens_per_cycle


def order() -> tuple[str, ...]:
    """Return the gates in order."""
    return GATES


def _well_formed(config: Config, request: Request) -> bool:
    names = FIELDS.get(request.action_type)
    if names is None:
        return True  # refused by gate 4
    if tuple(sorted(name for name, _ in request.fields)) != names:
        return False
    most = config.constitution.limits.max_chars_per_field
    for name, value in request.fields:
        if name == "jsonl_lines":
            if not isinstance(value, tuple) or not all(isinstance(line, str) for line in value):
                return False
        elif not isinstance(value, str) or not value or (most is not None and len(value) > most):
            return False
    return True


def lacks_a_part(candidate: Candidate, requires: Iterable[str]) -> bool:
    """Return whether a bundle lacks a part that is required of it."""
    there = {
        CITATIONS: bool(candidate.citations),
        SCOPE_CLAIM: candidate.scope is not None,
        JUSTIFICATION: candidate.justification is not None and bool(candidate.justification.text),
    }
    return not all(there[one] for one in requires)


def completeness(config: Config, _observations: Observations, candidate: Candidate, origin: str) -> bool:
    """Gate 1: required parts are there, fields are typed, kernel-only types come from the kernel.

    The origin of a candidate is the component that hands it over, never its author field.
    """
    declared = config.constitution.action_type(candidate.request.action_type)
    requires = declared.requires if declared is not None else REQUIREMENTS
    if declared is not None and declared.kernel_only and origin != KERNEL:
        return True
    if lacks_a_part(candidate, requires) or not _well_formed(config, candidate.request):
        return True
    authors = [one.author for one in (candidate.request, candidate.scope, candidate.justification) if one is not None]
    strict = config.readings.unknown_author == "refuse"
    return strict and not all(author in AUTHORS for author in authors)


def authority_citation(config: Config, _observations: Observations, candidate: Candidate, _origin: str) -> bool:
    """Gate 2: every citation resolves."""
    return not all(resolves(config.constitution, citation) for citation in candidate.citations)


def scope_claim(config: Config, observations: Observations, candidate: Candidate, _origin: str) -> bool:
    """Gate 3: the clause resolves, and some observations are named, all of this cycle."""
    scope = candidate.scope
    if scope is None:
        return False  # gate 1 checks whether it is required
    known = {artifact_id(one) for one in observations}
    within = bool(scope.observation_ids) and all(one in known for one in scope.observation_ids)
    return not within or not resolves(config.constitution, scope.clause_ref)


def constitution_compliance(config: Config, _observations: Observations, candidate: Candidate, _origin: str) -> bool:
    """Gate 4: the action type is in the closed set."""
    return config.constitution.action_type(candidate.request.action_type) is None


def log_path(request: Request) -> str:
    """Return the path that a LogAppend writes to."""
    return f"./logs/{field(request.fields, 'log_name')}.jsonl"


def path_of(request: Request) -> str | None:
    """Return the path that a request reads or writes; None without one."""
    if request.action_type == LOG_APPEND:
        return log_path(request)
    path = field(request.fields, "path") if request.action_type in (READ_LOCAL, WRITE_LOCAL) else None
    return path if isinstance(path, str) else None


def io_allowlist(config: Config, _observations: Observations, candidate: Candidate, _origin: str) -> bool:
    """Gate 5, lexical: the path lies under an allowed one."""
    request = candidate.request
    path = path_of(request)
    if path is None:
        return False
    io = config.constitution.io
    allowed = io.read_paths if request.action_type == READ_LOCAL else io.write_paths
    if config.readings.path_rule == "prefix_string":
        return not within_prefix(path, allowed)
    place = lexical(path) if config.readings.path_rule == "resolved" else normal_form(path)
    return place is None or not under(place, roots(allowed))


def hashed(config: Config, candidate: Candidate) -> str:
    """Return the bundle hash of a candidate."""
    return bundle_hash(candidate, config.readings.bundle_hash_covers)


def select(_config: Config, admitted: tuple[tuple[str, Candidate], ...]) -> Candidate:
    """Return the candidate with the least hash (7 A4); candidates of equal hash are one."""
    return min(admitted, key=lambda entry: entry[0])[1]


def failed_gate(config: Config, trace: tuple[tuple[str, str], ...]) -> str:
    """Return the gate that a refusal reports (reading `reported_gate`); empty without candidates."""
    gates = [gate for _, gate in trace]
    if config.readings.reported_gate == "furthest":
        return max(gates, key=GATES.index, default="")
    return gates[0] if gates else ""


def issue(config: Config, candidate: Candidate, bundle: str, time: str) -> Warrant | None:
    """Return the warrant for an admitted candidate, stamped with the observed time."""
    return Warrant(covered(candidate, config.readings.bundle_hash_covers).request, bundle, time)


def on_exit(_config: Config, _candidates: tuple[Candidate, ...], _time: str) -> Warrant | None:
    """Return the warrant of an EXIT: none."""
    return None


def stamp(_config: Config, time: str) -> str:
    """Return `created_at` of the kernel's artefacts: the observed time (X.E1)."""
    return time


def judged(rules: Rules, config: Config, observations: Observations, candidate: Candidate, origin: str) -> str:
    """Return the first gate that a candidate fails, in the rules' order; empty if it passes all of them."""
    for name in rules.order():
        gate: Gate = getattr(rules, name)
        if gate(config, observations, candidate, origin):
            return name
    return ""


@lru_cache(maxsize=200_000)
def _judged(rules: Any, config: Config, observations: Observations, candidate: Candidate) -> tuple[str, str]:
    """Return hash and gate of a candidate, cached."""
    return rules.hashed(config, candidate), judged(rules, config, observations, candidate, REFLECTION)


def _refused(reason: str, gate: str, time: str, trace: tuple[tuple[str, str], ...] = ()) -> Decision:
    return Decision(REFUSE, time, trace, refusal=Refusal(reason, gate, time))


def decide(rules: Rules, config: Config, observations: Observations, candidates: tuple[Candidate, ...]) -> Decision:
    """Return the decision of one cycle: ACTION with a warrant, REFUSE with a reason, EXIT with neither."""
    offered = rules.offer(config, candidates)
    observed, event = rules.cycle_time(config, observations), rules.integrity(config, observations)
    time = rules.stamp(config, observed or "")
    if event and (observed is not None or config.readings.exit_precedence == "integrity_first"):
        return Decision(EXIT, time, warrant=rules.on_exit(config, offered, time), exit=Exit(event, time))
    if observed is None:
        return _refused(MISSING_REQUIRED_OBSERVATION, REQUIRED_OBSERVATIONS, time)
    if rules.overspent(config, observations):
        return _refused(BUDGET_EXHAUSTED, "", time)
    trace = tuple(_judged(rules, config, observations, one) for one in offered)
    admitted = tuple((told[0], one) for told, one in zip(trace, offered, strict=True) if not told[1])
    if config.readings.duplicate_bundle == "error" and len({bundle for bundle, _ in trace}) < len(trace):
        return _refused(DUPLICATE_BUNDLE, "", time, trace)
    if not admitted:
        return _refused(NO_ADMISSIBLE_ACTION, rules.failed_gate(config, trace), time, trace)
    winner = rules.select(config, admitted)
    warrant = rules.issue(config, winner, rules.hashed(config, winner), time)
    return Decision(ACTION, time, trace, warrant=warrant)


KERNEL_RULES: dict[str, Any] = {
    "offer": offer,
    "cycle_time": cycle_time,
    "integrity": integrity,
    "overspent": overspent,
    "order": order,
    "completeness": completeness,
    "authority_citation": authority_citation,
    "scope_claim": scope_claim,
    "constitution_compliance": constitution_compliance,
    "io_allowlist": io_allowlist,
    "hashed": hashed,
    "select": select,
    "failed_gate": failed_gate,
    "issue": issue,
    "on_exit": on_exit,
    "stamp": stamp,
}
"""The kernel's share of the reference rules."""
