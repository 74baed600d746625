"""Theorems put together from certificates: real ones, and false ones that break one rule each."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from evenhand.core.canonical import Json
from evenhand.core.registry import find
from evenhand.jobs.certifying import certify, folder_of, recheck
from evenhand.jobs.proving import theorem_named
from evenhand.smt.certificates.certify import certificate
from evenhand.smt.certificates.statement import GroundReader, Writer
from evenhand.smt.logic import Definition, Formula, Holds, Relation, Sort, walk
from evenhand.smt.portfolio import Portfolio
from evenhand.smt.rewriting import expand
from evenhand.smt.smtlib import Query
from evenhand.smt.solvers import Z3, SolverLimits
from evenhand_certificates import Invalid
from evenhand_certificates.__main__ import main
from evenhand_certificates.check import clauses_of
from evenhand_certificates.formulas import Bank
from evenhand_certificates.theorems import check_theorem
from tests.certificates.statements import FUNCTIONS, RELATIONS, SORTS, drawn
from tests.certificates.tampering import OF_THEOREMS, second, tamper, theorems_below, verdict

THEOREMS = {
    "apcm": ["only_permitted_actions_execute"],
    "sovereign": ["conditions_abort_after_so_many_refusals"],
}
"""By induction, and by one query; each with a mutant that is proved."""

P, Q = (Relation(name, ())() for name in "pq")
P_AFTER, Q_AFTER = (Relation(f"{name}.after", ())() for name in "pq")


def at(formula: Formula, moment: int) -> Formula:
    """Return one of the four atoms, or a combination of them, at a moment, written independently of the product."""
    text = {"p": f"p.{moment}", "q": f"q.{moment}", "p.after": f"p.{moment + 1}", "q.after": f"q.{moment + 1}"}
    reader = {name: Relation(found, ())() for name, found in text.items()}
    return expand(formula, {name: Definition(Relation(name, ()), (), body) for name, body in reader.items()})


def refuted(*assertions: Formula) -> dict[str, Json]:
    """Return a certificate that propositions contradict each other."""
    names = sorted({name for one in assertions for name in names_in(one)})
    told = tuple((f"a{number}", one) for number, one in enumerate(assertions))
    query = Query((), (), tuple(Relation(name, ()) for name in names), told)
    made = certificate(query, Portfolio((Z3,)), SolverLimits())
    read: dict[str, Json] = json.loads(json.dumps(made))
    return read


def names_in(formula: Formula) -> set[str]:
    """Return the names of the relations in a formula."""
    return {part.relation.name for part in walk(formula) if isinstance(part, Holds)}


def told(
    lines: list[tuple[Formula, dict[str, Json]]],
    *,
    axioms: Iterable[Formula] = (),
    definitions: Mapping[str, Formula] | None = None,
    opaque: Iterable[str] = (),
    says: Formula | None = None,
    machine: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return a theorem about the propositions p and q, with its files."""
    bank = Bank([], [], [["p", []], ["q", []]])
    writer = Writer(bank)
    numbers: dict[str, Any] = {
        "axioms": [[f"x{n}", writer.formula(one)] for n, one in enumerate(axioms)],
        "definitions": [[name, [], writer.formula(body)] for name, body in (definitions or {}).items()],
        "lines": [[f"{n}.json", writer.formula(one), [*opaque]] for n, (one, _) in enumerate(lines)],
        "says": writer.formula(lines[-1][0] if says is None else says),
        "machine": machine
        and {key: writer.formula(one) if isinstance(one, Formula) else one for key, one in machine.items()},
    }
    nodes = [[*node] for node in bank.nodes]
    whole = {"format": "evenhand/theorem", "version": 1, "sorts": [], "functions": [], "nodes": nodes, **numbers}
    whole["relations"] = [["p", []], ["q", []]]
    files = {f"{n}.json": made for n, (_, made) in enumerate(lines)}
    read: dict[str, Any] = json.loads(json.dumps({"theorem": whole, "files": files}))
    return read


