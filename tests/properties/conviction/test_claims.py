"""Claims have their registered verdicts under every reading; the plans name existing things and are not vacuous."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from evenhand.core.plan import Plan
from evenhand.core.system import reading_values
from evenhand.core.trace import Lasso
from evenhand.core.verdict import Status
from evenhand.evidence.judge import judge
from evenhand.machine import fuzz
from evenhand.model.conviction.vocabulary import CLOSED, STAKE, MoveStake, Tick
from evenhand.properties.conviction.winning import an_outsider_can_decide_any_tie, moved_about
from evenhand.search import explore
from evenhand.variants.automatic import mutated
from tests.deep import rest_deep, rest_slow
from tests.properties.conviction.bundle import BUNDLE

SEARCHES = [plan for plan in BUNDLE.plans if plan.engine == "explore"]
CHEAP = [
    plan
    for plan in SEARCHES
    if plan.readings and set(plan.readings.values()) & {"gated_by_9_1", "never_stated", "separate_event"}
]


def unexpected(plan: Plan) -> dict[str, str]:
    """Return claims of a plan whose verdict is not the registered one."""
    system = BUNDLE.model.systems[plan.system].at(**plan.scope).under(**plan.readings)
    claims = [claim for claim in BUNDLE.claims_of(plan.system) if claim.name in plan.claims]
    return {
        verdict.claim: f"{verdict.status.value}: {verdict.because}"
        for verdict in explore(system, claims).verdicts
        if verdict.status is not BUNDLE.expectation(verdict.claim, plan.system, "explore", plan.readings).expected
    }


def _label(plan: Plan) -> str:
    said = {**plan.scope, **plan.readings}
    return f"{plan.system} " + ",".join(f"{name}={value}" for name, value in said.items())


@pytest.mark.parametrize("plan", CHEAP, ids=_label)
def test_a_search_says_what_was_registered(plan: Plan) -> None:
    """The cheap ones; verify runs the others, and so do the deep tests."""
    assert unexpected(plan) == {}


@pytest.mark.deep
@pytest.mark.parametrize("plan", SEARCHES, ids=_label)
def test_every_search_says_what_was_registered(plan: Plan) -> None:
    assert unexpected(plan) == {}


def test_every_value_of_every_reading_is_searched() -> None:
    """The whole table of the protocol's page."""
    planned = {(name, value) for plan in SEARCHES for name, value in plan.readings.items()}
    others = {(name, v) for name, values in reading_values(BUNDLE.model.readings).items() for v in values[1:]}
    # Counted in the protocol's table: 21 readings of two values, 7 of three; `stake_rounds` is a number.
    assert len(others) == 35
    assert planned == others


def test_expectations_have_a_reason() -> None:
    """All except those that hold."""
    assert all(one.because for one in BUNDLE.expected if one.expected is not Status.HOLDS)


@pytest.mark.parametrize(
    ("claim", "reading", "value", "more"),
    [
        ("maximum_credit_exceeded_occurs", "max_credit", "reject", {"agents": 1, "strangers": 1, "cap": 2}),
        ("not_offered_occurs", "text", "B", {"hostile": 1}),
        ("not_unique_occurs", "unique_proposal", "distinct_texts", {"agents": 2, "texts": 1, "budget": 2}),
        ("tick_refused_occurs", "clock", "gated_by_9_1", {}),
    ],
)
def test_rejections_of_a_reading_occur_under_it(claim: str, reading: str, value: Any, more: dict[str, int]) -> None:
    """They occur under no other value."""
    wanted = [one for one in BUNDLE.claims if one.name == claim]
    system = BUNDLE.model.systems["issue"].at(**{"texts": 0, "rounds": 1, "budget": 3, **more})
    under = explore(system.under(**{reading: value}), wanted).verdicts[0]
    assert under.status is Status.HOLDS
    assert explore(system, wanted).verdicts[0].status is Status.REFUTED


@pytest.mark.deep
def test_the_machine_meets_its_floors() -> None:
    """By the plan: every rare event, and no unexpected verdict."""
    plan = next(plan for plan in BUNDLE.plans if plan.engine == "fuzz")
    drawn = {name for plan in BUNDLE.plans if plan.engine == "fuzz" for name in plan.claims}
    claims = [claim for claim in BUNDLE.claims_of("run") if claim.name in drawn]
    assert plan.examples is not None and plan.steps is not None
    found = fuzz(BUNDLE.model.systems["run"], claims, BUNDLE.generators[0], examples=plan.examples, steps=plan.steps)
    wrong = {
        verdict.claim: verdict.because
        for verdict in found.verdicts
        if verdict.status is not BUNDLE.expectation(verdict.claim, "run", "fuzz", {}).expected
    }
    assert wrong == {}


