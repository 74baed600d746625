"""The theorems of `conviction`: proved by both solvers, conforming to the model, refuted with planted faults."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from evenhand.core.system import Mutant
from evenhand.model.conviction.mutants import money, play
from evenhand.model.conviction.protocol import CONVICTION
from evenhand.model.conviction.renaming import Renaming
from evenhand.model.conviction.vocabulary import IDLE, PROPOSE, STAKE, Enrol, Invite, Tick
from evenhand.proofs.conviction.clock import CLOCK, CLOSER
from evenhand.proofs.conviction.finale import SATURATED
from evenhand.proofs.conviction.ledger import FAULTS
from evenhand.proofs.conviction.purses import KINDS, PURSES, SAME_POINTS, moments
from evenhand.proofs.conviction.renamed import NO_ACT, NO_TICK
from evenhand.proofs.conviction.stake_ticks import COMMUTE, TWO, TWO_FAULTS
from evenhand.proofs.conviction.winners import NAMES
from evenhand.smt.arithmetic import value_of
from evenhand.smt.cases import cases
from evenhand.smt.differential import agree
from evenhand.smt.logic import TRUE
from evenhand.smt.prove import prove
from evenhand.smt.proved import ProofStatus, Proved
from evenhand.smt.registry import invariants, stated
from evenhand.smt.structure import Reader
from evenhand.smt.theorem import Stated, Theorem
from evenhand.smt.transitions.invariant import Invariant
from evenhand.smt.transitions.linking import link
from tests.deep import rest_deep, rest_slow
from tests.properties.conviction.bundle import BUNDLE

INVARIANT = {one.name: one for one in invariants("conviction")}
STATED = stated("conviction")
LEDGER = ("supply_is_conserved", "nothing_is_negative", "balances_stay_below_the_maximum")


def by_both(found: Proved) -> bool:
    """Check that z3 and cvc5 both decide every step of the proof itself."""
    steps = [answered for name, answered in found.queries if name.split(".")[0] == "theorem"]
    return all({a.module for a in s.answers if a.status == s.status} == {"z3", "cvc5"} for s in steps)


@pytest.mark.parametrize(
    "one",
    rest_slow(rest_deep([s for s in STATED if s.name not in LEDGER], 6)),  # CI certifies them all
    ids=lambda one: one.name,
)
def test_it_is_proved_by_both_solvers(one: Stated) -> None:
    """With its witness, its mutants and its conformance."""
    found = prove(one, bundle=BUNDLE)
    assert (found.status, found.verdict.because[:9]) == (ProofStatus.HOLDS, "proved of")
    assert by_both(found)
    assert all(killed.as_declared for killed in found.mutants)


@pytest.mark.deep
@pytest.mark.parametrize("name", LEDGER)
def test_the_books_are_proved_by_both_solvers(name: str) -> None:
    """Supply, signs, maximum: a few CPU seconds each; `evenhand verify conviction` proves them as well."""
    test_it_is_proved_by_both_solvers(INVARIANT[name])


def test_each_theorem_is_called_like_its_claim() -> None:
    """But for the second theorem about the order of two actions, and those about names before finalization."""
    others = {one.name: one.claim.name for one in STATED if one.name != one.claim.name}
    assert others == {SAME_POINTS.name: COMMUTE.name, NO_TICK.name: NAMES.name, NO_ACT.name: NAMES.name}


def told(invariant: Invariant) -> str:
    """Return the disagreements of theory and model on the reference alone."""
    system = BUNDLE.model.systems[invariant.system].under(**invariant.readings)
    return " ".join(link(invariant, system, ()).disagreements)


@pytest.mark.parametrize(
    "fault",
    rest_slow(
        [
            money.penalty_doubled,
            money.tap_mints,
            money.feedback_free,
            money.balances_confiscated,
            money.stake_not_burned,
        ]
    ),
    ids=lambda fault: fault.name,
)
def test_books_that_are_kept_otherwise_are_not_those_of_the_model(fault: Mutant[Any]) -> None:
    """The faulty books are a theory of their own, and the reference's steps do not satisfy it."""
    supply = replace(INVARIANT["supply_is_conserved"], mutants=())
    wrong = replace(supply, machine=supply.machine.redefined(FAULTS[fault]))
    assert "a step of reference is none in the theory" in told(wrong)


def test_the_books_of_the_text_are_those_of_the_model() -> None:
    """The faulty ones of the test above are not."""
    assert told(INVARIANT["supply_is_conserved"]) == ""


def test_the_walks_meet_what_the_books_speak_of() -> None:
    """Each kind of step, each flow, and kick-outs, on the reference."""
    supply = INVARIANT["supply_is_conserved"]
    seen: set[str] = set()
    for run in supply.samples(CONVICTION.systems["issue"]):
        for number in range(len(run)):
            found = supply.view(run, number)
            assert found is not None
            seen |= {name for name, table in found.relations.items() if table}
            seen |= {name for name, table in found.functions.items() if set(table.values()) != {"0"}}
    flows = {"credit", "staked", "returned", "paid", "put", "tapped", "come", "gone", "burnt"}
    kinds = {"invites", "proposes", "comments", "revises", "adds", "moves", "ticks", "finalizes"}
    assert flows | kinds | {"kicked", "talking", "rounds", "written"} <= seen


