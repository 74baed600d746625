"""Small countermodels: found exactly if two elements of each sort are enough, and models of the theory in that case."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from evenhand.smt import small_models as module
from evenhand.smt.countermodel import Refutation, confirmed
from evenhand.smt.logic import (
    TRUE,
    Exists,
    Forall,
    Formula,
    Iff,
    Not,
    Var,
    conjunction,
    differ,
    exists,
    forall,
    iff,
    ite,
    same,
    walk,
)
from evenhand.smt.portfolio import Portfolio, shared
from evenhand.smt.prove import prove
from evenhand.smt.proved import ProofStatus
from evenhand.smt.small_models import LIMITS, small, small_model
from evenhand.smt.solvers import Z3, Solver
from evenhand.smt.structure import Structure
from evenhand.smt.theory import Theory
from tests.models.grant import BUNDLE, EVERYBODY, LAST, THEOREM, THEORY, asks, before, granted, least, trusted, x, y, z

THEORIES = {
    "reference": THEORY,
    "everybody": THEORY.redefined([EVERYBODY]),
    "last": THEORY.redefined([LAST]),
    "no order": Theory("bare", THEORY.sorts, THEORY.functions, THEORY.relations, (), THEORY.definitions),
}
CLAIMS = {
    "the theorem is false": Not(THEOREM.formula),
    "nothing": TRUE,
    "the least is nobody": forall([x], differ(x, least())),
    "three": exists([x, y, z], differ(x, y) & differ(y, z) & differ(x, z)),
    "two": exists([x, y], differ(x, y)),
    "the least is granted, another trusted": granted(least()) & exists([x], differ(x, least()) & trusted(x)),
    "the last asks in vain": exists([x], asks(x) & ~granted(x) & forall([y], same(x, y) | before(y, x))),
    "granted are the trusted": forall([x], iff(granted(x), trusted(x))) & exists([x], granted(x)),
    "either": forall([x], ite(same(x, least()), asks(x) & ~trusted(x), ~asks(x) & trusted(x))),
    "a circle": exists([x, y], before(x, y) & before(y, x)),
}


def _every() -> Iterator[Structure]:
    """Yield each structure of two elements."""
    one = ("Agent.0", "Agent.1")
    singles = [frozenset(chosen) for size in range(3) for chosen in itertools.combinations([(e,) for e in one], size)]
    pairs = list(itertools.product(one, repeat=2))
    orders = [frozenset(chosen) for size in range(5) for chosen in itertools.combinations(pairs, size)]
    for first, asking, order, known in itertools.product(one, singles, orders, singles):
        tables = {"asks": asking, "before": order, "trusted": known}
        yield Structure({"Agent": one}, tables, {"least": {(): first}})


@cache
def _there_is_one(theory: str, claim: str) -> bool:
    """Return whether a structure of two elements is a model, by the evaluator, which is independent of solvers."""
    return any(not confirmed(THEORIES[theory], one, CLAIMS[claim]) for one in _every())


def _found(theory: str, claim: str) -> Structure | None:
    return small_model(THEORIES[theory], CLAIMS[claim], shared())[0]


@pytest.mark.parametrize("theory", THEORIES)
def test_a_model_is_found_exactly_where_there_is_one_of_two_elements(theory: str) -> None:
    """The evaluator finds every axiom and the claim true in it."""
    for claim, formula in CLAIMS.items():
        found = _found(theory, claim)
        assert (found is not None) == _there_is_one(theory, claim), claim
        if found is not None:
            assert confirmed(THEORIES[theory], found, formula) == "", claim
            assert found.size == 2 and "granted" not in found.relations and found.functions.keys() == {"least"}
    assert {_there_is_one(theory, claim) for claim in CLAIMS} == {True, False}


def test_without_quantifiers() -> None:
    """No quantifier is left, and each word's definition is stated for each tuple."""
    query = small(THEORIES["everybody"], CLAIMS["the theorem is false"])
    kinds = {type(part) for _, formula in query.assertions for part in walk(formula)}
    assert kinds.isdisjoint({Forall, Exists})
    (meaning,) = [formula for name, formula in query.assertions if name == "word.granted"]
    assert sum(isinstance(part, Iff) for part in walk(meaning)) == 2
    assert not any(name == "word.granted" for name, _ in small(THEORY, CLAIMS["two"]).assertions)


