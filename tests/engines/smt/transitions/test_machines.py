"""Transition systems with known answers: one to strengthen, one that is 3-inductive, one that starves."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from evenhand.core.lookup import UnknownName
from evenhand.smt.arithmetic import at_most, number, plus
from evenhand.smt.logic import (
    FALSE,
    TRUE,
    Formula,
    Function,
    Relation,
    Sort,
    Term,
    conjunction,
    differ,
    exists,
    forall,
    iff,
    ite,
    same,
    variables,
)
from evenhand.smt.portfolio import Answered, Portfolio
from evenhand.smt.preludes import numbers
from evenhand.smt.rewriting import symbols
from evenhand.smt.smtlib import Query
from evenhand.smt.structure import Reader
from evenhand.smt.tables import structure
from evenhand.smt.theory import Axiom, Theory
from evenhand.smt.transitions.induction import induct
from evenhand.smt.transitions.machine import Machine, Turn, after
from evenhand.smt.transitions.runs import lasso, reach

AGENT = Sort("Agent")
x, y = variables(AGENT, "x y")
held, idle = Relation("held", (AGENT,)), Relation("idle", ())
who = Function("who", (), AGENT)
IDLE = idle()
GRAB = IDLE & ~after(idle)() & forall([x], iff(after(held)(x), held(x) | same(x, who())))
RELEASE = held(who()) & after(idle)() & forall([x], iff(after(held)(x), held(x) & differ(x, who())))
ONE_HOLDS = forall([x, y], (held(x) & held(y)) >> same(x, y))
IDLE_IS_FREE = forall([x], IDLE >> ~held(x))


def lock(*ways: Formula) -> Machine:
    """Return a lock that any number of agents grab and release; `ways` replaces these two actions."""
    step = ways[0] if ways else GRAB | RELEASE
    for way in ways[1:]:
        step = step | way
    return Machine(
        theory=Theory("lock", (AGENT,), (who,), (held, idle)),
        state=("held", "idle"),
        inputs=("who",),
        init=IDLE & forall([x], ~held(x)),
        step=step,
    )


BITS = tuple(Relation(name, ()) for name in ("first", "second", "third"))
first, second, third = BITS
SHIFT = Machine(
    theory=Theory("shift", (), (), BITS),
    state=("first", "second", "third"),
    init=conjunction(~bit() for bit in BITS),
    step=~after(first)() & iff(after(second)(), first()) & iff(after(third)(), second()),
)
"""The bit in the first place moves on and leaves after the third; no bit enters."""

waits = Relation("waits", (AGENT,))
victim = Function("victim", (), AGENT)
SERVICE = Machine(
    theory=Theory("service", (AGENT,), (who, victim), (waits,)),
    state=("waits",),
    inputs=("who",),
    init=forall([x], waits(x)),
    step=forall([x], iff(after(waits)(x), waits(x) & differ(x, who()))),
)
"""All agents wait until served, one at a time."""
SERVED = same(who(), victim())


@pytest.fixture(scope="module")
def portfolio() -> Any:
    """Return solvers for this module."""
    with Portfolio() as solvers:
        yield solvers


class Asked:
    """A portfolio that keeps its queries."""

    def __init__(self, portfolio: Portfolio) -> None:
        self.portfolio = portfolio
        self.answers: dict[str, Answered] = {}

    def __call__(self, name: str, query: Query, expected: Any) -> Answered:
        """Ask one query."""
        assert name not in self.answers, f"{name} is asked twice"
        answered = self.answers[name] = self.portfolio.ask(query, expected=expected)
        return answered


def test_a_correct_lock_needs_its_lemma(portfolio: Portfolio) -> None:
    """Alone the claim is not inductive, and two states show the reason; with the lemma both solvers prove it."""
    machine = lock()
    alone = induct(machine, ONE_HOLDS, Asked(portfolio))
    assert alone.status == "open" and alone.run is not None and len(alone.run.states) == 2
    before, later = alone.run.states
    reader = Reader()
    assert reader.holds(ONE_HOLDS, before) and not reader.holds(ONE_HOLDS, later)
    assert not reader.holds(IDLE_IS_FREE, before), "only a state that no run reaches leads out of the claim"
    assert reader.holds(machine.step, before)
    together = induct(machine, ONE_HOLDS & IDLE_IS_FREE, Asked(portfolio))
    assert together.status == "proved"
    for answered in (*together.base, *together.step):
        assert [answer.status for answer in answered.answers] == ["unsat", "unsat"]


def test_a_faulty_lock_is_refuted_by_the_shortest_run(portfolio: Portfolio) -> None:
    """An agent grabs without checking: after two steps from the start two agents hold the lock."""
    careless = ~after(idle)() & forall([x], iff(after(held)(x), held(x) | same(x, who())))
    machine = lock(careless, RELEASE)
    assert induct(machine, ONE_HOLDS, Asked(portfolio), depth=3).status == "refuted"
    found = reach(machine, exists([x, y], held(x) & held(y) & differ(x, y)), 4, Asked(portfolio))
    assert found.run is not None and found.run.steps == 2
    assert machine.false_in(found.run.states, initial=True) == ""
    assert [len(state.relations["held"]) for state in found.run.states] == [0, 1, 2]


def test_k_induction_needs_exactly_three(portfolio: Portfolio) -> None:
    """A bit that leaves the third place was in the first one two steps before, and no bit enters there."""
    for depth in (1, 2):
        assert induct(SHIFT, ~third(), Asked(portfolio), depth=depth).status == "open"
    assert induct(SHIFT, ~third(), Asked(portfolio), depth=3).status == "proved"
    with pytest.raises(ValueError, match="at least 1"):
        induct(SHIFT, ~third(), Asked(portfolio), depth=0)


def test_a_claim_about_steps(portfolio: Portfolio) -> None:
    """A claim may be about a step: an agent that releases holds the lock."""
    machine = lock()
    assert machine.span(ONE_HOLDS) == 0 and machine.span(held(who())) == 1 and machine.span(after(idle)()) == 1
    releases = after(idle)() & ~IDLE
    assert induct(machine, releases >> held(who()), Asked(portfolio)).status == "proved"
    assert induct(machine, releases >> ~held(who()), Asked(portfolio)).status == "open"


def test_a_lasso_starves_somebody_unless_fair(portfolio: Portfolio) -> None:
    """The scheduler serves another agent for ever; if it must serve the victim now and then, no such loop exists."""
    found = lasso(SERVICE, SERVED, 3, Asked(portfolio), trigger=waits(victim()))
    assert found.run is not None and found.run.loop is not None
    loop = found.run.states[found.run.loop]
    assert loop.relations == {**loop.relations, "waits": found.run.states[-1].relations["waits"]}
    assert all(not Reader().holds(SERVED, state) for state in found.run.states[:-1])
    fair = lasso(SERVICE, SERVED, 3, Asked(portfolio), trigger=waits(victim()), fair=(SERVED,))
    assert fair.run is None and not fair.because and len(fair.answers) == 3


def test_a_terminating_machine_has_no_lasso(portfolio: Portfolio) -> None:
    """Every step moves on, so no state recurs: the query for two steps that must differ in one bit is unsatisfiable."""
    once = Machine(
        theory=Theory("once", (), (), (first,)), state=("first",), init=~first(), step=~first() & after(first)()
    )
    assert lasso(once, FALSE, 3, Asked(portfolio)).run is None


def test_an_unrolling_that_forgets_to_move_on_is_contradicted(
    portfolio: Portfolio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted fault: `after` refers to the same moment, so the evaluator rejects the solver's runs."""
    honest = Machine.at

    def stuck(self: Machine, formula: Formula, moment: int) -> Formula:
        return honest(self, formula, 0 if formula is self.step else moment)

    monkeypatch.setattr(Machine, "at", stuck)
    found = reach(lock(), exists([x, y], held(x) & held(y) & differ(x, y)), 3, Asked(portfolio))
    assert found.run is None and "the evaluator contradicts the solver's run" in found.because


