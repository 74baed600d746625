"""A program as plain arrays, which are all that a kernel reads."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand.search.compiled.compiler import Program
from evenhand.search.compiled.shape import Words
from evenhand.search.compiled.table import Projection
from evenhand.search.csr import Ints


class Rows(NamedTuple):
    """The arrays of a program.

    `looks[i]` = (word, shift, mask, offset into `classes`): one field that a projection reads.  A leaf has the columns
    `leaf_columns[leaf_from[l] : leaf_from[l + 1]]`; a column reads `looks[look_from[s] : look_from[s + 1]]` (the last
    entry of `look_from` is that of the dispatch) and its lists begin at `list_base[s]`; a list has the rows
    `row_from[i]` to `row_to[i]`.  `list_weight` is the number of actions of a list, `distinct` says that its rows lead
    to different states, `broken` that a path of the model raised.
    """

    looks: Ints
    look_from: Ints
    classes: Ints
    dispatch: Ints
    leaf_from: Ints
    leaf_columns: Ints
    leaf_offered: Ints
    list_base: Ints
    row_from: Ints
    row_to: Ints
    list_weight: Ints
    distinct: NDArray[np.bool_]
    broken: NDArray[np.bool_]
    keep: Words
    value: Words
    weight: Ints
    label: Ints


class LabelCounts(NamedTuple):
    """Counts by label: how many actions have it, and the first state and row that had it (-1: none)."""

    counts: Ints
    state: Ints
    row: Ints


def no_labels(number: int) -> LabelCounts:
    """Return zero counts for so many labels."""
    return LabelCounts(*(np.full(number, value, dtype=np.int64) for value in (0, -1, -1)))


class Flat(NamedTuple):
    """The arrays, and the data beside them that evidence and errors need."""

    rows: Rows
    first: Ints
    reasons: dict[int, str]
    widest: int


def flattened(program: Program) -> Flat:
    """Return the arrays of a program."""
    looks: list[tuple[int, int, int, int]] = []
    classes: list[int] = []
    look_from = [0]
    list_base: list[int] = []
    leaf_from = [0]
    leaf_columns: list[int] = []
    starts: list[Ints] = []
    ends: list[Ints] = []
    reasons: dict[int, str] = {}
    lists = rows = 0
    columns = [column for leaf in program.leaves for column in leaf.columns]
    number = 0
    for leaf in program.leaves:
        leaf_columns += range(number, number + len(leaf.columns))
        number += len(leaf.columns)
        leaf_from.append(number)
    for column in columns:
        _look(program, column.projection, looks, classes)
        look_from.append(len(looks))
        list_base.append(lists)
        starts.append(column.starts[:-1] + rows)
        ends.append(column.starts[1:] + rows)
        reasons |= {lists + entry: what for entry, what in column.broken.items()}
        lists += column.projection.size
        rows += len(column.weight)
    _look(program, program.dispatch, looks, classes)
    look_from.append(len(looks))
    words = program.shape.words
    row_from, row_to = _joined(starts), _joined(ends)
    keep = np.concatenate([column.keep for column in columns] or [np.zeros((0, words), dtype=np.int64)])
    weight = _joined([column.weight for column in columns])
    total = np.concatenate([[0], np.cumsum(weight)])
    broken = np.zeros(lists, dtype=np.bool_)
    broken[list(reasons)] = True
    made = Rows(
        np.asarray(looks, dtype=np.int64).reshape(-1, 4),
        _ints(look_from),
        _ints(classes),
        program.dispatch.table,
        _ints(leaf_from),
        _ints(leaf_columns),
        _ints([leaf.offered for leaf in program.leaves]),
        _ints(list_base),
        row_from,
        row_to,
        total[row_to] - total[row_from],
        _distinct(program, keep, row_from, row_to),
        broken,
        keep,
        np.concatenate([column.value for column in columns] or [np.zeros((0, words), dtype=np.int64)]),
        weight,
        _joined([column.label for column in columns]),
    )
    longest = [int((column.starts[1:] - column.starts[:-1]).max(initial=0)) for column in columns]
    widest = max((sum(longest[a:b]) for a, b in pairwise(leaf_from)), default=0)
    return Flat(made, _joined([column.first for column in columns]), reasons, widest)


def _ints(values: list[int]) -> Ints:
    return np.asarray(values, dtype=np.int64)


def _joined(parts: list[Ints]) -> Ints:
    return np.concatenate(parts).astype(np.int64) if parts else np.zeros(0, dtype=np.int64)


def _look(program: Program, projection: Projection, looks: list[tuple[int, int, int, int]], classes: list[int]) -> None:
    for place, mine, stride in zip(projection.fields, projection.classes, projection.strides, strict=True):
        field = program.shape.fields[place]
        size = (field.mask >> field.shift) + 1
        looks.append((field.word, field.shift, field.mask >> field.shift, len(classes)))
        classes += [one * stride for one in mine] + [0] * (size - len(mine))


def _distinct(program: Program, keep: Words, row_from: Ints, row_to: Ints) -> NDArray[np.bool_]:
    """Lists whose rows lead to different states: their leaf has no other list, and all rows write the same bits."""
    found = np.zeros(len(row_from), dtype=np.bool_)
    labels = len(program.labeller.sets) > 1
    base = 0
    for leaf in program.leaves:
        for column in leaf.columns:
            if len(leaf.columns) == 1 and not labels:
                for entry in range(base, base + column.projection.size):
                    mine = keep[row_from[entry] : row_to[entry]]
                    found[entry] = bool(len(mine) == 0 or (mine == mine[0]).all())
            base += column.projection.size
    return found
