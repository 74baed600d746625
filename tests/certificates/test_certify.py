"""Certificates of real theorems: made, checked by two checkers, recalled in place of solvers, and tampered with."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evenhand.core.registry import find
from evenhand.core.verdict import Status
from evenhand.jobs.certifying import certify, tied
from evenhand.jobs.plan import Job
from evenhand.jobs.pool import run_jobs
from evenhand.jobs.proving import theorem_named
from evenhand.smt.arithmetic import NUMBER, below
from evenhand.smt.certificates import certify as certifying
from evenhand.smt.certificates.certify import certificate
from evenhand.smt.certificates.instances import NotFound, Search
from evenhand.smt.certificates.recall import Recalled, verified
from evenhand.smt.certificates.statement import Writer, symbols_of
from evenhand.smt.logic import Formula, Function, Not, Relation, Sort, exists, forall, same
from evenhand.smt.portfolio import CHECKER, Answered, Portfolio
from evenhand.smt.prove import obligations, prove
from evenhand.smt.proved import ProofStatus
from evenhand.smt.registry import stated
from evenhand.smt.smtlib import Query
from evenhand.smt.solvers import Z3, Expected, SolverLimits
from evenhand.smt.structure import Reader, Structure
from evenhand_certificates import Invalid, check
from evenhand_certificates.check import clauses_of
from evenhand_certificates.clauses import Clause
from evenhand_certificates.formulas import Bank
from tests.certificates.others import dratify_accepts, drup_accepts
from tests.certificates.tampering import KINDS, queries_below, second, tamper, theorems_below
from tests.front.conftest import Command

THEOREMS = {"sovereign": ["order_of_candidates_decides_nothing"], "markspace": ["sublinear_where_there_is_strength"]}
"""One about order, by instances alone, and one that needs products of real numbers."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of certificates, as the command writes them."""
    found = tmp_path_factory.mktemp("certificates")
    for protocol, names in THEOREMS.items():
        for name in names:
            results = list(certify(theorem_named(protocol, name), find(protocol), found))
            assert results
            assert all(one.valid for one in results), results
    return found


@pytest.fixture(scope="module")
def made(folder: Path) -> list[dict[str, Any]]:
    """The certificates in it."""
    return [json.loads(file.read_text("utf-8")) for file in queries_below(folder)]


@pytest.mark.parametrize("searches", [[], ["--searches"]])
def test_a_folder_without_certificates_is_one_mistake(tmp_path: Path, cli: Command, searches: list[str]) -> None:
    """Not hundreds of certificates that are not there."""
    answer = cli("certify", "cud", "--check", "--out", str(tmp_path), *searches)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.splitlines() == [
        f"evenhand: {tmp_path} is no folder of certificates; `evenhand certify --out {tmp_path}` writes one"
    ]


def test_both_checkers_accept_them(made: list[dict[str, Any]]) -> None:
    """The checker in Python and the one in JavaScript."""
    assert len(made) == 2
    assert any(isinstance(lemma, dict) for one in made for lemma in one["lemmas"])
    for one in made:
        assert check(one).assertions
    assert second([json.dumps(one) for one in made]) == ["valid"] * len(made)


def test_an_independent_program_accepts_the_refutations(made: list[dict[str, Any]]) -> None:
    """`dratify` propagates by itself, without hints; it does not accept them for the assertions alone."""
    for one in made:
        _, clauses, _ = clauses_of(one)
        assert dratify_accepts(clauses, [clause for clause, _ in one["refutation"]])
        if one["steps"]:
            _, fewer, _ = clauses_of({**one, "steps": [], "atoms": [], "lemmas": []})
            assert not dratify_accepts(fewer, [()])


def test_a_verified_program_accepts_the_refutations(made: list[dict[str, Any]]) -> None:
    """And refuses them where a clause is missing that they need."""
    for one in made:
        _, clauses, _ = clauses_of(one)
        proof = [clause for clause, _ in one["refutation"]]
        assert drup_accepts(clauses, proof)
        needed = [number for number in range(len(clauses)) if any(number in hints for _, hints in one["refutation"])]
        fewer = [clause for number, clause in enumerate(clauses) if number not in needed]
        assert not drup_accepts(fewer, proof)


