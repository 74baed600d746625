"""Which engine runs which system at which scope under which budget.

Each guard is searched exhaustively with two agents, then with three, then with two resources; the space with two marks
and every hostile action, then with three marks at one instant.  Every other reading is searched where it can matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from evenhand.core.plan import Plan
from evenhand.core.property import DeadlockFree, LeadsTo, LivelockFree, Property, Reachable, names
from evenhand.properties.markspace import (
    clocked,
    composed,
    composing,
    contesting,
    deciding,
    guarding,
    layered,
    layers,
    leaking,
    limits,
    queued,
    seeing,
    space,
    stored,
)
from evenhand.properties.markspace.predicates import CORE, GUARDED

LONG = ("standard", "deep")
CROSSED = (
    contesting.no_circular_wait,
    contesting.progress_p12,
    contesting.yield_recovery_p13,
    contesting.mutual_exclusion,
)
"""The claims that may fail where agents want the same two resources."""

RESOLVING = names(
    space.resolution_immediacy_p29,
    stored.space_holds_what_was_submitted,
    stored.needs_are_resolved_but_for_cause,
)
THREE_MARKS = (*RESOLVING, *names(space.supersession_transitivity_p47, space.mark_immutability_p30))
NEEDS_TWO_LEVELS = (deciding.confidence_decides_nothing, contesting.exclusion_within_the_lease)
SPARE = {"first_writer": 1, "highest_confidence": 2, "yield_all": 1, "deferred": 2, "meddled": 1}
"""The number of confidence levels per system where readings are compared."""


def _names(
    claims: Iterable[Property], system: str, *but: Property, without: tuple[type[Property], ...] = ()
) -> tuple[str, ...]:
    left_out = names(*but)
    return tuple(
        claim.name
        for claim in claims
        if system in claim.systems and claim.name not in left_out and not isinstance(claim, without)
    )


def plans(claims: tuple[Property, ...]) -> tuple[Plan, ...]:
    """The runs of this protocol for these claims."""
    return (
        *_guards(claims),
        *_guard_readings(claims),
        *_space(claims),
        *_layers(claims),
        *_composing(),
        *_drawn(claims),
    )


def _guards(claims: tuple[Property, ...]) -> Iterator[Plan]:
    one = contesting.no_circular_wait
    for system in GUARDED:
        yield Plan(system, "explore", claims=_names(claims, system, one))
        if system in CORE:
            chosen = _names(claims, system, one, *NEEDS_TWO_LEVELS)
            budgets = LONG if system != "yield_all" else ("deep",)
            yield Plan(system, "explore", budgets, scope={"agents": 3, "levels": 1}, claims=chosen)
            yield Plan(system, "explore", ("deep",), scope={"ttl": 2}, claims=_names(claims, system, one))
            two = CROSSED if system == "yield_all" else (*CROSSED, guarding.guard_determinism_p36)
            yield Plan(system, "explore", budgets, scope={"resources": 2, "levels": 1}, claims=names(*two))
            given_back = {"claim_release": "superseding_action_of_holder"}
            if system != "yield_all":
                yield Plan(system, "explore", LONG, {"resources": 2, "levels": 1}, given_back, claims=names(one))
    for system in CORE:
        budgets = ("quick", "standard") if system == "yield_all" else ("quick",)
        crossed = {"resources": 2, "levels": 1}
        yield Plan(system, "explore", budgets, scope=crossed, claims=names(one), max_states=100_000)
    yield Plan(
        "meddled",
        "explore",
        ("deep",),
        scope={"agents": 3},
        claims=names(contesting.mutual_exclusion, deciding.others_marks_are_safe),
    )


def _guard_readings(claims: tuple[Property, ...]) -> Iterator[Plan]:
    """Single deviations from the default, each in the systems that meet the sentence; and two declared pairs."""
    wanted: tuple[tuple[str, str, tuple[str, ...]], ...] = (
        ("id_order", "adversarial", CORE),
        ("own_intents", "compete", CORE),
        ("reference_authority", "same_scope_writer", ("meddled",)),
        ("reference_authority", "same_agent_or_principal", ("meddled",)),
        ("action_immunity", "immune_to_warnings", ("meddled",)),
        ("failed_action", "claims", GUARDED),
        ("claim_release", "superseding_action_of_holder", CORE),
        ("lease", "renewed_while_tool_runs", CORE),
        ("guard_atomicity", "through_tool_call", GUARDED),
        ("deferred_loser", "conflict_with_winner", ("deferred",)),
        ("boundary_while_running", "waits", ("deferred",)),
        ("principal_decision", "names_winner", ("yield_all",)),
    )
    for reading, value, systems in wanted:
        for system in systems:
            but: list[Property] = [contesting.no_circular_wait, deciding.confidence_decides_nothing]
            if value in ("through_tool_call", "waits"):
                but += [guarding.guard_determinism_p36, guarding.determinism_p11]
            levels = SPARE[system] if value not in ("adversarial", "compete") else 1
            if levels == 1 and system in ("highest_confidence", "deferred"):
                but.append(contesting.exclusion_within_the_lease)
            chosen = _names(claims, system, *but)
            yield Plan(system, "explore", LONG, scope={"levels": levels}, readings={reading: value}, claims=chosen)
    pair = {"lease": "renewed_while_tool_runs", "guard_atomicity": "through_tool_call"}
    yield Plan(
        "first_writer", "explore", LONG, scope={"levels": 1}, readings=pair, claims=names(contesting.mutual_exclusion)
    )
    pair = {"reference_authority": "same_agent_or_principal", "action_immunity": "immune_to_warnings"}
    chosen = names(guarding.action_precedence_p39, deciding.others_marks_are_safe)
    yield Plan("meddled", "explore", LONG, readings=pair, claims=chosen)


def _space(claims: tuple[Property, ...]) -> Iterator[Plan]:
    quick = {"hostile": 0, "horizon": 1}
    two_marks = _names(claims, "space", space.resolution_immediacy_p29)
    yield Plan("space", "explore", ("quick",), scope={"horizon": 1}, claims=two_marks)
    first = {"marks": 3, "hostile": 0, "horizon": 0, "only": 1}
    yield Plan("space", "explore", ("quick",), scope=first, claims=RESOLVING)
    by_whom = {"resolver": "action_of_the_principal"}
    yield Plan("space", "explore", LONG, scope=first, readings=by_whom, claims=RESOLVING)
    yield Plan("space", "explore", LONG, claims=two_marks)
    yield Plan("space", "explore", ("deep",), scope={"marks": 3, "hostile": 0, "horizon": 0}, claims=THREE_MARKS)
    yield Plan("signals", "explore", ("quick",), scope={"ages": 2, "marks": 2})
    yield Plan("signals", "explore", LONG)
    for reading, value in (("zero_strength", "excluded"), ("warning_trust", "source_capped")):
        yield Plan("signals", "explore", LONG, scope={"ages": 2, "marks": 2}, readings={reading: value})
    unmet = (space.resolution_immediacy_p29, space.scope_isolation_p19, stored.needs_are_resolved_but_for_cause)
    shallow = _names(claims, "space", *unmet)
    reads, written = leaking.reads_do_not_leak, space.write_visibility_p27
    ordered = (space.total_write_ordering_p32, space.writes_are_totally_ordered, space.mark_id_uniqueness_p31)
    for reading, value, chosen in (
        ("reference_authority", "same_scope_writer", names(leaking.writes_reach_only_their_scopes, reads)),
        ("reference_authority", "same_agent_or_principal", names(leaking.writes_reach_only_their_own, reads)),
        ("id_order", "adversarial", names(*ordered)),
        ("action_immunity", "immune_to_warnings", names(written)),
        ("failed_action", "claims", names(leaking.verdicts_do_not_leak)),
        ("active_threshold", "min_strength", names(space.resolution_is_a_function_of_the_intents)),
        (
            "child_visibility",
            "no_more_open",
            names(seeing.structural_visibility_p20, seeing.classified_opacity_p22, seeing.reads_show_what_is_stored),
        ),
        ("hierarchy_reads", "subtree", names(written, reads, seeing.classified_marks_stay_hidden)),
        ("warning_trust", "source_capped", names(written)),
        ("need_log_base", "2", names(leaking.need_clusters_are_complete)),
        ("need_log_base", "10", names(leaking.need_clusters_are_complete)),
    ):
        yield Plan("space", "explore", ("standard",), quick, {reading: value}, claims=chosen)
        yield Plan("space", "explore", ("deep",), quick, {reading: value}, claims=shallow)
    lawful = names(space.writes_are_exactly_the_lawful, space.scope_isolation_p19, space.hierarchy_p23)
    for reading, value in (("zero_strength", "excluded"), ("scope_grammar", "free_text")):
        yield Plan("space", "explore", LONG, scope={"horizon": 1}, readings={reading: value}, claims=lawful)


def _layers(claims: tuple[Property, ...]) -> Iterator[Plan]:
    # One mark gives at most one flag, so claims about a second flag would be vacuous or unreachable.
    second = (
        layers.global_escalation_happens,
        layers.escalation_boundedness_p43,
        layers.idle_agents_are_not_refused,
        layers.first_flag_restricts_one_scope,
        layers.first_of_several_flags_restricts_one_scope,
    )
    flat = _names(claims, "layers", *second)
    yield Plan("layers", "explore", ("quick",), scope={"marks": 1}, claims=flat)
    beyond = names(layers.global_escalation_happens, layers.idle_agents_are_not_refused)  # the others are theorems
    yield Plan("layers", "explore", ("quick",), scope={"only": 8}, claims=beyond)
    yield Plan("layers", "explore", LONG)
    sliding = {"rate_window": "sliding"}
    own = names(limits.no_burst_across_windows, limits.rate_limit_enforcement_p64, limits.windows_keep_their_limit)
    fleet = names(limits.rate_limit_fleet_cap_p65, limits.windows_keep_their_limit)
    yield Plan("layers", "explore", ("deep",), readings=sliding, claims=tuple(dict.fromkeys((*own, *fleet))))
    for deployment, chosen in ((3, own), (10, own), (11, own), (12, fleet)):  # deployments with a rate limit
        yield Plan("layers", "explore", ("standard",), {"only": deployment}, sliding, claims=chosen)
    early = {"envelope_records": "before_the_check"}
    envelope = names(
        layers.escalation_boundedness_p43,
        layers.idle_agents_are_not_refused,
        layers.write_mark_atomicity_p42,
        limits.rate_limit_enforcement_p64,
    )
    yield Plan("layers", "explore", LONG, {"only": 10}, early, claims=envelope)
    stopped = names(limits.budget_hard_stop_p61, layered.layers_admit_exactly_the_permitted)
    yield Plan("layers", "explore", LONG, {"only": 11}, {"activation": "every_operation"}, claims=stopped)
    asking = names(
        layers.barrier_is_enforced, layered.layers_admit_exactly_the_permitted, layered.barrier_does_what_it_is_told
    )
    for value in ("need_in_the_scope", "later_need"):
        yield Plan("layers", "explore", LONG, {"only": 2}, {"need_first": value}, claims=asking)


def _composing() -> Iterator[Plan]:
    yield Plan("composing", "explore")
    left_out = {"superseded_in_queue": "left_out"}
    waiting = names(
        queued.superseded_marks_are_not_delivered,
        queued.standing_marks_are_delivered,
        queued.queues_are_safe_from_others,
    )
    yield Plan(
        "composing", "explore", LONG, readings=left_out, claims=(*waiting, composing.at_most_once_delivery_p51.name)
    )
    owned = {**left_out, "reference_authority": "same_agent_or_principal"}
    yield Plan("composing", "explore", LONG, readings=owned, claims=waiting)
    secret = names(
        composing.subscriptions_do_not_leak, composing.at_most_once_delivery_p51, composed.queues_change_as_asked
    )
    yield Plan("composing", "explore", LONG, readings={"classified_in_queue": "left_out"}, claims=secret)
    yield Plan("composing", "explore", ("deep",), scope={"marks": 3})
    yield Plan("scheduling", "explore")
    timed = names(composing.schedule_interval_p56, composing.due_agents_are_activated)
    yield Plan("clock", "explore", scope={"horizon": 0}, claims=timed, quotient="shift+saturation")
    yield Plan("clock", "explore", scope={"horizon": 1}, claims=names(clocked.instants_change_as_asked))
    alike = names(clocked.only_ages_matter, clocked.old_activations_are_alike, clocked.instants_change_as_asked)
    yield Plan("clock", "fuzz", LONG, {"horizon": 0}, claims=(*timed, *alike), examples=60, steps=20)


def _drawn(claims: tuple[Property, ...]) -> Iterator[Plan]:
    """Samples beyond the searched scopes: more agents and resources, more marks, ages off the grid."""
    undecidable = (DeadlockFree, LivelockFree, LeadsTo, Reachable)
    for system in ("first_writer", "deferred", "space", "signals"):
        chosen = _names(claims, system, contesting.no_circular_wait, leaking.decisions_do_not_leak, without=undecidable)
        few = 60 if system == "signals" else 200
        yield Plan(system, "fuzz", ("standard",), claims=chosen, examples=few, steps=20)
        yield Plan(system, "fuzz", ("deep",), claims=chosen, examples=5 * few, steps=20)
