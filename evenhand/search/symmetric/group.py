"""The group that fixes a configuration, and one picked state of each of its orbits.

Two names of a family (`Quotient.families`) may trade places if exchanging them fixes the configuration.  Each name must
own fields of the state that no other name touches.  The picked state has the names in the order of their fields'
values, and an orbit's size is a multinomial coefficient; the group is never listed.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.core.system import AnySystem
from evenhand.search.csr import Ints
from evenhand.search.rows.shape import Shape
from evenhand.search.symmetric.moves import AnyQuotient, Move, Unmoved, move_of

SHARED = "they share fields"
"""What is wrong with names of which one moves the fields of another."""


class NoGroup(Exception):
    """The states of a configuration cannot be divided by a group; names the culprit."""


@dataclass(frozen=True)
class Class:
    """Names that trade places, the fields that each owns (in the same order), and the exchanges of two."""

    names: tuple[str, ...]
    fields: tuple[tuple[int, ...], ...]
    swaps: dict[tuple[int, int], Move]


class Group:
    """Classes of names that own their fields: the picked state of an orbit has them sorted."""

    def __init__(self, classes: Sequence[Class]) -> None:
        self.classes = tuple(classes)
        self.order = math.prod(math.factorial(len(one.names)) for one in classes)
        self.generators = tuple(one.swaps[k, k + 1] for one in classes for k in range(len(one.names) - 1))

    def picked(self, numbers: Ints) -> Ints:
        """Return the picked state of each state's orbit."""
        found = numbers.copy()
        for one in self.classes:
            fields = np.asarray(one.fields, dtype=np.int64)
            parts = numbers[:, fields]
            if fields.shape[1] == 1:
                found[:, fields[:, 0]] = np.sort(parts[:, :, 0], axis=1)
                continue
            order = np.lexsort(tuple(parts[:, :, column] for column in reversed(range(parts.shape[2]))), axis=1)
            found[:, fields] = np.take_along_axis(parts, order[:, :, None], axis=1)
        return found

    def sizes(self, numbers: Ints) -> list[int]:
        """Return the number of states in each state's orbit."""
        return [math.prod(arrangements(self._owned(one, row)) for one in self.classes) for row in numbers.tolist()]

    def way(self, numbers: Sequence[int]) -> tuple[Any, ...]:
        """Return elements that, one after the other, lead from the picked state to this one."""
        done: list[Any] = []
        for one in self.classes:
            owned = self._owned(one, numbers)
            for k in range(len(owned)):
                least = min(range(k, len(owned)), key=owned.__getitem__)
                if least != k:
                    owned[k], owned[least] = owned[least], owned[k]
                    done.append(one.swaps[k, least].by)
        return tuple(reversed(done))

    @staticmethod
    def _owned(one: Class, row: Sequence[int]) -> list[tuple[int, ...]]:
        return [tuple(row[place] for place in fields) for fields in one.fields]


def arrangements(things: Sequence[Any]) -> int:
    """Return in how many orders things can stand, equal ones not told apart."""
    found = math.factorial(len(things))
    for count in (things.count(thing) for thing in set(things)):
        found //= math.factorial(count)
    return found


def group_of(system: AnySystem, quotient: AnyQuotient, config: Any, shape: Shape) -> Group:
    """Return the group of `quotient` that fixes `config`, acting on states of that shape.

    Raises NoGroup if it is trivial, or does more than move fields that each name has to itself.
    """
    about = f"{system.label}: quotient {quotient.name!r}"
    try:
        families = quotient.families(config) if quotient.swap is not None else ()
        found = [entry for family in families for entry in _interchangeable(quotient, config, shape, family)]
        group = Group(_owning(found, len(shape.domains)))
    except Unmoved as error:
        raise NoGroup(f"{about} cannot divide the states: {error}") from error
    except NoGroup as error:
        raise NoGroup(f"{about} {error}") from error
    if group.order < 2:
        raise NoGroup(f"{about} leaves no two names of this configuration interchangeable")
    return group


def _interchangeable(
    quotient: AnyQuotient, config: Any, shape: Shape, family: Sequence[str]
) -> Iterator[tuple[tuple[str, ...], dict[tuple[int, int], Move]]]:
    """The names of a family that trade places and fix the configuration, and their exchanges."""
    assert quotient.swap is not None
    left = list(family)
    while left:
        names = [left[0]]
        for other in left[1:]:
            if quotient.config(quotient.swap(config, left[0], other), config) == config:
                names.append(other)
        left = [name for name in left if name not in names]
        swaps: dict[tuple[int, int], Move] = {}
        for here, there in itertools.combinations(range(len(names)), 2):
            w = quotient.swap(config, names[here], names[there])
            if quotient.config(w, config) != config:
                raise NoGroup(f"exchanges {names[0]} with {names[here]} and {names[there]}, but not these two")
            swaps[here, there] = move_of(quotient, config, shape, w)
        if swaps:
            yield tuple(names), swaps


def _owning(found: Sequence[tuple[tuple[str, ...], dict[tuple[int, int], Move]]], size: int) -> list[Class]:
    """The classes, if each name owns the fields that move with it.  Raises Unmoved."""
    owner: dict[int, tuple[int, int]] = {}
    classes: list[Class] = []
    for number, (names, swaps) in enumerate(found):
        plain = tuple(range(size))
        own: list[tuple[int, ...]] = []
        for k in range(len(names)):
            mine = [move for pair, move in swaps.items() if k in pair]
            own.append(tuple(place for place in plain if all(move.source[place] != place for move in mine)))
        if len(names) == 2:
            moved = own[0]
            own = [tuple(p for p in moved if p < swaps[0, 1].source[p]), ()]
        first = own[0]
        blocks = [first, *(tuple(swaps[0, k].source[place] for place in first) for k in range(1, len(names)))]
        for k, block in enumerate(blocks):
            if len(names) > 2 and set(block) != set(own[k]):
                raise Unmoved(SHARED)
            for place in block:
                if owner.setdefault(place, (number, k)) != (number, k):
                    raise Unmoved(SHARED)
        for (one, other), move in swaps.items():
            expected = list(plain)
            for here, there in zip(blocks[one], blocks[other], strict=True):
                expected[here], expected[there] = there, here
            if move.source != tuple(expected):
                raise Unmoved(SHARED)
        classes.append(Class(names, tuple(blocks), swaps))
    return classes
