"""The group that fixes a configuration, and one picked state of each of its orbits.

Two names of a family (`Quotient.families`) may trade places if exchanging them fixes the configuration.  If each name
then owns fields of the state that no other name touches, the picked state has the names in the order of their fields'
values (`Sorted`), and an orbit's size is a multinomial coefficient; the group is never listed.  Any other group is
listed, up to `LISTED` elements, and the least image is picked (`Listed`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from evenhand.core.system import AnySystem
from evenhand.search.csr import Ints
from evenhand.search.rows.shape import Shape
from evenhand.search.symmetric.moves import AnyQuotient, Move, Unmoved, identity, move_of

LISTED = 5_040
"""Most elements of a group that is listed."""


class NoGroup(Exception):
    """The states of a configuration cannot be divided by a group; names the culprit."""


class Group(Protocol):
    """A group of moves, and the state that it picks of each orbit."""

    order: int
    classes: tuple[Class, ...]
    generators: tuple[Move, ...]

    def picked(self, numbers: Ints) -> Ints:
        """Return the picked state of each state's orbit."""
        ...

    def sizes(self, numbers: Ints) -> list[int]:
        """Return the number of states in each state's orbit."""
        ...

    def way(self, numbers: Sequence[int]) -> tuple[Any, ...]:
        """Return elements that, one after the other, lead from the picked state to this one."""
        ...


@dataclass(frozen=True)
class Class:
    """Names that trade places, the fields that each owns (in the same order), and the exchanges of two."""

    names: tuple[str, ...]
    fields: tuple[tuple[int, ...], ...]
    swaps: dict[tuple[int, int], Move]


class Sorted:
    """A group of names that own their fields: the picked state has them sorted."""

    def __init__(self, classes: Sequence[Class]) -> None:
        self.classes = tuple(classes)
        self.order = math.prod(math.factorial(len(one.names)) for one in classes)
        self.generators = tuple(one.swaps[k, k + 1] for one in classes for k in range(len(one.names) - 1))

    def picked(self, numbers: Ints) -> Ints:
        """See `Group`."""
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
        """See `Group`."""
        return [math.prod(arrangements(self._owned(one, row)) for one in self.classes) for row in numbers.tolist()]

    def way(self, numbers: Sequence[int]) -> tuple[Any, ...]:
        """See `Group`; returns the exchanges that sort, backwards."""
        done: list[Any] = []
        for one in self.classes:
            owned = self._owned(one, numbers)
            for k in range(len(owned)):
                least = min(range(k, len(owned)), key=owned.__getitem__)
                if least != k:
                    owned[k], owned[least] = owned[least], owned[k]
                    done.append(one.swaps[k, least].by[0])
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


class Listed:
    """Any group, as a list of its elements."""

    classes: tuple[Class, ...] = ()

    def __init__(self, elements: Sequence[Move], generators: Sequence[Move] = ()) -> None:
        self.elements = tuple(elements)
        self.order = len(elements)
        self.generators = tuple(generators) or self.elements

    def picked(self, numbers: Ints) -> Ints:
        """See `Group`; picks the least image, field by field."""
        best = numbers.copy()
        rows = np.arange(len(numbers))
        for element in self.elements:
            image = element.images(numbers)
            differs = image != best
            first = differs.argmax(axis=1)
            less = differs.any(axis=1) & (image[rows, first] < best[rows, first])
            best[less] = image[less]
        return best

    def sizes(self, numbers: Ints) -> list[int]:
        """See `Group`; divides the number of elements by the number of those that fix the state."""
        fixing = np.zeros(len(numbers), dtype=np.int64)
        for element in self.elements:
            fixing += (element.images(numbers) == numbers).all(axis=1)
        return [self.order // count for count in fixing.tolist()]

    def way(self, numbers: Sequence[int]) -> tuple[Any, ...]:
        """See `Group`."""
        target = np.asarray([numbers], dtype=np.int64)
        start = self.picked(target)
        return next(one.by for one in self.elements if (one.images(start) == target).all())


def group_of(system: AnySystem, quotient: AnyQuotient, config: Any, shape: Shape) -> Group:
    """Return the group of `quotient` that fixes `config`, acting on states of that shape.

    Raises NoGroup if it is trivial, too large to be listed, or does more than move fields and values.
    """
    about = f"{system.label}: quotient {quotient.name!r}"
    try:
        found = (
            _of_families(quotient, config, shape)
            if quotient.swap is not None
            else _of_elements(quotient, config, shape)
        )
    except Unmoved as error:
        raise NoGroup(f"{about} cannot divide the states: {error}") from error
    except NoGroup as error:
        raise NoGroup(f"{about} {error}") from error
    if found.order < 2:
        raise NoGroup(f"{about} leaves no two names of this configuration interchangeable")
    return found


def _of_elements(quotient: AnyQuotient, config: Any, shape: Shape) -> Listed:
    moves: dict[tuple[Any, ...], Move] = {}
    for number, w in enumerate(quotient.elements(config)):
        if number >= LISTED:
            raise NoGroup(f"has more than {LISTED} elements; name its `families`")
        if quotient.config(w, config) == config:
            move = move_of(quotient, config, shape, w)
            moves.setdefault((move.source, move.values), move)
    for one, other in itertools.product(moves.values(), repeat=2) if len(moves) <= 120 else ():
        made = one.then(other)
        if (made.source, made.values) not in moves:
            raise NoGroup("lists elements that are no group: two of them, one after the other, make a third")
    return Listed(tuple(moves.values()))


def _of_families(quotient: AnyQuotient, config: Any, shape: Shape) -> Group:
    found = [
        (names, swaps)
        for family in quotient.families(config)
        for names, swaps in _interchangeable(quotient, config, shape, family)
    ]
    try:
        return Sorted(_owning(found, len(shape.domains)))
    except Unmoved:
        pass
    size = math.prod(math.factorial(len(names)) for names, _ in found)
    if size > LISTED:
        raise NoGroup(f"exchanges names that share fields of the state, and its {size} elements are too many to list")
    elements = [identity(shape)]
    for names, swaps in found:
        elements = [one.then(other) for one in elements for other in _permutations(len(names), swaps, shape)]
    distinct = {(one.source, one.values): one for one in elements}
    return Listed(tuple(distinct.values()), tuple(move for _, swaps in found for move in swaps.values()))


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
        if any(values != tuple(range(len(values))) for move in swaps.values() for values in move.values):
            raise Unmoved("values name them")
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
                raise Unmoved("they share fields")
            for place in block:
                if owner.setdefault(place, (number, k)) != (number, k):
                    raise Unmoved("they share fields")
        for (one, other), move in swaps.items():
            expected = list(plain)
            for here, there in zip(blocks[one], blocks[other], strict=True):
                expected[here], expected[there] = there, here
            if move.source != tuple(expected):
                raise Unmoved("they share fields")
        classes.append(Class(names, tuple(blocks), swaps))
    return classes


def _permutations(count: int, swaps: dict[tuple[int, int], Move], shape: Shape) -> Iterator[Move]:
    for order in itertools.permutations(range(count)):
        made, standing = identity(shape), list(range(count))
        for place, wanted in enumerate(order):
            there = standing.index(wanted)
            if there != place:
                made = made.then(swaps[place, there])
                standing[place], standing[there] = standing[there], standing[place]
        yield made
