"""The expectations of this protocol: claim x system x reading -> verdict, registered before any run.

What is not listed is expected to hold.  An unexpected verdict is a finding: report it, never edit the expectation to
fit.
"""

from __future__ import annotations

from typing import Any

from evenhand.core.plan import Expectation
from evenhand.core.verdict import Status

__all__ = ["EXPECTED"]


def _refuted(claim: str, system: str, because: str, **readings: Any) -> Expectation:
    return Expectation(claim, Status.REFUTED, system=system, readings=readings or None, because=because)


def _holds(claim: str, system: str, because: str, **readings: Any) -> Expectation:
    return Expectation(claim, Status.HOLDS, system=system, readings=readings, because=because)


IMMEDIATE = ("first_writer", "highest_confidence", "yield_all")
_EXPIRES = "P4: an intent expires while the agent that was allowed still has its tool to call or to finish"
_THROUGH = "one lock from pre_action to post_action is mutual exclusion by itself"

_GUARD: tuple[Expectation, ...] = (
    *(
        _refuted("guard_transparency_p38", system, "9.2 step 2 refuses before intents are compared: none won")
        for system in (*IMMEDIATE, "deferred", "meddled")
    ),
    *(_refuted("mutual_exclusion", system, _EXPIRES) for system in (*IMMEDIATE, "deferred", "meddled")),
    *(_holds("mutual_exclusion", system, _THROUGH, guard_atomicity="through_tool_call") for system in IMMEDIATE),
    _holds("mutual_exclusion", "deferred", "only boundaries allow, and they wait", boundary_while_running="waits"),
    _refuted(
        "exclusion_within_the_lease",
        "highest_confidence",
        "6.2: a more confident agent is allowed while the tool of a less confident one runs",
    ),
    _holds("exclusion_within_the_lease", "highest_confidence", _THROUGH, guard_atomicity="through_tool_call"),
    _refuted(
        "exclusion_within_the_lease",
        "deferred",
        "a second boundary may allow a more confident agent while the first winner's tool runs",
    ),
    _holds("exclusion_within_the_lease", "deferred", "boundaries wait", boundary_while_running="waits"),
    _refuted("exclusion_within_the_lease", "meddled", "10: a third party supersedes an intent, another is allowed"),
    _refuted(
        "exclusion_within_the_lease",
        "meddled",
        "an agent may supersede its own intent while its tool runs",
        reference_authority="same_agent_or_principal",
    ),
    _refuted(
        "exclusion_within_the_lease",
        "first_writer",
        "an earlier intent that won for its agent runs out before the one that its tool call stands on",
        own_intents="compete",
    ),
    _refuted(
        "exclusion_within_the_lease",
        "yield_all",
        "6.1: the principal names one agent while the tool of another, allowed before the conflict, runs",
        principal_decision="names_winner",
    ),
    _holds("exclusion_within_the_lease", "deferred", _THROUGH, guard_atomicity="through_tool_call"),
    _holds("exclusion_within_the_lease", "meddled", _THROUGH, guard_atomicity="through_tool_call"),
    _holds("mutual_exclusion", "meddled", _THROUGH, guard_atomicity="through_tool_call"),
    _holds("yield_all_waits_for_the_principal", "yield_all", _THROUGH, guard_atomicity="through_tool_call"),
    _refuted(
        "exclusion_within_the_lease",
        "first_writer",
        "P32: a later id may sort first",
        id_order="adversarial",
    ),
    _refuted("action_precedence_p39", "meddled", "9.5: a warning of full strength leaves the action no strength"),
    _holds("action_precedence_p39", "meddled", "actions are immune", action_immunity="immune_to_warnings"),
    _refuted(
        "action_precedence_p39",
        "meddled",
        "9.5: the holder may warn about its own action, which then stops nobody",
        reference_authority="same_agent_or_principal",
    ),
    *(
        _refuted("failed_actions_never_claim", system, "the reading says that they do", failed_action="claims")
        for system in (*IMMEDIATE, "deferred", "meddled")
    ),
    *(
        _refuted("no_circular_wait", system, "an action claims for ever: hold and wait")
        for system in (*IMMEDIATE, "deferred")
    ),
    *(
        _holds("no_circular_wait", system, "holders may give back", claim_release="superseding_action_of_holder")
        for system in (*IMMEDIATE, "deferred")
    ),
    _refuted("asking_is_answered", "first_writer", "9.2: asking again replaces one's intent and gives up one's place"),
    _refuted("asking_is_answered", "highest_confidence", "as under FIRST_WRITER, at equal confidence"),
    _refuted("asking_is_answered", "yield_all", "nobody answers: retrying within the TTL keeps the conflict alive"),
    _refuted("principal_ends_the_contest", "yield_all", "nobody answers under `none`"),
    _refuted(
        "principal_ends_the_contest",
        "yield_all",
        "6.1: a decision binds nobody to use it, and the next need may be answered otherwise",
        principal_decision="names_winner",
    ),
    _refuted("deferred_liveness_p16", "deferred", "the clock may run past the TTL before the trigger fires"),
    _refuted("deferred_mutual_exclusion_p17", "deferred", "P39: a resource that an action claims has no winner"),
    _refuted(
        "yield_all_waits_for_the_principal",
        "yield_all",
        "9.2 step 5: the first to ask is allowed before there is a conflict",
    ),
    _refuted("confidence_decides_nothing", "highest_confidence", "6.1: it is what decides"),
    _refuted("confidence_decides_nothing", "deferred", "6.1: it is what decides"),
    *(_refuted("order_decides_nothing", system, "6.1, P32: who asks first") for system in IMMEDIATE),
    _refuted("others_marks_are_safe", "meddled", "2.5, 10: anyone may supersede or invalidate anything"),
    _holds("others_marks_are_safe", "meddled", "authority is asked for", reference_authority="same_agent_or_principal"),
    _refuted("strangers_marks_reach_nothing", "meddled", "2.5, 10: from any scope"),
    _holds("strangers_marks_reach_nothing", "meddled", "writers only", reference_authority="same_scope_writer"),
    _holds("strangers_marks_reach_nothing", "meddled", "authors only", reference_authority="same_agent_or_principal"),
    _refuted("claims_are_lost_to_allowed_agents_only", "meddled", "10: anyone may supersede an action"),
    _holds(
        "claims_are_lost_to_allowed_agents_only",
        "meddled",
        "authors only",
        reference_authority="same_agent_or_principal",
    ),
    *(
        _refuted("lease_lost_while_running", system, "the reading keeps it", lease="renewed_while_tool_runs")
        for system in (*IMMEDIATE, "deferred")
    ),
)

