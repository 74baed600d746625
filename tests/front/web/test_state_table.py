"""Values as tables of their parts, and what changed in them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from evenhand.web.state_table import Cell, Table, differences, in_words, label, shown_table, table


@dataclass(frozen=True)
class Seat:
    """A row."""

    agent: str
    balance: int
    waits: bool = False
    motto: str = ""


@dataclass(frozen=True)
class Room:
    """A state."""

    seats: tuple[Seat, ...]
    keys: tuple[tuple[str, Any], ...] = (("door", "free"),)
    names: frozenset[str] = frozenset()
    turn: int = 0


ROOM = Room((Seat("ann", 5), Seat("bob", 5)))


def made(now: Any, before: Any) -> Table:
    """Return the table of a value with parts."""
    found = table(now, before)
    assert found is not None
    return found


def test_a_record_has_a_row_for_each_field_and_no_mark_where_nothing_changed() -> None:
    """Its lists of records are tables, with a column for what differs and a note on what does not."""
    whole = made(ROOM, ROOM)
    assert [row.name for row in whole.rows] == ["seats", "keys", "names", "turn"]
    assert not whole.changed and {row.mark for row in whole.rows} == {""}
    seats = whole.rows[0].cells[0].inner
    assert seats is not None
    assert (seats.columns, seats.common) == (("agent",), "balance 5")
    assert [row.cells[0].now for row in seats.rows] == ["ann", "bob"]
    assert whole.rows[2].cells == (Cell("empty"),)


def test_a_change_shows_both_values_where_it_is() -> None:
    """In the cell of the record that has it, found by its first field although its place changed."""
    after = Room((Seat("cid", 9), Seat("bob", 3)), (("door", "shut"),), frozenset({"x"}))
    whole = made(after, ROOM)
    assert [row.mark for row in whole.rows] == ["changed", "changed", "changed", ""]
    seats = whole.rows[0].cells[0].inner
    assert seats is not None
    assert [(row.cells[0].now, row.mark) for row in seats.rows] == [("cid", "new"), ("bob", "changed"), ("ann", "gone")]
    assert seats.rows[1].cells[1] == Cell("3", "5")
    assert differences(ROOM, after) == (
        "seats cid is new",
        "seats bob balance: 5 → 3",
        "seats ann is gone",
        "keys door: free → shut",
        "names: empty → x",
    )


def test_records_that_their_first_field_does_not_tell_apart_are_numbered() -> None:
    """They are compared by place."""
    before = (Seat("ann", 1), Seat("ann", 2))
    grid = made((before[0], replace(before[1], balance=7)), before)
    assert [(row.name, row.mark) for row in grid.rows] == [("1", ""), ("2", "changed")]
    assert differences(before, (*before, before[0])) == ("3 is new",)


def test_a_mapping_of_records_is_a_table_with_their_names() -> None:
    """A key that is gone is said to be."""
    grid = made({"left": Seat("ann", 1)}, {"left": Seat("ann", 2), "right": Seat("bob", 2)})
    assert [(row.name, row.mark) for row in grid.rows] == [("left", "changed"), ("right", "gone")]


def test_values_of_another_kind_are_shown_whole() -> None:
    """A number has no table; a value that became another kind shows both."""
    assert table(3, 4) is None
    assert differences(3, 4) == ("3 → 4",)
    assert differences(ROOM, ROOM) == ("nothing changes",)
    assert differences(Room(()), replace(Room(()), keys=None)) == ("keys: door: free → none",)  # type: ignore[arg-type]
    assert differences(1, True) == ("1 → yes",), "equal values of two types differ"


def test_words_are_for_people() -> None:
    """No quotes and class names; empty text, nothing and an empty set stay apart; a digest is cut."""
    assert [in_words(value) for value in ("a", "", None, True, (), {"k": 1})] == [
        "a",
        "",
        "none",
        "yes",
        "empty",
        "k: 1",
    ]
    assert in_words(("a", "")) == "a, ''"
    assert [in_words(value) for value in ("none", "7", "no", "yes", " ")] == ["'none'", "'7'", "'no'", "'yes'", "' '"]
    assert differences(Seat("ann", 1, motto="none"), Seat("ann", 1)) == ("motto: 'none' → none",)
    assert in_words("f" * 64) == f"{'f' * 12}…"
    assert in_words("a\u202eb") == "a\\u202eb"
    assert label(Seat("ann", 1)) == "Seat: agent ann, balance 1"
    assert label("take") == "take"
    assert len(in_words("x" * 1000)) == 300


def test_what_a_step_shows_leaves_out_what_is_empty() -> None:
    """A record of nothing but defaults has no table."""
    shown = shown_table(Room((), ()))
    assert shown is None
    some = shown_table(replace(ROOM, turn=2))
    assert some is not None and [row.name for row in some.rows] == ["seats", "keys", "turn"]
