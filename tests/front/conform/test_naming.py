"""Names of one family at once: a kernel that takes one name for another is found, and no other kernel."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from evenhand.conform.checking import loop
from evenhand.conform.checking.coding import Coder
from evenhand.conform.checking.loop import ALTERED, EXHAUSTIVE, CheckEffort, SystemChecked, check_system
from evenhand.conform.checking.naming import PLAIN, Naming
from evenhand.core.codec import encode
from evenhand.core.trace import AnyTrace, Scenario
from tests.front.conform.in_process import InProcess
from tests.front.conform.small import small


@dataclass(frozen=True)
class House:
    """Who may open which door."""

    keys: tuple[tuple[str, str], ...] = (("ann", "north"), ("bob", "south"))


@dataclass(frozen=True)
class Open:
    """Somebody turns to a door."""

    who: str
    door: str


@dataclass(frozen=True)
class Said:
    """Whether it opens."""

    opens: bool


def step(_rules: Any, house: House, state: int, action: Open) -> tuple[int, Said]:
    """A door opens for whoever has its key."""
    return state, Said((action.who, action.door) in house.keys)


def _menu(house: House, _state: int) -> Iterator[Open]:
    yield from (Open(who, door) for who, _ in house.keys for _, door in house.keys)


HOUSE = small("house", lambda _scope: iter([House()]), 0, _menu, step, (House, Open, Said))
CODER = Coder("house", HOUSE)
BASE = CODER.trace(Scenario(House(), 0, (Open("ann", "north"), Open("ann", "south"), Open("bob", "north"))))


def _like(text: str, pattern: str) -> bool:
    alike = zip(text.lower(), pattern.lower(), strict=True) if len(text) == len(pattern) else [("", "no")]
    return all(two in ("_", one) for one, two in alike)


class Kernel:
    """A house with a fault."""

    def __init__(self, fault: str, initial: Any) -> None:
        self.fault, self.keys = fault, [tuple(one) for one in initial["config"]["keys"]]
        if fault == "fixed" and ("ann", "north") not in self.keys:
            raise RuntimeError("another house")
        if fault == "pastes" and any("'" in name for one in self.keys for name in one):
            raise RuntimeError("syntax error")

    def step(self, action: Any) -> Any:
        """Open or not."""
        who, door = action["who"], action["door"]
        doors = [one for name, one in self.keys if name == who]
        found = door in doors
        if self.fault == "begins":
            found = any(one.startswith(door) for one in doors)
        if self.fault == "matches":
            found = any(_like(door, one) for one in doors)
        found = found and any(door == one for _, one in self.keys)
        return encode(Said(found))


def checked(fault: str) -> SystemChecked:
    """Check the kernel, in the house and in altered runs."""
    effort = CheckEffort(phases=(EXHAUSTIVE, ALTERED), examples=10)
    return check_system("house", [HOUSE], (), InProcess(lambda initial: Kernel(fault, initial)), effort=effort)


FAULTS = ("begins", "matches", "pastes")


class _Never(Naming):
    def __init__(self, coder: Coder, _bases: Collection[AnyTrace], seed: int = 0) -> None:
        super().__init__(coder, (), seed)


@pytest.mark.parametrize("fault", FAULTS)
def test_names_that_are_taken_for_one_another_are_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one finding, and without other names not at all."""
    (defect,) = checked(fault).defects
    assert defect.divergence.scenario.config != House()
    monkeypatch.setattr(loop, "Naming", _Never)
    assert not checked(fault).defects


def test_an_honest_kernel_is_silent() -> None:
    """Whatever the names are."""
    result = checked("")
    assert not result.defects
    assert result.runs[ALTERED] > 50


def test_a_kernel_that_knows_its_own_names_alone_is_not_accused() -> None:
    """It shows something else under plain names as well, so odd ones are not sent."""
    assert not checked("fixed").defects


def test_names_of_one_family_stand_in_all_places() -> None:
    """In the configuration and in every action, each for one name; the doors and people of a run are all exchanged."""
    naming = Naming(CODER, [BASE])
    (plain,) = naming.plainly()
    odd = [trace.scenario for trace in naming.odd([plain.scenario])]
    assert len(odd) == 5
    for run in (plain.scenario, *odd):
        (ann, north), (bob, south) = run.config.keys
        assert len({ann, north, bob, south, "ann", "bob", "north", "south"}) == 8
        assert run.actions == (Open(ann, north), Open(ann, south), Open(bob, north))
        assert all(PLAIN.fullmatch(one) for one in (ann, north, bob, south))


def test_a_name_that_means_something_stays() -> None:
    """Where the model shows something else under another name, the others alone are exchanged."""

    def guarded(rules: Any, house: House, state: int, action: Open) -> tuple[int, Said]:
        return step(rules, house, state, action) if action.door == "north" else (state, Said(False))

    coder = Coder("house", small("house", lambda _scope: iter([House()]), 0, _menu, guarded, (House, Open, Said)))
    naming = Naming(coder, [coder.trace(BASE.scenario)])
    (plain,) = naming.plainly()
    assert {door for _, door in plain.scenario.config.keys} >= {"north"}
    assert not {"ann", "bob", "south"} & {name for one in plain.scenario.config.keys for name in one}


def test_the_same_seed_gives_the_same_names() -> None:
    """Equal seeds give equal runs, others do not."""

    def runs(seed: int) -> list[Any]:
        naming = Naming(CODER, [BASE, CODER.trace(Scenario(House(), 0, (Open("bob", "south"),)))], seed)
        return [one.scenario for one in naming.odd([one.scenario for one in naming.plainly()])]

    assert runs(1) == runs(1) != runs(2)
