"""Many queries that one process answers get the answers that each gets by itself."""

from __future__ import annotations

import pytest

from evenhand.smt import portfolio
from evenhand.smt.child import QUESTIONS
from evenhand.smt.logic import Formula, Not, Sort, exists, forall
from evenhand.smt.preludes import relations
from evenhand.smt.smtlib import Query
from evenhand.smt.solvers import CVC5, Z3, Solver, SolverLimits
from evenhand.smt.theory import Theory
from evenhand.smt.worker import Worker

THING = Sort("Thing")
x = THING("x")
red, round_ = relations("red round_", THING)
LIMITS = SolverLimits(rlimit=2_000_000, timeout_ms=20_000)


def _queries() -> tuple[Query, ...]:
    theory = Theory("things", (THING,), (), (red, round_))
    some: tuple[Formula, ...] = (
        exists([x], red(x)),
        exists([x], red(x) & ~round_(x)),
        forall([x], red(x) & Not(red(x))),
    )
    return tuple(theory.query(("goal", one)) for one in some)


def _crashed(_worker: Worker, _seconds: float) -> dict[str, str]:
    return {"status": "crashed"}


def test_answers_from_one_process_are_those_of_one_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Status, model, core and units are the same, and none is asked for again."""
    with portfolio.Portfolio((Z3,)) as alone, portfolio.Portfolio((Z3,)) as together:
        apart = [alone.ask(one, expected="sat", limits=LIMITS) for one in _queries()]
        together.foresee(_queries(), limits=LIMITS)
        monkeypatch.setattr(portfolio, "Worker", None)
        together.close()
        assert [together.ask(one, expected="sat", limits=LIMITS) for one in _queries()] == apart
    assert [one.status for one in apart] == ["sat", "sat", "unsat"]


def _numbered(count: int) -> tuple[Query, ...]:
    """Queries of differing size, some of which have no model."""
    things = [relations(f"kind{number}", THING)[0] for number in range(count)]
    theory = Theory("things", (THING,), (), tuple(things))
    met = [exists([x], things[number](x)) for number in range(count)]
    none = [forall([x], Not(one(x))) for one in things]
    return tuple(
        theory.query(*((f"met{i}", met[i]) for i in range(number)), ("goal", none[number % 3]))
        for number in range(count)
    )


@pytest.mark.parametrize("solver", [Z3, CVC5], ids=["z3", "cvc5"])
def test_an_answer_does_not_depend_on_those_before(solver: Solver) -> None:
    """A fork answers several queries, each as a process that answers no other; the next fork goes on."""
    queries = _numbered(QUESTIONS + 4)
    with portfolio.Portfolio((solver,)) as one_by_one, portfolio.Portfolio((solver,)) as together:
        apart: list[portfolio.Answered] = []
        for query in queries:
            apart.append(one_by_one.ask(query, expected="unsat", limits=LIMITS))
            one_by_one.close()
        found = [together.ask(query, expected="unsat", limits=LIMITS) for query in queries]
        assert found == apart and len(together.pids()) == 1
    assert {"unsat"} < {one.status for one in found}, "some have a proof, others not"


def test_what_is_not_answered_is_asked_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that dies over many queries leaves each of them open."""
    with portfolio.Portfolio((Z3,)) as alone:
        with monkeypatch.context() as broken:
            broken.setattr(Worker, "take", _crashed)
            alone.foresee(_queries(), limits=LIMITS)
        alone.close()
        assert [alone.ask(one, expected="sat", limits=LIMITS).status for one in _queries()] == ["sat", "sat", "unsat"]
