"""The listed claims kill their mutants; every mutant has its registered status."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from evenhand.core.system import Mutant, System
from evenhand.core.verdict import Status
from evenhand.search import explore
from evenhand.variants.automatic import mutated
from tests.deep import rest_slow
from tests.properties.sovereign.bundle import BUNDLE

MUTANTS = {mutant.name: mutant for mutant in BUNDLE.model.mutants}


def pair(mutant: Mutant[Any]) -> tuple[System[Any, Any, Any, Any, Any], System[Any, Any, Any, Any, Any]]:
    """Return the reference and the mutant, where the mutant shows."""
    variant = mutant.of(BUNDLE.model.systems)
    return replace(variant, rules=BUNDLE.model.systems[mutant.system].rules, variant="reference"), variant


def kills(name: str, only: tuple[str, ...] = ()) -> list[str]:
    """Return the claims that hold on the reference and are refuted on the mutant."""
    reference, variant = pair(MUTANTS[name])
    claims = [claim for claim in BUNDLE.claims_of(variant.name) if not only or claim.name in only]
    true = {v.claim for v in explore(reference, claims).verdicts if v.status is Status.HOLDS}
    return [v.claim for v in explore(variant, claims).verdicts if v.status is Status.REFUTED and v.claim in true]


@pytest.mark.parametrize(
    ("name", "claim"),
    rest_slow(
        [
            ("warrant_reused", "warrants_are_spent_once"),
            ("forged_warrant_accepted", "effects_are_warranted"),
            ("request_changed_after_issue", "effects_are_warranted"),
            ("spent_by_whom", "an_effect_spends_an_issued_warrant"),
            ("place_of_the_check", "nothing_outside_the_allow_list"),
            ("links_not_followed", "nothing_outside_the_allow_list"),
            ("log_append_by_author_field", "log_append_never_comes_from_a_candidate"),
            ("clock_read", "time_is_what_was_observed"),
            ("empty_citations_pass", "warranted_requests_cite_what_resolves"),
            ("path_as_prefix_string", "reported_gate_is_the_first_that_fails"),
            ("abort_one_late", "conditions_abort_after_so_many_refusals"),
            ("host_issues_log_warrants", "logged_lines_keep_the_limits"),
            ("log_hash_without_lines", "the_hash_of_a_log_covers_its_lines"),
            ("log_hash_without_lines", "other_lines_have_another_hash"),
            ("a_line_is_changed", "cycles_log_or_lose_what_they_owe"),
        ],
        6,
    ),
)
def test_a_claim_kills_a_mutant(name: str, claim: str) -> None:
    """The claim about the rule that the mutant breaks."""
    assert kills(name, (claim,)) == [claim]


@pytest.mark.deep
@pytest.mark.parametrize("name", MUTANTS)
def test_every_mutant_has_the_fate_it_states(name: str) -> None:
    """Killed by some claim of the search, or by none and equivalent or an open gap."""
    assert bool(kills(name)) == (MUTANTS[name].expected == "killed")


def test_there_are_enough_of_them() -> None:
    """At least thirty, with distinct names, and no unexplained survivor."""
    assert len(MUTANTS) == len(BUNDLE.model.mutants) >= 30
    assert all(mutant.reason for mutant in MUTANTS.values() if mutant.expected != "killed")


@pytest.mark.parametrize(
    ("claim", "fault"),
    rest_slow(
        [
            ("the_tree_changes_as_effects_say", "paths.put:do_nothing_1"),
            ("executors_hold_what_they_checked", "executor.restart:never_2"),
            ("good_warrants_are_carried_out", "executor._writable:other_comparison_1"),
            ("owed_lines_wait_for_the_log", "telemetry.bundles:return_empty_1"),
            ("whoever_asks_gets_a_decision", "step.agent_step:drop_case_1"),
            ("good_warrants_are_taken", "executor.permitted:never_6"),
            ("decisions_begin_a_cycle", "executor.age:plus_one_4"),
            ("an_exit_alone_ends_the_agent", "step._decided:always_2"),
            ("only_good_warrants_are_taken", "step._checked:drop_guard_2"),
        ],
        3,
    ),
)
def test_a_claim_is_false_of_the_fault_it_was_written_for(claim: str, fault: str) -> None:
    """The faults are made by rule in functions that no chosen mutant changes."""
    (asked,) = (one for one in BUNDLE.claims if one.name == claim)
    honest = BUNDLE.model.systems["agent"].at(proposals=1, executors=1)
    assert explore(honest, [asked]).verdicts[0].status is Status.HOLDS
    assert explore(mutated(honest, f"auto:{fault}"), [asked]).verdicts[0].status is Status.REFUTED


@pytest.mark.parametrize(
    ("claim", "fault"),
    rest_slow(
        [
            ("cycles_carry_out_their_warrant", "paths.resolve:drop_filter_1"),
            ("the_tree_changes_as_effects_say", "step.session_step:drop_field_6"),
            ("warrants_name_the_winner", "kernel.issue:other_field_1"),
        ]
    ),
)
def test_a_claim_is_false_of_a_faulty_cycle(claim: str, fault: str) -> None:
    """The same in composed cycles."""
    (asked,) = (one for one in BUNDLE.claims if one.name == claim)
    honest = BUNDLE.model.systems["constitutions"].at(types=1)
    assert explore(honest, [asked]).verdicts[0].status is Status.HOLDS
    assert explore(mutated(honest, f"auto:{fault}"), [asked]).verdicts[0].status is Status.REFUTED
