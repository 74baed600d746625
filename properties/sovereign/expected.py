"""The expectations of this protocol: claim x system x engine x reading -> verdict, registered before any run.

What is not listed is expected to hold.  An unexpected verdict is a finding: report it, never edit the expectation to
fit.
"""

from __future__ import annotations

from typing import Any

from evenhand.core.plan import Expectation
from evenhand.core.verdict import Status

__all__ = ["EXPECTED"]


def _refuted(claim: str, because: str, *, system: str = "", engine: str = "", **readings: Any) -> Expectation:
    return Expectation(claim, Status.REFUTED, system=system, engine=engine, readings=readings or None, because=because)


EXPECTED: tuple[Expectation, ...] = (
    _refuted("justifications_decide_nothing", "7 A4: the hash covers the justification, so words choose the winner"),
    _refuted(
        "system_and_budget_observations_cause_no_action",
        "8.B against gate 3: a scope claim may name a system or budget observation, which then makes it valid",
    ),
    _refuted("order_of_candidates_changes_no_record", "reading reported_gate: the first candidate's gate is reported"),
    _refuted(
        "every_effect_is_recorded",
        "a host that stops between use and log loses what it owed; nothing is written ahead",
        system="agent",
    ),
    _refuted(
        "every_effect_is_recorded",
        "limits contradict each other where a candidate's line is longer than a log line, or no LogAppend is declared",
        system="constitutions",
    ),
    _refuted(
        "every_action_space_admits_something",
        "14.8: an action space of kernel-only types admits nothing",
    ),
    _refuted("patient_proposers_get_an_action", "the constitutions that deadlock loop however patient one is"),
    _refuted("refusals_end_by_themselves", "13.10: the end of a refusal loop is the harness's, not the constitution's"),
    _refuted(
        "log_append_never_comes_from_a_candidate",
        "4 INV-3 rests on `kernel_only`: a constitution may leave it out",
        system="constitutions",
    ),
    _refuted("a_candidate_can_write_the_logs", "nobody proposes it in this scope", system="agent", engine="explore"),
    _refuted(
        "a_candidate_can_write_the_logs", "nobody proposes it in this scope", system="candidates", engine="explore"
    ),
    _refuted("refusal_loop_in_a", "12.2: every template is well formed"),
    _refuted(
        "refusal_loop_in_l_d",
        "13.10: 25 refusals of about 6,000 tokens cost more than the session's budget in this scope",
    ),
    _refuted("refusal_loop_in_e", "12.2: every cycle has admissible bundles"),
    # Readings.
    _refuted("warrants_are_spent_once", "two executors, one warrant", system="agent", spent_memory="per_executor"),
    _refuted(
        "an_effect_spends_an_issued_warrant", "two executors, one warrant", system="agent", spent_memory="per_executor"
    ),
    _refuted("only_good_warrants_are_taken", "two executors, one warrant", system="agent", spent_memory="per_executor"),
    _refuted("warrants_come_from_decisions_alone", "a restart forgets", system="agent", spent_memory="per_executor"),
    _refuted(
        "nothing_outside_the_allow_list", "a prefix says nothing of `..`", system="agent", path_rule="prefix_string"
    ),
    _refuted("duplicates_decide_nothing", "a copy stops the action", duplicate_bundle="error"),
    _refuted("selection_depends_on_the_set", "a copy stops the action", duplicate_bundle="error"),
    _refuted("inadmissible_candidates_decide_nothing", "two equal refused ones stop it", duplicate_bundle="error"),
    _refuted("more_candidates_never_stop_an_action", "a copy stops the action", duplicate_bundle="error"),
    _refuted("order_of_observations_decides_nothing", "the last budget counts", budget_count="last"),
    _refuted("unnamed_observations_cause_no_action", "a smaller budget after a larger one", budget_count="last"),
    _refuted("unnamed_observations_cause_no_action", "a budget lifts the refusal", budget_absent="refuse"),
    _refuted("unnamed_observations_cause_no_action", "9000 less", budget_count="sum", negative_budget="accept"),
    _refuted("author_and_time_decide_nothing", "they are hashed", bundle_hash_covers="content_and_author_and_time"),
    Expectation(
        "order_of_candidates_changes_no_record",
        Status.HOLDS,
        readings={"reported_gate": "furthest"},
        because="the furthest gate is that of a set",
    ),
)
"""What was registered."""
