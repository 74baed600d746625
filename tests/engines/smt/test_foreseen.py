"""Many queries that one process answers get the answers that each gets by itself."""

from __future__ import annotations

import pytest

from evenhand.smt import portfolio
from evenhand.smt.logic import Formula, Not, Sort, exists, forall
from evenhand.smt.preludes import relations
from evenhand.smt.smtlib import Query
from evenhand.smt.solvers import Z3, SolverLimits
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


def test_what_is_not_answered_is_asked_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that dies over many queries leaves each of them open."""
    with portfolio.Portfolio((Z3,)) as alone:
        with monkeypatch.context() as broken:
            broken.setattr(Worker, "take", _crashed)
            alone.foresee(_queries(), limits=LIMITS)
        alone.close()
        assert [alone.ask(one, expected="sat", limits=LIMITS).status for one in _queries()] == ["sat", "sat", "unsat"]
