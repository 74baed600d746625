"""Numbers in formulas keep their value when printed, evaluated and read back; undecidable formulas are refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import pytest

from evenhand.smt import arithmetic, structure
from evenhand.smt.arithmetic import (
    NUMBER,
    at_least,
    at_most,
    below,
    element,
    is_element,
    minus,
    number,
    plus,
    times,
    zero,
)
from evenhand.smt.fragment import fragment
from evenhand.smt.logic import TRUE, Formula, Function, Relation, Sort, differ, exists, forall, same
from evenhand.smt.portfolio import Portfolio
from evenhand.smt.smtlib import Query, show, text
from evenhand.smt.structure import BadStructure, Reader, Structure

AGENT = Sort("Agent")
a, b = AGENT("a"), AGENT("b")
have = Function("have", (AGENT,), NUMBER)
all_have = Function("all_have", (), NUMBER)


def asked(*formulas: Formula) -> Query:
    """Return a query about one sort of elements with numbers."""
    named = tuple((f"f{place}", formula) for place, formula in enumerate(formulas))
    return Query((AGENT,), (have, all_have), (), named)


def test_formulas_are_printed_as_smt_lib_has_them() -> None:
    """Signs, fractions and every operator."""
    formula = below(minus(times(have(a), number(-2)), number(Fraction(1, 3))), plus(have(b), number(4)))
    assert show(formula) == "(< (- (* (have a) (- 2.0)) (/ 1.0 3.0)) (+ (have b) 4.0))"
    assert "(declare-fun have (Agent) Real)" in text(asked(zero(all_have())))


@pytest.mark.parametrize(
    ("formula", "logic"),
    [
        (zero(times(number(3), all_have())), "UFLRA"),
        (zero(times(all_have(), all_have())), "UFNRA"),
        (exists([a], differ(a, a)), "UFLRA"),
    ],
)
def test_the_logic_is_the_smallest(formula: Formula, logic: str) -> None:
    """Products of two unknowns make it nonlinear; a query without numbers or quantifiers says so."""
    assert f"(set-logic {logic})" in text(asked(formula))
    assert "(set-logic UF)" in text(Query((AGENT,), (), (), (("f", exists([a], differ(a, a))),)))
    some = Function("some", (), AGENT)
    assert "(set-logic QF_UF)" in text(Query((AGENT,), (some,), (), (("f", differ(some(), some())),)))
    both = (("g", TRUE), ("f", ~exists([a], differ(a, some()))))
    assert "(set-logic UF)" in text(Query((AGENT,), (some,), (), both))


def test_solvers_and_evaluator_agree_on_numbers() -> None:
    """Each solver's model, read back, makes the formulas true; the solvers' numbers are exact."""
    formulas = (
        exists([a, b], differ(a, b) & below(have(a), have(b)) & same(all_have(), plus(have(a), have(b)))),
        forall([a], at_least(have(a), number(Fraction(1, 3)))),
        at_most(times(all_have(), all_have()), number(2)),
    )
    with Portfolio() as solvers:
        answered = solvers.ask(asked(*formulas), expected="sat")
    assert answered.status == "sat"
    models = [answer.model for answer in answered.answers if answer.model is not None]
    assert len(models) == 2
    for model in models:
        assert all(Reader().holds(formula, model) for formula in formulas)


def test_both_prove_what_is_true_of_all_numbers() -> None:
    """The sum of two non-negative numbers is no less than either."""
    formulas = (
        forall([a], at_least(have(a), number(0))),
        exists([a, b], below(plus(have(a), have(b)), have(a))),
    )
    with Portfolio() as solvers:
        answered = solvers.ask(asked(*formulas), expected="unsat")
    assert [answer.status for answer in answered.answers] == ["unsat", "unsat"]
    assert "linear real arithmetic" in str(fragment(asked(*formulas)))


def test_a_printer_that_turns_a_difference_round_is_contradicted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted fault: `-` evaluated with its arguments exchanged."""
    formula = below(number(0), minus(all_have(), number(3)))
    model = Structure({"Agent": ("Agent.0",)}, {}, {"all_have": {(): "5"}, "have": {("Agent.0",): "0"}})
    assert Reader().holds(formula, model)
    usual = arithmetic.calculated

    def swapped(name: str) -> Callable[[Sequence[str]], str] | None:
        found = usual(name)
        if found is None or name != "number.minus":
            return found
        return lambda two: found([two[1], two[0]])

    monkeypatch.setattr(structure, "calculated", swapped)
    assert not Reader().holds(formula, model)


def test_an_irrational_model_is_no_model() -> None:
    """Only rational numbers are elements: if every model is irrational, the result is unknown."""
    with Portfolio() as solvers:
        answered = solvers.ask(asked(same(times(all_have(), all_have()), number(2))), expected="sat")
    assert answered.status == "unknown"


def test_numbers_are_written_in_one_way() -> None:
    """Equal numbers must be equal texts, or equality would be wrong."""
    assert element(Fraction(4, 2)) == "2" and element(Fraction(-1, 2)) == "-1/2"
    assert is_element("3/2") and not any(map(is_element, ("6/4", "1.5", "x", "1/0", None)))
    broken = Structure({"Agent": ("Agent.0",)}, {}, {"all_have": {(): "6/4"}, "have": {("Agent.0",): "0"}})
    with pytest.raises(BadStructure, match="all_have"):
        broken.checked((AGENT,), (have, all_have), ())


def test_what_cannot_be_decided_is_refused() -> None:
    """No quantifier over numbers, no function or relation of a theory with numbers as arguments."""
    with pytest.raises(ValueError, match="quantifies over numbers"):
        text(asked(exists([NUMBER("x")], zero(NUMBER("x")))))
    with pytest.raises(ValueError, match="takes numbers"):
        text(Query((AGENT,), (Function("of", (NUMBER,), AGENT),), (), ()))
    with pytest.raises(ValueError, match="takes numbers"):
        text(Query((AGENT,), (), (Relation("big", (NUMBER,)),), ()))
