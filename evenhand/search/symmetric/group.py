"""The group that fixes a configuration, and one picked state of each of its orbits.

Two names of a family (`Quotient.families`) may trade places if exchanging them fixes the configuration.  What an
exchange does is seen on proxies of one state: it moves columns, and looks at none that ever changes.  Each name must
own columns that no other name touches, and columns that trade places share their numbering of values.  The picked state
has the names in the order of their columns' values, and an orbit's size is a multinomial coefficient; the group is
never listed.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from evenhand.core.system import AnySystem, Quotient
from evenhand.search.csr import Ints
from evenhand.search.tables.expressions import Expressions, Values
from evenhand.search.tables.proxies import Run
from evenhand.search.tables.shape import Reshaped, Shape
from evenhand.search.tables.watching import Budget, Watching
from evenhand.search.witness import NotLearned

AnyQuotient = Quotient[Any, Any, Any, Any]

SHARED = "cannot divide the states: they share fields"
"""What is wrong with names of which one moves the fields of another."""


class NoGroup(NotLearned):
    """The states of a configuration cannot be divided by a group; names the culprit."""


@dataclass(frozen=True)
class Move:
    """Column `i` of an image is column `source[i]`; `by` is the element."""

    by: Any
    source: tuple[int, ...]


@dataclass(frozen=True)
class Class:
    """Names that trade places, the columns that each owns (in the same order), and the exchanges of two."""

    names: tuple[str, ...]
    fields: tuple[tuple[int, ...], ...]
    swaps: dict[tuple[int, int], Move]


class Group:
    """Classes of names that own their columns: the picked state of an orbit has them in the order of their values.

    No exchange moves or changes the columns `fixed` as long as each has one value.
    """

    def __init__(self, classes: Sequence[Class], fixed: frozenset[int]) -> None:
        self.classes = tuple(classes)
        self.fixed = fixed
        self.order = math.prod(math.factorial(len(one.names)) for one in classes)
        self.generators = tuple(one.swaps[k, k + 1] for one in classes for k in range(len(one.names) - 1))

    def sources(self, most: int, random: Random) -> list[tuple[int, ...]]:
        """Return what elements make of the columns (see `Move`): all but the identity, or this many at random."""
        size = len(self.generators[0].source)
        whole = itertools.product(*(itertools.permutations(one.fields) for one in self.classes))
        some = ([random.sample(one.fields, len(one.fields)) for one in self.classes] for _ in range(most))
        found: list[tuple[int, ...]] = []
        for blocks in itertools.islice(whole, 1, None) if self.order <= most else some:
            source = list(range(size))
            for one, taken in zip(self.classes, blocks, strict=True):
                for here, there in zip(one.fields, taken, strict=True):
                    for place, column in zip(here, there, strict=True):
                        source[place] = column
            found.append(tuple(source))
        return found

    def picked(self, numbers: Ints) -> Ints:
        """Return the picked state of each state's orbit."""
        for one in self.classes:
            numbers = sorted_blocks(numbers, one.fields)
        return numbers

    def sizes(self, numbers: Ints) -> list[int]:
        """Return the number of states in each state's orbit."""
        every = [orders(numbers, one.fields) for one in self.classes]
        return [math.prod(several) for several in zip(*every, strict=True)]

    def way(self, numbers: Sequence[int]) -> tuple[Any, ...]:
        """Return elements that, one after the other, lead from the picked state to this one."""
        done: list[Any] = []
        for one in self.classes:
            owned = [tuple(numbers[place] for place in fields) for fields in one.fields]
            for k in range(len(owned)):
                least = min(range(k, len(owned)), key=owned.__getitem__)
                if least != k:
                    owned[k], owned[least] = owned[least], owned[k]
                    done.append(one.swaps[k, least].by)
        return tuple(reversed(done))


def sorted_blocks(numbers: Ints, fields: Sequence[Sequence[int]]) -> Ints:
    """Return the states with the values of these equally large groups of columns in order."""
    found, places = numbers.copy(), np.asarray(fields, dtype=np.int64)
    parts = numbers[:, places]
    order = np.lexsort([parts[:, :, column] for column in reversed(range(parts.shape[2]))], axis=1)
    found[:, places] = np.take_along_axis(parts, order[:, :, None], axis=1)
    return found


def orders(numbers: Ints, fields: Sequence[Sequence[int]]) -> list[int]:
    """Return for each state in how many orders the values of these groups of columns can stand."""
    width = len(fields[0])
    parts = numbers[:, [place for one in fields for place in one]]
    kinds, which = np.unique(parts, axis=0, return_inverse=True)
    found = [
        arrangements([tuple(kind[at : at + width]) for at in range(0, len(kind), width)]) for kind in kinds.tolist()
    ]
    return [found[one] for one in which.reshape(-1).tolist()]


