"""The kernel with numpy alone, for when numba is absent or would take longer to compile than the search takes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.properties.search.rows.flat import Rows
from evenhand.properties.search.rows.kernel import BROKEN, DONE
from evenhand.properties.search.rows.shape import Words

__all__ = ["CHUNK", "Visited", "expand_plain", "index_of", "lists_of"]

CHUNK = 1 << 20
"""Rows that are applied at a time."""

Ints = NDArray[np.int64]


class Visited:
    """The numbers of known states: an array where the state itself is an index, else a dictionary."""

    def __init__(self, bits: int, dense: bool) -> None:
        self.table = np.full(1 << bits if dense else 0, -1, dtype=np.int32)
        self.dense = dense
        self.known: dict[bytes, int] = {}

    def add(self, words: Words, first: int) -> None:
        """Number these states from `first` on."""
        if self.dense:
            self.table[words[:, 0]] = np.arange(first, first + len(words))
        else:
            data = np.ascontiguousarray(words)
            self.known.update((row.tobytes(), first + place) for place, row in enumerate(data))

    def numbers(self, words: Words) -> Ints:
        """The number of each state, -1 for one that is not known."""
        if self.dense:
            return self.table[words[:, 0]].astype(np.int64)
        data = np.ascontiguousarray(words)
        return np.fromiter((self.known.get(row.tobytes(), -1) for row in data), dtype=np.int64, count=len(data))


def expand_plain(
    rows: Rows,
    words: Words,
    parents: NDArray[np.int32],
    visited: Visited,
    counts: Ints,
    label_state: Ints,
    label_row: Ints,
    state: Ints,
) -> tuple[int, Words, NDArray[np.int32]]:
    """As `kernel.expand`; gives the arrays back, since they may have grown."""
    while state[1] < state[2]:
        low, high = int(state[1]), int(state[2])
        source, lists, culprit = lists_of(rows, words[low:high], low)
        if culprit is not None:
            high = culprit[0]
            source, lists, _ = lists_of(rows, words[low:high], low)
        lengths = rows.row_to[lists] - rows.row_from[lists]
        if lengths.sum() > CHUNK:
            # Whole sources only, at least one.
            ends = np.cumsum(lengths)
            last = int(source[np.searchsorted(ends, CHUNK)])
            high = max(last, low + 1)
            some = source < high
            source, lists, lengths = source[some], lists[some], lengths[some]
            culprit = None
        words, parents = _take(
            rows, words, parents, visited, (source, lists, lengths), counts, label_state, label_row, state
        )
        state[1] = high
        if culprit is not None:
            state[7] = culprit[1]
            return BROKEN, words, parents
    return DONE, words, parents


def lists_of(rows: Rows, words: Words, low: int) -> tuple[Ints, Ints, tuple[int, int] | None]:
    """For each source and each of its slots the list of rows; and the first source that has none, with the culprit."""
    slots = len(rows.list_base)
    leaf = rows.dispatch[index_of(rows, slots, words)] if len(words) else np.zeros(0, dtype=np.int64)
    culprits: list[tuple[int, int]] = []
    lost = np.flatnonzero((leaf < 0) | (rows.leaf_offered[leaf] == -2))
    if len(lost):
        culprits.append((low + int(lost[0]), -1 - int(leaf[lost[0]])))
    found: list[tuple[Ints, Ints, Ints]] = []
    taken = np.zeros(len(words), dtype=np.int64)
    for one in np.unique(leaf[leaf >= 0]).tolist():
        mine = np.flatnonzero(leaf == one)
        for place in range(int(rows.leaf_from[one]), int(rows.leaf_from[one + 1])):
            slot = int(rows.leaf_slots[place])
            lists = rows.list_base[slot] + index_of(rows, slot, words[mine])
            bad = np.flatnonzero(rows.broken[lists])
            if len(bad):
                culprits.append((low + int(mine[bad[0]]), int(lists[bad[0]])))
            taken[mine] += rows.list_weight[lists]
            found.append((mine + low, np.full(len(mine), place), lists))
    wrong = np.flatnonzero((leaf >= 0) & (rows.leaf_offered[leaf] >= 0) & (rows.leaf_offered[leaf] != taken))
    if len(wrong):
        culprits.append((low + int(wrong[0]), -1 - int(leaf[wrong[0]])))
    if culprits:
        # A path that raised says more than the count of actions that it spoils.
        culprit = min(culprits, key=lambda found: (found[0], found[1] < 0))
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), culprit
    if not found:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), None
    source, places, every = (np.concatenate(column) for column in zip(*found, strict=True))
    order = np.lexsort((places, source))
    return source[order], every[order], None


def index_of(rows: Rows, slot: int, words: Words) -> Ints:
    """The entry of a slot's table (of the dispatch for the slot after the last) that each state finds."""
    found = np.zeros(len(words), dtype=np.int64)
    for word, shift, mask, offset in rows.looks[rows.look_from[slot] : rows.look_from[slot + 1]].tolist():
        found += rows.classes[offset + (words[:, word] >> shift & mask)]
    return found


def _take(
    rows: Rows,
    words: Words,
    parents: NDArray[np.int32],
    visited: Visited,
    here: tuple[Ints, Ints, Ints],
    counts: Ints,
    label_state: Ints,
    label_row: Ints,
    state: Ints,
) -> tuple[Words, NDArray[np.int32]]:
    source, lists, lengths = here
    state[4] += rows.list_weight[lists].sum()
    total = int(lengths.sum())
    if not total:
        return words, parents
    row = np.arange(total) - np.repeat(np.cumsum(lengths) - lengths, lengths) + np.repeat(rows.row_from[lists], lengths)
    origin = np.repeat(source, lengths)
    target = words[origin] & rows.keep[row] | rows.value[row]
    there = visited.numbers(target)
    new = np.flatnonzero(there < 0)
    count = int(state[0])
    if len(new):
        fresh = target[new]
        _, first = _unique(fresh)
        first.sort()
        room = max(0, int(state[3]) - count)
        if len(first) > room:
            state[6] = 1
            first = first[:room]
        added = fresh[first]
        visited.add(added, count)
        words = np.concatenate([words, added])
        parents = np.concatenate([parents, origin[new[first]].astype(np.int32)])
        state[0] = count + len(added)
        there[new] = visited.numbers(fresh)
    if rows.distinct[lists].all() and not (there < 0).any():
        state[5] += total
    else:
        state[5] += len(np.unique(origin * (int(state[0]) + 1) + there + 1))
    if len(counts) > 1:
        label = rows.label[row]
        np.add.at(counts, label, rows.weight[row])
        seen, first = np.unique(label, return_index=True)
        for one, place in zip(seen.tolist(), first.tolist(), strict=True):
            if label_state[one] < 0:
                label_state[one], label_row[one] = origin[place], row[place]
    return words, parents


def _unique(words: Words) -> tuple[Any, Ints]:
    if words.shape[1] == 1:
        return np.unique(words[:, 0], return_index=True)
    data = np.ascontiguousarray(words).view(np.dtype((np.void, words.dtype.itemsize * words.shape[1]))).ravel()
    return np.unique(data, return_index=True)
