"""The claims that theorems and invariants state: none loses a theorem unnoticed."""

from __future__ import annotations

import pytest

from evenhand.properties.cud.plans import LEFT_TO_PROOFS
from evenhand.smt.registry import stated

PROVED = {
    "apcm": """
        authorised_is_minimal authorised_only_in_collision authorised_violations_unavoidable
        blocked_situations_permit_nothing complete_artifact_permits conflicts_are_gated
        declared_pairs_cover_every_feasible_action equivariance gridlock_iff_all_forbidden
        maintain_changes_no_field mask_forbids_exactly_rule_1 mask_is_empty_only_without_a_choice
        more_actions_never_make_necessity_pass more_preservations_never_permit_more
        nothing_authorised_beside_a_clean_action only_permitted_actions_execute permitted_keeps_what_is_required
        permitted_needs_a_covering_collision permitted_violate_exactly_av precedent_matters_by_equality_alone
        selection_depends_on_the_mask_alone some_artifact_permits_unless_blocked vacuous_necessity_gridlocks
        whole_registry_always_permits
    """,
    "conviction": """
        actions_of_two_agents_commute added_points_can_be_moved_at_once an_issue_can_be_finalized
        an_issue_takes_at_most_so_many_ticks an_outsider_can_decide_any_tie balances_stay_below_the_maximum
        every_issue_is_finalized every_stake_is_burned every_tick_comes_closer feedback_is_lawful_and_paid
        funded_add_and_move_commute moved_stake_begins_at_zero multipliers_are_bounded names_decide_nothing
        no_phase_goes_on_for_ever nothing_is_negative one_proposal_each roots_rank_as_sums_do
        saturation_reaches_the_target stake_ticks_are_the_latest supply_is_conserved the_highest_score_wins
        ties_go_to_the_earliest_stake
    """,
    "cud": """
        bare_tokens changed_key_reveals_pass_one collisions_need_rivals deadlock_is_stable deadlock_xor_livelock
        epoch_independence equivariance executed_has_capability executed_never_interfere exit_is_harmless
        final_world_is_a_function_of_the_requests foreign_citation_is_a_fault history_independence
        livelock_counter_is_faithful malformed_is_a_fault messages_are_lawful messages_one_epoch_later
        no_livelock_with_progress no_outcome_unasked no_over_refusal no_veto_overridden no_winner
        non_executed_changes_nothing observation_is_own_only only_ones_own_is_ever_observed only_own_scope_changes
        order_independence
        orphaning_is_permanent outcomes_are_those_of_the_text pass_one_refusals_are_inert passes_ignore_values
        rivals_collide_for_ever sender_is_true token_blindness value_independence verdict_determined
        whoever_may_act_completes_alone
    """,
    "markspace": """
        action_permanence_p2 action_precedence_p39 at_most_once_delivery_p51 barrier_monotonicity_p44
        barrier_principal_exclusivity_p45 boundedness_p9 budget_hard_stop_p61 budget_resumption_p62
        budget_tracking_accuracy_p63 budget_warning_threshold_p60 classified_no_fallback_p25
        classified_opacity_p22 confidence_decides_nothing constant_marks_recover content_access_p21
        decay_monotonicity_p1 deferred_inclusion_p18 deferred_mutual_exclusion_p17
        deferred_priority_fidelity_p15 envelope_cold_start_safety_p41 envelope_monotonicity_p40
        escalation_boundedness_p43 exclusion_within_the_lease first_flag_restricts_one_scope
        first_of_several_flags_restricts_one_scope guard_atomicity_p37 guard_determinism_p36
        guard_transparency_p38 hierarchy_p23 intent_expiry_p4 intents_do_not_pile_up invalidation_bound_p34
        invalidation_decay_p35 manifest_permission_consistency_p54 mark_id_uniqueness_p31 monotonic_addition_p10
        mutual_exclusion names_decide_nothing need_persistence_p5 old_activations_are_alike
        one_winner_per_boundary only_ages_matter pattern_match_purity_p55 pipeline_structural_validation_p53
        policy_decides_as_written probe_mark_isolation_p46 progress_p12 rate_limit_enforcement_p64
        rate_limit_fleet_cap_p65 rate_limit_independence_p66 reads_leak_through_references_alone
        refusals_name_their_cause resolution_immediacy_p29 resolution_is_a_function_of_the_intents
        schedule_interval_p56 scope_isolation_p19 structural_visibility_p20 sublinear_where_there_is_strength
        sublinearity_p8
        subscription_idempotency_p48 subscription_prospective_p49 supersession_transitivity_p47
        telemetry_completeness_p58 total_write_ordering_p32 transient_marks_halve trust_bounds_p7
        trust_ordering_p6 trust_orders_what_has_strength uncontested_is_allowed visibility_inheritance_p26
        watch_subset_p50 winners_come_first write_mark_atomicity_p42 write_order_delivery_p52 writes_do_not_leak
        yield_recovery_p13
    """,
    "sovereign": """
        acts_iff_something_is_admissible an_effect_spends_an_issued_warrant
        conditions_abort_after_so_many_refusals duplicates_decide_nothing
        exit_is_terminal_without_a_warrant exits_on_integrity_failure_alone inadmissible_candidates_decide_nothing
        log_append_never_comes_from_a_candidate more_candidates_never_stop_an_action more_tokens_never_help
        nothing_outside_the_allow_list one_decision_per_cycle order_of_candidates_decides_nothing
        overspent_cycles_are_refused
        reported_gate_is_the_first_that_fails the_least_admitted_hash_wins untimely_cycles_are_refused
        warranted_requests_cite_what_resolves
    """,
}
"""Protocol → the claims that a theorem or an invariant states."""


