"""Quick records behave as those of the standard library."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import dataclasses
import inspect
from dataclasses import FrozenInstanceError, field
from fractions import Fraction
from typing import Any

import pytest

from evenhand.core import records
from evenhand.core.alike import alike
from evenhand.core.registry import protocols


@records.dataclass(frozen=True, slots=True, order=True)
class Point:
    """A quick record."""

    x: int
    y: int = 0


@records.dataclass(frozen=True, slots=True)
class Named(Point):
    """One with inherited fields."""

    name: str = field(default="", metadata={"free": "texts"})


@records.dataclass(frozen=True, slots=True)
class Checked:
    """One that checks what it is given, so that its constructor stays."""

    x: int

    def __post_init__(self) -> None:
        if self.x < 0:
            raise ValueError("negative")


@records.dataclass(frozen=True, slots=True)
class Fresh:
    """One with a value of its own for each record; its constructor stays."""

    parts: list[int] = field(default_factory=list)


def test_a_quick_record_is_made_and_copied_like_any_other() -> None:
    """By place and by name, with defaults; its fields stay what they were."""
    assert Named(1, name="a") == Named(x=1, y=0, name="a") != Named(1, name="b")
    assert repr(records.replace(Named(1, 2, "a"), y=3)) == "Named(x=1, y=3, name='a')"
    assert records.replace(Point(1), x=True).x is True
    assert sorted([Point(2), Point(1, 5), Point(1)]) == [Point(1), Point(1, 5), Point(2)]
    with pytest.raises(FrozenInstanceError):
        Point(1).x = 2  # type: ignore[misc]


@pytest.mark.parametrize("given", [{"z": 1}, {"x": 1, "z": 1}])
def test_a_field_that_there_is_not_is_refused(given: dict[str, Any]) -> None:
    """In the words of the standard library."""
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        records.replace(Point(1), **given)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        Point()  # type: ignore[call-arg]


@records.dataclass(frozen=True, slots=True)
class Underlined:
    """One with a name that begins as those of what writes the slots."""

    x: int
    _x: int


@records.dataclass(frozen=True, slots=True)
class Selfish:
    """One with a name that constructors use."""

    self: int


@records.dataclass(frozen=True, slots=True)
class Counted:
    """One whose class makes records in a way of its own."""

    x: int

    def __new__(cls, *_given: Any, **_named: Any) -> Any:
        """Note the record."""
        MADE.append(cls.__name__)
        return object.__new__(cls)


MADE: list[str] = []


def test_names_of_fields_are_free() -> None:
    """None is confused with a name that the constructor uses itself."""
    assert repr(records.replace(Underlined(1, 2), x=3)) == "Underlined(x=3, _x=2)"
    assert records.replace(Selfish(1), self=2).self == 2


def test_what_a_constructor_does_besides_is_done() -> None:
    """`__post_init__` and `__new__` run, also on a copy, and every record gets a list of its own."""
    assert (records.replace(Counted(1), x=2).x, MADE) == (2, ["Counted"] * 2)
    with pytest.raises(ValueError, match="negative"):
        records.replace(Checked(1), x=-1)
    assert Fresh().parts is not Fresh().parts


def test_the_constructors_of_the_models_take_what_they_did() -> None:
    """The same signature, and a copy without changes is alike, for every class of the protocols."""
    kinds: set[Any] = {
        kind for bundle in protocols() for system in bundle.model.systems.values() for kind in system.types
    }
    quick = 0
    listed: list[Any] = [one for one in kinds if dataclasses.is_dataclass(one)]
    for kind in listed:
        usual = dataclasses.make_dataclass(
            kind.__name__,
            [
                (one.name, one.type, field(default=one.default, default_factory=one.default_factory))
                for one in dataclasses.fields(kind)
            ],
            frozen=True,
        )
        mine, others = (inspect.signature(one).parameters for one in (kind, usual))
        assert [(p.name, p.default, p.kind) for p in mine.values()] == [
            (p.name, p.default, p.kind) for p in others.values()
        ]
        quick += kind.__init__.__code__.co_freevars == ()
    assert quick > 50


def test_states_and_actions_of_the_models_are_copied_whole() -> None:
    """No field is lost or exchanged by a copy."""
    copied = 0
    for bundle in protocols():
        for system in bundle.model.systems.values():
            config = next(iter(system.all_configs()))
            state = next(iter(system.initial(config)))
            for one in (config, state, next(system.enabled(config, state), None)):
                if dataclasses.is_dataclass(one) and not isinstance(one, type):
                    again = records.replace(one)
                    copied += 1
                    assert again is not one
                    assert again == one
                    assert alike(again, one)
    assert copied > 50


def test_equal_fractions_are_alike() -> None:
    """They are no integers, and have no other form."""
    assert alike(Fraction(2, 4), Fraction(1, 2))
    assert not alike(Fraction(1), 1)
    assert not alike((Fraction(1),), (1,))
