"""The logic and its readers compared with each other, and the solvers in their processes."""

from __future__ import annotations

import itertools
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evenhand.smt import smtlib
from evenhand.smt.fragment import fragment
from evenhand.smt.logic import (
    FALSE,
    TRUE,
    Definition,
    Formula,
    Function,
    IllSorted,
    Relation,
    Sort,
    Var,
    differ,
    exists,
    forall,
    iff,
    ite,
    same,
    variables,
)
from evenhand.smt.memo import Cache
from evenhand.smt.portfolio import NoSolver, Portfolio
from evenhand.smt.rewriting import expand
from evenhand.smt.smtlib import Query, text
from evenhand.smt.solvers import Z3, Solver, SolverLimits
from evenhand.smt.structure import BadStructure, Reader, Structure

AGENT, KEY = Sort("Agent"), Sort("Key")
x, y, z = variables(AGENT, "x y z")
k = KEY("k")
before = Relation("before", (AGENT, AGENT))
red = Relation("red", (AGENT,))
owner = Function("owner", (KEY,), AGENT)
boss = Function("boss", (), AGENT)

FORMULAS: tuple[Formula, ...] = (
    TRUE,
    FALSE,
    red(boss()),
    forall([x], red(x) >> before(boss(), x)),
    exists([x, y], before(x, y) & ~before(y, x) & differ(x, y)),
    forall([x], exists([k], same(owner(k), x))),
    iff(exists([x], red(x)), forall([x], red(x) | before(x, boss()))),
    forall([x], ite(red(x), before(x, x), ~before(x, boss()))),
    exists([x], red(x) & forall([y], before(x, y) >> exists([x], before(y, x) & red(x)))),
)


def structures() -> list[Structure]:
    """Yield some structures of two agents and two keys, varying every relation and function."""
    agents, keys = ("a", "b"), ("k", "l")
    pairs = list(itertools.product(agents, agents))
    found: list[Structure] = []
    for number in range(0, 2**4, 3):
        order = frozenset(pair for i, pair in enumerate(pairs) if number >> i & 1)
        for reds in (frozenset[tuple[str, ...]](), frozenset({("a",)}), frozenset({("a",), ("b",)})):
            for owners in itertools.product(agents, repeat=2):
                owned: dict[tuple[str, ...], str] = {(key,): who for key, who in zip(keys, owners, strict=True)}
                found.append(
                    Structure(
                        {"Agent": agents, "Key": keys},
                        {"before": order, "red": reds},
                        {"owner": owned, "boss": {(): "b"}},
                    )
                )
    return found


def query(*formulas: Formula) -> Query:
    """Return a query of all symbols."""
    return Query(
        (AGENT, KEY), (owner, boss), (before, red), tuple((f"a{i}", formula) for i, formula in enumerate(formulas))
    )


def diagram(structure: Structure) -> list[Formula]:
    """Return formulas that only this structure satisfies, up to names: its elements as existential variables."""
    agents = {e: AGENT(e) for e in structure.universe["Agent"]}
    keys = {e: KEY(e) for e in structure.universe["Key"]}
    facts: list[Formula] = [differ(agents["a"], agents["b"]), differ(keys["k"], keys["l"])]
    facts.append(forall([x], same(x, agents["a"]) | same(x, agents["b"])))
    facts.append(forall([Var("m", KEY)], same(Var("m", KEY), keys["k"]) | same(Var("m", KEY), keys["l"])))
    for one, two in itertools.product(agents, agents):
        said = before(agents[one], agents[two])
        facts.append(said if (one, two) in structure.relations["before"] else ~said)
    for one in agents:
        said = red(agents[one])
        facts.append(said if (one,) in structure.relations["red"] else ~said)
    facts += [same(owner(keys[e]), agents[structure.functions["owner"][(e,)]]) for e in keys]
    facts.append(same(boss(), agents[structure.functions["boss"][()]]))
    return [exists([*agents.values(), *keys.values()], _all(facts))]


def _all(facts: list[Formula]) -> Formula:
    found = TRUE
    for fact in facts:
        found = found & fact
    return found


