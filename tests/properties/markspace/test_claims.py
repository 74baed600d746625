"""Every claim has its registered verdict; the plans name existing things; the table of sixty-six rows is complete."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from evenhand.core.plan import Plan
from evenhand.core.property import Property
from evenhand.core.system import reading_values
from evenhand.core.verdict import Status, Verdict
from evenhand.machine import fuzz
from evenhand.model.markspace.exact import Amount
from evenhand.model.markspace.marks import Kind
from evenhand.model.markspace.strength import STRENGTH, Lives
from evenhand.proofs.markspace.evidence import sixty_six
from evenhand.properties.markspace.table import BESIDE, COUNT, markdown, rows, unproved
from evenhand.search import explore
from evenhand.smt.registry import stated
from evenhand.variants.automatic import mutated
from tests.deep import rest_slow
from tests.properties.markspace.bundle import BUNDLE


def unexpected(
    verdicts: tuple[Verdict, ...], system: str, engine: str = "explore", readings: Mapping[str, Any] | None = None
) -> dict[str, str]:
    """Return claims whose verdict is not the registered one."""
    return {
        verdict.claim: f"{verdict.status.value}: {verdict.because}"
        for verdict in verdicts
        if verdict.status is not BUNDLE.expectation(verdict.claim, system, engine, readings or {}).expected
    }


def planned(plan: Plan) -> list[Property]:
    """Return the claims of a plan."""
    return [claim for claim in BUNDLE.claims_of(plan.system) if not plan.claims or claim.name in plan.claims]


QUICK = [plan for plan in BUNDLE.plans if plan.engine == "explore" and "quick" in plan.budgets]
CHEAP = [plan for plan in QUICK if plan.system in ("first_writer", "highest_confidence", "yield_all", "deferred")]


@pytest.mark.parametrize(
    "plan", rest_slow([*CHEAP, *(p for p in QUICK if p.system in ("composing", "scheduling"))]), ids=str
)
def test_the_search_says_what_was_registered(plan: Plan) -> None:
    """At the system's own scope."""
    found = explore(BUNDLE.model.systems[plan.system].at(**plan.scope), planned(plan))
    assert found.complete
    assert unexpected(found.verdicts, plan.system) == {}


@pytest.mark.deep
@pytest.mark.parametrize(
    "plan",
    [p for p in BUNDLE.plans if "standard" in p.budgets and p.engine == "explore" and not p.quotient],
    ids=str,
)
def test_every_standard_plan_says_what_was_registered(plan: Plan) -> None:
    """Every reading that a plan names, and every larger scope."""
    system = BUNDLE.model.systems[plan.system].at(**plan.scope).under(**plan.readings)
    assert unexpected(explore(system, planned(plan)).verdicts, plan.system, "explore", plan.readings) == {}


@pytest.mark.parametrize(
    ("system", "readings", "claim", "length"),
    [
        ("first_writer", {}, "mutual_exclusion", 6),
        ("first_writer", {"lease": "renewed_while_tool_runs"}, "mutual_exclusion", 6),
        ("first_writer", {"id_order": "adversarial"}, "mutual_exclusion", 4),
        ("first_writer", {}, "guard_transparency_p38", 4),
        ("yield_all", {}, "yield_all_waits_for_the_principal", 3),
        ("deferred", {}, "deferred_mutual_exclusion_p17", 6),
    ],
)
def test_refutations_are_as_short_as_the_page_says(
    system: str, readings: Mapping[str, Any], claim: str, length: int
) -> None:
    """The smallest witness; breadth-first search gives a shortest one."""
    asked = [one for one in BUNDLE.claims if one.name == claim]
    verdict = explore(BUNDLE.model.systems[system].at(levels=1).under(**readings), asked).verdicts[0]
    assert verdict.status is Status.REFUTED
    evidence: Any = verdict.evidence
    assert len(evidence.actions) == length


def test_one_lock_through_the_tool_call_excludes_and_so_do_waiting_boundaries() -> None:
    """The two readings that give mutual exclusion, beside the default that does not."""
    asked = [one for one in BUNDLE.claims if one.name == "mutual_exclusion"]
    locked = BUNDLE.model.systems["first_writer"].under(guard_atomicity="through_tool_call")
    waiting = BUNDLE.model.systems["deferred"].under(boundary_while_running="waits")
    for system in (locked, waiting):
        assert explore(system, asked).verdicts[0].status is Status.HOLDS


