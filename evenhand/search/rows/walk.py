"""Breadth-first search over rows: words instead of objects, whole levels at a time.

Only the words and the parent of each state are kept.  The action from a parent to a child is found again by the rows'
own action numbers, and confirmed by the model's own step.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from evenhand.core.answers import ModelError
from evenhand.core.system import AnySystem
from evenhand.search.rows.compiler import BY_ROWS, Program
from evenhand.search.rows.flat import Flat
from evenhand.search.rows.shape import Shape
from evenhand.search.witness import Witness


@dataclass
class Walk:
    """The result of a search over rows: the counts of a search step by step, and arrays.

    `words` are the states found, `parents` the number of the state before each (for an initial one, -1 minus its place
    in the list of `initial`); `levels[d]` is the number of the first state at distance `d`.
    """

    system: AnySystem
    config: Any
    number: int
    program: Program
    flat: Flat
    words: Any
    parents: Any
    levels: list[int] = field(default_factory=list[int], kw_only=True)
    states: int = field(default=0, kw_only=True)
    transitions: int = field(default=0, kw_only=True)
    edges: int = field(default=0, kw_only=True)
    open: bool = field(default=False, kw_only=True)
    spilled: int = field(default=0, kw_only=True)

    @property
    def shape(self) -> Shape:
        """The layout of states."""
        return self.program.shape

    def state(self, sid: int) -> Any:
        """Return the state of that number, as the model knows it."""
        return self.shape.state(self.words[sid].tolist())

    def finding(self, sid: int, row: int | None = None) -> Witness:
        """Return a shortest run to a state, and the action of `row` after it."""
        raise NotImplementedError

    def ancestors(self, sid: int) -> list[int]:
        """Return the states on the way to a state from an initial one, both included."""
        states = [sid]
        while self.parents[states[-1]] >= 0:
            states.append(int(self.parents[states[-1]]))
        return states[::-1]

    def offered(self, sid: int, number: int) -> int:
        """Return the number of an action among those on offer; rows of a `menu` hold its number on the menu."""
        menus = [leaf.menus for leaf in self.program.leaves if leaf.offered == BY_ROWS]
        if not menus:
            return number
        offered = self.system.enabled(self.config, self.state(sid))
        return next(place for place, action in enumerate(offered) if action == menus[0][number])

    def refused(self, sid: int, culprit: int) -> ModelError:
        """Return the error of a state that takes a path where the model raised, or a leaf with a fault."""
        about = f"{self.system.label}: in state {self.state(sid)!r}"
        if culprit >= 0:
            return ModelError(f"{about}: {self.flat.reasons[culprit]}")
        leaf = self.program.leaves[-1 - culprit]
        if leaf.broken:
            return ModelError(f"{about}: {leaf.broken}")
        return ModelError(f"{about} {leaf.offered} actions are on offer, and rows for another number")


def successors_in(flat: Flat, words: Any) -> Iterator[tuple[int, int, list[int]]]:
    """Yield (number of the first action, row, words after) of every row that applies in a state given by its words."""
    rows = flat.rows
    columns = len(rows.list_base)

    def index(column: int) -> int:
        found = 0
        for word, shift, mask, offset in rows.looks[rows.look_from[column] : rows.look_from[column + 1]].tolist():
            found += int(rows.classes[offset + (int(words[word]) >> shift & mask)])
        return found

    leaf = int(rows.dispatch[index(columns)])
    for place in range(int(rows.leaf_from[leaf]), int(rows.leaf_from[leaf + 1])):
        column = int(rows.leaf_columns[place])
        entry = int(rows.list_base[column]) + index(column)
        for row in range(int(rows.row_from[entry]), int(rows.row_to[entry])):
            after = (words & rows.keep[row] | rows.value[row]).tolist()
            yield int(flat.first[row]), row, after