def test_no_step_of_the_reference_lies_outside_the_clock() -> None:
    """Every axiom is true of every sampled step, and every kind of tick is sampled."""
    kinds: set[tuple[str, bool]] = set()
    reader = Reader(CLOCK.meanings)
    for step in CLOSER.samples(CONVICTION.systems["issue"]):
        found = CLOSER.view(step)
        if found is None:
            assert step.before.phase == "CLOSED"
            continue
        assert [axiom.name for axiom in CLOCK.axioms if not reader.holds(axiom.formula, found)] == []
        ended = (step.before.phase, step.before.turn) != (step.after.phase, step.after.turn)
        if step.action == Tick():
            kinds.add((step.before.phase, ended))
    assert {(IDLE, True), (PROPOSE, True), (PROPOSE, False), (STAKE, True), (STAKE, False)} <= kinds


@pytest.mark.parametrize("axiom", ["sums_fall", "timers_count", "late_proposers_are_alike", "a_proposal_lasts"])
def test_without_its_axioms_the_clock_may_stand(axiom: str) -> None:
    """Each needed axiom is really needed: without it there is a countermodel, which is none of the model."""
    less = replace(CLOCK, axioms=tuple(one for one in CLOCK.axioms if one.name != axiom))
    needs = tuple(name for name in CLOSER.needs if name != axiom)
    stated: Theorem = replace(CLOSER, theory=less, needs=needs, mutants=())
    found = prove(stated, bundle=BUNDLE)
    assert found.status is ProofStatus.UNDECIDED
    assert any(name == "theorem" and answered.status == "sat" for name, answered in found.queries)


def test_an_order_inside_a_tick_that_decides_is_not_that_of_the_model() -> None:
    """The pairs of actions that a state offers are compared one by one: with a faulty theory they disagree."""
    system = COMMUTE.place(BUNDLE)
    wrong = replace(COMMUTE, theory=TWO.redefined(TWO_FAULTS[play.order_inside_a_tick_decides]), mutants=())
    found = agree(wrong, system, ())
    assert "older12 is" in " ".join(found.disagreements)
    assert not agree(replace(COMMUTE, mutants=()), system, ()).disagreements


@pytest.mark.parametrize(
    "word", rest_slow(["balance_to_1", "balance_to_21", "pile_to_2", "pile_to_12", "lot_to_1", "lot_to_21"], 2)
)
def test_points_that_are_spent_otherwise_are_not_those_of_the_model(word: str) -> None:
    """A theory in which an action may do anything to a balance, or to a stake, does not conform."""
    system = SAME_POINTS.place(BUNDLE)
    anything = PURSES.redefined((PURSES.means(word, ~TRUE, "never as the text says"),))
    found = agree(replace(SAME_POINTS, theory=anything, mutants=()), system, ())
    assert f"{word} is" in " ".join(found.disagreements)


def test_the_moments_meet_each_kind_of_spending() -> None:
    """As the first and as the second action: each kind, an addition beyond its balance, old stake that goes."""
    system = SAME_POINTS.place(BUNDLE)
    seen: set[str] = set()
    lacking = aged = 0
    for case, _ in cases(system, SAME_POINTS.claim, moments(system)):
        found = SAME_POINTS.view(case)
        if found is not None:
            seen |= {name for name, rows in found.relations.items() if rows}
            lacking += case[1].shown.rejected == "InsufficientCredit"
            old = found.functions["lot"].keys() - found.relations["young"]
            aged += any(value_of(found.functions["lot12"][one]) < value_of(found.functions["lot"][one]) for one in old)
    assert {f"{kind}{ending}" for kind in KINDS for ending in ("", "2")} <= seen
    assert min(lacking, aged) > 0


def _of_nobody(step: Any) -> bool:
    """Whether it is an invitation, or an action of an agent that does not exist."""
    acts = not isinstance(step.action, Tick)
    return acts and (isinstance(step.action, Invite) or step.before.seat(step.action.agent) is None)


SAID = (
    (NO_TICK, ("kicked", "ends", "counts", "stakes", "burns", "pays")),
    (NO_ACT, ("accepted", "balance_to_1", "pile_to_1", "lot_to_1", "counts", "ready_then", "there_then")),
    (SATURATED, ("weighs", "scored")),
)


@pytest.mark.parametrize("one", (NO_TICK, NO_ACT), ids=lambda one: one.name)
def test_no_renaming_of_the_reference_lies_outside_the_theory(one: Theorem) -> None:
    """Every tick inside a phase, and every action of an agent that exists but its enrolment, with all it renames."""
    system = one.place(BUNDLE)
    steps = [step for step in one.samples(system) if not isinstance(step.action, Enrol) and not _of_nobody(step)]
    seen = [one.view(case) for case, _ in cases(system, one.claim, steps)]
    assert len(seen) > 100
    assert None not in seen


@pytest.mark.parametrize(
    ("one", "word"),
    rest_slow([(one, word) for one, words in SAID for word in words]),
    ids=lambda one: getattr(one, "name", one),
)
def test_steps_that_do_otherwise_are_not_those_of_the_model(one: Theorem, word: str) -> None:
    """A theory in which a tick, an action or a score is never as the text says does not conform."""
    never = one.theory.redefined((one.theory.means(word, ~TRUE, "never as the text says"),))
    found = agree(replace(one, theory=never, mutants=()), one.place(BUNDLE), ())
    assert f"{word} is" in " ".join(found.disagreements)


def test_the_renamed_actions_are_of_each_kind() -> None:
    """Accepted and rejected, and some only because of READY."""
    system = NO_ACT.place(BUNDLE)
    seen = {
        (type(step.action).__name__, not step.shown.rejected)
        for step in NO_ACT.samples(system)
        if NO_ACT.view((Renaming(()), step, step)) is not None
    }
    kinds = ("SignalReady", "Propose", "Feedback", "Revise", "AddStake", "MoveStake")
    assert {(kind, accepted) for kind in kinds for accepted in (True, False)} - seen == set()
