"""A claim that objects on the model's own state accuses nobody, and so brings no two faults together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from evenhand.conform.checking.claims import Basis
from evenhand.conform.checking.loop import EXHAUSTIVE, CheckEffort, check_system
from evenhand.core.property import EachStep
from tests.front.conform.in_process import InProcess
from tests.front.conform.small import small

PAID, TAKEN, SENT, GOT = "PAID", "TAKEN", "SENT", "GOT"


@dataclass(frozen=True)
class House:
    """One purse."""


@dataclass(frozen=True)
class Pay:
    """One coin goes in."""


@dataclass(frozen=True)
class Take:
    """One coin comes out, if there is one."""


@dataclass(frozen=True)
class Purse:
    """How many coins are in it."""

    coins: int = 2


@dataclass(frozen=True)
class Told:
    """What was done, and how many coins are left."""

    what: str
    left: int


def step(_rules: Any, _house: House, purse: Purse, action: Any) -> tuple[Purse, Told]:
    """Up to four coins."""
    coins = min(4, purse.coins + 1) if isinstance(action, Pay) else max(0, purse.coins - 1)
    return Purse(coins), Told(PAID if isinstance(action, Pay) else TAKEN, coins)


def _menu(_house: House, _purse: Purse) -> Iterator[Any]:
    yield from (Pay(), Take())


PURSE = small("purse", lambda _scope: iter([House()]), Purse(), _menu, step, (House, Pay, Take, Purse, Told))
CLAIM = EachStep(
    name="what_is_left_is_told", sentence="", systems=("purse",), check=lambda step: step.shown.left == step.after.coins
)


class Kernel:
    """It calls paying another name and counts too much then; so it does with taking, and counts too little."""

    def __init__(self, _initial: Any) -> None:
        self.purse = Purse()

    def step(self, action: Any) -> Any:
        """Pay or take."""
        pays = action["$"] == "Pay"
        self.purse, shown = step(None, House(), self.purse, Pay() if pays else Take())
        return {"what": SENT if pays else GOT, "left": shown.left + (1 if pays else -1)}


def test_two_faults_to_which_one_claim_would_object_are_two_findings() -> None:
    """Both show a wrong number in one place, one too much and one too little."""
    effort = CheckEffort(phases=(EXHAUSTIVE,), transitions=100)
    found = check_system("house", [PURSE], [CLAIM], InProcess(Kernel), effort=effort).defects
    assert {one.basis for defect in found for one in defect.divergence.violations} == {Basis.AFTER}
    assert sorted(defect.divergence.taken for defect in found) == ["Pay", "Take"]
