"""Records: equal in repeated runs and under renaming, checked without trust; solvers' own proofs; texts for a shell."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evenhand.core.canonical import canonical_bytes
from evenhand.core.verdict import Evidence
from evenhand.jobs.proofrecords import BadRecord, Named, differences, named_in, records, write_proofs, write_queries
from evenhand.smt.logic import Definition, Function, Relation, Sort, Var
from evenhand.smt.portfolio import Portfolio, ProofText
from evenhand.smt.prove import prove
from evenhand.smt.proved import ProofStatus, Proved
from evenhand.smt.record import KEPT
from evenhand.smt.rewriting import translate
from evenhand.smt.solvers import CVC5, Z3
from evenhand.smt.structure import Structure
from evenhand.smt.theory import Axiom, Theory
from tests.models.grant import BUNDLE, THEOREM, THEORY, realise, view

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def proved() -> Proved:
    """Return the theorem, proved, with cvc5's own proofs."""
    return prove(THEOREM, bundle=BUNDLE, keep_proofs=True)


@pytest.fixture(scope="module")
def file(proved: Proved) -> bytes:
    """Return its record file."""
    return records([proved])


def test_three_runs_are_the_same_bytes(proved: Proved, file: bytes) -> None:
    """In used solver processes, and in new ones."""
    assert records([prove(THEOREM, bundle=BUNDLE, keep_proofs=True)]) == file
    with Portfolio() as fresh:
        assert records([prove(THEOREM, bundle=BUNDLE, keep_proofs=True, portfolio=fresh)]) == file
    assert str(ROOT).encode() not in file and proved.verdict.because.encode() in file


NAMES = {
    **{"Agent": "Zebra", "least": "aaa", "asks": "zwants", "before": "qprecedes", "trusted": "bknown"},
    **{"granted": "ygets", "x": "vv1", "y": "vv2", "z": "vv0"},
}
BACK = {new: old for old, new in NAMES.items()}


def _renamed(theory: Theory) -> tuple[Theory, Any]:
    """Return the theory with every sort, symbol and bound variable renamed, and the function that renames a formula."""
    sorts = {sort: Sort(NAMES[sort.name]) for sort in theory.sorts}
    functions = {
        f: Function(NAMES[f.name], tuple(sorts[s] for s in f.domain), sorts[f.codomain]) for f in theory.functions
    }
    every = [*theory.relations, *(d.relation for d in theory.definitions)]
    relations = {r: Relation(NAMES[r.name], tuple(sorts[s] for s in r.domain)) for r in every}

    def formula(given: Any) -> Any:
        moved = translate(given, sorts=sorts, functions=functions, relations=relations)
        return _variables(moved)

    def definition(given: Definition) -> Definition:
        bound = tuple(Var(NAMES[v.name], sorts[v.sort]) for v in given.variables)
        return Definition(relations[given.relation], bound, formula(given.body), given.source)

    made = Theory(
        theory.name,
        tuple(sorts.values()),
        tuple(functions.values()),
        tuple(relations[r] for r in theory.relations),
        tuple(Axiom(a.name, formula(a.formula), a.source) for a in theory.axioms),
        tuple(definition(d) for d in theory.definitions),
    )
    return made, (formula, definition)


def _variables(value: Any) -> Any:
    """Return a formula or term with its variables renamed."""
    if isinstance(value, Var):
        return Var(NAMES[value.name], value.sort)
    if isinstance(value, Sort | Function | Relation | str):
        return value
    if isinstance(value, tuple):
        return tuple(_variables(part) for part in value)  # pyright: ignore
    return type(value)(*(_variables(getattr(value, name)) for name in value.__slots__))


def _called(structure: Structure, names: Mapping[str, str]) -> Structure:
    """Return a structure under other names, elements included."""
    text = json.dumps(structure.to_json())
    for old, new in names.items():
        text = re.sub(rf'"{old}(?=["\.])', f'"{new}', text)
    made = json.loads(text)
    return Structure(
        {sort: tuple(elements) for sort, elements in made["universe"].items()},
        {name: frozenset(tuple(row) for row in rows) for name, rows in made["relations"].items()},
        {name: {tuple(row[:-1]): row[-1] for row in rows} for name, rows in made["functions"].items()},
    )


def test_under_other_names_the_record_is_the_same_up_to_the_names(proved: Proved) -> None:
    """Verdict, cores, models, mutants and digests: solvers get the same queries, so they give the same answers."""
    theory, (formula, definition) = _renamed(THEORY)

    def renamed_view(case: Any) -> Structure | None:
        seen = view(case)
        return None if seen is None else _called(seen, NAMES)

    def renamed_realise(structure: Structure) -> Evidence | None:
        return realise(_called(structure, BACK))

    other = replace(
        THEOREM,
        theory=theory,
        variables=_variables(tuple(Var(v.name, Sort("Zebra")) for v in THEOREM.variables)),
        assumes=formula(THEOREM.assumes),
        goal=formula(THEOREM.goal),
        witness=formula(THEOREM.witness),
        view=renamed_view,
        realise=renamed_realise,
        mutants=tuple(replace(m, definitions=tuple(definition(d) for d in m.definitions)) for m in THEOREM.mutants),
    )
    found = prove(other, bundle=BUNDLE)
    assert found.status is ProofStatus.HOLDS
    record = canonical_bytes(dict(found.record)).decode()
    assert "Zebra" in record and "Agent" not in record
    for new, old in BACK.items():
        record = re.sub(rf"\b{new}\b", old, record)
    made = json.loads(record)
    original = json.loads(canonical_bytes(dict(proved.record)))
    original["proofs"] = None
    assert made == original
    assert [answered.asked for _, answered in found.queries] == [answered.asked for _, answered in proved.queries]
    assert all("Zebra" in answered.text for _, answered in found.queries)


