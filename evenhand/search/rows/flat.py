"""A program as plain arrays, which are all that a kernel reads."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand.search.csr import Ints
from evenhand.search.rows.compiler import Program
from evenhand.search.rows.shape import Words
from evenhand.search.rows.table import Projection


class Rows(NamedTuple):
    """The arrays of a program.

    `looks[i]` = (word, shift, mask, offset into `classes`): one field that a projection reads.  A leaf has the columns
    `leaf_columns[leaf_from[l] : leaf_from[l + 1]]`; a column reads `looks[look_from[s] : look_from[s + 1]]` (the last
    entry of `look_from` is that of the dispatch) and its lists begin at `list_base[s]`; a list has the rows
    `row_from[i]` to `row_to[i]`.  `list_weight` is the number of actions of a list, `broken`
    says that a path of the model raised.
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
    broken: NDArray[np.bool_]
    keep: Words
    value: Words
    weight: Ints
    label: Ints


class Flat(NamedTuple):
    """The arrays, and the data beside them that evidence and errors need."""

    rows: Rows
    first: Ints
    reasons: dict[int, str]


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
        broken,
        keep,
        np.concatenate([column.value for column in columns] or [np.zeros((0, words), dtype=np.int64)]),
        weight,
        _joined([column.label for column in columns]),
    )
    return Flat(made, _joined([column.first for column in columns]), reasons)


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
