"""Tables of rows: the values of a few fields select the list of rows that applies.

A *unit* is the effect of one action (or one verdict of several joint actions), path by path.  Units that read the same
few fields share a column; rows of one list with the same effect are one row with their number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from evenhand.search.csr import Ints
from evenhand.search.rows.proxies import Narrowed
from evenhand.search.rows.shape import KEPT, Shape, Words

EXTEND = 64
"""Entries up to which a column's table may grow to take in a unit that reads other fields."""

LARGEST = 1 << 22
"""Entries of the largest table."""


@dataclass(frozen=True)
class Unit:
    """`weight` joint choices with one verdict: number of the first, and its paths.

    A path gives (numbers of the fields after it, label), or `Broken`.
    """

    first: int
    weight: int
    ways: list[tuple[Narrowed, Any]]


class Projection:
    """A map from states to entries of a table: the fields read, and classes of values that are never told apart."""

    def __init__(self, shape: Shape, start: Narrowed, marked: Sequence[tuple[Narrowed, int]]) -> None:
        sets: dict[int, list[frozenset[int]]] = {}
        for narrowed, _ in marked:
            for place, (some, every) in enumerate(zip(narrowed, start, strict=True)):
                if some != every:
                    sets.setdefault(place, []).append(frozenset(some))
        self.fields = sorted(sets)
        self.classes = [_classes(len(shape.domains[place]), set(sets[place])) for place in self.fields]
        self.sizes = [max(classes) + 1 for classes in self.classes]
        self.size = math.prod(self.sizes)
        if self.size > LARGEST:
            raise OverflowError(f"one step looks at {len(self.fields)} fields, {self.size} combinations of values")
        self.strides = [math.prod(self.sizes[place + 1 :]) for place in range(len(self.sizes))]
        self.table = np.full(self.size, -1, dtype=np.int64)
        for narrowed, number in marked:
            self.table[self.entries(narrowed)] = number

    def entries(self, narrowed: Narrowed) -> Ints:
        """Return the entries that a path covers."""
        found = np.zeros(1, dtype=np.int64)
        for place, classes, stride in zip(self.fields, self.classes, self.strides, strict=True):
            mine = np.asarray(sorted({classes[value] for value in narrowed[place]}), dtype=np.int64) * stride
            found = (found[:, None] + mine[None, :]).ravel()
        return found


def _classes(size: int, sets: set[frozenset[int]]) -> list[int]:
    """The class of each value: values in the same sets share a class."""
    numbers: dict[tuple[bool, ...], int] = {}
    ordered = sorted(sets, key=sorted)
    return [numbers.setdefault(tuple(value in one for one in ordered), len(numbers)) for value in range(size)]


@dataclass
class Column:
    """A projection and the rows of each of its entries, as arrays over all rows.

    Rows of entry e are `starts[e]` to `starts[e+1]`: after = before & `keep` | `value`, for `weight` actions, the first
    of them number `first`, under `label`.  `broken` maps entries to reasons.
    """

    projection: Projection
    starts: Ints
    keep: Words
    value: Words
    weight: Ints
    label: Ints
    first: Ints
    broken: dict[int, str]


def columns_of(shape: Shape, start: Narrowed, units: Sequence[Unit]) -> list[Column]:
    """Return the units' rows in as few columns as make small tables.

    Raises OverflowError for a unit that reads more than a table can hold.
    """
    looked = [_looked(unit, start) for unit in units]
    groups: list[tuple[set[int], list[Unit]]] = []
    order = sorted(range(len(units)), key=lambda place: (-_size(shape, looked[place]), place))
    for place in order:
        wanted = looked[place]
        for fields, members in groups:
            if wanted <= fields or _size(shape, wanted | fields) <= EXTEND:
                fields |= wanted
                members.append(units[place])
                break
        else:
            groups.append((set(wanted), [units[place]]))
    return [_column(shape, start, sorted(members, key=lambda unit: unit.first)) for _, members in groups]


def _looked(unit: Unit, start: Narrowed) -> set[int]:
    return {
        place
        for narrowed, _ in unit.ways
        for place, (some, every) in enumerate(zip(narrowed, start, strict=True))
        if some != every
    }


def _size(shape: Shape, fields: set[int]) -> int:
    return math.prod(len(shape.domains[place]) for place in fields)