def test_recalled_in_place_of_solvers(folder: Path, cli: Command) -> None:
    """`--check` asks no solver; `prove` says that it rests on a certificate; another theorem has none."""
    for protocol, names in THEOREMS.items():
        words = [word for name in names for word in ("--theorem", name)]
        answer = cli("certify", protocol, "--check", "--out", str(folder), *words)
        assert answer.code == 0, answer.out
        assert "valid" in answer.out
    answer = cli("certify", "sovereign", "--check", "--out", str(folder), "--theorem", "more_tokens_never_help")
    assert answer.code == 1
    assert "there is no certificate of it" in answer.out
    (name,) = THEOREMS["sovereign"]
    answer = cli("prove", "sovereign", "--theorem", name, "--certificates", str(folder), "--json")
    assert answer.code == 0
    verdicts = json.loads(answer.out)["verdicts"]
    verdict = next(one for one in verdicts if one["claim"] == name and one["variant"] == "reference")
    assert CHECKER in verdict["trusted_base"]
    assert not any("printer" in one or "z3" in one for one in verdict["trusted_base"])


def test_a_whole_run_rests_on_them(folder: Path) -> None:
    """The job of a theorem, in a process of its own as `verify` starts it; without the folder, solvers are trusted."""
    (name,) = THEOREMS["sovereign"]
    jobs = [Job("sovereign", "prove", theorem=name)]
    for kept, trusted in ((folder, (CHECKER,)), (None, ("SMT-LIB printer", "cvc5", "z3"))):
        (found,) = run_jobs(jobs, certificates=kept).findings
        assert found.status is Status.HOLDS, found.because
        start, *rest = (part for part in found.trusted_base if not part.startswith("theory "))
        assert (start, rest[0]) == ("executable model", "view and realise")
        assert all(map(str.startswith, rest[1:], trusted)), rest
        assert len(rest) == 1 + len(trusted)


def test_a_certificate_of_something_else_is_not_taken(
    made: list[dict[str, Any]], folder: Path, tmp_path: Path, cli: Command
) -> None:
    """A valid certificate under the digest of another query: its assertions are not that query's."""
    (name,) = THEOREMS["sovereign"]
    (theorem,) = [one for one in stated("sovereign") if one.name == name]
    asked: list[Query] = []

    class Spy(Recalled):
        def ask(self, query: Query, *, expected: Expected, limits: SolverLimits | None = None) -> Answered:
            asked.append(query)
            return super().ask(query, expected=expected, limits=limits)

    spy = Spy({one["about"]["asked"]: one for one in made}, about=tied(theorem))
    obligations(theorem, portfolio=spy)
    own = {spy.digest(query): query for query in asked}
    mine = [one for one in made if one["about"]["asked"] in own]
    assert mine
    for one in mine:
        query = own[one["about"]["asked"]]
        assert verified(one, query).assertions
        weaker = replace(query, assertions=tuple((n, Not(f) if n == "goal" else f) for n, f in query.assertions))
        with pytest.raises(Invalid, match="no such assertion"):
            verified(one, weaker)
        with pytest.raises(Invalid, match="other symbols"):
            verified(one, replace(query, relations=query.relations[1:]))
    copy = tmp_path / "copy"
    shutil.copytree(folder / "sovereign", copy / "sovereign")
    file = next((copy / "sovereign" / name).glob("theorem.json"))
    file.write_text(file.read_text("utf-8").replace('"steps":[[', '"steps":[[0],['), "utf-8")
    answer = cli("certify", "sovereign", "--check", "--out", str(copy), "--theorem", name)
    assert answer.code == 1
    assert "its certificate is invalid" in answer.out


