"""Structures under other names, and two of them as one."""

from __future__ import annotations

from evenhand.smt.structure import Structure
from evenhand.smt.tables import called, doubled, structure


def pair(first: str, second: str, owed: int) -> Structure:
    """Return two people of whom the first owes the second an amount."""
    return structure(
        {"Person": (first, second)}, {"owes": {(first, second)}, "sum": {first: owed, second: 0}, "rich": second}
    )


def test_elements_are_called_otherwise_wherever_they_stand() -> None:
    """In sorts, rows, arguments and values; what is no element stays."""
    names = {"a": "b", "b": "a"}
    assert called(pair("a", "b", 3), lambda one: names.get(one, one)) == pair("b", "a", 3)


def test_what_is_not_shared_has_a_second_copy() -> None:
    """Relations and functions of the other structure; the shared ones stand there once."""
    one, two = pair("a", "b", 3), pair("a", "b", 5)
    both = doubled(one, two, ("owes", "rich"))
    assert set(both.relations) == {"owes"}
    assert set(both.functions) == {"sum", "sum2", "rich"}
    assert (both.functions["sum"], both.functions["sum2"]) == (one.functions["sum"], two.functions["sum"])
