"""The theorems have their expected results, their mutants are refuted as declared; without an axiom the proof fails."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evenhand.core.verdict import Status
from evenhand.proofs.markspace.leaking import READ_TWICE, freed, own, secret, warned
from evenhand.proofs.markspace.strengths import DECAY
from evenhand.smt.differential import agree
from evenhand.smt.logic import Function, Not
from evenhand.smt.prove import prove
from evenhand.smt.registry import invariants, theorems
from evenhand.smt.rewriting import translate
from evenhand.smt.theorem import Theorem
from evenhand.smt.transitions.invariant import Invariant
from evenhand.smt.transitions.linking import link
from tests.deep import rest_deep, rest_slow
from tests.properties.markspace.bundle import BUNDLE

THEOREMS = theorems("markspace")
INVARIANTS = invariants("markspace")

QUICK = (
    "decay_monotonicity_p1",
    "invalidation_decay_p35",
    "boundedness_p9",
    "progress_p12",
    "intents_do_not_pile_up",
    "scope_isolation_p19",
    "classified_opacity_p22",
    "writes_do_not_leak",
    "deferred_priority_fidelity_p15",
    "budget_tracking_accuracy_p63",
    "rate_limit_independence_p66",
    "subscription_prospective_p49",
)


def named(name: str) -> Theorem:
    """Return the theorem of that name."""
    return next(one for one in THEOREMS if one.name == name)


@pytest.mark.parametrize(
    "name",
    [*rest_slow(QUICK), *(pytest.param(one.name, marks=pytest.mark.deep) for one in THEOREMS if one.name not in QUICK)],
)
def test_a_theorem_is_as_expected(name: str) -> None:
    """Proved, or refuted by a run that replays; with its mutants and its conformance."""
    theorem = named(name)
    found = prove(theorem, bundle=BUNDLE)
    assert found.verdict.status is theorem.expected, found.verdict.because
    assert all(one.as_declared for one in found.mutants)


def test_without_its_axiom_a_theorem_is_not_proved() -> None:
    """Without it, factors may grow."""
    axioms = tuple(axiom for axiom in DECAY.axioms if axiom.name != "factors_never_grow")
    broken = replace(named("decay_monotonicity_p1"), theory=replace(DECAY, axioms=axioms), needs=())
    assert prove(broken, bundle=BUNDLE).verdict.status is not Status.HOLDS


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("scope_isolation_p19", "accepted"),
        ("scope_isolation_p19", "stored"),
        ("structural_visibility_p20", "sees_all"),
        ("content_access_p21", "sees_projections"),
        ("classified_opacity_p22", "sees_none"),
        ("classified_no_fallback_p25", "sees_projections"),
        ("resolution_immediacy_p29", "names"),
        ("deferred_priority_fidelity_p15", "elected"),
        ("envelope_monotonicity_p40", "remains"),
        ("envelope_cold_start_safety_p41", "says_normal"),
        ("budget_hard_stop_p61", "refused"),
        ("budget_resumption_p62", "accepted"),
        ("budget_tracking_accuracy_p63", "charged"),
        ("budget_tracking_accuracy_p63", "kept"),
        ("write_mark_atomicity_p42", "stores"),
        ("telemetry_completeness_p58", "emits"),
        ("rate_limit_enforcement_p64", "counted"),
        ("rate_limit_fleet_cap_p65", "accepted"),
        ("rate_limit_independence_p66", "by_rate"),
        ("rate_limit_independence_p66", "by_envelope"),
        ("rate_limit_independence_p66", "by_probe"),
        ("rate_limit_independence_p66", "by_barrier"),
        ("watch_subset_p50", "queued"),
        ("subscription_prospective_p49", "kept"),
        ("write_order_delivery_p52", "delivered"),
        ("write_order_delivery_p52", "sooner"),
        ("writes_do_not_leak", "accepted2"),
        ("writes_do_not_leak", "stored"),
        ("writes_do_not_leak", "shown2"),
    ],
)
def test_a_word_that_means_otherwise_is_not_that_of_the_model(name: str, word: str) -> None:
    """A theory with another meaning of the word does not conform."""
    theorem = named(name)
    wrong = theorem.theory.redefined((theorem.theory.means(word, Not(theorem.theory.meanings[word].body), "denied"),))
    found = agree(replace(theorem, theory=wrong, mutants=()), theorem.place(BUNDLE), ())
    assert f"{word} is" in " ".join(found.disagreements)


@pytest.mark.parametrize(
    ("name", "axiom"),
    rest_slow(
        [
            ("progress_p12", "others_keep_their_intents"),
            ("yield_recovery_p13", "a_second_passes"),
            ("intents_do_not_pile_up", "what_stands_can_be_resolved"),
        ]
    ),
)
def test_without_its_axiom_nothing_is_known_of_whole_runs(name: str, axiom: str) -> None:
    """The countermodel is none of the model, so the claim is open and not refuted."""
    theorem = named(name)
    axioms = tuple(one for one in theorem.theory.axioms if one.name != axiom)
    broken = replace(theorem, theory=replace(theorem.theory, axioms=axioms), needs=(), mutants=())
    assert prove(broken, bundle=BUNDLE).verdict.status is Status.UNDECIDED


@pytest.mark.slow
@pytest.mark.parametrize("one", rest_deep(INVARIANTS, 3), ids=lambda one: one.name)
def test_an_invariant_is_proved_with_its_lemma_alone(one: Invariant) -> None:
    """Without the lemmas the step that leaves the invariant begins in a state that no run reaches."""
    found = prove(one, bundle=BUNDLE)
    assert found.green, found.verdict.because
    assert all(killed.as_declared for killed in found.mutants)
    if one.lemmas:
        assert prove(replace(one, lemmas=(), mutants=()), bundle=BUNDLE).verdict.status is Status.UNDECIDED


@pytest.mark.parametrize("one", [one for one in INVARIANTS if one.mutants and one.system != "first_writer"])
def test_a_machine_that_does_otherwise_is_not_the_model(one: Invariant) -> None:
    """A machine with the contrary of the word that a mutant changes does not conform to the reference."""
    theory = one.machine.theory
    word = theory.meanings[one.mutants[0].definitions[0].name]
    wrong = replace(
        one, machine=one.machine.redefined((theory.means(word.name, Not(word.body), "denied"),)), mutants=()
    )
    said = " ".join(link(wrong, wrong.place(BUNDLE), ()).disagreements)
    assert "a step of reference is none in the theory" in said


def test_each_theorem_states_a_claim_of_its_system() -> None:
    """Refuted theorems are registered as such."""
    for theorem in THEOREMS:
        assert theorem.system in theorem.claim.systems
        assert BUNDLE.expectation(theorem.claim.name, theorem.system, "prove", {}).expected is theorem.expected


@pytest.mark.parametrize("sum_", [warned, freed, secret], ids=lambda one: one.name)
def test_a_read_is_linked_in_each_sum_of_warnings(sum_: Function) -> None:
    """With another number in its place the theory does not conform: the samples meet each kind of warning."""
    theorem = named("reads_leak_through_references_alone")
    changed = tuple(
        replace(word, body=translate(word.body, sorts={}, functions={sum_: own}, relations={}))
        for word in READ_TWICE.definitions
    )
    wrong = replace(theorem, theory=READ_TWICE.redefined(changed), mutants=())
    assert agree(wrong, theorem.place(BUNDLE), ()).disagreements
