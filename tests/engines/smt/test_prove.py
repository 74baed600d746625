"""The conditions of a green theorem, on a protocol of ten lines; each condition fails on a planted fault."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from evenhand.core.canonical import canonical_bytes
from evenhand.core.lookup import UnknownName
from evenhand.core.system import AnyStep
from evenhand.core.trace import Scenario
from evenhand.core.verdict import Status
from evenhand.smt import smtlib
from evenhand.smt.countermodel import EncodingDisagrees, Induction, NoCounterpart, Refutation, minimise
from evenhand.smt.licence import NotLicensed, licence
from evenhand.smt.logic import (
    FALSE,
    TRUE,
    Definition,
    Exists,
    Forall,
    conjunction,
    exists,
    forall,
    same,
)
from evenhand.smt.memo import Cache
from evenhand.smt.portfolio import Answered, Portfolio
from evenhand.smt.prove import prove
from evenhand.smt.proved import ProofStatus, Proved
from evenhand.smt.solvers import CVC5_FINITE, Z3, SolverLimits
from evenhand.smt.structure import Reader, Structure
from evenhand.smt.theorem import Lemma, Mutation, Theorem
from evenhand.smt.theory import Axiom
from tests.models.grant import (
    BUNDLE,
    EVERYBODY,
    EVERYBODY_WINS,
    LAST,
    LAST_WINS,
    SYSTEM,
    THEOREM,
    THEORY,
    Asks,
    Rules,
    asks,
    before,
    blank,
    granted,
    nowhere,
    realise,
    trusted,
    view,
    x,
    y,
)


@pytest.fixture(scope="module")
def green() -> Proved:
    """Return the theorem, proved."""
    return prove(THEOREM, bundle=BUNDLE)


def test_green_under_all_conditions(green: Proved) -> None:
    """Both solvers prove it, its mutants behave as declared, the conformance tests pass."""
    assert green.green and green.verdict.status is Status.HOLDS
    assert [answer.status for answer in dict(green.queries)["theorem"].answers] == ["unsat", "unsat"]
    assert [type(killed.outcome) for killed in green.mutants] == [Refutation, type(None)]
    killed = green.mutants[0]
    assert killed.verdict.status is Status.REFUTED and killed.verdict.variant == "everybody"
    assert killed.verdict.evidence == Scenario(("a", "b"), 0, (("a", "b"),))
    assert green.conformance is not None
    assert green.conformance.true > 0 and green.conformance.false > 0 and green.conformance.outside == 0
    assert "compared on" in green.verdict.because and "z3 4" not in green.verdict.because
    assert any(name.startswith("z3") for name in green.verdict.trusted_base)


def test_records_are_the_same_bytes_twice(green: Proved) -> None:
    """No clock, no path, no order of sets."""
    again = prove(THEOREM, bundle=BUNDLE)
    assert canonical_bytes(dict(green.record)) == canonical_bytes(dict(again.record))
    assert green.digest == again.digest and green.digest.startswith("sha256:")


def test_licence_only_from_green(green: Proved) -> None:
    """For the reference alone, naming the record; none from a theorem that is not green or names no quotient."""
    given = licence(green, None)
    assert (given.quotient, given.system, given.variant) == ("names", "grant", "reference")
    assert given.record == green.digest
    with pytest.raises(NotLicensed, match="VACUOUS"):
        licence(prove(replace(THEOREM, assumes=FALSE), bundle=BUNDLE), None)
    with pytest.raises(NotLicensed, match="names no quotient"):
        licence(replace(green, theorem=replace(THEOREM, quotient="")), None)


def _word(theorem: Theorem, **more: Any) -> tuple[ProofStatus, str]:
    found = prove(theorem, bundle=BUNDLE, **more)
    if found.status is not ProofStatus.HOLDS and found.status is not ProofStatus.REFUTED:
        assert found.verdict.status is Status.UNDECIDED
    return found.status, found.verdict.because


def test_contradictory_axioms_are_vacuous() -> None:
    """They imply everything."""
    theory = replace(THEORY, axioms=(*THEORY.axioms, Axiom("never", exists([x], before(x, x)))))
    word, because = _word(replace(THEOREM, theory=theory, needs=(), mutants=()))
    assert word is ProofStatus.VACUOUS and because.startswith("VACUOUS: ")


def test_a_dead_antecedent_is_vacuous() -> None:
    """Then the theorem is about nothing."""
    word, because = _word(replace(THEOREM, assumes=granted(x) & before(x, x), needs=(), mutants=()))
    assert (word, because) == (ProofStatus.VACUOUS, "VACUOUS: the antecedent has no witness")


def test_an_unused_needed_axiom_is_vacuous() -> None:
    """The author is wrong about the reason why it holds."""
    word, because = _word(replace(THEOREM, needs=("least_is_first",)))
    assert word is ProofStatus.VACUOUS and "without axiom least_is_first" in because
    with pytest.raises(UnknownName, match="axiom"):
        _word(replace(THEOREM, needs=("no_such_axiom",)))


def test_a_theorem_that_is_always_true_is_caught_by_the_link() -> None:
    """On the reference alone `True` would pass; the mutants refute the claim and not the formula."""
    word, because = _word(replace(THEOREM, assumes=TRUE, goal=TRUE, needs=(), mutants=()))
    assert (
        word is not ProofStatus.HOLDS
        and not prove(
            replace(THEOREM, variables=(), assumes=TRUE, goal=forall([x], same(x, x)), needs=(), mutants=()),
            bundle=BUNDLE,
        ).green
    )
    assert "disagree" in because or "goal" in because


def test_a_link_that_never_saw_the_claim_false_is_undecided() -> None:
    """Without mutants nothing distinguishes the claim from `True`."""
    bundle = replace(BUNDLE, model=replace(BUNDLE.model, mutants=()))
    found = prove(replace(THEOREM, mutants=()), bundle=bundle)
    assert found.status is ProofStatus.UNDECIDED and "never seen false" in found.verdict.because


def test_a_link_tried_on_nothing_is_undecided() -> None:
    """A view that returns None supports no proof."""
    word, because = _word(replace(THEOREM, view=blank, mutants=()))
    assert word is ProofStatus.UNDECIDED and "no step" in because


def test_a_wrong_definition_is_caught_by_the_link() -> None:
    """The theory's kernel grants the last one, the model's the first: the theorem is true of both."""
    word, because = _word(replace(THEOREM, theory=replace(THEORY, definitions=(LAST,)), mutants=()))
    assert word is ProofStatus.UNDECIDED and "granted is" in because


def test_a_view_that_swaps_arguments_is_caught_by_the_link() -> None:
    """Planted fault in the view."""

    def swapped(step: AnyStep) -> Structure | None:
        honest = view(step)
        assert honest is not None
        turned = frozenset((b, a) for a, b in honest.relations["before"])
        last: dict[tuple[str, ...], str] = {(): step.config[-1]}
        return Structure(honest.universe, {**honest.relations, "before": turned}, {"least": last})

    word, because = _word(replace(THEOREM, view=swapped, mutants=()))
    assert word is ProofStatus.UNDECIDED and "granted is" in because


def test_a_printer_that_swaps_arguments_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted fault in the printer: the evaluator contradicts the solvers' models."""
    honest: Callable[[str, list[str]], str] = getattr(smtlib, "_apply")  # noqa: B009 - the fault is planted inside

    def swapping(head: str, parts: list[str]) -> str:
        return honest(head, parts[::-1] if head == "r1" else parts)  # the solvers' name of `before`

    monkeypatch.setattr(smtlib, "_apply", swapping)
    monkeypatch.setattr(smtlib, "_PRINTED", Cache[Any]())  # texts printed earlier are correct
    word, because = _word(THEOREM)
    assert word is ProofStatus.UNDECIDED and "evaluator contradicts" in because


