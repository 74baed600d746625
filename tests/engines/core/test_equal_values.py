"""Values that Python calls equal although a claim can tell them apart, and values that equal only themselves."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum, IntEnum
from fractions import Fraction
from typing import Any, NamedTuple

import pytest

from evenhand.core.alike import alike, only_itself, refuse_merge
from evenhand.core.answers import ModelError


class Colour(IntEnum):
    """Its members are equal to integers."""

    RED = 1


class Plain(Enum):
    """Its members are singletons, equal only to themselves."""

    RED = 1


@dataclass(frozen=True)
class Whole:
    """Compares all its fields."""

    left: Any
    right: Any = 0


@dataclass(frozen=True)
class Partial:
    """Leaves a field out of the comparison."""

    value: Any
    note: Any = field(default=None, compare=False)


class Folded:
    """Has an equality of its own that compares half of it."""

    def __init__(self, seen: int, unseen: int) -> None:
        self.seen, self.unseen = seen, unseen

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Folded) and self.seen == other.seen

    def __hash__(self) -> int:
        return hash(self.seen)


class Slotted:
    """Has no dictionary, and compares one of two slots."""

    __slots__ = "seen", "unseen"

    def __init__(self, seen: int, unseen: int) -> None:
        self.seen, self.unseen = seen, unseen

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Slotted) and self.seen == other.seen

    def __hash__(self) -> int:
        return hash(self.seen)


@dataclass(frozen=True, eq=False)
class Longer(Whole):
    """Has a field that the inherited equality does not know."""

    more: Any = 0


@dataclass(frozen=True)
class Listed:
    """Holds a list all the same."""

    listed: list[Any] = field(hash=False)


class Nobody:
    """Has no equality."""


class Point(NamedTuple):
    """A tuple with names."""

    x: Any
    y: Any


UNLIKE: list[tuple[Any, Any, str]] = [
    (1, True, r"1 \(int\) and True \(bool\)"),
    (0, 0.0, r"0 \(int\) and 0.0 \(float\)"),
    (0.0, -0.0, r"0.0 \(float\) and -0.0 \(float\)"),
    (1, Fraction(1), "Fraction"),
    (1, Colour.RED, "Colour"),
    (Decimal("1.0"), Decimal("1.00"), "Decimal"),
    (complex(0.0, 0.0), complex(0.0, -0.0), "in attribute `imag`"),
    ((1, 2), Point(1, 2), "Point"),
    (("a", (1, 2)), ("a", (True, 2)), "bool"),
    (frozenset({1, 2}), frozenset({True, 2}), "bool"),
    (frozenset({(1,)}), frozenset({(1.0,)}), "float"),
    ((1, 2, 3, 4, (5, 6, 7, 8, (0,))), (1, 2, 3, 4, (5, 6, 7, 8, (False,))), "bool"),
    (frozenset({Point(1, 2)}), frozenset({Point(1, True + 1.0)}), "float"),
    (frozenset({(1, 2)}), frozenset({Point(1, 2)}), "Point"),
    (Whole(1, (0,)), Whole(1, (False,)), r"bool\) in field `right`"),
    (Partial(1, "a"), Partial(1, "b"), "in field `note`"),
    ((Partial(1, "a"),), (Partial(1, "b"),), "in field `note`"),
    (Folded(1, 1), Folded(1, 2), "in attribute `unseen`"),
    (Slotted(1, 1), Slotted(1, 2), "in attribute `unseen`"),
    (range(0), range(5, 5), "in attribute `start`"),
    (Longer(1, 2, 3), Longer(1, 2, 4), "in field `more`"),
    (Listed([1]), Listed([True]), r"bool\) in field `listed`"),
]


@pytest.mark.parametrize(("one", "other", "where"), UNLIKE)
def test_equal_values_that_can_be_told_apart(one: Any, other: Any, where: str) -> None:
    """They are equal in Python, unlike here, and the message gives the place."""
    assert one == other and hash(one) == hash(other)
    assert not alike(one, other) and not alike(other, one)
    with pytest.raises(ModelError, match=where):
        refuse_merge(one, other)


def twice(make: Any) -> tuple[Any, Any]:
    """Return two separately made values."""
    return make(), make()


@pytest.mark.parametrize(
    "make",
    [
        lambda: 10**30,
        lambda: "".join(["a", "b"]),
        lambda: (1, ("a", None, b"c")),
        lambda: frozenset({(1, 2), (3, 4)}),
        lambda: Whole((1, 2), Whole("a")),
        lambda: Partial((1, 2), "same"),
        lambda: Folded(1, 2),
        lambda: Slotted(1, 2),
        lambda: Longer(1, 2, 3),
        lambda: Listed([1]),
        lambda: Point(1, (2, 3)),
        lambda: frozenset({Point(10**30, (2, "".join(["a", "b"]))), Point(1, 2)}),
        lambda: Fraction(3, 7),
        lambda: Decimal("1.50"),
        lambda: 2.5,
        lambda: (Plain.RED, Colour.RED, True),
    ],
)
def test_values_made_in_the_same_way_are_alike(make: Any) -> None:
    """No value is refused for being made twice."""
    one, other = twice(make)
    assert one == other and alike(one, other)
    assert not only_itself(one)
    refuse_merge(one, other)


@pytest.mark.parametrize(
    ("value", "what"),
    [
        (Nobody(), "of type Nobody, which has no `__eq__`: make it a frozen dataclass"),
        ((1, (Nobody(),)), "Nobody"),
        (Whole(Nobody()), "Nobody"),
        (frozenset({Nobody()}), "Nobody"),
        (float("nan"), "nan, which is unequal to itself"),
        (iter([1]), "use a tuple, a number or a text"),
        (lambda: 1, "use a tuple, a number or a text"),
    ],
)
def test_values_equal_to_nothing_but_themselves_are_named(value: Any, what: str) -> None:
    """An object without `__eq__`, at any depth."""
    assert what in only_itself(value)