def _column(shape: Shape, start: Narrowed, units: Sequence[Unit]) -> Column:
    ways = [(narrowed, unit, result) for unit in units for narrowed, result in unit.ways]
    projection = Projection(shape, start, [(narrowed, 0) for narrowed, _, _ in ways])
    known_keep, known_value = _known(shape, projection)
    covered: dict[tuple[tuple[int, ...], ...], Ints] = {}
    entries: list[Ints] = []
    keep: list[list[int]] = []
    value: list[list[int]] = []
    columns: list[tuple[int, int, int]] = []
    broken: dict[int, str] = {}
    for narrowed, unit, result in ways:
        looked = tuple(narrowed[place] for place in projection.fields)
        here = covered.get(looked)
        if here is None:
            here = covered[looked] = projection.entries(narrowed)
        if not isinstance(result, tuple):
            broken.update(dict.fromkeys(here.tolist(), result.what))
            continue
        numbers, named = cast("tuple[tuple[int, ...], int]", result)
        kept, written = _bits(shape, numbers)
        entries.append(here)
        keep.append(kept)
        value.append(written)
        columns.append((unit.weight, named, unit.first))
    return _sorted(
        projection,
        entries,
        (np.asarray(keep, dtype=np.int64).reshape(-1, shape.words), known_keep),
        (np.asarray(value, dtype=np.int64).reshape(-1, shape.words), known_value),
        list(np.asarray(columns, dtype=np.int64).reshape(-1, 3).T),
        broken,
    )


def _bits(shape: Shape, numbers: Sequence[int]) -> tuple[list[int], list[int]]:
    keep, value = [-1] * shape.words, [0] * shape.words
    for field, number in zip(shape.fields, numbers, strict=True):
        if number != KEPT:
            keep[field.word] &= ~field.mask
            value[field.word] |= number << field.shift
    return keep, value


def _known(shape: Shape, projection: Projection) -> tuple[Words, Words]:
    """Of each entry the fields whose value it fixes: the bits to keep, and the known bits."""
    keep = np.full((projection.size, shape.words), -1, dtype=np.int64)
    value = np.zeros((projection.size, shape.words), dtype=np.int64)
    entry = np.arange(projection.size)
    for place, classes, size, stride in zip(
        projection.fields, projection.classes, projection.sizes, projection.strides, strict=True
    ):
        field = shape.fields[place]
        only = [classes.index(one) if classes.count(one) == 1 else -1 for one in range(size)]
        number = np.asarray(only, dtype=np.int64)[entry // stride % size]
        fixed = number >= 0
        keep[fixed, field.word] &= ~field.mask
        value[fixed, field.word] |= number[fixed] << field.shift
    return keep, value


def _sorted(
    projection: Projection,
    entries: Sequence[Ints],
    keeps: tuple[Words, Words],
    values: tuple[Words, Words],
    columns: Sequence[Ints],
    broken: dict[int, str],
) -> Column:
    """Sort the rows by entry; rows of one entry with the same effect become one."""
    (keep, known_keep), (value, known_value) = keeps, values
    if not entries:
        nothing = np.zeros(0, dtype=np.int64)
        starts = np.zeros(projection.size + 1, dtype=np.int64)
        return Column(projection, starts, keep, value, nothing, nothing, nothing, broken)
    entry = np.concatenate(entries)
    row = np.repeat(np.arange(len(entries)), [len(one) for one in entries])
    # A field that the entry fixes and the row keeps counts as written.
    written = value[row] | (known_value[entry] & keep[row])
    kept = keep[row] & known_keep[entry]
    weight, label, first = (column[row] for column in columns)
    parts = [first, label, *kept.T, *written.T, entry]
    order = np.lexsort(parts)
    same = np.ones(len(order), dtype=np.bool_)
    for part in parts[1:]:
        same[1:] &= part[order][1:] == part[order][:-1]
    same[0] = False
    heads = np.flatnonzero(~same)
    weight = np.add.reduceat(weight[order], heads)
    order = order[heads]  # the first of each group has the smallest action number
    again = np.lexsort((first[order], entry[order]))
    order, weight = order[again], weight[again]
    starts = np.searchsorted(entry[order], np.arange(projection.size + 1))
    return Column(projection, starts, kept[order], written[order], weight, label[order], first[order], broken)