@pytest.fixture(scope="module")
def solvers() -> Portfolio:
    """Return one solver for the tests that need only one."""
    return Portfolio((Z3,))


def test_a_formula_is_no_truth_value() -> None:
    """`if`, `and` and `==` on formulas are mistakes, and raise."""
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(red(x))
    with pytest.raises(TypeError):
        _ = red(x) and red(y)
    with pytest.raises(IllSorted, match="a formula is wanted"):
        _ = ~red(x) & (x == y)  # type: ignore[operator]


def test_ill_sorted_terms_are_refused() -> None:
    """Messages for wrong sorts, loose variables and reserved names."""
    with pytest.raises(IllSorted, match=r"before takes \(Agent, Agent\), not \(Agent, Key\)"):
        before(x, k)
    with pytest.raises(IllSorted, match="can never be equal"):
        same(x, k)
    with pytest.raises(IllSorted, match="leaves y free"):
        Definition(red, (x,), before(x, y))
    with pytest.raises(ValueError, match="cannot name a symbol"):
        Sort("let")


def test_expansion_captures_nothing() -> None:
    """A macro with a bound variable named like its argument keeps its meaning when expanded."""
    tops = Relation("tops", (AGENT,))
    definition = Definition(tops, (x,), forall([y], same(x, y) | before(y, x)))
    expanded = expand(exists([y], tops(y)), {"tops": definition})
    reader, defined = Reader(), Reader({"tops": definition})
    values = {(reader.holds(expanded, s), defined.holds(exists([y], tops(y)), s)) for s in structures()}
    assert values == {(True, True), (False, False)}


def test_circular_definitions_are_refused() -> None:
    """A word may not be defined by itself."""
    loop = Definition(red, (x,), exists([y], red(y) & before(x, y)))
    with pytest.raises(ValueError, match="leads back to itself"):
        expand(red(boss()), {"red": loop})


@pytest.mark.parametrize("number", range(len(FORMULAS)))
def test_solver_and_evaluator_agree(number: int, solvers: Portfolio) -> None:
    """Printer and solver against the evaluator: the formula on structures fixed by their diagram."""
    formula, reader = FORMULAS[number], Reader()
    for structure in structures()[number::9]:
        answered = solvers.ask(query(*diagram(structure), formula), expected="sat")
        assert answered.status == ("sat" if reader.holds(formula, structure) else "unsat")


