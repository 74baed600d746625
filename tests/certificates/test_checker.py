"""The checker by itself: its clauses and lemmas are true in every structure, and bad certificates are refused."""

from __future__ import annotations

import ast
import itertools
import json
import random
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import evenhand_certificates
from evenhand_certificates import Invalid, check, equality
from evenhand_certificates.__main__ import main
from evenhand_certificates.arithmetic import is_numeric_lemma
from evenhand_certificates.check import FORMAT, KEYS
from evenhand_certificates.clauses import Clauses
from evenhand_certificates.equality import is_lemma
from evenhand_certificates.errors import MOST_BYTES
from evenhand_certificates.formulas import Bank
from tests.certificates.statements import FUNCTIONS, RELATIONS, SORTS, World, bank, drawn, drawn_term
from tests.deep import rest_slow

FOLDER = Path(evenhand_certificates.__file__).parent


def test_the_checker_is_small_and_stands_alone() -> None:
    """At most a thousand lines that are not blank, and no import but of the standard library and of itself."""
    sources = [file.read_text("utf-8") for file in FOLDER.glob("*.py")]
    assert sum(len(list(filter(str.strip, text.splitlines()))) for text in sources) <= 1000
    for text in sources:
        for node in ast.walk(ast.parse(text)):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                assert name.split(".")[0] in sys.stdlib_module_names | {"evenhand_certificates"}, name


def test_the_checker_of_searches_is_small() -> None:
    """At most 700 lines more, and none in a folder that no bound counts."""
    files = sorted(FOLDER.rglob("*.py"))
    inside = [file for file in files if file.parent != FOLDER]
    assert {file.parent for file in inside} == {FOLDER / "searches"}
    assert sum(len(file.read_text("utf-8").splitlines()) for file in inside) <= 700


def opened(rng: random.Random) -> tuple[Clauses, list[int]]:
    """Random formulas as assertions, with random instances and witnesses; the assertions."""
    made = bank()
    built = Clauses(made)
    formulas = [drawn(rng, made, rng.choice((1, 2, 3))) for _ in range(2)]
    for formula in formulas:
        made.check_formula(formula)
        built.literal(formula)
    for _ in range(6):
        if not built.quantified:
            break
        quantified = rng.choice(built.quantified)
        if rng.random() < 0.5:
            built.witness(quantified)
        else:
            sorts = made.nodes[quantified][1]
            built.instance(quantified, tuple(_closed(rng, made, sort) for sort in sorts))
    return built, formulas


def _closed(rng: random.Random, made: Bank, sort: str) -> int:
    constants = [n for n, node in enumerate(made.nodes) if node[0] == "wit" and made.sort(n) == sort]
    if constants and rng.random() < 0.5:
        return rng.choice(constants)
    return made.add(("any", sort)) if rng.random() < 0.1 else drawn_term(rng, made, sort, ())


def false_clauses(seed: int) -> int:
    """How many clauses of random formulas and steps are false in a random structure, where all should be true."""
    rng = random.Random(seed)
    built, _ = opened(rng)
    world = World.drawn(rng, built.bank)
    true = {literal: world.true(formula) for formula, literal in built._literals.items()}  # pyright: ignore[reportPrivateUsage]
    true |= {-literal: not value for literal, value in list(true.items())}
    return sum(not any(true[literal] for literal in clause) for clause in built.clauses)


def test_every_clause_is_true_in_every_structure() -> None:
    """Definitions, instances and witnesses alike: random formulas against their meaning by definition."""
    assert sum(false_clauses(seed) for seed in range(600)) == 0


