"""Two actions in several orders: what is counted in a row, and where the count begins anew."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from evenhand.conform.checking.coding import Coder
from evenhand.conform.checking.counting import Counting
from evenhand.conform.checking.loop import ALTERED, EXHAUSTIVE, CheckEffort, SystemChecked, check_system
from evenhand.core.system import AnyStep
from evenhand.core.trace import Scenario
from tests.front.conform.in_process import InProcess
from tests.front.conform.small import small

MISS, HIT = "MISS", "HIT"
DARTS = 6


@dataclass(frozen=True)
class Board:
    """A game of darts; whoever misses three times in a row has lost."""

    darts: int = DARTS


@dataclass(frozen=True)
class Throw:
    """A dart."""

    how: str


@dataclass(frozen=True)
class Thrown:
    """How many darts were thrown."""

    count: int = 0


@dataclass(frozen=True)
class Seen:
    """What is seen of a dart."""

    how: str


def step(_rules: Any, _board: Board, thrown: Thrown, throw: Throw) -> tuple[Thrown, Seen]:
    """One dart."""
    return Thrown(thrown.count + 1), Seen(throw.how)


def _menu(board: Board, thrown: Thrown) -> Iterator[Throw]:
    if thrown.count < board.darts:
        yield from (Throw(MISS), Throw(HIT))


def lost(throws: Sequence[str]) -> bool:
    """Whether three in a row missed."""
    return (MISS,) * 3 in {tuple(throws[at : at + 3]) for at in range(len(throws))}


def conclude(steps: Sequence[AnyStep]) -> str:
    """How the game ended, once all darts are thrown."""
    over = len(steps) == DARTS
    return "" if not over else "lost" if lost([one.action.how for one in steps]) else "won"


def _darts(steps: Sequence[AnyStep]) -> str:
    return str(len(steps))


GAME = replace(
    small(
        "darts", lambda _scope: iter([Board()]), Thrown(), _menu, step, (Board, Throw, Thrown, Seen)
    ),
    conclusion=conclude,
)  # fmt: skip


class Player:
    """A kernel that counts misses; a lenient one forgets only half of them at a hit."""

    def __init__(self, halves: bool) -> None:
        self.halves, self.thrown, self.misses, self.lost = halves, 0, 0, False

    def step(self, action: Any) -> Any:
        """Take a dart."""
        self.thrown += 1
        self.misses = self.misses + 1 if action["how"] == MISS else self.misses // 2 if self.halves else 0
        self.lost |= self.misses >= 3
        return {"how": action["how"]}

    def facts(self) -> Any:
        """The end."""
        return {"count": self.thrown, "conclusion": "" if self.thrown < DARTS else "lost" if self.lost else "won"}


def checked(halves: bool) -> SystemChecked:
    """Check a player by one walk, and by nothing that is altered by chance."""
    effort = CheckEffort(transitions=1, examples=0, phases=(EXHAUSTIVE, ALTERED))
    return check_system("house", [GAME], (), InProcess(lambda _initial: Player(halves)), effort=effort)


def test_both_sorts_stand_in_every_run_and_one_of_them_often() -> None:
    """No run is of one sort alone, and each goes to its end."""
    coder = Coder("house", GAME)
    base = coder.trace(Scenario(Board(), Thrown(), (Throw(MISS), Throw(HIT))))
    made = list(Counting(coder, [base]).runs())
    assert made and all(len(one.steps) == DARTS for one in made)
    assert all({step.action.how for step in one.steps} == {MISS, HIT} for one in made)
    assert {lost([step.action.how for step in one.steps]) for one in made} == {True, False}


def test_what_does_not_end_otherwise_is_not_counted() -> None:
    """Where no order matters, none is asked."""
    coder = Coder("house", replace(GAME, conclusion=_darts))
    base = coder.trace(Scenario(Board(), Thrown(), (Throw(MISS), Throw(HIT))))
    assert not list(Counting(coder, [base]).runs())


@pytest.mark.parametrize("halves", [True, False])
def test_a_count_that_does_not_begin_anew_is_found(halves: bool) -> None:
    """Two misses, a hit and two misses are no three in a row."""
    assert bool(checked(halves).defects) is halves
