"""Faults around the kernel: of executors, of logs and of sessions."""

from __future__ import annotations

from evenhand.core.records import replace
from evenhand.model.sovereign.kernel import Observations, Rules, path_of
from evenhand.model.sovereign.mutants.declare import ALONE, LISTS, SESSION, TYPES, declare, fault
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


@fault("valid", "4 INV-1", ALONE)
def warrant_reused(config: Config, state: State, executor: str, warrant: Warrant, request: Request) -> str:
    """A warrant can be used twice."""
    return REFERENCE.valid(config, replace(state, spent=frozenset()), executor, warrant, request)


@fault("valid", "4 INV-1", ALONE)
def forged_warrant_accepted(config: Config, state: State, executor: str, warrant: Warrant, request: Request) -> str:
    """A warrant need not come from the kernel."""
    return REFERENCE.valid(config, replace(state, issued=state.issued | {warrant}), executor, warrant, request)


@fault("valid", "4 INV-1", ALONE)
def stale_warrant_accepted(config: Config, state: State, executor: str, warrant: Warrant, request: Request) -> str:
    """A warrant of an earlier cycle is honoured."""
    # Once: what is spent stays spent.
    fresh = replace(warrant, age=0)
    young = replace(
        state,
        issued=frozenset(replace(one, age=0) for one in state.issued),
        spent=frozenset(replace(one, warrant=replace(one.warrant, age=0)) for one in state.spent),
    )
    return REFERENCE.valid(config, young, executor, fresh, request)


@fault("valid", "4 INV-1", ALONE)
def request_changed_after_issue(
    config: Config, state: State, executor: str, warrant: Warrant, _request: Request
) -> str:
    """The request is not compared."""
    return REFERENCE.valid(config, state, executor, warrant, warrant.request)


@fault("valid", "4 INV-1", ALONE)
def fields_changed_after_issue(config: Config, state: State, executor: str, warrant: Warrant, request: Request) -> str:
    """Only the type is compared."""
    same = request.action_type == warrant.request.action_type
    return REFERENCE.valid(config, state, executor, warrant, warrant.request if same else request)


@fault("spend", "4 INV-1", ALONE)
def spent_by_whom(_config: Config, state: State, executor: str, warrant: Warrant) -> frozenset[Spent]:
    """What one executor spent, nobody looks up."""
    # Each executor records its spent warrants for itself, and no check reads that memory.
    return state.spent | {Spent(warrant, executor)}


@fault("spend", "4 INV-1", ALONE)
def never_spent(_config: Config, state: State, _executor: str, _warrant: Warrant) -> frozenset[Spent]:
    """Using a warrant does not spend it."""
    return state.spent


@fault("restart", "4 INV-1", ALONE)
def restart_forgets(config: Config, state: State, who: str) -> State:
    """A restart makes spent warrants fresh."""
    found = REFERENCE.restart(config, state, who)
    return replace(found, spent=frozenset()) if who in EXECUTORS else found


@fault("place", "6", ALONE)
def place_of_the_check(config: Config, state: State, held: Held) -> Place | None:
    """A link is swapped between check and use."""
    # The use relies on the place found at the check.
    return held.place if held.place is not None else REFERENCE.place(config, state, held)


@fault("place", "6", ALONE)
def links_not_followed(_config: Config, _state: State, held: Held) -> Place | None:
    """The executor looks at the path's text."""
    path = path_of(held.request)
    return None if path is None else lexical(path)


@fault("permitted", "6", ALONE)
def executor_permits_all(_config: Config, _request: Request, _where: Place | None) -> bool:
    """The executor does not consult the allow-list."""
    return True


@fault("age", "4 INV-1", ALONE)
def warrants_never_age(_config: Config, state: State) -> State:
    """A new cycle leaves warrants fresh."""
    return state


@fault(
    "age",
    "4 INV-1",
    ALONE,
    expected="equivalent",
    reason="old warrants are rejected for their age before anybody asks whether they are spent",
)
def spent_of_old_cycles_forgotten(config: Config, state: State) -> State:
    """A new cycle forgets which old warrants were spent."""
    return replace(REFERENCE.age(config, state), spent=frozenset())


@fault("intents", "8.D", LISTS)
def observations_not_logged(
    config: Config, observations: Observations, candidates: tuple[Candidate, ...], decision: Decision
) -> tuple[Record, ...]:
    """Observations owe no line."""
    found = REFERENCE.intents(config, observations, candidates, decision)
    return tuple(one for one in found if one.stream != STREAMS[0])