class Liar(Portfolio):
    """A solver that answers `unsat` to everything."""

    def ask(self, query: Query, *, expected: Expected, limits: SolverLimits | None = None) -> Answered:
        """Lie."""
        return replace(super().ask(query, expected=expected, limits=limits), status="unsat")

    def model(self, query: Query, *, limits: SolverLimits | None = None, both: bool = False) -> Answered:
        """Lie."""
        return replace(super().model(query, limits=limits, both=both), status="unsat")


THING = Sort("Thing")
RED, X, Y = Relation("red", (THING,)), THING("x"), THING("y")
NEXT, SIZE = Function("next", (THING,), THING), Function("size", (THING,), NUMBER)
FALSE = {
    "some is all": exists([X], RED(X)) >> forall([Y], RED(Y)),
    "witnesses swap": forall([X], exists([Y], Not(same(X, Y)))) >> exists([Y], forall([X], Not(same(X, Y)))),
    "functions are injective": forall([X, Y], same(NEXT(X), NEXT(Y)) >> same(X, Y)),
    "sizes are ordered": forall([X, Y], below(SIZE(X), SIZE(Y)) >> below(SIZE(Y), SIZE(X))),
}


def nothing(_clauses: Sequence[Clause], _against: Any) -> list[Clause]:
    """Learn no clause."""
    return []


def at_once(clauses: Sequence[Clause], _learned: Sequence[Clause]) -> list[tuple[Clause, tuple[int, ...]]]:
    """Call the empty clause a consequence of all others."""
    return [((), tuple(range(len(clauses))))]


