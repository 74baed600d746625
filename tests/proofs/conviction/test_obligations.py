"""The obligations are proved by both solvers, their faults are not, and the model's own steps are what they assume."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from evenhand.model.conviction.protocol import CONVICTION
from evenhand.model.system import Step
from evenhand.proofs.conviction.formulas import evaluate, show, variables
from evenhand.proofs.conviction.link import broken, ticked
from evenhand.proofs.conviction.obligations import OBLIGATIONS, Obligation, Said, decide

NAMED = {one.name: one for one in OBLIGATIONS}


@pytest.mark.parametrize("one", OBLIGATIONS, ids=lambda one: one.name)
def test_both_solvers_prove_it_and_refute_every_fault(one: Obligation) -> None:
    """And its assumptions can be true together."""
    assert decide(one.assumes, one.goal) == Said("unsat", "unsat")
    assert decide(one.assumes, None).status == "sat"
    for name, (which, instead) in one.faults.items():
        assert which in one.assumes, name
        assert decide({**one.assumes, which: instead}, one.goal).status == "sat", name
    assert one.faults


def test_every_assumption_but_signs_of_what_is_free_is_needed() -> None:
    """Without any one of its assumptions the supply would not follow."""
    one = NAMED["supply"]
    for name in one.assumes:
        left = {key: body for key, body in one.assumes.items() if key != name}
        assert decide(left, one.goal).status == "sat", name


def test_formulas_say_the_same_to_solver_and_evaluator() -> None:
    """A text with every operator, printed and evaluated."""
    formula = (
        "and",
        ("<=", 0, "a"),
        ("=", "b", ("+", "a", Fraction(1, 2))),
        ("or", ("not", ("<", "b", "a")), ("=", "a", -3)),
    )
    assert variables(formula) == {"a", "b"}
    assert show(formula) == "(and (<= 0.0 a) (= b (+ a (/ 1 2))) (or (not (< b a)) (= a (- 3.0))))"
    assert evaluate(formula, {"a": 1, "b": Fraction(3, 2)})
    assert not evaluate(formula, {"a": 1, "b": 2})
    assert evaluate(("ite", ("<", "a", 2), ("*", "a", 3), ("-", "a")), {"a": 1}) == 3


def steps(system: Any, limit: int = 1_500) -> Iterator[Step[Any, Any, Any, Any]]:
    """The first steps of a search."""
    for config in system.all_configs():
        todo = list(system.initial(config))
        seen = set(todo)
        while todo and limit > 0:
            state = todo.pop(0)
            for action in system.enabled(config, state):
                limit -= 1
                step = system.take(config, state, action)
                yield step
                if step.after not in seen:
                    seen.add(step.after)
                    todo.append(step.after)


WHERE = (
    CONVICTION.systems["issue"].at(cycles=1, rounds=2, texts=2, budget=2),
    CONVICTION.systems["issue"].at(think=2, texts=0),
    CONVICTION.systems["series"],
    CONVICTION.systems["issue"].at(agents=1, strangers=1, texts=1),
)


def test_steps_of_the_model_are_chains_of_events() -> None:
    """Every step of some thousands, of every kind of event."""
    kinds: set[str] = set()
    for system in WHERE:
        for step in steps(system):
            assert broken(step) == ""
            kinds |= {event.kind for event in step.shown.events}
    assert {"Credit", "Staked", "Withdrawn", "Moved", "Burn", "StakeBurned"} <= kinds


def test_ticks_of_the_model_are_what_the_ranking_assumes() -> None:
    """Those that end a phase and those that do not."""
    found = [said for system in WHERE for step in steps(system) if (said := ticked(step)) is not None]
    assert len(found) > 200
    assert all(found)


@pytest.mark.parametrize(
    "name", ["tap_mints", "add_on_credit", "balances_confiscated", "feedback_free", "silent_agents_hang_a_phase"]
)
def test_a_mutant_breaks_the_link(name: str) -> None:
    """The link can fail: the faulty kernel's steps are no chains, or its ticks no ticks."""
    mutant = next(one for one in CONVICTION.mutants if one.name == name)
    system = replace(CONVICTION.systems[mutant.system].at(**mutant.scope), rules=mutant.rules)
    assert any(broken(step) or ticked(step) is False for step in steps(system))
