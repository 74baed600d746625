"""Mutants proved equal for all sizes: true cases, and every way in which such a proof could be wrong."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evenhand.core.registry import find, protocols
from evenhand.core.trace import replay
from evenhand.core.verdict import Status
from evenhand.model.apcm.mutants import rules
from evenhand.proofs.apcm.compiling import ACT, FAULTS, TEXT, feasible
from evenhand.proofs.apcm.theorems import EXACTLY, MASK
from evenhand.proofs.sovereign import equality as of_sovereign
from evenhand.smt.equality import Equality, EqualityResult, distinguished, equalities, equality_of
from evenhand.smt.logic import FALSE, Definition, exists
from evenhand.smt.theorem import Mutation
from evenhand.smt.theory import Axiom

APCM = find("apcm")
(HONEST,) = equalities(APCM, rules.rule_1_as_equality)


def _asked(equality: Equality) -> EqualityResult:
    return distinguished(equality, APCM)


@pytest.mark.parametrize(
    ("protocol", "mutant"),
    [
        ("apcm", "rule_1_as_equality"),
        ("apcm", "preservations_redundant_without_overlap"),
        ("sovereign", "spent_of_old_cycles_forgotten"),
        pytest.param("cud", "exit_lapses_allows", marks=pytest.mark.deep),
    ],
)
def test_an_equivalent_mutant_is_proved_equal(protocol: str, mutant: str) -> None:
    """By a solver, under every condition; the scope is the theorem's, and the words are the observed ones."""
    found = equality_of(find(protocol), mutant)
    assert found.status is Status.HOLDS, found.because
    assert found.scope.startswith("any number") and found.words and found.apart is None
    assert found.conformance is not None and not found.conformance.disagreements and found.conformance.words > 0


def test_every_mutant_registered_as_equivalent_can_be_asked_about() -> None:
    """Each has a question; mutants registered as killed are never stated to be equal."""
    for bundle in protocols():
        for mutant in bundle.model.mutants:
            if mutant.expected == "equivalent":
                assert equalities(bundle, mutant), mutant.name
    for name in ("apcm", "sovereign"):
        stated = __import__(f"evenhand.proofs.{name}.equality", fromlist=["EQUALITIES"]).EQUALITIES
        assert all(one.mutant.expected == "equivalent" for one in stated)


@pytest.mark.parametrize("mutant", ["rule_1_dropped", "one_authority_covers_all"])
def test_a_mutant_that_differs_is_distinguished_by_a_run(mutant: str) -> None:
    """The planted fault: a solver's structure becomes a run on which the two executables differ."""
    found = equality_of(APCM, mutant)
    assert found.status is Status.REFUTED and found.apart is not None and found.system is not None
    reference = replace(found.system, rules=APCM.model.systems[found.system.name].rules, variant="reference")
    one, other = (replay(system, found.apart).steps[-1].shown for system in (reference, found.system))
    assert one != other


def test_a_mutant_said_wrongly_is_not_called_equal() -> None:
    """In the theory it equals the reference, so every proof succeeds; its own steps contradict it."""
    lie = Equality(mutant=rules.rule_1_dropped, theorem=MASK, definitions=(TEXT.meanings["rule_1"],))
    found = _asked(lie)
    assert found.status is Status.UNDECIDED and "theory and model disagree" in found.because


def test_a_change_that_no_step_shows_proves_nothing() -> None:
    """A changed word of the claims that no observed word depends on."""
    meaning = TEXT.meanings["wrong"]
    unseen = replace(HONEST, definitions=(Definition(meaning.relation, meaning.variables, FALSE, "never"),))
    found = _asked(unseen)
    assert found.status is Status.UNDECIDED and "no observed word" in found.because


def test_axioms_without_a_model_prove_nothing() -> None:
    """A contradiction implies everything; no step of the model satisfies such a theory."""
    theory = replace(TEXT, axioms=(*TEXT.axioms, Axiom("nobody", exists([ACT("a")], feasible(ACT("a")) & FALSE))))
    found = _asked(replace(HONEST, theorem=replace(EXACTLY, theory=theory)))
    assert found.status is Status.UNDECIDED and "no observed word" in found.because


def test_an_axiom_about_the_changed_word_is_refused() -> None:
    """The mutant would get a different axiom."""
    a = ACT("a")
    theory = replace(
        TEXT, axioms=(*TEXT.axioms, Axiom("masked", exists([a], feasible(a) | TEXT.meanings["rule_1"].relation(a))))
    )
    found = _asked(replace(HONEST, theorem=replace(EXACTLY, theory=theory)))
    assert found.status is Status.UNDECIDED and "contains a word that the mutant changes" in found.because


def test_a_question_that_is_always_answered_with_yes_proves_nothing() -> None:
    """No other fault of the theory is tried, or none that these words distinguish."""
    blind = (Mutation(mutant=rules.digest_ignored, definitions=(TEXT.meanings["unlinked"],)),)
    for others in ((), blind):
        found = _asked(replace(HONEST, theorem=replace(EXACTLY, mutants=others)))
        assert found.status is Status.UNDECIDED and "no other fault" in found.because


def test_a_theory_of_other_readings_says_nothing() -> None:
    """The mutant is a fault under another reading than the theorem's."""
    other = Equality(
        mutant=rules.preservations_redundant_without_overlap,
        theorem=MASK,
        definitions=FAULTS[rules.preservations_forbid_nothing],
    )
    found = _asked(other)
    assert found.status is Status.UNDECIDED and "other readings" in found.because


def test_what_no_theory_says_is_said_to_be_so() -> None:
    """A mutant without counterpart, and one made by rule."""
    assert "no theory of the protocol" in equality_of(APCM, "satisfying_excuses_violating").because
    assert "made by rule" in equality_of(APCM, "auto:forbidden:reversed").because


def test_hidden_state_must_be_related_after_the_step_too() -> None:
    """A use that forgot the spent warrant would decide this use equally, and a later one differently."""
    (one,) = of_sovereign.EQUALITIES
    spends = one.definitions[1]
    forgetful = replace(spends, body=FALSE)
    found = distinguished(replace(one, definitions=(one.definitions[0], forgetful)), find("sovereign"))
    assert found.status is Status.UNDECIDED and "spends" in found.because
