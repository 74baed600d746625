"""What in an action a kernel overlooks tells two faults apart that show the same."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from evenhand.conform.checking.causes import causes
from evenhand.conform.checking.loop import EXHAUSTIVE, CheckEffort, check_system
from tests.front.conform.in_process import InProcess
from tests.front.conform.small import small

DONE, WAIT, REFUSED = "DONE", "WAIT", "REFUSED"


@dataclass(frozen=True)
class Door:
    """Whose door it is."""

    owner: str = "ann"


@dataclass(frozen=True)
class Knock:
    """Somebody knocks, perhaps loudly or twice."""

    name: str
    loud: bool = False
    twice: bool = False


@dataclass(frozen=True)
class Ring:
    """Somebody rings, perhaps loudly."""

    name: str
    loud: bool = False


@dataclass(frozen=True)
class Nothing:
    """A door has no memory."""


@dataclass(frozen=True)
class Told:
    """Whether it opens."""

    what: str


def step(_rules: Any, door: Door, nothing: Nothing, knock: Knock) -> tuple[Nothing, Told]:
    """It opens to its owner, who does not knock loudly, and later if the owner knocks twice."""
    opens = knock.name == door.owner and not knock.loud
    return nothing, Told((WAIT if knock.twice else DONE) if opens else REFUSED)


def _menu(_door: Door, _nothing: Nothing) -> Iterator[Knock]:
    yield from (
        Knock(name, loud, twice) for name in ("ann", "bob") for loud in (False, True) for twice in (False, True)
    )


DOOR = small("door", lambda _scope: iter([Door()]), Nothing(), _menu, step, (Door, Knock, Nothing, Told))


def _answer(_rules: Any, door: Door, nothing: Nothing, act: Knock | Ring) -> tuple[Nothing, Told]:
    """It opens to a ring as to a knock."""
    return step(_rules, door, nothing, act if isinstance(act, Knock) else Knock(act.name, act.loud))


def _knocks_and_rings(_door: Door, _nothing: Nothing) -> Iterator[Knock | Ring]:
    yield from (kind(name, loud) for kind in (Knock, Ring) for name in ("ann", "bob") for loud in (False, True))


BELL = small(
    "bell", lambda _scope: iter([Door()]), Nothing(), _knocks_and_rings, _answer, (Door, Knock, Ring, Nothing, Told)
)


class Keeper:
    """A kernel that overlooks some fields."""

    def __init__(self, overlooks: Collection[str]) -> None:
        self.overlooks = overlooks

    def step(self, action: Any) -> Any:
        """Open or not."""
        due, kind = {"name": "ann", "loud": False}, action["$"]
        fits = all(action[one] == due[one] or {one, f"{kind}.{one}"} & {*self.overlooks} for one in due)
        return {"what": (WAIT if action.get("twice") else DONE) if fits else REFUSED}


def found(overlooks: Collection[str], system: Any = DOOR) -> list[tuple[frozenset[str], Any]]:
    """What the findings say is overlooked, and their last actions."""
    effort = CheckEffort(phases=(EXHAUSTIVE,))
    checked = check_system("house", [system], (), InProcess(lambda _initial: Keeper(overlooks)), effort=effort)
    defects = [one.defect for one in causes([(system, checked.defects)])]
    return [(one.culprits, one.divergence.scenario.actions[-1]) for one in defects]


def test_two_fields_are_two_findings() -> None:
    """Both faults open the door, and each is told by a run in which the other would not."""
    told = found({"name", "loud"})
    assert {one for one, _ in told} == {frozenset({".Knock.name"}), frozenset({".Knock.loud"})}
    assert {(knock.name, knock.loud) for _, knock in told} == {("bob", False), ("ann", True)}


@pytest.mark.parametrize("field", ["name", "loud"])
def test_one_field_is_one_finding(field: str) -> None:
    """However many runs show it, and in whichever way."""
    assert [one for one, _ in found({field})] == [frozenset({f".Knock.{field}"})]


@pytest.mark.parametrize(("overlooks", "findings"), [(("name",), 1), (("Knock.name", "Ring.loud"), 2)])
def test_a_field_of_two_actions_is_one(overlooks: tuple[str, ...], findings: int) -> None:
    """A kernel that overlooks who knocks overlooks who rings; another field is another fault."""
    assert len(found(overlooks, BELL)) == findings
