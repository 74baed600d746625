"""Faults around the kernel: of executors, of logs and of sessions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from evenhand.core.system import Mutant
from evenhand.model.sovereign.kernel import Observations, Rules, path_of
from evenhand.model.sovereign.mutants.declare import ALONE, LISTS, SESSION, TYPES, declare
from evenhand.model.sovereign.paths import Place, lexical
from evenhand.model.sovereign.state import ABORTED, Config, Held, Spent, State
from evenhand.model.sovereign.step import REFERENCE
from evenhand.model.sovereign.vocabulary import (
    EXECUTORS,
    STREAMS,
    Candidate,
    Decision,
    Record,
    Request,
    Warrant,
)

__all__ = ["EXECUTOR_AND_LOG_MUTANTS", "any_request"]


def _reuses(config: Config, state: State, executor: str, warrant: Warrant, request: Request) -> str:
    return REFERENCE.valid(config, replace(state, spent=frozenset()), executor, warrant, request)


def _accepts_forged(config: Config, state: State, executor: str, warrant: Warrant, request: Request) -> str:
    return REFERENCE.valid(config, replace(state, issued=state.issued | {warrant}), executor, warrant, request)


def _accepts_old(config: Config, state: State, executor: str, warrant: Warrant, request: Request) -> str:
    """Warrants of earlier cycles are honoured, once."""
    fresh = replace(warrant, age=0)
    young = replace(
        state,
        issued=frozenset(replace(one, age=0) for one in state.issued),
        spent=frozenset(replace(one, warrant=replace(one.warrant, age=0)) for one in state.spent),
    )
    return REFERENCE.valid(config, young, executor, fresh, request)


def any_request(config: Config, state: State, executor: str, warrant: Warrant, _request: Request) -> str:
    """The request handed over with a warrant is not compared with the warrant's."""
    return REFERENCE.valid(config, state, executor, warrant, warrant.request)


def _same_type(config: Config, state: State, executor: str, warrant: Warrant, request: Request) -> str:
    """Only the type is compared: the fields may have changed since."""
    same = request.action_type == warrant.request.action_type
    return REFERENCE.valid(config, state, executor, warrant, warrant.request if same else request)


def _own_memory(_config: Config, state: State, executor: str, warrant: Warrant) -> frozenset[Spent]:
    """Each executor records its spent warrants for itself, and no check reads that memory."""
    return state.spent | {Spent(warrant, executor)}


def _never_spends(_config: Config, state: State, _executor: str, _warrant: Warrant) -> frozenset[Spent]:
    return state.spent


def _forgets(config: Config, state: State, who: str) -> State:
    """A restart forgets which warrants are spent."""
    found = REFERENCE.restart(config, state, who)
    return replace(found, spent=frozenset()) if who in EXECUTORS else found


def _place_of_the_check(_config: Config, _state: State, held: Held) -> Place | None:
    """The use relies on the place found at the check: a link may be swapped in between."""
    return held.place if held.place is not None else REFERENCE.place(_config, _state, held)


def _lexical_place(_config: Config, _state: State, held: Held) -> Place | None:
    """Links are not followed before the allow-list is consulted."""
    path = path_of(held.request)
    return None if path is None else lexical(path)


def _everything_permitted(_config: Config, _request: Request, _where: Place | None) -> bool:
    return True


def _never_ages(_config: Config, state: State) -> State:
    return state


def _spent_forgotten(config: Config, state: State) -> State:
    """A new cycle forgets the spent warrants, because all of them are old."""
    return replace(REFERENCE.age(config, state), spent=frozenset())


def _no_observations_logged(
    config: Config, observations: Observations, candidates: tuple[Candidate, ...], decision: Decision
) -> tuple[Record, ...]:
    found = REFERENCE.intents(config, observations, candidates, decision)
    return tuple(one for one in found if one.stream != STREAMS[0])


def _logs_words(
    config: Config, observations: Observations, candidates: tuple[Candidate, ...], decision: Decision
) -> tuple[Record, ...]:
    """A justification with `because` owes another line: telemetry that reads language."""
    found = REFERENCE.intents(config, observations, candidates, decision)
    said = any(one.justification is not None and "because" in one.justification.text for one in candidates)
    return (*found, Record(STREAMS[1], 10, 10)) if said else found


def _only_winner_logged(
    config: Config, observations: Observations, candidates: tuple[Candidate, ...], decision: Decision
) -> tuple[Record, ...]:
    """Rejected candidates owe no line; replay then lacks them."""
    gates = dict(decision.trace)
    kept = tuple(one for one in candidates if not gates.get(REFERENCE.hashed(config, one), "x"))
    return REFERENCE.intents(config, observations, kept, decision)


def _silent_effect(_config: Config, _request: Request) -> tuple[Record, ...]:
    return ()


def _logs_all(_rules: Rules, _config: Config, _bundle: tuple[Record, ...]) -> bool:
    """The host issues LogAppend warrants itself, without the kernel (8.A)."""
    return True


def _logs_nothing_long(rules: Rules, config: Config, bundle: tuple[Record, ...]) -> bool:
    """The limit is misread: a line must be shorter than it, and than 160 characters."""
    most = config.constitution.limits.max_chars_per_line
    return REFERENCE.log_admits(rules, config, bundle) and all(one.chars < min(most, 160) for one in bundle)


def _one_bundle(_config: Config, owed: tuple[Record, ...]) -> tuple[tuple[Record, ...], ...]:
    """One bundle per stream, however many lines: beyond fifty the limits refuse all of them."""
    by_stream = (tuple(one for one in owed if one.stream == stream) for stream in STREAMS)
    return tuple(many for many in by_stream if many)