FURTHER = {
    "apcm": """
        authorised_is_minimal_repaired authorised_only_in_collision_repaired authorised_violations_unavoidable_repaired
        declared_pairs_cover_every_feasible_action_repaired equivariance_repaired gridlock_iff_all_forbidden_repaired
        mask_forbids_exactly_rule_1_repaired nothing_authorised_beside_a_clean_action_repaired
        permitted_keeps_what_is_required_repaired permitted_needs_a_covering_collision_repaired
        permitted_violate_exactly_av_repaired vacuous_necessity_gridlocks_repaired
    """,
    "conviction": """
        balances_and_stakes_are_the_same_in_either_order names_decide_no_action names_decide_no_tick
    """,
    "cud": """
        deadlock_xor_livelock_unchanged_state equivariance_of_free_agents
        final_world_is_a_function_of_the_requests_before_execution non_executed_changes_nothing_before_execution
        only_own_scope_changes_before_execution orphaning_is_permanent_any_held_pair
        outcomes_are_those_of_the_text_before_execution outcomes_are_those_of_the_text_failure_first
        value_independence_before_execution verdict_determined_before_execution
    """,
    "markspace": "confidence_decides_under_highest_confidence mutual_exclusion_under_a_lock",
    "sovereign": "",
}
"""Protocol → the theorems of another name than their claim's: of other readings, and of claims that have several."""


@pytest.mark.parametrize("protocol", PROVED)
def test_these_claims_have_a_theorem(protocol: str) -> None:
    """These and no others, and none of a claim's theorems is lost."""
    found = stated(protocol)
    assert sorted({one.claim.name for one in found}) == PROVED[protocol].split()
    assert sorted(one.name for one in found if one.name != one.claim.name) == FURTHER[protocol].split()
    assert {one.claim.name for one in found} - {one.name for one in found} <= NAMED_OTHERWISE


NAMED_OTHERWISE = {"mutual_exclusion"}
"""Claims without a theorem of their own name."""


def test_what_the_quick_budget_leaves_to_proofs_has_a_theorem() -> None:
    """Otherwise nothing would check it there."""
    assert {*LEFT_TO_PROOFS} <= {*PROVED["cud"].split()}