@pytest.mark.parametrize(
    ("name", "claim"),
    rest_slow(
        [
            ("the_first_agent_signs", "space_holds_what_was_submitted"),
            ("marks_are_born_old", "space_holds_what_was_submitted"),
            ("references_are_not_stored", "space_holds_what_was_submitted"),
            ("resolution_forgets_the_priority", "space_holds_what_was_submitted"),
            ("actions_claim_nothing_here", "contenders_are_the_active_intents"),
            ("expired_intents_contend", "contenders_are_the_active_intents"),
            ("lone_intents_lose", "winners_come_first"),
        ],
        2,
    ),
)
def test_what_a_space_stores_and_answers_is_claimed(name: str, claim: str) -> None:
    """Each of these faults, and no claim but the named one is false of it; all hold of the reference there."""
    (mutant,) = (one for one in BUNDLE.model.mutants if one.name == name)
    faulty = mutant.of(BUNDLE.model.systems)
    honest = replace(faulty, rules=BUNDLE.model.systems[mutant.system].rules, variant="reference")
    asked = BUNDLE.claims_of("space")
    true = {one.claim for one in explore(honest, asked).verdicts if one.status is Status.HOLDS}
    refuted = {one.claim for one in explore(faulty, asked).verdicts if one.status is Status.REFUTED}
    assert refuted & true == {claim}


@pytest.mark.slow
def test_resolutions_are_refused_for_cause_alone() -> None:
    """The step itself is changed by rule, as no rule of the record decides it."""
    (claim,) = (one for one in BUNDLE.claims if one.name == "needs_are_resolved_but_for_cause")
    space = BUNDLE.model.systems["space"].at(marks=3, hostile=1, horizon=0, only=1)
    assert explore(space, [claim]).verdicts[0].status is Status.HOLDS
    for change in ("drop_guard_1", "drop_guard_2", "negate_1", "negate_2"):
        faulty = mutated(space, f"auto:space._settle:{change}")
        assert explore(faulty, [claim]).verdicts[0].status is Status.REFUTED, change


@pytest.mark.parametrize(
    ("system", "scope", "claim", "changes"),
    [
        (
            "clock",
            {"horizon": 1},
            "instants_change_as_asked",
            ("clocked.step:plus_one_2", "clocked.step:negate_1", "clocked.step:drop_update_3", "clocked.step:always_2"),
        ),
        (
            "first_writer",
            {"levels": 1},
            "new_intents_replace_ones_own",
            ("guard._written:drop_filter_1",),
        ),
    ],
)
def test_a_claim_is_false_of_the_faults_it_was_written_for(
    system: str, scope: dict[str, int], claim: str, changes: tuple[str, ...]
) -> None:
    """The faults are made by rule in functions that no chosen mutant changes."""
    (asked,) = (one for one in BUNDLE.claims if one.name == claim)
    honest = BUNDLE.model.systems[system].at(**scope)
    assert explore(honest, [asked]).verdicts[0].status is Status.HOLDS
    for change in changes:
        found = explore(mutated(honest, f"auto:{change}"), [asked], max_states=20_000)  # intents may pile up for ever
        assert found.verdicts[0].status is Status.REFUTED, change


def test_the_table_has_sixty_six_full_rows() -> None:
    """One claim for each number; a missing or doubled claim is an error."""
    table = sixty_six()
    assert [row.number for row in table] == list(range(1, COUNT + 1))
    assert all(getattr(row, cell.name) for row in table for cell in fields(row))
    assert markdown(table).count("\n") == COUNT + 2
    known = {claim.name for claim in BUNDLE.claims}
    assert all(row.repair in known or row.repair.startswith("none") for row in table)
    with pytest.raises(ValueError, match="P66 has 0 claims"):
        rows(
            [claim for claim in BUNDLE.claims if not claim.name.endswith("_p66")],
            {claim.name: "proved" for claim in BUNDLE.claims},
        )


def test_rows_name_the_theorems_that_there_are() -> None:
    """Every theorem about a property is in its row; rows without theorems give a reason."""
    table = {row.number: row for row in sixty_six()}
    proved = {one.claim.name for one in stated("markspace")}
    for row in table.values():
        beside = {row.claim, row.repair, *BESIDE.get(row.number, ())} & proved
        assert all(name in row.theorems for name in beside)
        assert bool(beside) != row.theorems.startswith("none, because: ")
    missing = [number for number, row in table.items() if row.theorems == _reason(number)]
    assert missing == [14, 24, 27, 28, 30, 33, 57, 59]
    with pytest.raises(ValueError, match="P1 has no theorem, and no reason why not"):
        rows(BUNDLE.claims, {})


def _reason(number: int) -> str:
    """Return the registered reason; empty without one."""
    try:
        return unproved(number)
    except ValueError:
        return ""


def _twice_as_fast(kind: Kind, initial: Fraction, age: int, lives: Lives, resolved: bool) -> Amount:
    """Warnings decay twice as fast as their half-life says."""
    return STRENGTH.decay(kind, initial, 2 * age if kind is Kind.WARNING else age, lives, resolved)


def _unwarned(effective: Amount, _against: tuple[Amount, ...]) -> Amount:
    """Warnings weigh nothing."""
    return effective