def _unchecked(_self: object, _of: object) -> Formula:
    return TRUE


@pytest.mark.parametrize(
    ("part", "claim"),
    [("total", "the least is nobody"), ("meaning", "the theorem is false"), ("closed", "a circle")],
)
def test_what_is_left_out_would_be_seen(monkeypatch: pytest.MonkeyPatch, part: str, claim: str) -> None:
    """Planted: values outside the elements, words without definition, axioms that are not assumed."""
    assert _found("reference", claim) is None and not _there_is_one("reference", claim)
    monkeypatch.setattr(getattr(module, "_Ground"), part, _unchecked)  # noqa: B009 - it is private there
    query = small(THEORY, CLAIMS[claim])
    assert shared().ask(query, expected="sat", limits=LIMITS).status == "sat"


def _liar(tmp_path: Path) -> Solver:
    """A solver that calls everything unsatisfiable."""
    script = tmp_path / "liar.py"
    answer = '{"status": "unsat", "used": 1}'
    script.write_text(f"import sys\nfor line in sys.stdin:\n    print({answer!r}, flush=True)\n", "utf-8")
    return Solver("liar", "liar", command=(sys.executable, str(script)))


def test_both_are_asked_about_a_refuted_mutant_and_a_contradiction_is_loud(tmp_path: Path) -> None:
    """Planted: the second solver calls a query unsatisfiable although the first has a model of it that replays."""
    query = small(THEORIES["everybody"], Not(THEOREM.formula))
    with Portfolio((Z3, _liar(tmp_path))) as portfolio:
        alone, both = (portfolio.model(query, both=both) for both in (False, True))
    assert [answer.solver for answer in alone.answers] == ["z3"] and alone.status == "sat"
    assert [answer.status for answer in both.answers] == ["sat", "unsat"] and both.status == "disagreement"
    honest = shared().model(query, both=True)
    assert {answer.module for answer in honest.answers} == {"z3", "cvc5"} and honest.status == "sat"


def test_a_witness_of_three_needs_no_larger_query() -> None:
    """Its text has no quantifier; of four it has, because so many are not tried.  Each is a witness all the same."""
    for number, small_enough in ((3, True), (4, False)):
        agents = [x, y, *(Var(f"v{place}", x.sort) for place in range(number - 2))]
        apart = [differ(one, other) for one, other in itertools.combinations(agents, 2)]
        found = prove(replace(THEOREM, witness=exists(agents, conjunction(apart)), mutants=()), bundle=BUNDLE)
        answered = dict(found.queries)["witness"]
        assert answered.model is not None and answered.model.size >= number
        assert ("forall" not in answered.asked and "exists" not in answered.asked) is small_enough


def test_a_mutant_is_refuted_by_a_small_countermodel_unless_that_does_not_replay() -> None:
    """Its text has no quantifier; planted: the model gives no run, and the mutant is not killed."""
    found = prove(THEOREM, bundle=BUNDLE)
    asked = dict(found.queries)
    for killed in found.mutants:
        if killed.mutation.expected == "refuted":
            assert isinstance(killed.outcome, Refutation) and killed.outcome.structure.size == 2
            assert "forall" not in asked[f"mutant.{killed.mutation.mutant.name}"].text
    unmade = prove(replace(THEOREM, realise=_nothing), bundle=BUNDLE)
    assert found.status is ProofStatus.HOLDS and unmade.status is ProofStatus.UNDECIDED
    assert "forall" in dict(unmade.queries)["mutant.everybody"].text


def _nothing(_structure: Structure) -> None:
    return None