def test_a_printer_that_swaps_arguments_disagrees(solvers: Portfolio, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted fault: the evaluator finds the solver's model of a swapped text wrong."""
    honest: Callable[[str, list[str]], str] = getattr(smtlib, "_apply")  # noqa: B009 - the fault is planted inside

    def swapping(head: str, parts: list[str]) -> str:
        return honest(head, parts[::-1] if head == "r0" else parts)  # the solvers' name of `before`

    monkeypatch.setattr(smtlib, "_apply", swapping)
    monkeypatch.setattr(smtlib, "_PRINTED", Cache[Any]())  # texts printed earlier are correct
    first = exists([x], forall([y], before(x, y) & (same(x, y) | ~before(y, x))))
    swapped = Query((AGENT,), (), (before,), (("one", first),))
    more = (("two", exists([x, y], differ(x, y))),)
    answered = solvers.ask(Query(swapped.sorts, (), swapped.relations, swapped.assertions + more), expected="sat")
    assert answered.status == "sat" and answered.model is not None
    assert not Reader().holds(swapped.assertions[0][1], answered.model)


def test_observed_words_take_the_place_of_definitions() -> None:
    """A structure's value of a word takes precedence over its definition."""
    top = Definition(red, (x,), FALSE)
    structure = Structure({"Agent": ("a",)}, {"red": frozenset({("a",)})}, {})
    assert Reader({"red": top}).holds(exists([x], red(x)), structure)
    assert not Reader({"red": top}).holds(exists([x], red(x)), structure.without(["red"]))


def test_bad_structures_say_what_is_wrong() -> None:
    """Empty sorts, partial functions, missing relations."""
    with pytest.raises(BadStructure, match="sort Agent is empty"):
        Structure({"Agent": ()}).checked((AGENT,), (), ())
    with pytest.raises(BadStructure, match=r"owner\('k',\) is no element of Agent"):
        Structure({"Agent": ("a",), "Key": ("k",)}, {}, {"owner": {}}).checked((AGENT, KEY), (owner,), ())
    with pytest.raises(BadStructure, match="relation red is missing"):
        Reader().holds(red(boss()), Structure({"Agent": ("a",)}, {}, {"boss": {(): "a"}}))


def test_text_is_deterministic_and_has_no_free_variables() -> None:
    """The same query is the same text, closed."""
    assert text(query(*FORMULAS)) == text(query(*FORMULAS))
    assert text(query(red(boss()))).splitlines()[-2] == "(assert (! (red boss) :named a0))"
    with pytest.raises(ValueError, match="leaves x free"):
        text(query(red(x)))


def test_stratification() -> None:
    """With an order of the sorts, or with a cycle and its origin."""
    down = fragment(query(forall([k], red(owner(k)))))
    assert down.decidable and "Key > Agent" in down.because
    cycle = fragment(query(forall([x], exists([k], same(owner(k), x)))))
    assert not cycle.decidable
    assert "Agent -> Key" in cycle.because and "function owner" in cycle.because
    assert fragment(query(~forall([x], exists([k], same(owner(k), x))))).decidable
    itself = fragment(query(forall([x], exists([y], before(x, y)))))
    assert str(itself).startswith("decidable fragment: no, because a sort feeds itself: Agent -> Agent")


def test_both_solvers_answer_with_core_and_model() -> None:
    """Models satisfy the query, cores omit unused formulas."""
    with Portfolio() as portfolio:
        sat = portfolio.ask(query(exists([x], red(x) & differ(x, boss()))), expected="sat")
        unsat = portfolio.ask(query(forall([x], red(x)), exists([x], before(x, x)), ~red(boss())), expected="unsat")
    assert [answer.status for answer in sat.answers] == ["sat", "sat"]
    for answer in sat.answers:
        assert answer.model is not None and Reader().holds(exists([x], red(x) & differ(x, boss())), answer.model)
    assert unsat.status == "unsat" and {answer.core for answer in unsat.answers} == {("a0", "a2")}


def test_no_solver_is_an_error_of_its_own() -> None:
    """No installed solver is an error; one of two missing is not."""
    nobody = Portfolio((Solver("z3", "no_such_solver"), Solver("cvc5", "nor_this_one")))
    with nobody, pytest.raises(NoSolver, match="pip install z3-solver"):
        nobody.ask(query(TRUE), expected="sat")
    with Portfolio((Solver("none", "no_such_solver"), Z3)) as portfolio:
        assert portfolio.ask(query(TRUE), expected="sat").status == "sat"


def fake(tmp_path: Path, body: str) -> Solver:
    """Return a solver that reads a line and runs `body`."""
    script = tmp_path / "fake.py"
    script.write_text(f"import sys, os, time\nfor line in sys.stdin:\n    {body}\n", "utf-8")
    return Solver("fake", "fake", command=(sys.executable, str(script)))


def test_contradiction_is_its_own_status(tmp_path: Path) -> None:
    """A solver that says unsat about a query with a model causes a disagreement, no majority."""
    liar = fake(tmp_path, """print('{"status": "unsat", "core": []}', flush=True)""")
    with Portfolio((Z3, liar)) as portfolio:
        assert portfolio.ask(query(TRUE), expected="sat").status == "disagreement"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("os.kill(os.getpid(), 9)", "signal 9"),
        ("time.sleep(60)", "no answer within 1.2 s of wall clock"),
        ("print('sat', flush=True)", "an invalid answer"),
        ("""print('{"status": "sat", "model": {}}', flush=True)""", "cannot be read"),
    ],
)
def test_a_broken_solver_is_unknown(tmp_path: Path, body: str, why: str) -> None:
    """It crashes, hangs, or prints nonsense: unknown, with the reason."""
    with Portfolio((fake(tmp_path, body),)) as portfolio:
        answered = portfolio.ask(query(TRUE), expected="sat", limits=SolverLimits(timeout_ms=200))
        assert answered.status == "unknown" and why in answered.because