def moving(init: Formula, step: Formula, inputs: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return a machine of which p and q are the state, but for its inputs."""
    return {"state": [name for name in "pq" if name not in inputs], "inputs": [*inputs], "init": init, "step": step}


KEEPS = P >> P_AFTER
"""A step that keeps p."""


def test_a_chain_of_lines_is_a_theorem() -> None:
    """From p and p => q it follows that q; a defined word may stay opaque."""
    goal = (P >> Q) >> Q
    chain = told([(P, refuted(P, ~P)), (goal, refuted(P, ~goal))], axioms=[P])
    assert verdict(chain) == "valid"
    d = Relation("d", ())()
    hidden = told([(d | ~d, refuted(~(d | ~d)))], definitions={"d": P}, opaque=["d"])
    assert verdict(hidden) == "valid"
    shown = told([(d, refuted(P, ~P))], axioms=[P], definitions={"d": P})
    assert verdict(shown) == "valid"
    assert second([json.dumps(one) for one in (chain, hidden, shown)]) == ["valid"] * 3


def test_an_induction_is_a_theorem() -> None:
    """Of one state or of two, about states or steps, with an axiom at each moment."""
    base, step = refuted(at(P, 0), ~at(P, 0)), refuted(at(P, 0), at(KEEPS, 0), ~at(P, 1))
    one = told([(P, base), (P, step)], machine=moving(P, KEEPS))
    # Two states back: p and q take turns, and p or q is kept only by looking at both.
    turns = (P >> Q_AFTER) & (Q >> P_AFTER)
    either = P | Q
    second_base = refuted(at(P, 0), at(turns, 0), ~at(either, 1))
    second_step = refuted(at(either, 1), at(turns, 1), ~at(either, 2))
    two = told([(either, refuted(at(P, 0), ~at(either, 0))), (either, second_base), (either, second_step)],
               machine=moving(P, turns))  # fmt: skip
    # A claim about steps, by an axiom on inputs that holds whenever there is a step.
    of_step = told([(KEEPS, refuted(at(Q, m), at(Q >> KEEPS, m), ~at(KEEPS, m))) for m in (0, 1)],
                   axioms=[Q], machine=moving(P, Q >> KEEPS, inputs=("q",)))  # fmt: skip
    assert [verdict(one) for one in (one, two, of_step)] == ["valid"] * 3
    assert second([json.dumps(one) for one in (one, two, of_step)]) == ["valid"] * 3


def _false() -> dict[str, Callable[[], dict[str, Any]]]:
    """Statements that do not hold, each with certificates that one rule keeps from proving it."""
    no_base = refuted(at(P, 0), ~at(P, 0))
    keeping = refuted(at(P, 0), at(KEEPS, 0), ~at(P, 1))
    d = Relation("d", ())()
    flips = (P >> ~P_AFTER) & (~P >> P_AFTER)
    once = (P & Q) >> P_AFTER
    return {
        "a line by a later one": lambda: told([(P, refuted(P, ~P)), (P, refuted(P, ~P))]),
        "a line by itself": lambda: told([(P, refuted(P, ~P))]),
        "what is no axiom": lambda: told([(P, refuted(Q, Q >> P, ~P))], axioms=[Q]),
        "another theorem": lambda: told([(P, refuted(P, ~P))], axioms=[P], says=Q),
        "another denial": lambda: told([(P, refuted(Q, ~Q))], axioms=[Q]),
        "a word that means its contrary": lambda: told([(P, refuted(d, ~d))], axioms=[d], definitions={"d": ~d}),
        "a word that is opaque and not": lambda: told(
            [(d, refuted(P, ~P))], axioms=[P], definitions={"d": P}, opaque=["d"]
        ),
        "no base": lambda: told([(P, keeping)], machine=moving(Q, KEEPS)),
        "a base of another moment": lambda: told(
            [(P, no_base), (P, no_base), (P, refuted(at(P, 0), at(P, 1), at(flips, 0)))], machine=moving(P, flips)
        ),
        "no base and no step": lambda: told([(P, no_base)], axioms=[P], machine=moving(Q, P | ~P)),
        "an axiom after the last step": lambda: told(
            [(P, no_base), (P, refuted(at(P, 1), ~at(P, 1)))], axioms=[P], machine=moving(P, P | ~P)
        ),
        "the step by the end": lambda: told(
            [(P, no_base), (P, refuted(at(P, 1), ~at(P, 1)))], machine=moving(P, flips)
        ),
        "the step from the start": lambda: told(
            [(P, refuted(at(P & Q, 0), ~at(P, 0))), (P, refuted(at(P & Q, 0), at(once, 0), ~at(P, 1)))],
            machine=moving(P & Q, once),
        ),
        "a step where there is none": lambda: told(
            [(P, refuted(at(P & P_AFTER, 0), ~at(P, 0))), (P, refuted(at(P & P_AFTER, 0), ~at(P, 1)))],
            machine=moving(Q, P & P_AFTER),
        ),
        "an input where there is no step": lambda: told(
            [(P, refuted(at(P & Q, 0), ~at(P, 0))), (P, keeping)],
            axioms=[P & Q],
            machine=moving(~P | P, KEEPS, inputs=("q",)),
        ),
        "a start that is about a step": lambda: told(
            [(P_AFTER, refuted(at(P, 1), ~at(P, 1))), (P_AFTER, refuted(at(P, 1), at(KEEPS, 1), ~at(P, 2)))],
            machine=moving(P_AFTER, KEEPS),
        ),
        "another invariant": lambda: told([(P, no_base), (P, keeping)], says=Q, machine=moving(P, KEEPS)),
    }


@pytest.mark.parametrize("name", sorted(_false()))
def test_what_is_false_is_refused(name: str) -> None:
    """Each is valid query by query, and refused by both checkers for how these are put together."""
    made = _false()[name]()
    assert [verdict(one) for one in made["files"].values()] == ["valid"] * len(made["files"])
    assert verdict(made).startswith("invalid: ")
    assert second([json.dumps(made)])[0].startswith("invalid: ")


def test_definitions_are_expanded_as_the_product_does() -> None:
    """With terms that are bound further out, which must stay so below the binders of the definition."""
    rng = random.Random(7)
    seen = 0
    others = [row for row in RELATIONS if row[0] != "q"]
    symbols = {"sorts": SORTS, "functions": FUNCTIONS, "relations": others}
    while seen < 60:
        bank = Bank(SORTS, FUNCTIONS, RELATIONS)
        reader = GroundReader(bank)
        body, formula = drawn(rng, bank, 3, ("A", "B")), drawn(rng, bank, 3)
        names = tuple(reader.variables(("A", "B"), 0))
        meaning = Definition(Relation("q", (Sort("A"), Sort("B"))), names, reader.opened(body, names))
        shown = reader.opened(formula, ())
        if "q" in names_in(meaning.body) or "q" not in names_in(shown):
            continue
        seen += 1
        whole = {**symbols, "format": "evenhand/theorem", "version": 1, "nodes": [[*node] for node in bank.nodes]}
        whole |= {"definitions": [["q", ["A", "B"], body]], "axioms": [["x", formula]], "machine": None}
        whole |= {"lines": [["a.json", formula, []]], "says": formula}
        own = Writer(Bank(SORTS, FUNCTIONS, others))
        found = own.formula(expand(shown, {"q": meaning}))
        asked = [["x", found], ["goal", own.bank.add(("not", found))]]
        made = {
            **symbols,
            "format": "evenhand/certificate",
            "version": 1,
            "nodes": [[*node] for node in own.bank.nodes],
        }
        made |= {"assertions": asked, "steps": [], "atoms": [], "lemmas": [], "refutation": []}
        _, clauses, _ = clauses_of(json.loads(json.dumps(made)))
        units = [place for place, clause in enumerate(clauses) if len(clause) == 1][-2:]
        made["refutation"] = [[[], units]]
        assert verdict(json.loads(json.dumps({"theorem": whole, "files": {"a.json": made}}))) == "valid"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of certificates, as the command writes them."""
    found = tmp_path_factory.mktemp("theorems")
    for protocol, names in THEOREMS.items():
        for name in names:
            results = list(certify(theorem_named(protocol, name), find(protocol), found))
            assert all(one.valid for one in results), results
            assert any(one.query == "theorem.whole" for one in results)
    return found


def test_both_checkers_accept_real_theorems(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And the command says of how many axioms they are."""
    assert second([json.dumps(one) for one in theorems_below(folder)]) == ["valid"] * 4
    assert main([str(folder)]) == 0
    assert capsys.readouterr().out.count("a theorem of") == 4


def test_alterations_are_answered_alike(folder: Path) -> None:
    """By both checkers; what both accept, as a theorem without an axiom that it does not need, holds."""
    tally = tamper(theorems_below(folder), 200, 3, OF_THEOREMS)
    assert tally.wrong == []
    assert sum(tally.rejected.values()) > 100
    assert sum(tally.accepted.values()) > 0


def test_a_theorem_that_was_changed_is_found(folder: Path, tmp_path: Path) -> None:
    """`certify --check` compares it with the theorem as it stands; a path that leads elsewhere is refused."""
    theorem = theorem_named("sovereign", THEOREMS["sovereign"][0])
    assert all(one.valid for one in recheck(theorem, find("sovereign"), folder))
    file = folder_of(folder, theorem) / "theorem.whole.json"
    kept = file.read_bytes()
    try:
        made = json.loads(kept)
        made["axioms"] = made["axioms"][:-1]
        file.write_text(json.dumps(made), "utf-8")
        said = {one.query: one.because for one in recheck(theorem, find("sovereign"), folder) if not one.valid}
        assert said == {"theorem.whole": "it is of another theorem"}
        made["lines"][0][0] = "../theorem.json"
        file.write_text(json.dumps(made), "utf-8")
        assert main([str(file)]) == 1
        file.unlink()
        said = {one.query: one.because for one in recheck(theorem, find("sovereign"), folder) if not one.valid}
        assert "no such file" in said["theorem.whole"]
    finally:
        file.write_bytes(kept)


def test_what_is_no_theorem_is_refused() -> None:
    """With the reason, never a traceback."""
    started = {"format": "evenhand/theorem", "version": 1}
    hostile: list[Any] = [None, [], {}, {**started, "version": 2}, started]
    for made in hostile:
        with pytest.raises(Invalid):
            check_theorem(made, dict[str, Any]().__getitem__)
