"""Breadth-first search over rows when memory ends: states, parents and the set of known states go to a disk.

States are found in the same order and under the same numbers as in memory.  Each new state of a portion of rows is
looked up once: in a table of recent states, which is exact but forgets, else on the disk.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, overload

import numpy as np

from evenhand.search.compiled.flat import Flat, LabelCounts
from evenhand.search.compiled.kernel import BROKEN, DONE, FULL
from evenhand.search.compiled.plain import applied, count_labels, different, portion_of, unique
from evenhand.search.compiled.shape import Words
from evenhand.search.csr import Ints, Links
from evenhand.search.spilling import SqliteDisk, plausible

PORTION = 1 << 16
"""Rows that are applied at a time, and sources that are read for them."""

BLOCK = 1 << 14
"""States that are written at a time."""

RECENT_BYTES = 8 << 20
"""Bytes of the table of recent states."""


class SpilledStates:
    """Words and parents of states by number, and the set of known states."""

    def __init__(self, disk: SqliteDisk, width: int) -> None:
        self.disk, self.width = disk, width
        self.count = self.written = 0
        self.words: list[Words] = []
        self.parents: list[Links] = []
        slots = 1 << (RECENT_BYTES // (8 * width)).bit_length() - 1
        self.recent = np.full((slots, width), -1, dtype=np.int64)
        self.near: tuple[int, Words, Links] | None = None

    def enter(self, words: Words, parents: Links) -> None:
        """Take over all states that were found in memory, which differ."""
        for low in range(0, len(words), BLOCK):
            some = words[low : low + BLOCK]
            self.unknown(some[unique(some)[0]])
            self.add(some, parents[low : low + BLOCK])

    def unknown(self, words: Words) -> Ints:
        """Return the places of the new ones among these states (all different), and remember all."""
        slot = self._slots(words)
        places = np.flatnonzero((self.recent[slot] != words).any(axis=1))
        self.recent[slot] = words
        return places[np.asarray(self.disk.unseen(self._keys(words[places])), dtype=np.int64)]

    def forget(self, words: Words) -> None:
        """Forget these states, which a bound left out."""
        self.recent[self._slots(words)] = -1
        self.disk.forget(self._keys(words))

    def _slots(self, words: Words) -> Ints:
        code = words[:, 0].copy()
        for word in range(1, self.width):
            code = (code ^ code >> 29) * 0x9E3779B97F4A7C1 ^ words[:, word]
        return (code ^ code >> 31) & len(self.recent) - 1

    def _keys(self, words: Words) -> Any:
        if self.width == 1:
            return words[:, 0].tolist()
        return [row.tobytes() for row in np.ascontiguousarray(words)]

    def add(self, words: Words, parents: Links) -> None:
        """Give these states the next numbers."""
        self.words.append(words)
        self.parents.append(parents)
        self.count += len(words)
        if self.count - self.written >= BLOCK:
            whole, links = np.concatenate(self.words), np.concatenate(self.parents)
            self.disk.append(self.written, whole.tobytes(), links.tobytes())
            self.words, self.parents, self.written = [], [], self.count

    def block(self, number: int) -> tuple[int, Words, Links]:
        """Return the first number, the words and the parents of consecutive states, this number among them."""
        if number >= self.written:
            self.words, self.parents = [np.concatenate(self.words)], [np.concatenate(self.parents)]
            return self.written, self.words[0], self.parents[0]
        near = self.near
        if near is None or not near[0] <= number < near[0] + len(near[2]):
            first, words, parents = self.disk.block(number)
            made = np.frombuffer(words, dtype=np.int64).reshape(-1, self.width)
            near = self.near = first, made, np.frombuffer(parents, dtype=np.int32)
        return near


class FarWords:
    """The words of spilled states, by number; `RowWalk.words` after memory has ended."""

    def __init__(self, states: SpilledStates) -> None:
        self.states = states

    def __len__(self) -> int:
        return self.states.count

    @overload
    def __getitem__(self, number: int) -> Ints: ...
    @overload
    def __getitem__(self, number: slice) -> Words: ...
    def __getitem__(self, number: int | slice) -> Ints | Words:
        if isinstance(number, slice):
            rows = [self[one] for one in range(*number.indices(len(self)))]
            return np.asarray(rows, dtype=np.int64).reshape(-1, self.states.width)
        first, words, _ = self.states.block(number)
        found: Ints = words[number - first]
        return found

    def tolist(self) -> list[list[int]]:
        """Return all of them in memory, as of an array."""
        return [row for some in blocks_of(self) for row in some.tolist()]


class FarParents:
    """The parents of spilled states, by number."""

    def __init__(self, states: SpilledStates) -> None:
        self.states = states

    def __len__(self) -> int:
        return self.states.count

    def __getitem__(self, number: int) -> int:
        first, _, parents = self.states.block(number)
        return plausible(number, int(parents[number - first]))

    def tolist(self) -> list[int]:
        """Return all of them in memory, as of an array."""
        return [self[number] for number in range(len(self))]


def blocks_of(words: Words | FarWords) -> Iterator[Words]:
    """Yield all states in the order of their numbers, some at a time."""
    if not isinstance(words, FarWords):
        for low in range(0, len(words), BLOCK):
            yield words[low : low + BLOCK]
        return
    number = 0
    while number < len(words):
        _, some, _ = words.states.block(number)
        yield some
        number += len(some)


def expand_spilled(flat: Flat, states: SpilledStates, labels: LabelCounts, state: Ints) -> int:
    """Do as `kernel.expand`, for a portion of the sources; FULL means that some are left."""
    rows = flat.rows
    low, high = int(state[1]), int(state[2])
    first, words, _ = states.block(low)
    words = words[low - first : high - first][:PORTION]
    here, high, culprit = portion_of(rows, words, low, PORTION)
    state[1] = high
    state[4] += rows.list_weight[here[1]].sum()
    row, origin, target = applied(rows, words, low, here)
    if len(row):
        starts, which = unique(target)
        fresh = np.sort(starts[states.unknown(target[starts])])
        room = max(0, int(state[3]) - int(state[0]))
        if len(fresh) > room:
            # All states beyond the bound count as one, and stay unknown.
            state[6] = 1
            states.forget(target[fresh[room:]])
            which = _merged(which, which[fresh[room:]])
            fresh = fresh[:room]
        states.add(target[fresh], origin[fresh].astype(np.int32))
        state[0] += len(fresh)
        state[5] += different((origin - low) * (len(starts) + 1) + which)
        count_labels(rows, row, origin, labels)
    if culprit is not None:
        state[7] = culprit
        return BROKEN
    return DONE if state[1] >= state[2] else FULL


def _merged(which: Ints, beyond: Ints) -> Ints:
    return np.where(np.isin(which, beyond), beyond[0], which)