def arrangements(things: Sequence[Any]) -> int:
    """Return in how many orders things can stand, equal ones not told apart."""
    found = math.factorial(len(things))
    for count in (things.count(thing) for thing in set(things)):
        found //= math.factorial(count)
    return found


def group_of(system: AnySystem, quotient: AnyQuotient, config: Any, shape: Shape, state: Any) -> Group:
    """Return the group of `quotient` that fixes `config`, acting on states of that shape, of which `state` is one.

    Columns that trade places share their values from then on.  Raises NoGroup if the group is trivial, or does more
    than move columns that each name has to itself.
    """
    about = f"{system.label}: quotient {quotient.name!r}"
    seen = _Seen(quotient, config, shape, state)
    try:
        families = quotient.families(config) if quotient.swap is not None else ()
        found = [entry for family in families for entry in _interchangeable(quotient, config, seen, family)]
        group = Group(_owning(found, len(shape.columns)), frozenset(seen.fixed))
        for column in sorted(group.fixed & {place for one in group.classes for block in one.fields for place in block}):
            raise NoGroup(f"cannot divide the states: what it does depends on {seen.named(column)}")
    except Reshaped as error:
        raise NoGroup(f"{about} cannot divide the states: an image has another shape") from error
    except NotLearned as error:
        raise NoGroup(f"{about} {error}") from error
    if group.order < 2:
        raise NoGroup(f"{about} leaves no two names of this configuration interchangeable")
    for one in group.classes:
        for columns in zip(*one.fields, strict=True):
            shared = Values(strict=True)
            for column in columns:
                shape.columns[column] = shared
    return group


class _Seen:
    """Exchanges as they are seen on proxies of one state; `fixed` are the columns that they look at or set."""

    def __init__(self, quotient: AnyQuotient, config: Any, shape: Shape, state: Any) -> None:
        self.quotient, self.config, self.shape = quotient, config, shape
        self.numbers = shape.numbers(state)
        self.expressions = Expressions(shape.columns, lambda _calls: None)
        self.watching = Watching(Budget(float("inf")))
        self.fixed: set[int] = set()

    def move(self, w: Any) -> Move:
        """Return what an element does to the columns.  Raises NotLearned or Reshaped."""
        source: list[int] = []

        def look(run: Run) -> None:
            state = self.shape.built(run.leaves)
            image = self.watching.run_on(self.quotient.state, w, self.config, state)
            for column, leaf in enumerate(self.shape.leaves(image)):
                source.append(self._source(run, column, leaf))
            self.fixed |= {one for _, expression, _ in run.events for one in expression.columns}

        self.watching.observed(Run(self.expressions, self.numbers), look)
        if sorted(source) != list(range(len(source))):
            raise NoGroup("cannot divide the states: it does not take fields to fields one to one")
        return Move(w, tuple(source))

    def _source(self, run: Run, column: int, leaf: Any) -> int:
        expression = run.expression(leaf)
        if expression.columns and expression.run is None:
            return expression.columns[0]
        if expression.columns:
            raise NoGroup(f"cannot divide the states: the values of field {self.named(column)} name them")
        if self.shape.columns[column].number(leaf) != self.numbers[column]:
            raise NoGroup(f"cannot divide the states: the values of field {self.named(column)} name them")
        self.fixed.add(column)
        return column

    def named(self, column: int) -> str:
        return [name for name, _ in self.shape.named()][column]


def _interchangeable(
    quotient: AnyQuotient, config: Any, seen: _Seen, family: Sequence[str]
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
            swaps[here, there] = seen.move(w)
        if swaps:
            yield tuple(names), swaps


def _owning(found: Sequence[tuple[tuple[str, ...], dict[tuple[int, int], Move]]], size: int) -> list[Class]:
    """The classes, if each name owns the fields that move with it.  Raises NoGroup."""
    owner: dict[int, tuple[int, int]] = {}
    classes: list[Class] = []
    for number, (names, swaps) in enumerate(found):
        with_first = [move.source for (one, _), move in swaps.items() if one == 0]
        first = tuple(place for place in range(size) if all(source[place] != place for source in with_first))
        if len(names) == 2:  # of each two columns that trade places one belongs to the first name, no matter which
            first = tuple(place for place in first if place < with_first[0][place])
        blocks = (first, *(tuple(source[place] for place in first) for source in with_first))
        for k, block in enumerate(blocks):
            if any(owner.setdefault(place, (number, k)) != (number, k) for place in block):
                raise NoGroup(SHARED)
        for (one, other), move in swaps.items():
            expected = list(range(size))
            for here, there in zip(blocks[one], blocks[other], strict=True):
                expected[here], expected[there] = there, here
            if move.source != tuple(expected):
                raise NoGroup(SHARED)
        classes.append(Class(names, blocks, swaps))
    return classes
