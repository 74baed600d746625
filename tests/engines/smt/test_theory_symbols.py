"""A theory has the symbols and sorts that its axioms and definitions use, and those that are named beside them."""

from __future__ import annotations

import pytest

from evenhand.smt.arithmetic import NUMBER, below, number
from evenhand.smt.logic import Function, Relation, Sort, exists, forall
from evenhand.smt.preludes import define
from evenhand.smt.theory import Axiom, Theory

AGENT, KEY = Sort("Agent"), Sort("Key")
a, k = AGENT("a"), KEY("k")
holds, known, spare = Relation("holds", (AGENT, KEY)), Relation("known", (KEY,)), Relation("spare", ())
home, price = Function("home", (AGENT,), KEY), Function("price", (KEY,), NUMBER)
RICH = define("rich", (a,), exists([k], holds(a, k) & below(number(1), price(k))), "")
PRICED = Axiom("homes_are_known", forall([a], known(home(a)) & RICH.relation(a)))


def test_symbols_and_sorts_are_those_in_use() -> None:
    """No words that are defined, no arithmetic; a term's function counts as well as a formula's relation."""
    theory = Theory.of("homes", axioms=(PRICED,), definitions=(RICH,))
    assert set(theory.functions) == {home, price}
    assert set(theory.relations) == {known, holds}
    assert set(theory.sorts) == {AGENT, KEY}
    assert spare in Theory.of("homes", spare, axioms=(PRICED,), definitions=(RICH,)).relations


def test_two_things_of_one_name_are_refused() -> None:
    """As where they are listed: a relation of another domain is another relation."""
    other = Relation("known", (AGENT,))
    with pytest.raises(ValueError, match="two things called 'known'"):
        Theory.of("homes", axioms=(PRICED, Axiom("other", forall([a], other(a)))), definitions=(RICH,))
