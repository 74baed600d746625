"""Classes of states: the parts of what happens on one offer, and the rows that stand for equal steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from evenhand.search.tables.choices import ChoiceTable

KEPT = -1
"""The number of a column that a step keeps, whatever its value."""

Effect = tuple[tuple[int, ...], int]
"""What a step does: the columns after it, and the number of its observation."""


class Regrouped(Exception):
    """Some groups of a leaf read more than was known, so that its parts are others."""


@dataclass(eq=False)
class Unit:
    """Joint choices of one group: all of them, or those with the same answers to some predicates."""

    leaf: Leaf
    group: int
    members: Sequence[int]

    def __post_init__(self) -> None:
        self.weight = self.leaf.table.weight(self.members)


class Taken(NamedTuple):
    """Joint choices, and the answers about each of every question that asks for the action."""

    unit: Unit
    answers: tuple[bytes, ...]


class Job(NamedTuple):
    """Actions of one group with one effect, to ask a claim about."""

    after: tuple[int, ...]
    shown: int
    unit: Unit


@dataclass
class Part:
    """Groups of joint choices that read the same columns: `reads` themselves, `columns` with what claims read of them.

    `classes` has the number of each class, by the values of these columns.
    """

    groups: list[int]
    reads: tuple[int, ...]
    columns: tuple[int, ...]
    classes: dict[tuple[int, ...], int] = field(default_factory=dict[Any, int])


@dataclass
class Leaf:
    """States with one offer, told apart by the same outcomes: the joint choices in groups, and those outcomes.

    `reads` are the columns that each group is known to read, `asked` those that claims read of its steps, `memo` its
    effects for what it reads; `parts` are made anew where more turns out to be read.
    """

    number: int
    table: ChoiceTable
    decided: set[int]
    settled: set[int]
    actions: dict[int, Any] = field(default_factory=dict[int, Any])
    parts: list[Part] = field(default_factory=list[Part])

    def __post_init__(self) -> None:
        self.reads: list[tuple[int, ...]] = [()] * len(self.table.groups)
        self.asked: list[set[int]] = [set() for _ in self.table.groups]
        self.memo: list[dict[tuple[int, ...], Effect]] = [{} for _ in self.table.groups]
        self.whole = [Unit(self, place, group[2]) for place, group in enumerate(self.table.groups)]

    def divide(self, more: set[int]) -> None:
        """Put the groups that read the same into one part; classes of parts that stay are kept."""
        known = {(part.reads, part.columns, tuple(part.groups)): part for part in self.parts}
        groups: dict[tuple[tuple[int, ...], tuple[int, ...]], list[int]] = {}
        for group, (reads, asked) in enumerate(zip(self.reads, self.asked, strict=True)):
            groups.setdefault((reads, tuple(sorted({*reads, *asked, *more}))), []).append(group)
        made = [Part(some, *columns) for columns, some in (groups or {((), tuple(sorted(more))): []}).items()]
        self.parts = [known.get((part.reads, part.columns, tuple(part.groups)), part) for part in made]

    def read_more(self, grown: dict[int, set[int]], asked: dict[int, set[int]], more: set[int]) -> None:
        """From now on these groups read more columns, or claims do of their steps."""
        for group, columns in grown.items():
            self.reads[group] = tuple(sorted({*self.reads[group], *columns}))
            self.memo[group].clear()
        for group, columns in asked.items():
            self.asked[group] |= columns
        self.divide(more)


@dataclass
class Rows:
    """The steps of a class: equal ones together, in the order of their first actions.

    `size` is the number of joint choices that they stand for, `numbers` one state of the class.  `units` has, for each
    row, the joint choices that it stands for; `asks` has the bits of questions that ask for the action, `label` the
    answers of predicates among them, `counts` for each of the others in how many actions it is met, in how many it is
    violated, and the first of these or -1.
    """

    leaf: Leaf
    size: int
    numbers: list[int]
    after: list[tuple[int, ...]] = field(default_factory=list[Any])
    shown: list[int] = field(default_factory=list[int])
    label: list[int] = field(default_factory=list[int])
    asks: list[int] = field(default_factory=list[int])
    first: list[int] = field(default_factory=list[int])
    weight: list[int] = field(default_factory=list[int])
    units: list[list[Taken]] = field(default_factory=list[Any])
    counts: list[dict[int, tuple[int, int, int]]] = field(default_factory=list[Any])

    def add(self, after: tuple[int, ...], shown: int, label: int, asks: int, first: int) -> None:
        """Begin a row."""
        for column, value in zip(
            (self.after, self.shown, self.label, self.asks, self.first, self.weight, self.units, self.counts),
            (after, shown, label, asks, first, 0, [], {}),
            strict=True,
        ):
            column.append(value)  # type: ignore[attr-defined]

    def take(self, place: int, taken: Taken, counts: dict[int, tuple[int, int, int]]) -> None:
        """Let a row stand for more joint choices."""
        self.first[place] = min(self.first[place], int(taken.unit.members[0]))
        self.weight[place] += taken.unit.weight
        self.units[place].append(taken)
        for claim, (met, bad, first) in counts.items():
            known = self.counts[place].get(claim, (0, 0, -1))
            firsts = [one for one in (known[2], first) if one >= 0]
            self.counts[place][claim] = known[0] + met, known[1] + bad, min(firsts, default=-1)

    def sort(self) -> None:
        """Put the rows into the order of their first actions."""
        order = sorted(range(len(self.first)), key=self.first.__getitem__)
        for name in ("after", "shown", "label", "asks", "first", "weight", "units", "counts"):
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
