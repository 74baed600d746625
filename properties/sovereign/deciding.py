"""One decision: the refusals, the gates that candidates pass, the winner, and the records."""

from __future__ import annotations

from evenhand.core.plan import refuted
from evenhand.core.property import determined_by, each_step
from evenhand.core.records import replace
from evenhand.model.sovereign.state import EXITED
from evenhand.model.sovereign.vocabulary import (
    ACTION,
    BUDGET_EXHAUSTED,
    DECISIONS,
    EXIT,
    GATES,
    MISSING_REQUIRED_OBSERVATION,
    NO_ADMISSIBLE_ACTION,
    REASONS,
    REFUSE,
    REQUIRED_OBSERVATIONS,
    Decision,
)
from evenhand.properties.sovereign.predicates import (
    DECIDING,
    FEEDABLE,
    KernelStep,
    admissible,
    bundle_of,
    cites_what_is_there,
    decided,
    decides,
    decision_of,
    events_of,
    fed,
    first_fault,
    is_timely,
    offered,
    overspends,
    refusal_of,
    times_of,
    warrant_of,
)


def _acts(step: KernelStep) -> bool:
    return decided(step, ACTION)


def _warrants(step: KernelStep) -> bool:
    return _acts(step) and decision_of(step).warrant is not None


def _refuses(step: KernelStep) -> bool:
    return decided(step, REFUSE)


def _exits(step: KernelStep) -> bool:
    return decided(step, EXIT)


def _judges(step: KernelStep) -> bool:
    """Whether the gates were consulted: exactly one time was observed, no exit, and the budget not exceeded."""
    if not decides(step) or _exits(step):
        return False
    seen, _ = fed(step)
    return is_timely(seen) and not overspends(step.config, seen)


def _repeats(step: KernelStep) -> bool:
    config = step.config
    if config.readings.duplicate_bundle != "error":
        return False
    hashes = [bundle_of(config.readings.bundle_hash_covers, one) for one in offered(config, fed(step)[1])]
    return len(set(hashes)) < len(hashes)


@each_step(
    "Each cycle has exactly one decision, of the closed set, with the one record that belongs to it.",
    source="7 A9, 3.2",
    systems=DECIDING,
    when=decides,
)
def one_decision_per_cycle(step: KernelStep) -> bool:
    """ACTION with a warrant, REFUSE with a refusal, EXIT with an exit record."""
    one = decision_of(step)
    records = (one.warrant is not None, one.refusal is not None, one.exit is not None)
    return one.kind in DECISIONS and records == tuple(one.kind == kind for kind in (ACTION, REFUSE, EXIT))


@each_step(
    "EXIT is terminal and never carries a warrant.",
    source="6, 7 A29, 7 A41",
    systems=("agent", *FEEDABLE),
    when=_exits,
)
def exit_is_terminal_without_a_warrant(step: KernelStep) -> bool:
    """Whatever was proposed, no warrant is issued and no effect occurs."""
    fresh = [one for one in step.after.issued if not one.age]
    return decision_of(step).warrant is None and step.after.over == EXITED and not fresh and not step.shown.effects


@each_step(
    "The agent exits exactly where an integrity failure was observed, at an observed time unless integrity goes first.",
    source="6, 3.2, 7 A72",
    systems=DECIDING,
    when=decides,
)
def exits_on_integrity_failure_alone(step: KernelStep) -> bool:
    """Includes a start-up failure without any proposal."""
    seen, _ = fed(step)
    heard = is_timely(seen) or step.config.readings.exit_precedence == "integrity_first"
    return _exits(step) == (bool(events_of(seen)) and heard)


@each_step(
    "Without exactly one TIMESTAMP a cycle is refused, by that reason, at `required_observations`, before any gate.",
    source="6, X.E1",
    systems=("agent", *FEEDABLE, "constitutions"),
    when=lambda step: decides(step) and not is_timely(fed(step)[0]) and not _exits(step),
)
def untimely_cycles_are_refused(step: KernelStep) -> bool:
    """No time, two equal ones, an empty one, a null."""
    one = decision_of(step)
    refusal = one.refusal
    return refusal is not None and (refusal.reason, refusal.failed_gate, one.trace) == (
        MISSING_REQUIRED_OBSERVATION,
        REQUIRED_OBSERVATIONS,
        (),
    )


@each_step(
    "A timely cycle is refused for its budget exactly where too many tokens, or none that can be read, were reported.",
    source="7 A49, 13.7",
    systems=DECIDING,
    when=lambda step: decides(step) and is_timely(fed(step)[0]) and not _exits(step),
)
def overspent_cycles_are_refused(step: KernelStep) -> bool:
    """Negative, split and textual counts are judged as the readings say."""
    refusal = decision_of(step).refusal
    spent = refusal is not None and refusal.reason == BUDGET_EXHAUSTED
    return spent == overspends(step.config, fed(step)[0])


@each_step(
    "The gate reported of each candidate is the first that it fails; none exactly if it passes all five.",
    source="6",
    systems=DECIDING,
    when=_judges,
)
def reported_gate_is_the_first_that_fails(step: KernelStep) -> bool:
    """One entry for each candidate offered, in the order of proposal."""
    config = step.config
    seen, proposed = fed(step)
    candidates = offered(config, proposed)
    gates = tuple(gate for _, gate in decision_of(step).trace)
    return gates == tuple(first_fault(config, seen, one) for one in candidates)


@each_step(
    "The trace names each candidate by the hash of its bundle.",
    source="7 A5",
    systems=DECIDING,
    when=_judges,
)
def the_trace_names_bundles_by_their_hash(step: KernelStep) -> bool:
    """In the order of proposal, admitted or not."""
    config = step.config
    covers = config.readings.bundle_hash_covers
    named = tuple(bundle for bundle, _ in decision_of(step).trace)
    return named == tuple(bundle_of(covers, one).hex() for one in offered(config, fed(step)[1]))