def test_a_solver_killed_in_mid_run_is_unknown_and_comes_back() -> None:
    """Pigeons in holes keep a solver busy; its process is killed meanwhile."""
    pigeons = [AGENT(f"p{i}") for i in range(14)]
    apart = _all([differ(one, two) for one, two in itertools.combinations(pigeons, 2)])
    holes = [AGENT(f"h{i}") for i in range(13)]
    few = exists(holes, forall([x], FALSE | _any([same(x, hole) for hole in holes])))
    with Portfolio((Z3,)) as portfolio:
        assert portfolio.ask(query(TRUE), expected="sat").status == "sat"
        killer = threading.Thread(target=_kill_soon, args=(portfolio,))
        killer.start()
        limits = SolverLimits(10**9, 15_000)
        answered = portfolio.ask(query(exists(pigeons, apart), few), expected="unsat", limits=limits)
        killer.join()
        assert answered.status == "unknown" and "signal" in answered.because
        assert portfolio.ask(query(FALSE), expected="unsat").status == "unsat"


@pytest.mark.skipif(sys.platform == "win32", reason="no limit of CPU time there")
def test_a_query_has_so_much_cpu_and_no_more() -> None:
    """A busy solver is stopped by its own CPU clock, which is independent of the load; the next query is answered."""
    pigeons = [AGENT(f"p{i}") for i in range(14)]
    apart = _all([differ(one, two) for one, two in itertools.combinations(pigeons, 2)])
    holes = [AGENT(f"h{i}") for i in range(13)]
    few = exists(holes, forall([x], FALSE | _any([same(x, hole) for hole in holes])))
    with Portfolio((Z3,)) as portfolio:
        asked = query(exists(pigeons, apart), few)
        answered = portfolio.ask(asked, expected="unsat", limits=SolverLimits(10**9, 1_000))
        assert (answered.status, answered.because) == ("unknown", "z3: unknown (no answer within 1 s of CPU)")
        assert portfolio.ask(query(FALSE), expected="unsat").status == "unsat"


def _any(parts: list[Formula]) -> Formula:
    found = FALSE
    for part in parts:
        found = found | part
    return found


def _kill_soon(portfolio: Portfolio) -> None:
    time.sleep(0.4)
    for pid in portfolio.pids():
        os.kill(pid, signal.SIGKILL)


def test_answers_repeat() -> None:
    """Earlier queries and other processes change nothing."""
    asked = query(exists([x, y], before(x, y) & differ(x, y)), forall([k], red(owner(k))))
    with Portfolio() as one, Portfolio() as other:
        first = one.ask(asked, expected="sat")
        one.ask(query(FALSE), expected="unsat")
        other.ask(query(forall([x], red(x))), expected="sat")
        assert one.ask(asked, expected="sat") == first == other.ask(asked, expected="sat")


def tells(tmp_path: Path, answer: str) -> tuple[Solver, Callable[[], list[int]]]:
    """Return a solver that always gives `answer`, and the resource limits of its queries so far."""
    kept = tmp_path / "asked"
    note = f"import json; open({str(kept)!r}, 'a').write(str(json.loads(line)['rlimit']) + ' ')"
    return fake(tmp_path, f"{note}; print({answer!r}, flush=True)"), lambda: [int(n) for n in kept.read_text().split()]