def test_every_edited_byte_is_noticed(file: bytes, proved: Proved) -> None:
    """One bit of every third byte, removed and inserted bytes: each is reported, or refused as no record file."""

    def again(named: Named) -> Proved:
        if (named.protocol, named.theorem) != ("toy", "one_granted"):
            raise BadRecord("no such theorem")
        return proved if named.kept else replace(proved, record={**proved.record, "proofs": None})

    assert differences(file, again) == ()

    def noticed(data: bytes) -> bool:
        try:
            return bool(differences(data, again))
        except BadRecord:
            return True

    for place in range(0, len(file), 3):
        assert noticed(file[:place] + bytes([file[place] ^ 1]) + file[place + 1 :]), place
    for place in range(0, len(file), 37):
        assert noticed(file[:place] + file[place + 1 :]) and noticed(file[:place] + b" " + file[place:]), place
    (told,) = differences(file.replace(b'"verdict":"HOLDS"', b'"verdict":"REFUTED"'), again)
    assert told == "proofs[0].verdict: the file says REFUTED, proving it again HOLDS"
    assert "not canonical" in differences(file + b"\n", again)[0]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\xff", "not canonical JSON"),
        (b"[]", "not a file of format"),
        (b'{"format":"evenhand/proofs","version":7}', "version 7"),
        (b'{"format":"evenhand/proofs","version":1}', "holds no proof"),
        (b'{"format":"evenhand/proofs","proofs":[],"version":1}', "holds no proof"),
        (b'{"format":"evenhand/proofs","version":1,"proofs":[[]]}', "names no theorem"),
        (
            b'{"format":"evenhand/proofs","version":1,"proofs":[{"theorem":{"name":1,"protocol":"a"}}]}',
            "names no theorem",
        ),
    ],
)
def test_what_is_no_record_is_refused(data: bytes, why: str) -> None:
    """Before anything is proved."""
    with pytest.raises(BadRecord, match=why):
        named_in(data)


def test_cvc5_s_proofs_are_kept_and_called_unchecked(proved: Proved, tmp_path: Path) -> None:
    """The record has the size and digest of each unsat proof, and never calls it checked."""
    unsat = {name for name, answered in proved.queries if answered.status == "unsat"}
    kept: Any = proved.record["proofs"]
    assert set(kept) == unsat and unsat
    write_proofs(tmp_path, [proved])
    for name, entry in kept.items():
        data = (tmp_path / f"one_granted.{name}.cpc").read_bytes()
        assert entry["status"] == KEPT == "kept, not checked"
        assert entry["bytes"] == len(data) > 100
        assert entry["digest"] == "sha256:" + hashlib.sha256(data).hexdigest()
        assert data.startswith(b"(\n(declare-sort s0 0)") and b"(assume @p" in data
    assert prove(THEOREM, bundle=BUNDLE).record["proofs"] is None


def test_without_cvc5_no_proof_is_claimed() -> None:
    """z3 gives no proof that could be kept, and the record gives the reason."""
    with Portfolio((Z3,)) as z3:
        found = prove(THEOREM, bundle=BUNDLE, portfolio=z3, keep_proofs=True)
    kept: Any = found.record["proofs"]
    assert {entry["status"] for entry in kept.values()} == {"not kept: cvc5 did not prove it"}
    assert all(proof == ProofText("cvc5", because="cvc5 did not prove it") for proof in found.proofs.values())
    with Portfolio((CVC5,)) as cvc5:
        assert cvc5.proof(found.queries[0][1]).because


IN_A_SHELL = """
import sys, cvc5
solver = cvc5.Solver(cvc5.TermManager())
for word in sys.argv[1:-1]:
    solver.setOption(word.removeprefix("--"), "true")
parser = cvc5.InputParser(solver)
parser.setFileInput(cvc5.InputLanguage.SMT_LIB_2_6, sys.argv[-1])
while not (command := parser.nextCommand()).isNull():
    print(command.invoke(solver, parser.getSymbolManager()), end="")
"""
"""`cvc5 FILE`, where its wheel has no program: its own parser reads the file, in a process of its own."""


def shell(words: list[str]) -> str:
    """Return the output of a solver run from a shell."""
    if words[0] == "z3":
        words = [
            shutil.which("z3", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}") or "z3",
            words[1],
        ]
    elif shutil.which("cvc5") is None:
        words = [sys.executable, "-c", IN_A_SHELL, *words[1:]]
    return subprocess.run(words, capture_output=True, text=True, timeout=60, check=True).stdout.strip()


def test_the_texts_say_the_same_in_a_shell(proved: Proved, tmp_path: Path) -> None:
    """Each file, by the commands in it: the verdict in the record."""
    write_queries(tmp_path, [proved])
    files = sorted(path for path in tmp_path.iterdir() if path.is_file())
    assert len(files) == len(proved.queries)
    asked = 0
    for path in files:
        lines = path.read_text("utf-8").splitlines()
        said = [re.fullmatch(r"; ((z3|cvc5).*) (\S+\.smt2): (sat|unsat)", line) for line in lines]
        for found in filter(None, said):
            asked += 1
            assert found[3] == path.name
            assert shell([*found[1].split(), str(path)]) == found[4]
        exact = (tmp_path / "asked" / path.name).read_bytes()
        assert any(f"sha256:{hashlib.sha256(exact).hexdigest()}" in line for line in lines)
    assert asked == 2 * len(files)