@pytest.mark.parametrize(
    ("claim", "fault"),
    [
        ("marks_recover_if_their_warnings_lose_more", {"reduced": _unwarned}),
        ("outlived_marks_stay_cancelled", {"decay": _twice_as_fast}),
    ],
)
def test_what_p35_needs_is_false_of_other_strengths(claim: str, fault: dict[str, Any]) -> None:
    """Of warnings that weigh nothing, and of ones that die before their time."""
    (asked,) = (one for one in BUNDLE.claims if one.name == claim)
    signals = BUNDLE.model.systems["signals"].at(ages=2, marks=1)
    assert explore(signals, [asked]).verdicts[0].status is Status.HOLDS
    faulty = replace(signals, rules=replace(STRENGTH, **fault), variant="faulty")
    assert explore(faulty, [asked]).verdicts[0].status is Status.REFUTED


@pytest.mark.parametrize(
    ("only", "reading", "claim", "ignored", "instead"),
    rest_slow(
        [
            (11, {"activation": "every_operation"}, "budget_hard_stop_p61", "_used_up", False),
            (2, {"need_first": "need_in_the_scope"}, "barrier_is_enforced", "asked", True),
            (2, {"need_first": "later_need"}, "barrier_is_enforced", "barrier.required_at", 0),
        ]
    ),
)
def test_readings_of_the_layers_are_told_apart(
    only: int, reading: dict[str, str], claim: str, ignored: str, instead: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The claim is true under the reading, and false of a guard that does not follow it."""
    (asked,) = (one for one in BUNDLE.claims if one.name == claim)
    layers = BUNDLE.model.systems["layers"].at(only=only).under(**reading)
    assert explore(layers, [asked]).verdicts[0].status is Status.HOLDS

    def as_by_default(*_given: object) -> object:
        return instead

    monkeypatch.setattr(f"evenhand.model.markspace.layers.{ignored}", as_by_default)
    assert explore(layers, [asked]).verdicts[0].status is Status.REFUTED


def test_a_barrier_that_dates_no_need_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under the reading by which a need must be younger than what requires it."""
    (asked,) = (one for one in BUNDLE.claims if one.name == "barrier_does_what_it_is_told")
    layers = BUNDLE.model.systems["layers"].at(only=2, marks=1).under(need_first="later_need")
    assert explore(layers, [asked]).verdicts[0].status is Status.HOLDS

    def undated(_before: object, after: object, _stored: int) -> object:
        return after

    monkeypatch.setattr("evenhand.model.markspace.layers.barrier.dated", undated)
    assert explore(layers, [asked]).verdicts[0].status is Status.REFUTED


def test_the_reading_of_who_resolves_a_need_is_told_apart() -> None:
    """The claim is true under the reading, and false of a space in which any action resolves a need."""
    (asked,) = (one for one in BUNDLE.claims if one.name == "needs_are_resolved_but_for_cause")
    usual = BUNDLE.model.systems["space"].at(marks=3, hostile=0, horizon=0, only=1)
    space = usual.under(resolver="action_of_the_principal")
    assert explore(space, [asked]).verdicts[0].status is Status.HOLDS

    def step(rules: Any, config: Any, state: Any, act: Any) -> tuple[Any, Any]:
        return usual.step(rules, replace(config, readings=usual.readings), state, act)

    assert explore(replace(space, step=step, variant="default"), [asked]).verdicts[0].status is Status.REFUTED


def test_the_page_of_the_sixty_six_is_the_table() -> None:
    """The reference prints the registered content."""
    page = Path(__file__).parents[3] / "docs" / "reference" / "markspace_properties.md"
    assert markdown(sixty_six()) in page.read_text("utf-8")


def test_plans_and_expectations_name_what_there_is() -> None:
    """Systems, claims and readings of every plan; every reading that is not a default has a plan."""
    names = [claim.name for claim in BUNDLE.claims]
    assert len(set(names)) == len(names)
    seen: set[tuple[str, Any]] = set()
    for plan in BUNDLE.plans:
        assert set(plan.claims) <= {claim.name for claim in BUNDLE.claims_of(plan.system)}, plan
        assert set(plan.scope) <= set(BUNDLE.model.systems[plan.system].scope), plan
        seen |= set(plan.readings.items())
    others = {(name, value) for name, values in reading_values(BUNDLE.model.readings).items() for value in values[1:]}
    assert others == seen
    for expectation in BUNDLE.expected:
        assert expectation.claim in names and expectation.because
        assert expectation.system in BUNDLE.model.systems


@pytest.mark.parametrize("name", rest_slow(["deferred", "space"]))
def test_the_machine_reaches_its_events(name: str) -> None:
    """A standard run stays above every floor, and finds only registered refutations."""
    plan = next(one for one in BUNDLE.plans if one.engine == "fuzz" and one.system == name)
    generator = next(one for one in BUNDLE.generators if one.system == name)
    found = fuzz(BUNDLE.model.systems[name], planned(plan), generator, examples=200, steps=20)
    assert found.findings == ()
    for event in generator.events:
        assert found.coverage[f"event:{event.name}"] >= event.floor, event.name
    assert unexpected(found.verdicts, name, "fuzz") == {}
