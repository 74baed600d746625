"""A kernel may choose by a rule of its own, but not by the order in which things stand."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from evenhand.conform.checking.causes import alone
from evenhand.conform.checking.claims import StateNeeded
from evenhand.conform.checking.loop import CheckEffort, SystemChecked, check_system
from evenhand.conform.checking.withholding import decode_with_gaps
from evenhand.conform.checking.words import Dictionary, Malformed, Reader, choices
from evenhand.core.codec import encode
from evenhand.core.property import TwoRun
from tests.front.conform.in_process import InProcess
from tests.front.conform.small import small


@dataclass(frozen=True)
class Draw:
    """Somebody is to be drawn."""

    names: tuple[str, ...]


@dataclass(frozen=True)
class Drawn:
    """Who was drawn, and from how many."""

    name: str
    many: int


def _menu(_config: Any, _state: int) -> Iterator[Draw]:
    yield from (Draw(names) for names in (("ann",), ("ann", "bob"), ("cy", "bob", "ann")))


def step(_rules: Any, _config: Any, state: int, action: Draw) -> tuple[int, Drawn]:
    """The first by the alphabet is drawn."""
    return state, Drawn(min(action.names), len(action.names))


DRAW = small("draw", lambda _scope: iter(["a hat"]), 0, _menu, step, (Draw, Drawn))
ORDER = TwoRun(
    name="order_decides_nothing",
    sentence="Two orders of the same names give the same one.",
    twins=lambda _config, _state, action: (replace(action, names=action.names[::-1]),),
    config=lambda _w, config: config,
    state=lambda _w, _config, state: state,
    other=lambda w, _action: (w,),
    agree=lambda _w, one, other: other is not None and one.shown == other.shown,
)


def hashed(names: list[str]) -> str:
    """A choice by a hash of the kernel's own."""
    return max(names, key=lambda name: hashlib.sha256(name.encode()).digest())


def first(names: list[str]) -> str:
    """A choice by the order."""
    return names[0]


class Kernel:
    """It draws by a rule of its own."""

    def __init__(self, chooses: Callable[[list[str]], str], marker: Any) -> None:
        self.chooses, self.marker = chooses, marker

    def step(self, action: Any) -> Any:
        """Draw one."""
        name = self.chooses(action["names"])
        return {"$": "Drawn", "name": self.marker(name), "many": len(action["names"])}


def chosen(name: str) -> Any:
    """The marker of a choice."""
    return {"$chosen": name, "of": "names"}


def hidden(_name: str) -> Any:
    """The marker of what is not shown."""
    return {"$unknown": True}


def entry(name: str) -> Any:
    """An entry as it stands in the action, where the model shows a name."""
    return {"$chosen": {"$": "Draw", "names": [name]}, "of": "names"}


def elsewhere(name: str) -> Any:
    """A choice from a field that the action does not have."""
    return {"$chosen": name, "of": "hats"}


def plain(name: str) -> Any:
    """No marker."""
    return name


def checked(chooses: Callable[[list[str]], str], marker: Any = chosen) -> SystemChecked:
    """Check a kernel."""
    source = InProcess(lambda _initial: Kernel(chooses, marker))
    return check_system("hat", [DRAW], (ORDER,), source, effort=CheckEffort(examples=0))


def test_a_choice_by_order_is_found_and_one_by_another_hash_is_none() -> None:
    """Both choose otherwise than the model; where the choice is not shown, neither is found."""
    assert hashed(["ann", "bob", "cy"]) != "ann"
    assert not checked(hashed).defects
    (defect,) = checked(first).defects
    assert defect.divergence.subject == ORDER.name
    assert not checked(first, hidden).defects
    assert {one.divergence.what for one in checked(hashed, plain).defects} == {"differs"}


