"""Claims about whole runs, decided on rows: the edges as arrays, without any step or state of the model.

Every row is applied to every state once more, some states at a time, and the results are numbered; rows that lead from
one state to another under one label are one edge with its first action, as in the search step by step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from evenhand.core.answers import ModelError
from evenhand.search.compiled.compiler import BY_ROWS
from evenhand.search.compiled.plain import CHUNK, applied, portion_of
from evenhand.search.compiled.shape import Words
from evenhand.search.compiled.spilled import FarWords, blocks_of
from evenhand.search.compiled.walk import DENSE, RowWalk
from evenhand.search.csr import Flags, Ints
from evenhand.search.lasso import Edges
from evenhand.search.liveness import AboutRuns, decide_on
from evenhand.search.memory import MemoryBudget
from evenhand.search.witness import Tally, Witness

EDGE = 5 * 8
"""Bytes that an edge takes: source, target, action, label, and data derived from them."""


class NoRoom(Exception):
    """The edges do not fit into the memory that there is; says why."""


def decided(walk: RowWalk, claims: Sequence[AboutRuns], max_memory: int | None) -> list[Tally]:
    """Return the tally of each claim, in order; a doubt says where the edges do not fit into memory."""
    graph = RowGraph(walk, MemoryBudget(max_memory))
    found: list[Tally] = []
    for claim in claims:
        try:
            found.append(decide_on(claim, graph))
        except NoRoom as error:
            found.append(Tally(1, walk.transitions, 0, doubts=(str(error),)))
    return found


class RowGraph:
    """The graph of one configuration, from its rows; see `liveness.RunGraph`."""

    def __init__(self, walk: RowWalk, budget: MemoryBudget) -> None:
        self.walk, self.budget = walk, budget
        self.labeller = walk.program.labeller
        self.fair = self.labeller.fair
        self.size = walk.transitions, walk.open

    @property
    def edges(self) -> Edges:
        """See `RunGraph`."""
        return self._all[0]

    def where(self, test: Callable[[Any], bool]) -> Flags:
        """See `RunGraph`."""
        place = self.labeller.tests[test]
        table = np.asarray([bool(bits >> place & 1) for bits in self.labeller.sets], dtype=np.bool_)
        return table[self._all[1]]

    def count(self, test: Callable[[Any], bool]) -> int:
        """See `RunGraph`."""
        place, sets, walk = self.labeller.tests[test], self.labeller.sets, self.walk
        if len(walk.labels.counts) == 1:  # every row has the one label: nothing was counted
            return walk.transitions * (sets[0] >> place & 1)
        counts = zip(sets, walk.labels.counts.tolist(), strict=False)  # samples may have met labels that no row has
        return sum(count for bits, count in counts if bits >> place & 1)

    def wanting(self, wants: Callable[[Any, Any], bool]) -> Sequence[int]:
        """See `RunGraph`."""
        config, state = self.walk.config, self.walk.program.shape.state
        words = (one for some in blocks_of(self.walk.words) for one in some.tolist())
        return [sid for sid, one in enumerate(words) if wants(config, state(one))]

    def finding(self, sid: int) -> Witness:
        """See `RunGraph`."""
        return self.walk.finding(sid)

    def run(self, start: int, path: tuple[int, ...], loop: tuple[int, ...]) -> Witness:
        """Return a run from the initial state of that number; rows of a `menu` hold their actions' numbers on it."""
        walk = self.walk
        menus = [leaf.menus for leaf in walk.program.leaves if leaf.offered == BY_ROWS]
        taken: list[int] = []
        state = walk.state(start)
        for number in (*path, *loop):
            if menus:
                action = menus[0][number]
                number = list(walk.system.enabled(walk.config, state)).index(action)
                state = walk.system.take(walk.config, state, action).after
            taken.append(number)
        first = -1 - int(walk.parents[start])
        return Witness(walk.number, first, tuple(taken[: len(path)]), tuple(taken[len(path) :]))

    @cached_property
    def _all(self) -> tuple[Edges, Ints]:
        """The edges and their labels.  Raises NoRoom."""
        walk = self.walk
        if isinstance(walk.words, FarWords):
            raise NoRoom(
                "its states went to a disk, and a claim about whole runs needs the edges between them in memory"
            )
        parts: list[tuple[Ints, Ints, Ints, Ints]] = []
        numbers = _Numbers(walk.words, walk.program.shape.bits)
        low = held = 0
        while low < walk.states:
            if self.budget.spent(held * EDGE):
                raise NoRoom("the bound on memory leaves no room for the edges, which a claim about whole runs needs")
            part, low = self._some(numbers, walk.words, low)
            held += len(part[0])
            parts.append(part)
        source, target, action, label = (np.concatenate(column) for column in zip(*parts, strict=True))
        initials = walk.levels[1] if len(walk.levels) > 1 else walk.states
        return Edges(walk.states, initials, source, target, action), label

    def _some(self, numbers: _Numbers, words: Words, low: int) -> tuple[tuple[Ints, Ints, Ints, Ints], int]:
        """Source, target, first action and label of the edges of some states, in the order of source and action."""
        rows, first = self.walk.flat.rows, self.walk.flat.first
        here, high, culprit = portion_of(rows, words[low : min(self.walk.states, low + CHUNK)], low, CHUNK)
        row, source, after = applied(rows, words, 0, here)
        target = numbers.of(after)
        if culprit is not None or (target < 0).any():
            raise ModelError(f"{self.walk.system.label}: the rows of a state lead elsewhere when they are run again")
        action, label = first[row], rows.label[row]
        order = np.lexsort((action, label, target, source))
        source, target, action, label = source[order], target[order], action[order], label[order]
        fresh = np.ones(len(order), dtype=np.bool_)
        fresh[1:] = (np.diff(source) != 0) | (np.diff(target) != 0) | (np.diff(label) != 0)
        source, target, action, label = source[fresh], target[fresh], action[fresh], label[fresh]
        order = np.lexsort((action, source))
        return (source[order], target[order], action[order], label[order]), high


class _Numbers:
    """The numbers of known states, from their words."""

    def __init__(self, words: Words, bits: int) -> None:
        self.table: Any = None
        if bits <= DENSE:
            self.table = np.full(1 << bits, -1, dtype=np.int64)
            self.table[words[:, 0]] = np.arange(len(words))
            return
        keys = self._keys(words)
        self.order = np.argsort(keys, kind="stable")
        self.keys = keys[self.order]

    def of(self, words: Words) -> Ints:
        """The number of each state, -1 for an unknown one."""
        if self.table is not None:
            found: Ints = self.table[words[:, 0]]
            return found
        keys = self._keys(words)
        place = np.minimum(np.asarray(np.searchsorted(self.keys, keys), dtype=np.int64), len(self.keys) - 1)
        return np.where(self.keys[place] == keys, self.order[place], -1)

    @staticmethod
    def _keys(words: Words) -> Any:
        """One key for each state: its word, or the bytes of all its words."""
        if words.shape[1] == 1:
            return words[:, 0]
        return np.ascontiguousarray(words).astype(">i8").view(f"S{8 * words.shape[1]}").ravel()