@each_step(
    "There is an ACTION exactly where some candidate passes all five gates.",
    source="6",
    systems=DECIDING,
    when=lambda step: _judges(step) and not _repeats(step),
)
def acts_iff_something_is_admissible(step: KernelStep) -> bool:
    """The number of candidates is no reason for a refusal."""
    config = step.config
    seen, proposed = fed(step)
    return _acts(step) == any(admissible(config, seen, one) for one in offered(config, proposed))


@each_step(
    "The warrant is for the admitted bundle with the least hash, as raw bytes.",
    source="7 A4",
    systems=DECIDING,
    when=_warrants,
)
def the_least_admitted_hash_wins(step: KernelStep) -> bool:
    """Whatever its place in the list."""
    config = step.config
    seen, proposed = fed(step)
    covers = config.readings.bundle_hash_covers
    admitted = [bundle_of(covers, one) for one in offered(config, proposed) if admissible(config, seen, one)]
    return bool(admitted) and min(admitted).hex() == warrant_of(step).bundle


@each_step(
    "The warrant names the request of the winning candidate, unchanged, for this cycle.",
    source="4 INV-1, 14.12",
    systems=DECIDING,
    when=_warrants,
)
def warrants_name_the_winner(step: KernelStep) -> bool:
    """Type and fields; author and time too where the bundle's hash covers them, and neither elsewhere."""
    config = step.config
    warrant = warrant_of(step)
    covers = config.readings.bundle_hash_covers
    named = [one.request for one in fed(step)[1] if bundle_of(covers, one).hex() == warrant.bundle]
    if covers == "content":
        named = [replace(one, author="", created_at="") for one in named]
    return warrant.age == 0 and warrant.request in named


@each_step(
    "Every warranted request cites authority that resolves.",
    source="4 INV-2",
    systems=DECIDING,
    when=lambda step: _warrants(step) and _asks_for_citations(step),
)
def warranted_requests_cite_what_resolves(step: KernelStep) -> bool:
    """At least one citation, and every citation resolves."""
    config = step.config
    covers = config.readings.bundle_hash_covers
    bundle = warrant_of(step).bundle
    named = [one for one in fed(step)[1] if bundle_of(covers, one).hex() == bundle]
    return all(
        one.citations and all(cites_what_is_there(config.constitution, citation) for citation in one.citations)
        for one in named
    )


def _asks_for_citations(step: KernelStep) -> bool:
    """A constitution may require none for a type."""
    asked = warrant_of(step).request.action_type
    kinds = step.config.constitution.action_types
    return not any(one.name == asked and "authority_citations" not in one.requires for one in kinds)


@each_step(
    "A LogAppend never wins: the kernel alone issues those.",
    source="4 INV-3, 8.A",
    systems=DECIDING,
    when=decides,
    expected=(refuted("4 INV-3 rests on `kernel_only`: a constitution may leave it out", system="constitutions"),),
)
def log_append_never_comes_from_a_candidate(step: KernelStep) -> bool:
    """Whatever the author field says."""
    warrant = decision_of(step).warrant
    return warrant is None or warrant.request.action_type != "LogAppend"


@each_step(
    "Refusals have a reason of the closed set, in which integrity is none, and a gate only for want of a candidate.",
    source="6",
    systems=DECIDING,
    when=_refuses,
)
def refusals_are_of_the_closed_set(step: KernelStep) -> bool:
    """`failed_gate` is one of the five, `required_observations`, or empty."""
    refusal = refusal_of(step)
    gates = {MISSING_REQUIRED_OBSERVATION: (REQUIRED_OBSERVATIONS,), NO_ADMISSIBLE_ACTION: ("", *GATES)}
    return refusal.reason in REASONS and refusal.failed_gate in gates.get(refusal.reason, ("",))


@each_step(
    "A refusal for want of an admissible candidate names the gate that the reading chooses, none if none was proposed.",
    source="6",
    systems=DECIDING,
    when=lambda step: _refuses(step) and refusal_of(step).reason == NO_ADMISSIBLE_ACTION,
)
def refusals_name_the_gate_as_read(step: KernelStep) -> bool:
    """The first candidate's gate, or the furthest gate that any candidate reached."""
    config = step.config
    seen, proposed = fed(step)
    gates = [first_fault(config, seen, one) for one in offered(config, proposed)]
    if config.readings.reported_gate == "furthest":
        gates.sort(key=GATES.index, reverse=True)
    return refusal_of(step).failed_gate == (gates[0] if gates else "")


@each_step(
    "Whatever the kernel makes is stamped with the observed time, and no other clock is read.",
    source="X.E1",
    systems=DECIDING,
    when=decides,
)
def time_is_what_was_observed(step: KernelStep) -> bool:
    """Empty unless exactly one time was observed."""
    one = decision_of(step)
    seen, _ = fed(step)
    time = times_of(seen)[0] if is_timely(seen) else ""
    stamps = [made.created_at for made in (one.warrant, one.refusal, one.exit) if made is not None]
    return one.time == time and all(stamp == time for stamp in stamps)


@determined_by(
    "A decision is a function of constitution, readings, observations and candidates: no history, no hash seed.",
    source="4 INV-4",
    systems=("agent", "session"),
    key=lambda step: (step.config.constitution, step.config.readings, fed(step)),
    when=decides,
)
def decisions_depend_on_inputs_alone(step: KernelStep) -> Decision | None:
    """Equal inputs give the same decision, in every state of the agent."""
    return step.shown.decision