KILLED = (
    ("tap_mints", "supply_is_conserved"),
    ("add_on_credit", "nothing_is_negative"),
    ("burn_not_logged", "log_replays_to_the_state"),
    ("rejection_not_logged", "rejected_actions_change_nothing"),
    ("silent_agents_hang_a_phase", "every_tick_comes_closer"),
    ("no_tick_ends_a_phase", "an_issue_can_be_finalized"),
    ("float_sums", "scores_are_sums_of_weights"),
    ("first_name_wins_a_tie", "names_decide_nothing"),
    ("first_name_is_not_kicked_out", "names_decide_nothing"),
    ("first_name_acts_after_ready", "names_decide_nothing"),
    ("finalize_counts_as_a_round", "saturation_reaches_the_target"),
    ("order_inside_a_tick_decides", "actions_of_two_agents_commute"),
    ("credit_of_the_poorest", "actions_of_two_agents_commute"),
    ("author_is_the_credential", "no_record_holds_a_credential"),
    ("first_stake_tick", "stake_ticks_are_the_latest"),
    ("ties_have_no_winner", "ties_go_to_the_earliest_stake"),
    ("add_in_round_one", "stakes_change_from_round_two"),
    ("timer_survives_the_issue", "an_issue_begins_clean"),
    ("one_round_too_many", "phases_come_in_order"),
    ("ready_signalled_twice", "nothing_is_accepted_after_ready"),
    ("multiplier_forgets_the_one", "multipliers_are_bounded"),
    ("multiplier_exceeds_the_maximum", "multipliers_are_bounded"),
)


@pytest.mark.parametrize(("name", "claim"), rest_slow(rest_deep(KILLED, 10)))
def test_a_claim_kills_a_mutant(name: str, claim: str) -> None:
    """The claim about the rule that the mutant breaks; within the bound it holds on the reference there."""
    mutant = next(one for one in BUNDLE.model.mutants if one.name == name)
    variant = mutant.of(BUNDLE.model.systems)
    chosen = [one for one in BUNDLE.claims if one.name == claim]
    reference = replace(variant, rules=BUNDLE.model.systems[mutant.system].rules, variant="reference")
    # Bounded: a mutant that makes points for ever has no last state.
    assert explore(variant, chosen, max_states=5_000).verdicts[0].status is Status.REFUTED
    assert explore(reference, chosen, max_states=5_000).verdicts[0].status is not Status.REFUTED


@pytest.mark.parametrize("name", ["no_phase_goes_on_for_ever", "every_issue_is_finalized"])
def test_ticks_after_the_end_are_no_livelock(name: str) -> None:
    """They may be submitted, and are refused for ever: a loop of them refutes nothing."""
    system = BUNDLE.model.systems["issue"].at(agents=1, rounds=1)
    config = next(iter(system.all_configs()))
    (start,) = system.initial(config)
    state, stem = start, list[Any]()
    while state.phase != CLOSED:
        stem.append(Tick())
        state = system.take(config, state, Tick()).after
    (claim,) = (one for one in BUNDLE.claims if one.name == name)
    assert system.take(config, state, Tick()).after == state
    found = judge(system, claim, Lasso(config, start, tuple(stem), (Tick(),)))
    assert found.decided and not found.refutes


@pytest.mark.parametrize(
    ("claim", "scope", "readings", "variants"),
    [
        (
            "accepted_actions_are_lawful",
            {"agents": 1, "cycles": 1, "budget": 2, "stake": 1, "strangers": 1, "hostile": 1},
            {},
            ("step._not_now:drop_guard_3", "refusals.propose:drop_guard_3", "refusals.ready:drop_guard_1"),
        ),
        (
            "invitations_credit_the_payment",
            {"agents": 1, "texts": 0, "budget": 1, "stake": 1, "strangers": 1},
            {},
            ("step._invite:swap_arguments_1",),
        ),
        (
            "both_records_of_a_burned_stake_agree",
            {"texts": 0, "budget": 1, "stake": 1},
            {},
            ("ticks._finalized:swap_arguments_6",),
        ),
        (
            "gated_ticks_wait",
            {"agents": 1, "texts": 0, "rounds": 1, "budget": 3},
            {"clock": "gated_by_9_1"},
            ("step._tick:negate_3", "clock.may_tick:drop_condition_2"),
        ),
    ],
)
def test_a_claim_is_false_of_the_faults_it_was_written_for(
    claim: str, scope: dict[str, int], readings: dict[str, Any], variants: tuple[str, ...]
) -> None:
    """The faults are made by rule in functions that no chosen mutant changes."""
    (asked,) = (one for one in BUNDLE.claims if one.name == claim)
    system = BUNDLE.model.systems["issue"].at(**scope).under(**readings)
    assert explore(system, [asked]).verdicts[0].status is Status.HOLDS
    for variant in variants:
        faulty = mutated(system, f"auto:{variant}")
        assert explore(faulty, [asked]).verdicts[0].status is Status.REFUTED, variant


def test_an_outsider_decides_by_moves_that_the_kernel_accepts() -> None:
    """The claim's second run is what moves there and back lead to, here among three tied proposals."""
    system = BUNDLE.model.systems["trio"].at(agents=4, rounds=3)
    (config,) = system.all_configs()
    (state,) = system.initial(config)

    def moved(state: Any, source: str, target: str) -> Any:
        step = system.take(config, state, MoveStake("agent_4", config.agent("agent_4").credential, source, target, 1))
        assert not step.shown.rejected
        return step.after

    for _ in range(3):
        state = system.take(config, state, Tick()).after
    assert (state.phase, state.turn) == (STAKE, 2)
    state = moved(moved(state, "agent_4", "agent_2"), "agent_2", "agent_4")
    state = system.take(config, state, Tick()).after
    idle = system.take(config, state, Tick()).after
    found = list(an_outsider_can_decide_any_tie.twins(config, idle, Tick()))
    assert found == [(f"agent_{number}", "agent_4", "agent_4") for number in (1, 2, 3)]
    for late in found:
        now = state
        for uid in {"agent_1", "agent_2", "agent_3"} - {late[0]}:
            now = moved(moved(now, "agent_4", uid), uid, "agent_4")
        assert system.take(config, now, Tick()).after == moved_about(late, config, idle)
