"""The parts of theories: orders, declarations, second copies, mutants, and tables of structures."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from evenhand.smt.arithmetic import element
from evenhand.smt.logic import FALSE, Sort, exists, forall
from evenhand.smt.preludes import Declarations, Faults, Twice, mutation, numbers, ordered, ranked, relations
from evenhand.smt.structure import Reader, Structure
from evenhand.smt.tables import beside, constant, line, ones, prop, rank, structure
from tests.models.grant import LAST_WINS, THEOREM

THING = Sort("Thing")
x, y, z = (THING(name) for name in "xyz")
SAID = Declarations()
red, big = SAID.relation("red", THING), SAID.relation("big", THING)
odd = SAID.word("odd", (x,), red(x) & ~big(x), "1")
THEORY = SAID.theory("things", THING)


@pytest.mark.parametrize(
    ("rows", "partial", "total"),
    [
        (line(("a", "b", "c")), True, True),
        (frozenset({("a", "b")}), True, False),
        (frozenset({("a", "b"), ("b", "c")}), False, False),
        (frozenset({("a", "a")}), False, False),
    ],
)
def test_orders(rows: frozenset[tuple[str, ...]], partial: bool, total: bool) -> None:
    """A strict order is asymmetric and transitive; a total one relates any two elements."""
    (before,) = relations("before", THING, THING)
    structure = Structure({"Thing": ("a", "b", "c")}, {"before": rows})
    assert Reader().holds(ranked(before, x, y, z), structure) is partial
    assert Reader().holds(ordered(before, x, y, z), structure) is total


def test_declarations_keep_their_order() -> None:
    """Symbols and words are in the theory in the order of declaration."""
    assert THEORY.symbols == ("red", "big")
    assert tuple(THEORY.meanings) == ("odd",)
    assert THEORY.word("odd", x) == odd(x)
    assert [one.name for one in numbers("size weight", THING)] == ["size", "weight"]


def test_a_second_copy_and_its_mutants() -> None:
    """Changed symbols have a copy, as has each word that uses them; shared symbols have none."""
    two = Twice.apart(THEORY, "red")
    assert (two.second("big", x), two.shared) == (big(x), ("big",))
    assert [one.name for one in two.said((THEORY.means("odd", FALSE, "none"),))] == ["odd", "odd2"]
    structure = Structure({"Thing": ("a",)}, {"red": ones(["a"]), "red2": ones([]), "big": ones([])})
    assert not two.theory.reader.holds(forall([x], two.alike("odd", x)), structure)
    assert two.theory.reader.holds(exists([x], two.first("odd", x) & ~two.second("odd", x)), structure)


def test_mutants_are_refuted_or_unseen_with_a_reason() -> None:
    """Faults are those of executable mutants."""
    faults = Faults((LAST_WINS, THEORY.means("odd", FALSE, "none")))
    assert [one.expected for one in (*faults.refuted(*faults), faults.unseen(LAST_WINS, "why"))] == [
        "refuted",
        "proved",
    ]
    assert mutation(THEORY, LAST_WINS, {"odd": red(x)}, "why").because == "why"


def test_a_theorem_says_what_its_claim_says() -> None:
    """Unless it has texts of its own."""
    same = replace(THEOREM, name="", sentence="")
    assert (same.name, same.sentence) == ("one_granted", "At most one agent is granted.")
    assert replace(THEOREM, name="n", sentence="s").name == "n"


def test_tables() -> None:
    """Rows of a relation, ranks of an order, and two steps as one structure where they have the same elements."""
    assert (sorted(prop(1)), sorted(prop("")), *constant(2).values(), *constant("a").values()) == ([()], [], "2", "a")
    assert rank(line(("b", "a")), "ab") == {"a": 1, "b": 0}

    def view(names: str) -> Structure | None:
        return Structure({"Thing": tuple(sorted(names))}, {"first": ones(names[:1])}) if names else None

    found = beside(view, "first")(("ab", "ba"))
    assert found is not None
    assert (found.relations["first"], found.relations["first2"]) == (ones("a"), ones("b"))
    assert beside(view, "first")(("ab", "c")) is None
    assert beside(view, "first")(("ab", "")) is None


def test_a_structure_is_told_by_value() -> None:
    told = {
        "open": True,
        "shut": False,
        "first": ["a"],
        "near": {("a", "b")},
        "none": [],
        "who": "b",
        "count": Fraction(1, 2),
        "age": {"a": 3, "b": 0},
        "gap": {("a", "b"): -1},
    }
    found = structure({"Agent": iter(("a", "b")), "Mark": ()}, told)
    assert found == Structure(
        {"Agent": ("a", "b"), "Mark": ("nothing",)},
        {
            "open": frozenset({()}),
            "shut": frozenset(),
            "first": frozenset({("a",)}),
            "near": frozenset({("a", "b")}),
            "none": frozenset(),
        },
        {
            "who": {(): "b"},
            "count": {(): element(Fraction(1, 2))},
            "age": {("a",): element(3), ("b",): element(0)},
            "gap": {("a", "b"): element(-1)},
        },
    )


def test_two_structures_side_by_side_differ_in_what_is_moved_alone() -> None:
    def view(told: dict[str, bool]) -> Structure:
        return structure({"Agent": ("a",)}, told)

    both = beside(view, "wins")
    one = {"wins": True, "asks": True}
    assert both((one, {"wins": False, "asks": True})) == view({**one, "wins2": False})
    assert both((one, {"wins": False, "asks": False})) is None