@pytest.mark.parametrize("name", FALSE)
def test_no_certificate_survives_a_lying_solver(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A false formula that a solver calls proved: no refutation is found, and one that is made up is refused."""
    query = Query((THING,), (NEXT, SIZE), (RED,), (("goal", Not(FALSE[name])),))
    with Portfolio((Z3,)) as honest, pytest.raises(NotFound, match="a structure that is a model"):
        certificate(query, honest, SolverLimits())
    with Liar((Z3,)) as liar:
        assert liar.ask(query, expected="unsat").status == "unsat"
        with pytest.raises(NotFound):
            certificate(query, liar, SolverLimits())
        monkeypatch.setattr(certifying, "learned", nothing)
        monkeypatch.setattr(certifying, "hinted", at_once)
        made_up = certificate(query, liar, SolverLimits())
    with pytest.raises(Invalid, match="does not follow"):
        check(made_up)
    assert second([json.dumps(made_up)]) != ["valid"]


def test_only_what_matters_is_opened() -> None:
    """Of thirty disjunctions that are true anyway none is opened by an instance or a witness."""
    thing, done = Sort("Thing"), Relation("done", ())
    x = thing("x")
    beside = [Relation(f"beside_{number}", (thing,)) for number in range(30)]
    wrong, some = Relation("wrong", (thing,)), Function("some", (), thing)
    said = [done(), *(done() | forall([x], one(x)) for one in beside), *(one(some()) for one in beside)]
    said += [forall([x], wrong(x)), exists([x], ~wrong(x))]
    query = Query((thing,), (some,), (done, wrong, *beside), tuple((f"a{i}", one) for i, one in enumerate(said)))
    with Portfolio([Z3]) as alone:
        search = Search(query, alone, SolverLimits())
        search.run()
    assert 2 <= len(search.steps.taken) <= 4


def test_the_statement_is_the_formula() -> None:
    """What a certificate states means what the formula means, by two evaluators; variables of one name too."""
    a, b = Sort("A"), Sort("B")
    c, f = Function("c", (), a), Function("f", (a,), b)
    p, q = Relation("p", (a,)), Relation("q", (a, b))
    x, y, z, again = a("x"), b("y"), a("z"), b("x")
    formulas: list[Formula] = [
        forall([x, z], exists([y], q(x, y) & ~q(z, y))),
        forall([x], p(x) >> exists([again], q(c(), again))),
        exists([x], forall([x], p(x)) | q(x, f(x))),
        forall([x], exists([y], same(y, f(x)) & q(c(), y))),
        exists([y, x], forall([z], q(z, y) >> same(x, z))),
    ]
    query = Query((a, b), (c, f), (p, q), tuple((f"n{i}", one) for i, one in enumerate(formulas)))
    truths: set[tuple[int, bool]] = set()
    for number in range(600):
        rows = [("a0", "b0"), ("a0", "b1"), ("a1", "b0"), ("a1", "b1")]
        world = Structure(
            {"A": ("a0", "a1"), "B": ("b0", "b1")},
            {
                "p": frozenset({("a0",)} if number & 1 else {("a1",)} if number & 2 else ()),
                "q": frozenset(row for bit, row in enumerate(rows) if number >> (2 + bit) & 1),
            },
            {"c": {(): f"a{number >> 6 & 1}"}, "f": {("a0",): f"b{number >> 7 & 1}", ("a1",): f"b{number >> 8 & 1}"}},
        )
        bank = Bank(*symbols_of(query))
        for place, formula in enumerate(formulas):
            stated_ = Writer(bank).formula(formula)
            bank.check_formula(stated_)
            expected = Reader().holds(formula, world)
            assert _true(bank, stated_, world, ()) == expected
            truths.add((place, expected))
    assert len(truths) >= 2 * len(formulas) - 1


def _true(bank: Bank, number: int, world: Structure, values: tuple[str, ...]) -> bool:
    tag, *rest = bank.nodes[number]

    def term(one: int) -> str:
        kind, *parts = bank.nodes[one]
        if kind == "var":
            return str(values[-1 - int(parts[0])])
        return world.functions[parts[0]][tuple(term(part) for part in parts[1:])]

    if tag == "rel":
        return tuple(term(one) for one in rest[1:]) in world.relations[rest[0]]
    if tag == "=":
        return term(rest[0]) == term(rest[1])
    if tag in ("all", "some"):
        rows: list[tuple[str, ...]] = [()]
        for sort in rest[0]:
            rows = [(*row, element) for row in rows for element in world.universe[sort]]
        found = [_true(bank, rest[1], world, (*values, *row)) for row in rows]
        return all(found) if tag == "all" else any(found)
    parts = [_true(bank, part, world, values) for part in rest]
    if tag == "not":
        return not parts[0]
    if tag == "=>":
        return not parts[0] or parts[1]
    return all(parts) if tag == "and" else any(parts)


def test_tampering(made: list[dict[str, Any]]) -> None:
    """Every kind of alteration is tried; both checkers say the same of each, and hardly any passes."""
    tally = tamper(made, 10 * len(KINDS), seed=1)
    assert tally.wrong == []
    assert set(tally.tried) == set(KINDS)
    assert sum(tally.rejected.values()) > 7 * len(KINDS)


@pytest.mark.deep
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_ten_thousand_alterations(seed: int, made: list[dict[str, Any]]) -> None:
    """As above, for three seeds."""
    assert tamper(made, 10_000, seed).wrong == []


@pytest.mark.deep
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("protocol", ["apcm", "conviction", "cud", "markspace", "sovereign"])
def test_every_theorem_has_a_certificate(protocol: str, tmp_path: Path, cli: Command) -> None:
    """All queries of all theorems and invariants, and every other program accepts them."""
    answer = cli("certify", protocol, "--out", str(tmp_path))
    assert answer.code == 0, answer.out
    texts = [file.read_text("utf-8") for file in queries_below(tmp_path)]
    assert set(second([*texts, *map(json.dumps, theorems_below(tmp_path))])) == {"valid"}
    for one in map(json.loads, texts):
        clauses, proof = clauses_of(one)[1], [clause for clause, _ in one["refutation"]]
        assert dratify_accepts(clauses, proof)
        assert drup_accepts(clauses, proof)


def test_prove_without_certificates_asks_the_solvers(folder: Path) -> None:
    """A folder that lacks a theorem's certificates changes nothing."""
    (theorem,) = [one for one in stated("sovereign") if one.name == "acts_iff_something_is_admissible"]
    with Portfolio() as solvers:
        found = prove(theorem, portfolio=Recalled({}, solvers))
    assert found.status is ProofStatus.HOLDS
    assert any("z3" in one for one in found.verdict.trusted_base)