def test_an_evaluator_that_confuses_quantifiers_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted fault in the evaluator: "for every" read as "there is"."""
    honest: Any = getattr(Reader, "_compile")  # noqa: B009 - the fault is planted inside

    def confused(self: Reader, formula: Any) -> Any:
        return honest(self, Exists(formula.variables, formula.body) if isinstance(formula, Forall) else formula)

    monkeypatch.setattr(Reader, "_compile", confused)
    assert _word(THEOREM)[0] is ProofStatus.UNDECIDED


def test_solvers_that_contradict_each_other_are_loud() -> None:
    """DISAGREEMENT is neither UNDECIDED nor a majority."""

    class Liar(Portfolio):
        def ask(self, query: Any, *, expected: Any, limits: SolverLimits | None = None) -> Answered:
            honest = super().ask(query, expected=expected, limits=limits)
            return replace(honest, status="disagreement")

    with Liar((Z3,)) as liar:
        word, because = _word(THEOREM, portfolio=liar)
    assert word is ProofStatus.DISAGREEMENT and because.startswith("DISAGREEMENT: ")


def test_out_of_resources_is_undecided() -> None:
    """A resource limit that is reached leaves the theorem undecided."""
    with Portfolio((Z3,)) as z3:
        word, because = _word(THEOREM, portfolio=z3, rlimit=10)
    assert word is ProofStatus.UNDECIDED and "no solver decides it" in because


def test_a_false_theorem_is_refuted_in_the_model() -> None:
    """The reference itself grants every agent, and so does its theory."""
    system = replace(SYSTEM, rules=Rules(lambda asks: asks))
    bundle = replace(BUNDLE, model=replace(BUNDLE.model, systems={"grant": system}))
    theory = replace(THEORY, definitions=(EVERYBODY,))
    found = prove(replace(THEOREM, theory=theory, mutants=(), expected=Status.REFUTED), bundle=bundle)
    assert found.status is ProofStatus.REFUTED and found.verdict.status is Status.REFUTED
    assert isinstance(found.outcome, Refutation) and found.verdict.evidence == Scenario(("a", "b"), 0, (("a", "b"),))


def test_the_other_ends_of_a_countermodel() -> None:
    """No counterpart, disagreement with the model, a step of unknown reachability: none is a counterexample."""
    theory = replace(THEORY, definitions=(EVERYBODY,))
    wrong = replace(THEOREM, theory=theory, mutants=())
    assert isinstance(prove(replace(wrong, realise=nowhere), bundle=BUNDLE).outcome, NoCounterpart)
    assert isinstance(prove(wrong, bundle=BUNDLE).outcome, EncodingDisagrees)

    def elsewhere(structure: Structure) -> Scenario[Asks, int, Asks] | None:
        found = realise(structure)
        return None if found is None else replace(found, start=1)

    system = replace(SYSTEM, rules=Rules(lambda asks: asks))
    bundle = replace(BUNDLE, model=replace(BUNDLE.model, systems={"grant": system}))
    found = prove(replace(wrong, realise=elsewhere), bundle=bundle)
    assert isinstance(found.outcome, Induction) and found.verdict.status is Status.UNDECIDED


def test_a_mutant_that_behaves_otherwise_is_noticed() -> None:
    """A mutant declared refuted is proved, a mutant declared proved is refuted."""
    survives = Mutation(mutant=LAST_WINS, definitions=(LAST,))
    word, because = _word(replace(THEOREM, mutants=(survives,)))
    assert word is ProofStatus.UNDECIDED and "mutant last should be refuted" in because
    dies = Mutation(mutant=EVERYBODY_WINS, definitions=(EVERYBODY,), expected="proved")
    assert "mutant everybody should be proved" in _word(replace(THEOREM, mutants=(dies,)))[1]


def test_names_that_nothing_has_are_errors() -> None:
    """Claim, system, mutant, word."""
    for wrong in (
        replace(THEOREM, claim=replace(THEOREM.claim, name="nothing")),
        replace(THEOREM, system="nothing"),
        replace(THEOREM, mutants=(Mutation(mutant=replace(LAST_WINS, name="nothing"), definitions=()),)),
        replace(THEOREM, mutants=(Mutation(mutant=LAST_WINS, definitions=(Definition(asks, (x,), TRUE),)),)),
    ):
        with pytest.raises(UnknownName):
            prove(wrong, bundle=BUNDLE)


def test_lemmas_carry_a_proof_and_a_false_one_does_not() -> None:
    """With the word opaque the goal follows from the lemma; without the lemma, part by part with nothing opaque."""
    alone = Lemma("alone", forall([x, y], (granted(x) & granted(y)) >> same(x, y)))
    by_lemma = replace(THEOREM, lemmas=(alone,), opaque=("granted",))
    found = prove(by_lemma, bundle=BUNDLE)
    assert found.green and [name for name, _ in found.queries][:2] == ["theorem.alone", "theorem"]
    false = Lemma("alone", forall([x], granted(x)))
    without = prove(replace(by_lemma, lemmas=(false,), mutants=()), bundle=BUNDLE)
    assert without.green and [name for name, _ in without.queries][:2] == ["theorem.alone", "theorem.part1"]


def test_minimise_leaves_nothing_to_drop() -> None:
    """Elements, tuples, and pairs related by a bijection."""
    structure = Structure(
        {"A": ("a", "b", "c"), "B": ("d", "e", "f")},
        {"red": frozenset({("a",), ("b",)}), "blue": frozenset({("d",)})},
        {"to": {("a",): "d", ("b",): "e", ("c",): "f"}, "fro": {("d",): "a", ("e",): "b", ("f",): "c"}},
    )

    def one_to_one(model: Structure) -> bool:
        to, fro = model.functions["to"], model.functions["fro"]
        return bool(model.relations["red"]) and all(fro[(value,)] == row[0] for row, value in to.items())

    small = minimise(structure, one_to_one)
    assert (small.size, len(small.relations["red"]), small.relations["blue"]) == (1, 1, frozenset())
    assert minimise(small, one_to_one) == small


def test_finite_models_come_from_cvc5_as_well() -> None:
    """The refutation does not depend on one solver."""
    with Portfolio((CVC5_FINITE,)) as cvc5:
        found = prove(THEOREM, bundle=BUNDLE, portfolio=cvc5)
    assert isinstance(found.mutants[0].outcome, Refutation)


def test_a_theory_says_what_is_wrong_with_it() -> None:
    """Two things of one name, loose variables, missing words."""
    with pytest.raises(ValueError, match="two things called 'asks'"):
        replace(THEORY, relations=(asks, asks))
    with pytest.raises(ValueError, match="leaves x free"):
        Axiom("loose", asks(x))
    with pytest.raises(UnknownName, match="definition"):
        THEORY.redefined([Definition(trusted, (x,), TRUE)])


def test_a_theory_twice_shares_what_it_is_told_to() -> None:
    """The copy's words use the copy's symbols."""
    twice = THEORY.twice("2", shared=("before", "least"))
    assert [relation.name for relation in twice.relations] == ["asks", "before", "trusted", "asks2", "trusted2"]
    assert [axiom.name for axiom in twice.axioms] == [axiom.name for axiom in THEORY.axioms]
    assert "asks2" in str(twice.meanings["granted2"].body) and conjunction([]) == TRUE