@fault("intents", "2.2", LISTS)
def telemetry_reads(
    config: Config, observations: Observations, candidates: tuple[Candidate, ...], decision: Decision
) -> tuple[Record, ...]:
    """Telemetry branches on words."""
    # A justification with `because` owes another line.
    found = REFERENCE.intents(config, observations, candidates, decision)
    said = any(one.justification is not None and "because" in one.justification.text for one in candidates)
    return (*found, Record(STREAMS[1], 10, 10)) if said else found


@fault("intents", "8.D", LISTS)
def rejected_not_logged(
    config: Config, observations: Observations, candidates: tuple[Candidate, ...], decision: Decision
) -> tuple[Record, ...]:
    """Rejected candidates owe no line."""
    # A replay then lacks them.
    gates = dict(decision.trace)
    kept = tuple(one for one in candidates if not gates.get(REFERENCE.hashed(config, one), "x"))
    return REFERENCE.intents(config, observations, kept, decision)


@fault("trace_effect", "2.2", SESSION)
def effects_not_logged(_config: Config, _request: Request) -> tuple[Record, ...]:
    """Effects owe no line."""
    return ()


@fault("log_admits", "8.A", TYPES)
def host_issues_log_warrants(_rules: Rules, _config: Config, _bundle: tuple[Record, ...]) -> bool:
    """Limits do not bind LogAppend."""
    # The host issues LogAppend warrants itself, without the kernel.
    return True


@fault("log_admits", "6", ALONE)
def log_limits_misread(rules: Rules, config: Config, bundle: tuple[Record, ...]) -> bool:
    """Lines are refused that the limit admits."""
    # A line must be shorter than the limit, and than 160 characters.
    most = config.constitution.limits.max_chars_per_line
    return REFERENCE.log_admits(rules, config, bundle) and all(one.chars < min(most, 160) for one in bundle)


@fault("bundles", "6", TYPES)
def one_bundle_per_stream(_config: Config, owed: tuple[Record, ...]) -> tuple[tuple[Record, ...], ...]:
    """Lines of a stream go into one bundle, however many."""
    # Beyond fifty the limits refuse all of them.
    by_stream = (tuple(one for one in owed if one.stream == stream) for stream in STREAMS)
    return tuple(many for many in by_stream if many)


@fault("bundles", "6", SESSION)
def a_bundle_per_line(_config: Config, owed: tuple[Record, ...]) -> tuple[tuple[Record, ...], ...]:
    """Each line has a warrant of its own."""
    # More warrants, the same lines; a long line refuses no other.
    return tuple((one,) for one in owed)


@fault("log_hash", "6, 7 A5", SESSION)
def log_hash_without_lines(config: Config, bundle: tuple[Record, ...]) -> str:
    """The hash of a LogAppend leaves its lines out."""
    return REFERENCE.log_hash(config, tuple(replace(one, digest="") for one in bundle))


@fault("bundles", "2.2", SESSION)
def a_line_is_changed(config: Config, owed: tuple[Record, ...]) -> tuple[tuple[Record, ...], ...]:
    """A log holds a line of the same length that says something else."""
    return tuple(
        (*bundle[:-1], replace(bundle[-1], digest=f"{bundle[-1].digest[1:]}0"))
        for bundle in REFERENCE.bundles(config, owed)
    )


@fault("settle", "13.10", SESSION)
def refusals_counted_in_all(config: Config, state: State, kind: str, tokens: int) -> State:
    """Refusals need not follow each other."""
    found = REFERENCE.settle(config, state, kind, tokens)
    count = state.refusals + (1 if kind == "REFUSE" else 0)
    over = found.over or (ABORTED if config.most_refusals and count >= config.most_refusals else "")
    return replace(found, refusals=min(count, config.most_refusals), over=over)


@fault("settle", "13.10", SESSION)
def abort_one_late(config: Config, state: State, kind: str, tokens: int) -> State:
    """One refusal more than permitted."""
    late = replace(config, most_refusals=config.most_refusals + 1 if config.most_refusals else 0)
    return REFERENCE.settle(late, state, kind, tokens)


@fault("settle", "13.10", SESSION)
def never_aborted(config: Config, state: State, kind: str, tokens: int) -> State:
    """Refusals in a row end nothing."""
    found = REFERENCE.settle(config, state, kind, tokens)
    stays = found.over == ABORTED
    return replace(found, over="", refusals=config.most_refusals - 1) if stays else found


@fault("settle", "13.7", SESSION)
def refusals_are_free(config: Config, state: State, kind: str, tokens: int) -> State:
    """Refused cycles spend no tokens."""
    return REFERENCE.settle(config, state, kind, 0 if kind == "REFUSE" else tokens)


effects_not_logged_anywhere = declare(
    "effects_not_logged_anywhere",
    "Effects owe no line, under any constitution.",
    "2.2",
    TYPES,
    {"trace_effect": effects_not_logged.rules.trace_effect},
)