def test_a_loop_that_does_not_close_is_contradicted(portfolio: Portfolio, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted fault: any two states count as the same."""

    def alike(_self: Machine, _one: int, _other: int) -> Formula:
        return TRUE

    monkeypatch.setattr(Machine, "same", alike)
    once = Machine(theory=Theory("two", (), (), BITS), state=("first",), init=~first(), step=~first() & after(first)())
    found = lasso(once, FALSE, 2, Asked(portfolio))
    assert found.run is None and "no loop of it fits" in found.because


def test_axioms_are_assumed_of_steps_and_not_of_the_last_state(portfolio: Portfolio) -> None:
    """An axiom about a state must not assume the goal."""
    wish = Axiom("wish", ~third())
    machine = Machine(
        theory=Theory("wishful", (), (), BITS, (wish,)),
        state=("first", "second", "third"),
        init=SHIFT.init,
        step=after(third)(),
    )
    assert induct(machine, ~third(), Asked(portfolio)).status == "open"


def test_a_machine_says_what_is_wrong_with_it() -> None:
    """Names that the theory lacks, an initial state with inputs, a next of a step."""
    with pytest.raises(UnknownName, match="nobody"):
        Machine(theory=SHIFT.theory, state=("nobody",), init=TRUE, step=TRUE)
    with pytest.raises(ValueError, match="init speaks of inputs"):
        Machine(theory=lock().theory, state=("held",), inputs=("who",), init=held(who()), step=TRUE)
    with pytest.raises(ValueError, match="only a formula about a state"):
        lock().next(held(who()))
    assert symbols(lock().next(ONE_HOLDS)) == {"held.after"}
    assert SHIFT.false_in((), initial=False) == ""


def test_turns_keep_what_they_do_not_change() -> None:
    taken, count = Relation("taken", (AGENT,)), numbers("count")[0]

    def fewer(then: Term) -> Formula:
        return at_most(then, count())

    grabs = Turn(idle(), {taken: (same(x, who()), TRUE), idle: FALSE, count: plus(count(), number(1))})
    frees = Turn(TRUE, {taken: taken(x) & differ(x, who()), count: fewer}, taken(who()))
    machine = Machine.of("turns", (taken(x), idle(), count()), grabs, frees, init=idle(), usual={idle: TRUE})
    assert (machine.state, machine.inputs) == (("taken", "idle", "count"), ("who",))
    by_hand = ite(
        idle(),
        forall([x], ite(same(x, who()), iff(after(taken)(x), TRUE), iff(after(taken)(x), taken(x))))
        & iff(after(idle)(), FALSE)
        & same(after(count)(), plus(count(), number(1))),
        ite(
            TRUE,
            taken(who())
            & forall([x], iff(after(taken)(x), taken(x) & differ(x, who())))
            & iff(after(idle)(), TRUE)
            & at_most(after(count)(), count()),
            forall([x], iff(after(taken)(x), taken(x))) & iff(after(idle)(), TRUE) & same(after(count)(), count()),
        ),
    )
    universe = {"Agent": ("a", "b")}
    rows = [(), ("a",), ("b",), ("a", "b")]
    for free, then_free, one, two, old, new in product((False, True), (False, True), rows, rows, (0, 1), (0, 1)):
        told = {"idle": free, "idle.after": then_free, "taken": one, "taken.after": two, "who": "a"}
        shape = structure(universe, {**told, "count": old, "count.after": new})
        assert Reader().holds(machine.step, shape) == Reader().holds(by_hand, shape)


def test_a_turn_changes_the_state_alone_and_all_of_a_symbol() -> None:
    with pytest.raises(ValueError, match="changes held, which is no symbol of the state"):
        Machine.of("stray", (idle(),), Turn(TRUE, {held: held(x)}), init=TRUE)
    for atom in (held(who()), Relation("near", (AGENT, AGENT))(x, x)):
        with pytest.raises(ValueError, match="is of variables, each once"):
            Machine.of("partly", (atom,), init=TRUE)


def test_fixed_symbols_are_no_inputs() -> None:
    machine = Machine.of("fixed", (held(x),), Turn(idle(), {held: FALSE}), init=TRUE, fixed=(idle,), more=(who,))
    assert (machine.inputs, set(machine.theory.symbols)) == (("who",), {"who", "held", "idle"})