def test_what_is_shown_of_two_choices_tells_them_apart() -> None:
    """Though the rest is not shown: a claim that compares whole observations is violated, and by no hash."""

    class Silent(Kernel):
        def step(self, action: Any) -> Any:
            return {**super().step(action), "many": hidden("")}

    def found(chooses: Callable[[list[str]], str]) -> set[str]:
        source = InProcess(lambda _initial: Silent(chooses, chosen))
        result = check_system("hat", [DRAW], (ORDER,), source, effort=CheckEffort(examples=0))
        return {one.divergence.subject for one in result.defects}

    assert found(first) == {ORDER.name} and not found(hashed)


def test_records_with_gaps_differ_by_what_is_known_of_both() -> None:
    """They are equal to none."""
    gap = {"$unknown": True}
    ann, bob, some = (
        decode_with_gaps({"$": "Drawn", "name": name, "many": many}, (Draw, Drawn))
        for name, many in (("ann", gap), ("bob", gap), (gap, 2))
    )
    assert ann != bob and bob != Drawn("ann", 2) and Drawn("ann", 2) != bob and some != Drawn("ann", 3)
    assert ann != "ann" and {"one": (1, ann)} != {"one": (1, bob)}
    for other in (ann, decode_with_gaps(encode(Drawn("ann", 2)), (Draw, Drawn)), some):
        with pytest.raises(StateNeeded):
            assert ann == other
    with pytest.raises(StateNeeded):
        hash(ann)


def test_what_is_not_chosen_is_compared() -> None:
    """The marker covers no more than it holds."""

    class Wrong(Kernel):
        def step(self, action: Any) -> Any:
            return {**super().step(action), "many": 7}

    source = InProcess(lambda _initial: Wrong(hashed, chosen))
    result = check_system("hat", [DRAW], (ORDER,), source, effort=CheckEffort(examples=0))
    assert {one.divergence.what for one in result.defects} >= {"differs"}


def test_a_choice_is_read_in_two_ways() -> None:
    """Claims about one run see a gap, those about two orders what was chosen, as in the model where it has gaps."""
    expected = encode(Drawn("ann", 2))
    said = {"$": "Drawn", "name": chosen("bob"), "many": 2}
    one = Reader((Draw, Drawn)).reading(said, expected, Dictionary())
    other = Reader((Draw, Drawn), choices=True).reading(said, expected, Dictionary())
    assert one.told == expected and one.agrees and one.partial
    assert other.seen == other.told == encode(Drawn("bob", 2))
    whole = {"$chosen": {"$": "Drawn", "name": "bob"}, "of": "names"}
    assert Reader((Draw, Drawn), choices=True).reading(whole, expected, Dictionary()).told == encode(Drawn("bob", 2))
    alone = Reader((Draw, Drawn), choices=True).reading(whole, None, Dictionary())
    assert decode_with_gaps(alone.seen, (Draw, Drawn)).name == "bob"  # the rest is a gap
    assert choices([whole, {"a": said}]) == {"names"} and not choices(expected)


@pytest.mark.parametrize("said", [{"$chosen": "ann"}, {"$chosen": "ann", "of": 1}, {"$chosen": 1, "of": "a", "b": 2}])
def test_a_choice_says_of_what(said: Any) -> None:
    """A marker without the list, or with more, says nothing."""
    with pytest.raises(Malformed, match="chosen"):
        Reader((Draw, Drawn)).reading(said, encode("ann"), Dictionary())


@pytest.mark.parametrize(
    ("marker", "why"),
    [
        (entry, "Drawn.name is str, not Draw"),
        (elsewhere, "which $chosen was chosen from: names"),
    ],
    ids=["the entry itself", "no field"],
)
def test_a_choice_that_cannot_stand_there_is_the_kernels_fault(marker: Any, why: str) -> None:
    """What was chosen is written as the model would write it there, and `of` names a field that the action has."""
    (defect,) = checked(hashed, marker).defects
    assert defect.divergence.what == "fails" and why in defect.divergence.why


def test_the_finding_is_told_with_its_claim(tmp_path: Path) -> None:
    """Its record has both runs and a kind by which it is known again."""
    (defect,) = checked(first).defects
    cause = alone(DRAW, defect)
    assert cause.headline == ORDER.name and defect.divergence.beside is not None
    assert defect.divergence.kinds == {ORDER.name}