def _line_by_line(_config: Config, owed: tuple[Record, ...]) -> tuple[tuple[Record, ...], ...]:
    """Each line in a bundle of its own: more warrants, the same lines; a long line refuses no other."""
    return tuple((one,) for one in owed)


def _counts_all(config: Config, state: State, kind: str, tokens: int) -> State:
    """Refusals are counted over the whole condition, not in a row."""
    found = REFERENCE.settle(config, state, kind, tokens)
    count = state.refusals + (1 if kind == "REFUSE" else 0)
    over = found.over or (ABORTED if config.most_refusals and count >= config.most_refusals else "")
    return replace(found, refusals=min(count, config.most_refusals), over=over)


def _one_late(config: Config, state: State, kind: str, tokens: int) -> State:
    """The 26th refusal aborts, not the 25th."""
    late = replace(config, most_refusals=config.most_refusals + 1 if config.most_refusals else 0)
    return REFERENCE.settle(late, state, kind, tokens)


def _never_aborts(config: Config, state: State, kind: str, tokens: int) -> State:
    found = REFERENCE.settle(config, state, kind, tokens)
    stays = found.over == ABORTED
    return replace(found, over="", refusals=config.most_refusals - 1) if stays else found


def _budget_of_answers(config: Config, state: State, kind: str, tokens: int) -> State:
    """Refused cycles cost nothing."""
    return REFERENCE.settle(config, state, kind, 0 if kind == "REFUSE" else tokens)


def _agent(name: str, sentence: str, source: str, **functions: Any) -> Mutant[Rules]:
    return declare(name, sentence, source, "agent", ALONE, **functions)


def _session(name: str, sentence: str, source: str, **functions: Any) -> Mutant[Rules]:
    return declare(name, sentence, source, "session", SESSION, **functions)


EXECUTOR_AND_LOG_MUTANTS: tuple[Mutant[Rules], ...] = (
    _agent("warrant_reused", "A warrant can be used twice.", "4 INV-1", valid=_reuses),
    _agent("forged_warrant_accepted", "A warrant need not come from the kernel.", "4 INV-1", valid=_accepts_forged),
    _agent("stale_warrant_accepted", "A warrant of an earlier cycle is honoured.", "4 INV-1", valid=_accepts_old),
    _agent("request_changed_after_issue", "The request is not compared.", "4 INV-1", valid=any_request),
    _agent("fields_changed_after_issue", "Only the type is compared.", "4 INV-1", valid=_same_type),
    declare("spent_by_whom", "What one executor spent, nobody looks up.", "4 INV-1", "agent", ALONE, spend=_own_memory),
    _agent("never_spent", "Using a warrant does not spend it.", "4 INV-1", spend=_never_spends),
    _agent("restart_forgets", "A restart makes spent warrants fresh.", "4 INV-1", restart=_forgets),
    _agent("place_of_the_check", "A link is swapped between check and use.", "6", place=_place_of_the_check),
    _agent("links_not_followed", "The executor looks at the path's text.", "6", place=_lexical_place),
    _agent(
        "executor_permits_all", "The executor does not consult the allow-list.", "6", permitted=_everything_permitted
    ),
    _agent("warrants_never_age", "A new cycle leaves warrants fresh.", "4 INV-1", age=_never_ages),
    declare(
        "spent_of_old_cycles_forgotten",
        "A new cycle forgets which old warrants were spent.",
        "4 INV-1",
        "agent",
        ALONE,
        age=_spent_forgotten,
        expected="equivalent",
        reason="old warrants are rejected for their age before anybody asks whether they are spent",
    ),
    declare(
        "observations_not_logged", "Observations owe no line.", "8.D", "lists", LISTS, intents=_no_observations_logged
    ),
    declare("telemetry_reads", "Telemetry branches on words.", "2.2", "lists", LISTS, intents=_logs_words),
    declare(
        "rejected_not_logged", "Rejected candidates owe no line.", "8.D", "lists", LISTS, intents=_only_winner_logged
    ),
    _session("effects_not_logged", "Effects owe no line.", "2.2", trace_effect=_silent_effect),
    declare(
        "host_issues_log_warrants", "Limits do not bind LogAppend.", "8.A", "constitutions", TYPES, log_admits=_logs_all
    ),
    declare(
        "log_limits_misread",
        "Lines are refused that the limit admits.",
        "6",
        "agent",
        ALONE,
        log_admits=_logs_nothing_long,
    ),
    declare(
        "one_bundle_per_stream",
        "Lines of a stream go into one bundle, however many.",
        "6",
        "constitutions",
        TYPES,
        bundles=_one_bundle,
    ),
    _session("a_bundle_per_line", "Each line has a warrant of its own.", "6", bundles=_line_by_line),
    _session("refusals_counted_in_all", "Refusals need not follow each other.", "13.10", settle=_counts_all),
    _session("abort_one_late", "One refusal more than permitted.", "13.10", settle=_one_late),
    _session("never_aborted", "Refusals in a row end nothing.", "13.10", settle=_never_aborts),
    _session("refusals_are_free", "Refused cycles spend no tokens.", "13.7", settle=_budget_of_answers),
    declare(
        "effects_not_logged_anywhere",
        "Effects owe no line, under any constitution.",
        "2.2",
        "constitutions",
        TYPES,
        trace_effect=_silent_effect,
    ),
)
"""Faults around the kernel."""