_SPACE: tuple[Expectation, ...] = (
    _refuted("trust_ordering_p6", "signals", "without strength there is nothing to order"),
    _holds("trust_ordering_p6", "signals", "every mark has strength", zero_strength="excluded"),
    _refuted("sublinearity_p8", "signals", "N times nothing is not less than nothing: expired marks have no strength"),
    _refuted("invalidation_decay_p35", "signals", "a mark that decays faster than its warning does not recover"),
    _refuted("total_write_ordering_p32", "space", "ids need not follow the order of writing", id_order="adversarial"),
    _refuted("reads_do_not_leak", "space", "2.5, 10: a classified mark may refer to one that anybody reads"),
    _refuted("decisions_do_not_leak", "space", "2.5, 10: a classified mark may hide an intent that anybody sees"),
    _refuted("verdicts_do_not_leak", "space", "9.2, P38: the guard reads everything and must name the winning intent"),
    _refuted("need_clusters_do_not_leak", "space", "8.4: aggregate_needs knows no reader"),
    _refuted("boundary_results_do_not_leak", "space", "6.2.1: losers are told, whoever won"),
    _refuted("telemetry_events_do_not_leak", "space", "9.11: outcomes are logged by scope, for whoever reads the sink"),
    _refuted("telemetry_gauges_do_not_leak", "space", "9.11: marks are counted by scope, for whoever reads the sink"),
    _refuted("readers_agree_on_the_winner", "space", "7.4: who is not cleared sees no intents"),
    _refuted("writes_reach_only_their_scopes", "space", "2.5, 10: no authority is asked for over what is referred to"),
    *(
        _holds("writes_reach_only_their_scopes", "space", "authority is asked for", reference_authority=value)
        for value in ("same_scope_writer", "same_agent_or_principal")
    ),
    _refuted("writes_reach_only_their_own", "space", "2.5, 10: warnings and supersession are there to do it"),
    _holds("writes_reach_only_their_own", "space", "authors only", reference_authority="same_agent_or_principal"),
)

_PAIR: dict[str, Any] = {
    "reference_authority": "same_agent_or_principal",
    "action_immunity": "immune_to_warnings",
}
_PAIRS: tuple[Expectation, ...] = (
    _holds(
        "mutual_exclusion",
        "first_writer",
        _THROUGH,
        guard_atomicity="through_tool_call",
        lease="renewed_while_tool_runs",
    ),
    _holds("action_precedence_p39", "meddled", "nobody warns about actions, only holders supersede them", **_PAIR),
    _holds("others_marks_are_safe", "meddled", "authors only", **_PAIR),
)

_LEFT_OUT: dict[str, Any] = {"superseded_in_queue": "left_out"}
_OWN: dict[str, Any] = {"reference_authority": "same_agent_or_principal"}
_LAYERS: tuple[Expectation, ...] = (
    _refuted("no_burst_across_windows", "layers", "9.12: two tumbling windows in a row, each with its own limit"),
    _holds("no_burst_across_windows", "layers", "every stretch is a window", rate_window="sliding"),
    _refuted(
        "deliveries_match_the_present_subscription", "composing", "P48, P50: a replaced subscription leaves its queue"
    ),
    _refuted("subscriptions_do_not_leak", "composing", "13.4: delivery knows no visibility"),
    _refuted("first_flag_restricts_one_scope", "layers", "9.7: with a threshold of 0 or 1 the first flag is global"),
    _refuted(
        "idle_agents_are_not_refused",
        "layers",
        "a write that counts in its own judgement can be the spike",
        envelope_records="before_the_check",
    ),
    _refuted("superseded_marks_are_not_delivered", "composing", "13.4: a poll returns whatever was written"),
    _holds("superseded_marks_are_not_delivered", "composing", "a poll is a read", **_LEFT_OUT),
    _refuted(
        "at_most_once_delivery_p51", "composing", "10: superseded before the poll is never delivered", **_LEFT_OUT
    ),
    _refuted("at_most_once_delivery_p51", "composing", "10: by its author, too", **_LEFT_OUT, **_OWN),
    _holds("superseded_marks_are_not_delivered", "composing", "a poll is a read", **_LEFT_OUT, **_OWN),
    _refuted("queues_are_safe_from_others", "composing", "10: anyone may supersede", **_LEFT_OUT),
    _holds("queues_are_safe_from_others", "composing", "authors only", **_LEFT_OUT, **_OWN),
    _refuted("watchers_hear_of_supersession", "composing", "P50: what replaces a mark need not match the pattern"),
)

EXPECTED: tuple[Expectation, ...] = (*_GUARD, *_SPACE, *_PAIRS, *_LAYERS)
"""What was registered."""
