"""Classes of states: the parts of what happens on one offer, and the rows that stand for equal steps."""

# Values have any type here: pyright calls the types that `isinstance` leaves partially unknown.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from evenhand.search.memo import ChoiceTable
from evenhand.search.tables.questions import Question

KEPT = -1
"""The number of a column that a step keeps, whatever its value."""

Effect = tuple[tuple[int, ...], int]
"""What a step does: the columns after it, and the number of its observation."""


class Regrouped(Exception):
    """Some groups of a leaf read more than was known, so that its parts are others."""


class Job(NamedTuple):
    """Actions of one group with one effect, to ask a claim about."""

    after: tuple[int, ...]
    shown: int
    group: int
    members: Sequence[int]


@dataclass
class Reader:
    """Claims about steps that ask for the action: the columns that they are known to read, and their answers for them.

    The answers are those of each question in turn, for each action.
    """

    questions: tuple[Question, ...]
    before: set[int] = field(default_factory=set[int])
    after: set[int] = field(default_factory=set[int])
    memo: dict[Hashable, list[list[int]]] = field(default_factory=dict[Hashable, Any])

    def key(self, made: Rows, job: Job) -> Hashable:
        """Return what the answers depend on."""
        numbers, after = made.numbers, job.after
        whole = len(job.members) == len(made.leaf.table.groups[job.group][2])
        more = job.group, None if whole else tuple(job.members), job.shown
        there = tuple([numbers[c] if after[c] == KEPT else after[c] for c in sorted(self.after)])
        return made.leaf.number, tuple([numbers[c] for c in sorted(self.before | self.after)]), there, more


@dataclass
class Part:
    """Groups of joint choices that read the same columns: `reads` themselves, `columns` with what claims read.

    `classes` has the number of each class, by the values of these columns.
    """

    groups: list[int]
    reads: tuple[int, ...]
    columns: tuple[int, ...]
    classes: dict[tuple[int, ...], int] = field(default_factory=dict[Any, int])


@dataclass
class Leaf:
    """States with one offer, told apart by the same outcomes: the joint choices in groups, and those outcomes.

    `reads` are the columns that each group is known to read, `memo` its effects for their values; `parts` are made anew
    where a group turns out to read more.
    """

    number: int
    table: ChoiceTable
    decided: set[int]
    settled: set[int]
    actions: dict[int, Any] = field(default_factory=dict[int, Any])
    parts: list[Part] = field(default_factory=list[Part])

    def __post_init__(self) -> None:
        self.reads: list[tuple[int, ...]] = [()] * len(self.table.groups)
        self.memo: list[dict[tuple[int, ...], Effect]] = [{} for _ in self.table.groups]

    def divide(self, more: set[int]) -> None:
        """Put the groups that read the same into one part; classes of parts that stay are kept."""
        known = {(part.reads, part.columns, tuple(part.groups)): part for part in self.parts}
        groups: dict[tuple[int, ...], list[int]] = {}
        for group, reads in enumerate(self.reads):
            groups.setdefault(reads, []).append(group)
        made = [Part(some, reads, tuple(sorted({*reads, *more}))) for reads, some in (groups or {(): []}).items()]
        self.parts = [known.get((part.reads, part.columns, tuple(part.groups)), part) for part in made]

    def read_more(self, grown: dict[int, set[int]], more: set[int]) -> None:
        """From now on these groups read more columns."""
        for group, columns in grown.items():
            self.reads[group] = tuple(sorted({*self.reads[group], *columns}))
            self.memo[group].clear()
        self.divide(more)


@dataclass
class Rows:
    """The steps of a class: equal ones together, in the order of their first actions.

    `size` is the number of joint choices that they stand for, `numbers` one state of the class.  `units` has, for each
    row, the joint choices that it stands for, as (group, members); `label` the bits of predicates that ask for the
    action, `split` which predicates those are.
    """

    leaf: Leaf
    size: int
    numbers: list[int]
    after: list[tuple[int, ...]] = field(default_factory=list[Any])
    shown: list[int] = field(default_factory=list[int])
    label: list[int] = field(default_factory=list[int])
    split: list[int] = field(default_factory=list[int])
    first: list[int] = field(default_factory=list[int])
    weight: list[int] = field(default_factory=list[int])
    units: list[list[tuple[int, Sequence[int]]]] = field(default_factory=list[Any])
    counted: dict[int, tuple[tuple[int, int, int], ...]] = field(default_factory=dict[Any, Any])

    def add(self, after: tuple[int, ...], shown: int, label: int, split: int, first: int) -> None:
        """Begin a row."""
        for column, value in zip(
            (self.after, self.shown, self.label, self.split, self.first, self.weight, self.units),
            (after, shown, label, split, first, 0, []),
            strict=True,
        ):
            column.append(value)  # type: ignore[attr-defined]

    def sort(self) -> None:
        """Put the rows into the order of their first actions."""
        order = sorted(range(len(self.first)), key=self.first.__getitem__)
        for name in ("after", "shown", "label", "split", "first", "weight", "units"):
            column = getattr(self, name)
            setattr(self, name, [column[place] for place in order])


def same_rows(rows: Any, columns: Sequence[int], sizes: Sequence[int]) -> tuple[Any, Any]:
    """Return the first state of each combination of values of these columns, and which of those each state is."""
    room, code = 1, np.zeros(rows.shape[1], dtype=np.int64)
    for column in columns:
        room *= sizes[column]
        if room >= 1 << 62:
            break
        code = code * sizes[column] + rows[column]
    else:
        _, first, where = np.unique(code, return_index=True, return_inverse=True)
        return first, where.ravel()
    _, first, where = np.unique(rows[list(columns)], axis=1, return_index=True, return_inverse=True)
    return first, where.ravel()