ONE_WAY = '(-whole, body) if tag == "all" else (whole, -body)'
FAULTS = {
    "any element as a witness": ("witness", '("wit", quantified, place)', '("any", sorts[place])'),
    "an instance that goes one way": (
        "instance",
        '(-whole, body) if tag == "all" else (whole, -body)',
        "(-whole, body)",
    ),
    "an equivalence one way": ("_define", "(own, one, other)", "(own, one, -other)"),
    "a choice with exchanged parts": ("_define", "(-own, -test, then)", "(-own, test, then)"),
    "a conjunction without its converse": ("_conjunction", "*(-part for part in parts)", "*(part for part in parts)"),
    "an implication turned around": ("_define", "[parts[0], -parts[1]]", "[-parts[0], parts[1]]"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_in_the_clauses_shows(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of these makes some clause false in some structure."""
    function, right, wrong = FAULTS[name]
    source = (FOLDER / "clauses.py").read_text("utf-8")
    assert source.count(right) == 1
    faulty: dict[str, Any] = {"__name__": "faulty"}
    exec(compile(source.replace(right, wrong), "clauses.py", "exec"), faulty)
    monkeypatch.setattr(Clauses, function, getattr(faulty["Clauses"], function))
    assert any(false_clauses(seed) for seed in range(600))


def equality_lemmas(seed: int) -> tuple[int, int]:
    """How many random clauses of atoms pass as lemmas, and how many of these are false in some structure."""
    rng = random.Random(seed)
    made = bank()
    atoms = {number: drawn(rng, made, 0) for number in range(1, 6)}
    passed = false = 0
    for _ in range(20):
        clause = [rng.choice((-1, 1)) * rng.choice(list(atoms)) for _ in range(rng.choice((2, 3, 4)))]
        if is_lemma(made, atoms, clause):
            passed += 1
            worlds = [World.drawn(rng, made) for _ in range(20)]
            false += any(all(w.true(atoms[abs(one)]) != (one > 0) for one in clause) for w in worlds)
    return passed, false


def test_lemmas_of_equality_are_true() -> None:
    """Random clauses that are accepted, against random structures."""
    found = [equality_lemmas(seed) for seed in range(200)]
    assert sum(passed for passed, _ in found) > 40
    assert sum(false for _, false in found) == 0


def test_a_fault_in_the_congruence_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    """If every two applications counted as congruent, a false lemma would pass."""
    real = equality.Classes.merge

    def merge(self: equality.Classes, pairs: Any) -> None:
        real(self, [*pairs, *itertools.combinations([t for t in self._leader if self._bank.nodes[t][0] == "app"], 2)])  # pyright: ignore[reportPrivateUsage]

    monkeypatch.setattr(equality.Classes, "merge", merge)
    assert any(false for _, false in map(equality_lemmas, range(200)))


NUMBERS: list[Any] = [["x", [], "Number"], ["y", [], "Number"], ["z", [], "Number"]]


def numeric_case(seed: int) -> tuple[bool, bool]:
    """Whether a random weighted sum passes as a lemma of arithmetic, and whether random numbers make it false."""
    rng = random.Random(seed)
    made = Bank(["A"], NUMBERS, [])
    names = [made.add(("app", name)) for name, _, _ in NUMBERS]
    names += [made.add(("app", f"number.is.{sign}{value}.1")) for sign, value in (("p", 0), ("p", 1), ("m", 2))]

    def term(depth: int) -> int:
        if depth == 0:
            return rng.choice(names)
        return made.add(("app", f"number.{rng.choice(('plus', 'minus', 'times'))}", term(depth - 1), term(depth - 1)))

    atoms: dict[int, int] = {}
    for number in range(1, 4):
        tag = rng.choice((("=",), ("rel", "number.at_most"), ("rel", "number.below")))
        left = term(rng.choice((0, 1)))
        atoms[number] = made.add((*tag, left, term(rng.choice((0, 1)))))
        if rng.random() < 0.5:  # make contradictions likely
            right = made.nodes[atoms[number]][-1]
            atoms[number + 3] = made.add(
                (*rng.choice((("rel", "number.at_most"), ("rel", "number.below"))), right, left)
            )
    clause = [rng.choice((-1, 1)) * number for number in atoms]
    places = list(range(len(clause)))
    weights = [[*rng.choices(places, k=rng.choice((1, 1, 2))), rng.choice(("1", "1", "-1", "1/2"))] for _ in range(2)]
    sums = [weights] * rng.choice((1, 1, 2))
    try:
        passed = is_numeric_lemma(made, atoms, clause, sums, lambda entry: names[0])
    except Invalid:
        return False, False
    if not passed:
        return False, False

    def value(number: int, world: dict[str, Fraction]) -> Fraction:
        name, *parts = made.nodes[number][1:]
        if name in world:
            return world[name]
        if name.startswith("number.is."):
            return Fraction(int(name[11:].split(".")[0])) * (-1 if name[10] == "m" else 1)
        left, right = (value(part, world) for part in parts)
        return left + right if name.endswith("plus") else left - right if name.endswith("minus") else left * right

    def holds(number: int, world: dict[str, Fraction]) -> bool:
        node = made.nodes[number]
        left, right = (value(part, world) for part in node[-2:])
        return left == right if node[0] == "=" else left <= right if node[1].endswith("most") else left < right

    worlds = [
        {"x": Fraction(a), "y": Fraction(b, 2), "z": Fraction(c)}
        for a in range(-2, 3)
        for b in range(-3, 4)
        for c in (-1, 0, 2)
    ]
    return True, any(all(holds(atoms[abs(one)], w) != (one > 0) for one in clause) for w in worlds)


def test_lemmas_of_arithmetic_are_true() -> None:
    """Random comparisons and random weights that are accepted, against numbers."""
    found = [numeric_case(seed) for seed in range(8_000)]
    assert sum(passed for passed, _ in found) > 40
    assert not any(false for _, false in found)


@pytest.mark.parametrize(
    "right, wrong",
    [
        ('known[1] != "=" and by < 0', 'known[1] == "<" and by < 0'),
        ("constant > 0 or (strict and constant == 0)", "constant >= 0"),
        ('"<" if one[1] == other[1] == "<" else "<="', '"<"'),
        ("added({}, both, Fraction(-1))", "both"),
    ],
)
def test_a_fault_in_the_arithmetic_shows(right: str, wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A negative weight of a comparison, a sum that is just possible, a product that counts as strict, its sign."""
    source = (FOLDER / "arithmetic.py").read_text("utf-8")
    assert source.count(right) == 1
    faulty: dict[str, Any] = {"__name__": "faulty"}
    exec(compile(source.replace(right, wrong), "arithmetic.py", "exec"), faulty)
    monkeypatch.setitem(globals(), "is_numeric_lemma", faulty["is_numeric_lemma"])
    assert any(false for _, false in map(numeric_case, range(8_000)))


def statement(nodes: list[Any], assertions: list[Any], **more: Any) -> dict[str, Any]:
    """A certificate over the symbols of `statements`."""
    made: dict[str, Any] = {"format": "evenhand/certificate", "version": 1, "sorts": SORTS, "functions": FUNCTIONS}
    made |= {"relations": RELATIONS, "nodes": nodes, "assertions": assertions, "steps": [], "atoms": [], "lemmas": []}
    return {**made, "refutation": [], **more}


C, P_OF_C = ["app", "c"], ["rel", "p", 0]
ALL_P = [["var", 0], ["rel", "p", 0], ["all", ["A"], 1]]
SOME_P = [["var", 0], ["rel", "p", 0], ["some", ["A"], 1]]
NOT_P_OF_C = [["app", "c"], ["rel", "p", 3], ["not", 4]]
# all x. p(x) is literal 1, p(c) literal 2; the clauses are (1), (-2), (-1 or 2).
GOOD = statement(
    [*ALL_P, *NOT_P_OF_C], [["all", 2], ["goal", 5]], steps=[[0, [["app", "c"]]]], refutation=[[[], [0, 1, 2]]]
)


def test_a_certificate_by_hand() -> None:
    """Everything is p, c is not."""
    found = check(GOOD)
    assert (found.assertions, found.steps, found.clauses) == (("all", "goal"), 1, 3)


BAD: dict[str, dict[str, Any]] = {
    "some is p, c is not: an instance goes the other way": {**GOOD, "nodes": [*SOME_P, *NOT_P_OF_C]},
    "without the instance": {**GOOD, "steps": []},
    "an instance with a term of another sort": {**GOOD, "steps": [[0, [["app", "d"]]]]},
    "an instance with two terms": {**GOOD, "steps": [[0, [["app", "c"], ["app", "c"]]]]},
    "an instance with a variable": {**GOOD, "steps": [[0, [["var", 0]]]]},
    "a constant of a later witness": {**GOOD, "steps": [[0, [["wit", 1, 0]]], [0]]},
    "a constant of its own witness": {**GOOD, "steps": [[0, [["wit", 0, 0]]]]},
    "an unknown quantified formula": {**GOOD, "steps": [[1, [["app", "c"]]]]},
    "no refutation": {**GOOD, "refutation": []},
    "a refutation that does not end": {**GOOD, "refutation": [[[2], [0, 2]]]},
    "a hint that is no unit": {**GOOD, "refutation": [[[], [2, 0, 1]]]},
    "a hint beyond the clauses": {**GOOD, "refutation": [[[], [0, 1, 3]]]},
    "a negative hint": {**GOOD, "refutation": [[[], [0, 1, -1]]]},
    "an open assertion": {**GOOD, "assertions": [["all", 1], ["goal", 5]]},
    "an assertion that is a term": {**GOOD, "assertions": [["all", 2], ["goal", 3]]},
    "a relation of the wrong sort": {**GOOD, "nodes": [*ALL_P, ["app", "d"], ["rel", "p", 3], ["not", 4]]},
    "a function without its arguments": {**GOOD, "nodes": [*ALL_P, ["app", "f"], ["rel", "p", 3], ["not", 4]]},
    "an unknown symbol": {**GOOD, "nodes": [*ALL_P, ["app", "h"], ["rel", "p", 3], ["not", 4]]},
    "a part that comes later": {**GOOD, "nodes": [["rel", "p", 1], *ALL_P]},
    "a witness in the statement": {**GOOD, "nodes": [*ALL_P, ["wit", 2, 0], ["rel", "p", 3], ["not", 4]]},
    "a quantifier without variables": {**GOOD, "nodes": [*ALL_P[:2], ["all", [], 1], *NOT_P_OF_C]},
    "a symbol declared twice": {**GOOD, "relations": [*RELATIONS, ["c", []]]},
    "a symbol of arithmetic declared": {**GOOD, "functions": [*FUNCTIONS, ["number.plus", [], "A"]]},
    "a lemma that is not true": {**GOOD, "lemmas": [[2]], "refutation": [[[], [1, 3]]]},
    "a lemma about a quantified formula": {**GOOD, "lemmas": [[1, -1]]},
    "another version": {**GOOD, "version": 2},
    "a boolean in place of a number": {**GOOD, "steps": [[False, [["app", "c"]]]]},
}


@pytest.mark.parametrize("name", BAD)
def test_bad_certificates_are_refused(name: str) -> None:
    """Each differs from a good one in a single point."""
    with pytest.raises(Invalid):
        check(BAD[name])


def test_two_existences_have_two_witnesses() -> None:
    """Something is p and something is not: no contradiction, though one constant for both would make one."""
    nodes = [["var", 0], ["rel", "p", 0], ["some", ["A"], 1], ["not", 1], ["some", ["A"], 3]]
    with pytest.raises(Invalid, match="step 0 of the refutation"):
        check(statement(nodes, [["one", 2], ["other", 4]], steps=[[0], [1]], refutation=[[[], [0, 1, 2, 3]]]))


def test_work_is_limited() -> None:
    """A formula that binds in 2**100 ways, and a long refutation of nothing, end soon."""
    nodes: list[Any] = [["var", 0], ["rel", "p", 0]]
    for number in range(1, 150):
        nodes += [["all", ["A"], len(nodes) - 1]] if number == 1 else []
        nodes += [["all", ["A"], len(nodes) - 1], ["all", ["B"], len(nodes) - 1], ["and", len(nodes), len(nodes) + 1]]
    with pytest.raises(Invalid):
        check(statement(nodes, [["large", len(nodes) - 1]]))
    clause = list(range(1, 3_000))
    with pytest.raises(Invalid):
        check({**GOOD, "lemmas": [], "refutation": [[clause, [0] * 100]] * 2_000})


@pytest.mark.parametrize("part", rest_slow(['{"":0}', "[[]]", '["app","#"]']))
def test_memory_is_limited(part: str, tmp_path: Path) -> None:
    """The largest file that is read, full of what takes most memory for its size: less than a gigabyte, of any kind."""
    others = "".join(f'"{key}":[],' for key in KEYS if key != "nodes")
    nodes = ",".join(part.replace("#", str(number)) for number in range(MOST_BYTES // (len(part) + 7)))
    (tmp_path / "large.json").write_text(f'{{"format":"{FORMAT}","version":1,{others}"nodes":[{nodes}]}}')
    told = (
        "import resource, sys; from evenhand_certificates.__main__ import main; main(sys.argv[1:]); "
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)"
    )
    ran = subprocess.run([sys.executable, "-c", told, str(tmp_path)], capture_output=True, text=True, check=True)
    assert "such form of" in ran.stdout or "more than" in ran.stdout or "end in the empty" in ran.stdout, ran.stdout
    assert int(ran.stdout.split()[-1]) < 1000


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Valid ones give 0, an invalid one 1, nothing to check 2."""
    (tmp_path / "good.json").write_text(json.dumps(GOOD))
    assert main([str(tmp_path)]) == 0
    assert "1 certificates: 1 valid, 0 invalid." in capsys.readouterr().out
    (tmp_path / "bad.json").write_text(json.dumps(BAD["without the instance"]))
    (tmp_path / "float.json").write_text('{"version": 1.0}')
    (tmp_path / "deep.json").write_text("[" * 100_000)
    (tmp_path / "long.json").write_text(json.dumps({**GOOD, "relations": [["r" * 100_000, []]] * 2}))
    assert main([str(tmp_path)]) == 1
    told = capsys.readouterr().out
    assert "5 certificates: 1 valid, 4 invalid." in told
    assert "rrr" in told
    assert len(told) < 10_000, "an error repeats a hostile name in full"
    assert main([str(tmp_path / "none")]) == 2
    (tmp_path / "empty").mkdir()
    assert main([str(tmp_path / "empty")]) == 2
    assert main([]) == 2