def test_where_nobody_knows_what_to_expect_proofs_are_tried_before_the_hunt_for_models() -> None:
    """First a small share, then the solvers that find proofs or models; each solver proves it exactly once."""
    pigeons, holes = ([AGENT(f"{kind}{i}") for i in range(n)] for kind, n in (("p", 7), ("h", 6)))
    apart = _all([differ(one, two) for one, two in itertools.combinations(pigeons, 2)])
    few = exists(holes, forall([x], FALSE | _any([same(x, hole) for hole in holes])))
    with Portfolio() as portfolio:
        easy = portfolio.ask(query(TRUE), expected="either")
        hard = portfolio.ask(query(exists(pigeons, apart), few), expected="either", limits=SolverLimits(2_000_000))
    assert (easy.status, len(easy.answers)) == ("sat", 2)
    assert sorted(answer.module for answer in hard.answers if answer.status == "unsat") == ["cvc5", "z3"]


CUT = '{"status": "unknown", "because": "canceled", "used": 9, "cut": true}'


def test_who_finds_no_model_soon_is_asked_with_more_only_if_nobody_does(tmp_path: Path) -> None:
    """A model is replayed afterwards, so one solver's is enough; the full limit decides."""
    slow, limits = tells(tmp_path, CUT)
    with Portfolio((Z3, slow)) as both:
        assert both.ask(query(TRUE), expected="sat", limits=SolverLimits(6400)).status == "sat"
        assert limits() == [100]
    with Portfolio((slow,)) as alone:
        assert alone.ask(query(TRUE), expected="sat", limits=SolverLimits(6400)).status == "unknown"
    assert limits() == [100, 100, 800, 6400]


def test_a_proof_is_given_all_its_time_by_every_solver(tmp_path: Path) -> None:
    """Proofs are not re-checked, so a second opinion is worth its cost."""
    slow, limits = tells(tmp_path, CUT)
    with Portfolio((Z3, slow)) as both:
        assert both.ask(query(FALSE), expected="unsat", limits=SolverLimits(6400)).status == "unsat"
    assert limits() == [6400]


def test_who_is_at_a_loss_is_not_asked_again(tmp_path: Path) -> None:
    """More units help only where units were short."""
    lost, limits = tells(tmp_path, '{"status": "unknown", "because": "incomplete", "used": 9, "cut": false}')
    with Portfolio((lost,)) as alone:
        assert alone.ask(query(TRUE), expected="sat", limits=SolverLimits(6400)).status == "unknown"
    assert limits() == [100]


def test_a_text_is_asked_once_but_for_what_befell_a_process(tmp_path: Path) -> None:
    """Under the same limits; other limits are another query, and a crash is no answer."""
    sure, limits = tells(tmp_path, '{"status": "unsat", "core": [], "used": 1, "seconds": 1.5}')
    with Portfolio((sure,)) as alone:
        asked = [alone.ask(query(FALSE), expected="unsat", limits=SolverLimits(bound)) for bound in (64, 64, 128)]
    assert [one.status for one in asked] == ["unsat"] * 3
    assert limits() == [64, 128]
    assert [one.answers[0].seconds for one in asked] == [1.5, 0.0, 1.5]  # a query that is not asked takes no time
    broken = tmp_path / "broken"
    broken.mkdir()
    crashing, limits = tells(broken, '{"status": "crashed", "because": "it fell over"}')
    with Portfolio((crashing,)) as alone:
        for _ in range(2):
            assert "it fell over" in alone.ask(query(FALSE), expected="unsat", limits=SolverLimits(64)).because
    assert limits() == [64, 64]


def test_a_real_solver_says_that_its_units_came_to_an_end() -> None:
    """z3 and cvc5 in both modes, on pigeons and holes; neither says so when it simply does not know."""
    pigeons, holes = ([AGENT(f"{kind}{i}") for i in range(n)] for kind, n in (("p", 9), ("h", 8)))
    apart = _all([differ(one, two) for one, two in itertools.combinations(pigeons, 2)])
    few = exists(holes, forall([x], FALSE | _any([same(x, hole) for hole in holes])))
    with Portfolio() as portfolio:
        answered = portfolio.ask(query(exists(pigeons, apart), few), expected="sat", limits=SolverLimits(640))
        easy = portfolio.ask(query(TRUE), expected="sat")
    assert [(answer.status, answer.cut) for answer in answered.answers] == [("unknown", True)] * 3
    assert not any(answer.cut for answer in easy.answers)
