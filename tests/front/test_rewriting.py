"""Faults in the syntax tree of a function: each kind does exactly what its name says."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from evenhand.variants import rewriting
from evenhand.variants.annotated import typing_of
from evenhand.variants.rewriting import changed, changes

SOURCE = """
from dataclasses import dataclass, replace
from enum import Enum

class Colour(Enum):
    RED = 1
    BLUE = 2

@dataclass(frozen=True)
class Seat:
    name: str
    place: str
    paid: int = 0
    owed: int = 0

def guarded(number: int, extra: int = 1) -> int:
    if number > 3:
        return 0
    return number + extra

def counted(numbers: tuple[int, ...]) -> int:
    total = 0
    for number in numbers:
        total += number
    total = total * 2
    return total

def asked(first: bool, second: bool) -> bool:
    return first and not second

def all_of(flags: tuple[bool, ...]) -> bool:
    return all(flags)

def filtered(numbers: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(number for number in numbers if number != 2)

def added(numbers: tuple[int, ...], one: int) -> tuple[int, ...]:
    return (*numbers, one)

def cut(numbers: tuple[int, ...], most: int) -> tuple[int, ...]:
    return numbers[:most]

def paid(seat: Seat, amount: int) -> Seat:
    after = replace(seat, paid=seat.paid + amount, owed=seat.owed)
    return after

def made(name: str, place: str) -> Seat:
    return Seat(name, place, paid=1, owed=2)

def greeted(name: str) -> str:
    return str.__add__(name, "!")

def coloured(which: int) -> object:
    match which:
        case 1:
            return Colour.RED
        case _:
            return Colour.BLUE

def choice(ready: bool) -> str:
    return "go" if ready else "stay"

def waited(number: int) -> int:
    while number < 3:
        number += 1
    return number

def flag() -> object:
    return True
"""
TREE = ast.parse(SOURCE)
TYPES = typing_of([TREE])
FUNCTIONS = {node.name: node for node in TREE.body if isinstance(node, ast.FunctionDef)}
USUAL: dict[str, Any] = {}
exec(SOURCE, USUAL)
SEAT = USUAL["Seat"]("n", "p", 3, 4)

CASES: list[tuple[str, str, tuple[Any, ...], Any, Any]] = [
    ("guarded", "drop_guard_1", (5,), 0, 6),
    ("guarded", "negate_1", (1,), 2, 0),
    ("guarded", "always_1", (1,), 2, 0),
    ("guarded", "never_1", (5,), 0, 6),
    ("guarded", "other_comparison_1", (3,), 4, 0),
    ("guarded", "plus_one_1", (4,), 0, 5),
    ("guarded", "minus_one_1", (3,), 4, 0),
    ("guarded", "other_sign_1", (3,), 4, 2),
    ("guarded", "drop_operand_1", (3,), 4, 3),
    ("guarded", "other_parameter_1", (5,), 0, 6),
    ("counted", "drop_statement_1", ((1, 2),), 6, 0),
    ("counted", "drop_statement_3", ((1, 2),), 6, 3),
    ("asked", "swap_and_or_1", (False, False), False, True),
    ("asked", "drop_condition_1", (False, False), False, True),
    ("asked", "drop_not_1", (True, False), True, False),
    ("all_of", "other_call_1", ((True, False),), False, True),
    ("filtered", "drop_filter_1", ((1, 2),), (1,), (1, 2)),
    ("filtered", "return_empty_1", ((1, 2),), (1,), ()),
    ("filtered", "do_nothing_1", ((1, 2),), (1,), (1, 2)),
    ("added", "drop_element_1", ((1, 2), 3), (1, 2, 3), (3,)),
    ("cut", "bound_plus_one_1", ((1, 2), 1), (1,), (1, 2)),
    ("paid", "drop_update_1", (SEAT, 1), USUAL["Seat"]("n", "p", 4, 4), SEAT),
    ("paid", "drop_field_1", (SEAT, 1), USUAL["Seat"]("n", "p", 4, 4), SEAT),
    ("paid", "swap_fields_1", (SEAT, 2), USUAL["Seat"]("n", "p", 5, 4), USUAL["Seat"]("n", "p", 4, 5)),
    ("paid", "other_field_1", (SEAT, 1), USUAL["Seat"]("n", "p", 4, 4), USUAL["Seat"]("n", "p", 4, 3)),
    ("paid", "stale_1", (SEAT, 1), USUAL["Seat"]("n", "p", 4, 4), SEAT),
    ("made", "swap_arguments_1", ("n", "p"), USUAL["Seat"]("n", "p", 1, 2), USUAL["Seat"]("p", "n", 1, 2)),
    ("greeted", "blank_text_1", ("you",), "you!", "you"),
    ("coloured", "drop_case_1", (1,), USUAL["Colour"].RED, USUAL["Colour"].BLUE),
    ("coloured", "other_member_1", (1,), USUAL["Colour"].RED, USUAL["Colour"].BLUE),
    ("choice", "negate_1", (True,), "go", "stay"),
    ("waited", "negate_1", (1,), 3, 1),
    ("flag", "flip_1", (), True, False),
]


def with_change(function: str, name: str) -> Any:
    """Return the function with one change, and its definition."""
    (one,) = (one for one in changes(FUNCTIONS[function], TYPES) if one.name == name)
    definition, _ = changed(FUNCTIONS[function], one)
    names = dict(USUAL)
    exec(compile(ast.Module([definition], []), "<changed>", "exec"), names)
    return names[function]


@pytest.mark.parametrize(("function", "name", "arguments", "before", "after"), CASES)
def test_a_change_does_what_it_says(
    function: str, name: str, arguments: tuple[Any, ...], before: Any, after: Any
) -> None:
    """On an input that shows it; the definition itself stays as it was."""
    text = ast.unparse(FUNCTIONS[function])
    assert USUAL[function](*arguments) == before
    assert with_change(function, name)(*arguments) == after
    assert ast.unparse(FUNCTIONS[function]) == text


def test_each_kind_has_a_case() -> None:
    """The kinds are read from the module that makes them."""
    kinds = set(re.findall(r'yield "(\w+)"|"(\w+)" if guard else "(\w+)"', Path(rewriting.__file__).read_text("utf-8")))
    named = {kind for found in kinds for kind in found if kind}
    assert len(named) > 25
    assert named == {name.rpartition("_")[0] for _, name, *_ in CASES}


def test_a_change_is_told_in_words() -> None:
    """With the line of the source."""
    (one,) = (one for one in changes(FUNCTIONS["guarded"], TYPES) if one.name == "other_comparison_1")
    line = SOURCE.splitlines().index("    if number > 3:") + 1
    assert changed(FUNCTIONS["guarded"], one)[1] == f"line {line}: number > 3 -> number >= 3"


def test_only_what_is_annotated_alike_is_exchanged() -> None:
    """A seat's name and its place, not its name and what it paid."""
    names = [one.name for one in changes(FUNCTIONS["made"], TYPES)]
    assert [name for name in names if name.startswith("swap_arguments")] == ["swap_arguments_1"]
    assert TYPES.other_field("name", "Seat") == "place"
    assert TYPES.other_field("paid", "Seat") == "owed"
    assert TYPES.other_member("Colour", "BLUE") == "RED"
