"""What a kernel overlooked in an earlier step brings together what differs later in several forms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from evenhand.conform.checking import defects
from evenhand.conform.checking.causes import causes
from evenhand.conform.checking.loop import EXHAUSTIVE, CheckEffort, check_system
from evenhand.conform.checking.ordering import MANY_WAYS, broad
from tests.front.conform.in_process import InProcess
from tests.front.conform.small import small
from tests.front.conform.test_causes import differing

ONE, MANY, NO = "ONE", "MANY", "NO"


@dataclass(frozen=True)
class Board:
    """Who may write."""

    writers: tuple[str, ...] = ("ann",)


@dataclass(frozen=True)
class Write:
    """Somebody writes a note, perhaps in place of another one."""

    writer: str
    note: str
    over: str | None = None


@dataclass(frozen=True)
class Look:
    """Somebody reads the notes, or asks how many there are."""

    counts: bool = False


@dataclass(frozen=True)
class Notes:
    """The notes that stand."""

    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Told:
    """The notes, or how many there are."""

    notes: tuple[str, ...] = ()
    number: str = ""


def told(notes: tuple[str, ...], look: Look) -> Told:
    """What is told of the notes."""
    return Told((), MANY if len(notes) > 1 else ONE) if look.counts else Told(notes)


def step(_rules: Any, board: Board, before: Notes, action: Any) -> tuple[Notes, Told]:
    """A note of a writer stands until another is written over it."""
    if isinstance(action, Look):
        return before, told(before.notes, action)
    if action.writer not in board.writers:
        return before, Told((), NO)
    kept = tuple(note for note in before.notes if note not in (action.over, action.note))
    return Notes((*kept, action.note)), Told()


def _menu(_board: Board, _notes: Notes) -> Iterator[Any]:
    yield from (Write("ann", "one"), Write("ann", "two", "one"), Write("ann", "two"), Write("bob", "one"))
    yield from (Look(), Look(True))


BOARD = small("board", lambda _scope: iter([Board()]), Notes(), _menu, step, (Board, Write, Look, Notes, Told))


class Kernel:
    """A board on which a note that was written over still stands, or on which everybody writes."""

    def __init__(self, overlooks: str) -> None:
        self.overlooks, self.notes = overlooks, Notes()

    def step(self, action: Any) -> Any:
        """Write or look."""
        if action["$"] == "Look":
            shown = told(self.notes.notes, Look(action["counts"]))
        else:
            board = Board(("ann", "bob") if self.overlooks == "writers" else ("ann",))
            over = None if self.overlooks == "over" else action["over"]
            self.notes, shown = step(None, board, self.notes, Write(action["writer"], action["note"], over))
        return {"notes": list(shown.notes), "number": shown.number}


def found(overlooks: str) -> list[frozenset[str]]:
    """What the findings say was overlooked before."""
    effort = CheckEffort(phases=(EXHAUSTIVE,), transitions=300)
    checked = check_system("house", [BOARD], (), InProcess(lambda _initial: Kernel(overlooks)), effort=effort)
    return [one.defect.origins for one in causes([(BOARD, checked.defects)])]


@pytest.mark.parametrize(("overlooks", "field"), [("over", ".Write.over"), ("writers", ".Board.writers")])
def test_what_was_overlooked_before_is_one_finding(overlooks: str, field: str) -> None:
    """The notes differ, and their number; or a name counts as known that the configuration has not."""
    (origins,) = found(overlooks)
    assert field in origins


def test_without_it_each_form_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fault that the test above would see."""
    monkeypatch.setattr(defects.Defects, "_origins", lambda *_: frozenset[str]())
    assert len(found("over")) > 1


@pytest.mark.parametrize(("words", "number"), [(frozenset[str](), 1), (frozenset({"LATE"}), 2)])
def test_one_field_that_is_wrong_in_many_ways_is_one_but_for_words_of_the_protocol(
    words: frozenset[str], number: int
) -> None:
    """Four other texts are one fault; a reason that the protocol names may be another."""
    ways = [f"why: {one} / other" for one in ("a", "b", "c", "LATE", "d")][: MANY_WAYS + 1]
    kept = list(broad([defects.Defect(differing({way}), 1) for way in ways], words))
    assert len(kept) == number and sum(one.count for one in kept) == len(ways)
