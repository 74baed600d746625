"""Breadth-first search over rows: words instead of objects, whole levels at a time.

Only the words and the parent of each state are kept.  The action from a parent to a child is found again by the rows'
own action numbers, and confirmed by the model's own step.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from evenhand.core.answers import ModelError
from evenhand.core.system import AnySystem
from evenhand.search.bounds import Bounds
from evenhand.search.compiled import kernel
from evenhand.search.compiled.compiler import BY_ROWS, Program
from evenhand.search.compiled.flat import Flat, LabelCounts, no_labels
from evenhand.search.compiled.plain import Visited, expand_plain
from evenhand.search.compiled.shape import Shape, Words
from evenhand.search.compiled.spilled import FarParents, FarWords, SpilledStates, expand_spilled
from evenhand.search.csr import Links
from evenhand.search.memory import MemoryBudget
from evenhand.search.steps import nth_action
from evenhand.search.witness import Progress, Witness

DENSE = 22
"""Bits up to which a state is its own index into the table of known states."""

PATIENCE = 30_000_000
"""Steps times rows that numpy may take before compiling the kernel pays."""


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


@dataclass
class RowWalk(Walk):
    """The result of compiled search."""

    words: Words | FarWords
    parents: Links | FarParents
    engine: str = "numpy"
    labels: LabelCounts = field(default_factory=lambda: no_labels(1))

    def depth_of(self, sid: int) -> int:
        """Return the distance of a state from the nearest initial one."""
        return bisect_right(self.levels, sid) - 1

    def finding(self, sid: int, row: int | None = None) -> Witness:
        """Return the shortest run to a state, and the action of `row` after it."""
        last = () if row is None else (self.offered(sid, int(self.flat.first[row])),)
        states = self.ancestors(sid)
        path = [self._between(one, other) for one, other in pairwise(states)]
        start = -1 - int(self.parents[states[0]])
        return Witness(self.number, start, (*path, *last))

    def _between(self, before: int, after: int) -> int:
        """The number of the first action that leads from one state to another, confirmed by the step itself."""
        target = self.words[after].tolist()
        numbers = [first for first, _, words in successors(self, before) if words == target]
        action = None
        if numbers:
            state, number = self.state(before), self.offered(before, min(numbers))
            action = nth_action(self.system, self.config, state, number)
            if self.system.take(self.config, state, action).after == self.state(after):
                return number
        raise ModelError(
            f"{self.system.label}: action {action!r} in state {self.state(before)!r} does not lead where its row says "
            "it leads; explore with a lower method"
        )


def successors(walk: RowWalk, sid: int) -> Iterator[tuple[int, int, list[int]]]:
    """Yield (number of the first action, row, words after) of every row that applies in a state."""
    return successors_in(walk.flat, walk.words[sid])


def successors_in(flat: Flat, words: Any) -> Iterator[tuple[int, int, list[int]]]:
    """Yield the same for a state given by its words."""
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


def labelled(walk: RowWalk, sid: int) -> Iterator[tuple[tuple[int, ...], int, int]]:
    """Yield (words after, label, how many actions) of every row that applies in a state."""
    rows = walk.flat.rows
    for _, row, words in successors(walk, sid):
        yield tuple(words), int(rows.label[row]), int(rows.weight[row])


def search_rows(
    system: AnySystem,
    config: Any,
    number: int,
    program: Program,
    flat: Flat,
    bounds: Bounds,
    tick: Progress | None = None,
    engine: str | None = None,
) -> RowWalk:
    """Search one configuration; `engine` is numpy or numba, by default numpy until compiling pays.

    Raises ModelError if a reachable state takes a path on which the model raised or left its domains.
    """
    shape, labels = program.shape, len(program.labeller.sets)
    starts = list(dict.fromkeys(tuple(start) for start in program.starts))
    if bounds.max_states is not None and len(starts) > bounds.max_states:
        bounds = replace(bounds, max_states=len(starts))  # initial states are never left out, as in the other methods
    words = np.asarray(starts, dtype=np.int64).reshape(-1, shape.words)
    # The parent of an initial state encodes its place in the list of `initial`.
    parents = np.asarray([-1 - program.starts.index(list(start)) for start in starts], dtype=np.int32)
    walk = RowWalk(system, config, number, program, flat, words, parents)
    walk.labels = no_labels(labels)
    limit = np.iinfo(np.int32).max if bounds.max_states is None else bounds.max_states
    machine = _Machine(walk, words, parents, limit, engine, bounds)
    low, high = 0, len(starts)
    while low < high:
        walk.levels.append(low)
        if bounds.depth is not None and len(walk.levels) > bounds.depth:
            walk.open = walk.open or _any_offer(walk, low, high)
            break
        machine.expand(low, high)
        low, high = high, walk.states
        if tick is not None:
            tick(walk.states, walk.transitions)
    machine.close()
    return walk


def _any_offer(walk: RowWalk, low: int, high: int) -> bool:
    return any(next(successors(walk, sid), None) is not None for sid in range(low, high))


class _Machine:
    """The arrays that grow, and the kernel that works on them."""

    def __init__(
        self, walk: RowWalk, words: Words, parents: Links, limit: int, engine: str | None, bounds: Bounds
    ) -> None:
        self.walk, self.wanted, self.spill = walk, engine, bounds.spill
        self.budget = MemoryBudget(bounds.max_memory, spills=bounds.spill is not None)
        self.dense = walk.program.shape.bits <= DENSE
        self.state = np.zeros(9, dtype=np.int64)
        self.state[0], self.state[3], self.state[8] = len(walk.words), limit, walk.flat.widest
        walk.states = len(walk.words)
        self.words, self.parents = words, parents  # those of the walk, until memory ends
        self.far: SpilledStates | None = None
        self.visited: Visited | None = None
        self.table: Any = None
        self.stamp: Any = None
        self.spent = 0

    def expand(self, low: int, high: int) -> None:
        """Expand one level."""
        self.state[1], self.state[2] = low, high
        walk = self.walk
        fast = self._use_numba(high - low)
        ended = kernel.FULL
        while ended == kernel.FULL:
            if self.budget.spent():
                self._memory_ends()
            if self.far is not None:
                ended = expand_spilled(walk.flat, self.far, walk.labels, self.state)
            else:
                ended = self._fast() if fast else self._plainly()
        walk.states, walk.transitions, walk.edges = (int(self.state[place]) for place in (0, 4, 5))
        walk.spilled = 0 if self.far is None else walk.states
        walk.open = walk.open or bool(self.state[6])
        if ended == kernel.BROKEN:
            raise walk.refused(int(self.state[1]), int(self.state[7]))

    def _memory_ends(self) -> None:
        """Continue on disk, if there is one; else keep no new states, and expand only known ones."""
        if self.spill is None or self.far is not None:
            self.state[3] = self.state[0]
            self.budget = MemoryBudget(None)
            return
        walk, count = self.walk, int(self.state[0])
        far = self.far = SpilledStates(self.spill(), walk.program.shape.words)
        far.enter(self.words[:count], self.parents[:count])
        self._have(self.words[:0].copy(), self.parents[:0].copy())
        walk.words, walk.parents = FarWords(far), FarParents(far)
        self.visited = self.table = self.stamp = None
        self.budget.left()

    def _use_numba(self, sources: int) -> bool:
        if self.wanted is not None:
            return self.wanted == "numba"
        if self.table is not None:
            return True
        self.spent += sources * self.walk.flat.widest * (1 if self.dense else 2)
        if not kernel.available() or kernel.warm():
            return kernel.available()
        return self.spent > PATIENCE and not self.budget.spent(kernel.MEMORY)

    def _plainly(self) -> int:
        walk = self.walk
        if self.visited is None:
            self.visited = Visited(walk.program.shape.bits, self.dense, walk.program.shape.words)
            self.visited.add(self.words, 0)
        ended, words, parents = expand_plain(
            walk.flat.rows,
            self.words,
            self.parents,
            self.visited,
            walk.labels,
            self.state,
        )
        self._have(words, parents)
        return ended

    def _have(self, words: Words, parents: Links) -> None:
        self.words = self.walk.words = words
        self.parents = self.walk.parents = parents

    def _fast(self) -> int:
        walk = self.walk
        expand, rehash = kernel.compiled_kernels()
        walk.engine = "numba"
        if self.table is None:
            self.visited = None
            self._grow(rehash, max(1 << 12, 2 * len(self.words)))
        ended: int = expand(
            walk.flat.rows,
            self.words,
            self.parents,
            self.stamp,
            self.table,
            self.dense,
            walk.labels,
            self.state,
        )
        if ended == kernel.FULL:
            room = 2 * len(self.words)
            if self.budget.spent(room * (8 * walk.program.shape.words + 24)):
                self._memory_ends()
            else:
                self._grow(rehash, room)
        return ended

    def _grow(self, rehash: Any, room: int) -> None:
        walk, count = self.walk, int(self.state[0])
        room = max(room, count + walk.flat.widest + 1)
        words = np.zeros((room, walk.program.shape.words), dtype=np.int64)
        words[:count] = self.words[:count]
        parents = np.full(room, -1, dtype=np.int32)
        parents[:count] = self.parents[:count]
        stamp = np.full(room, -1, dtype=np.int32)
        if self.stamp is not None:
            stamp[:count] = self.stamp[:count]
        self.stamp = stamp
        self._have(words, parents)
        if not self.dense:
            self.table = np.full(1 << (2 * room - 1).bit_length(), -1, dtype=np.int32)
            rehash(words, count, self.table)
        elif self.table is None:
            self.table = np.full(1 << walk.program.shape.bits, -1, dtype=np.int32)
            self.table[words[:count, 0]] = np.arange(count)

    def close(self) -> None:
        """Cut the arrays to the states found."""
        if self.far is None:
            count = self.walk.states
            self._have(self.words[:count], self.parents[:count])
