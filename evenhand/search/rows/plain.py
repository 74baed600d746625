"""Look up rows, and the numbers of known states, for whole arrays of states."""

from __future__ import annotations

import numpy as np

from evenhand.search.csr import Ints, Links
from evenhand.search.rows.flat import Rows
from evenhand.search.rows.shape import Words

CHUNK = 1 << 18
"""Rows that are applied at a time."""


class Visited:
    """The numbers of known states of so many words: a hash table."""

    def __init__(self, width: int) -> None:
        self.table = np.full(1 << 12, -1, dtype=np.int32)
        self.words = np.zeros((1 << 10, width), dtype=np.int64)
        self.count = 0

    def add(self, words: Words, first: int) -> None:
        """Number these states, all different and new, from `first` on."""
        self.count = first + len(words)
        if self.count > len(self.words):
            more = np.zeros((2 * self.count, words.shape[1]), dtype=np.int64)
            more[:first] = self.words[:first]
            self.words = more
        self.words[first : self.count] = words
        if 2 * self.count > len(self.table):
            self.table = np.full(1 << (4 * self.count).bit_length(), -1, dtype=np.int32)
            first = 0
        self._enter(np.arange(first, self.count, dtype=np.int32))

    def _enter(self, waiting: Links) -> None:
        """Give each number the first free place from its state's hash on."""
        place = self._home(self.words[waiting])
        while len(waiting):
            free = self.table[place] < 0
            self.table[place[free]] = waiting[free]  # of several numbers for one place, one gets it
            left = self.table[place] != waiting
            waiting, place = waiting[left], self._next(place[left])

    def numbers(self, words: Words) -> Ints:
        """Return the number of each state, -1 for an unknown one."""
        found = np.full(len(words), -1, dtype=np.int64)
        asked, place = np.arange(len(words)), self._home(words)
        while len(asked):
            there = self.table[place]
            taken = there >= 0
            asked, place, there = asked[taken], place[taken], there[taken]
            same = (self.words[there] == words[asked]).all(axis=1)
            found[asked[same]] = there[same]
            asked, place = asked[~same], self._next(place[~same])
        return found

    def _home(self, words: Words) -> Ints:
        code = np.zeros(len(words), dtype=np.uint64)
        for word in range(words.shape[1]):
            code = (code ^ words[:, word].view(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
            code ^= code >> np.uint64(29)
        return (code & np.uint64(len(self.table) - 1)).astype(np.int64)

    def _next(self, place: Ints) -> Ints:
        return place + 1 & len(self.table) - 1


def lists_of(rows: Rows, words: Words, low: int) -> tuple[Ints, Ints, tuple[int, int] | None]:
    """Return the list of rows for each source and column; and the first source without one, with the culprit."""
    columns = len(rows.list_base)
    leaf = rows.dispatch[index_of(rows, columns, words)] if len(words) else np.zeros(0, dtype=np.int64)
    culprits: list[tuple[int, int]] = []
    lost = np.flatnonzero((leaf < 0) | (rows.leaf_offered[leaf] == -2))
    if len(lost):
        culprits.append((low + int(lost[0]), -1 - int(leaf[lost[0]])))
    found: list[tuple[Ints, Ints, Ints]] = []
    taken = np.zeros(len(words), dtype=np.int64)
    for one in np.unique(leaf[leaf >= 0]).tolist():
        mine = np.flatnonzero(leaf == one)
        for place in range(int(rows.leaf_from[one]), int(rows.leaf_from[one + 1])):
            column = int(rows.leaf_columns[place])
            lists = rows.list_base[column] + index_of(rows, column, words[mine])
            bad = np.flatnonzero(rows.broken[lists])
            if len(bad):
                culprits.append((low + int(mine[bad[0]]), int(lists[bad[0]])))
            taken[mine] += rows.list_weight[lists]
            found.append((mine + low, np.full(len(mine), place), lists))
    wrong = np.flatnonzero((leaf >= 0) & (rows.leaf_offered[leaf] >= 0) & (rows.leaf_offered[leaf] != taken))
    if len(wrong):
        culprits.append((low + int(wrong[0]), -1 - int(leaf[wrong[0]])))
    if culprits:
        # A path that raised explains more than the wrong count of actions that it causes.
        culprit = min(culprits, key=lambda found: (found[0], found[1] < 0))
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), culprit
    if not found:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), None
    source, places, every = (np.concatenate(part) for part in zip(*found, strict=True))
    order = np.lexsort((places, source))
    return source[order], every[order], None


def index_of(rows: Rows, column: int, words: Words) -> Ints:
    """Return each state's entry in a column's table (in the dispatch for the column after the last)."""
    found = np.zeros(len(words), dtype=np.int64)
    for word, shift, mask, offset in rows.looks[rows.look_from[column] : rows.look_from[column + 1]].tolist():
        found += rows.classes[offset + (words[:, word] >> shift & mask)]
    return found


def different(numbers: Ints) -> int:
    """Return how many different numbers there are; sorts them in place.

    The hashing of `np.unique` takes thirty times as long on such products of two numbers.
    """
    numbers.sort()
    return int(np.count_nonzero(numbers[1:] != numbers[:-1])) + bool(len(numbers))


def unique(words: Words) -> tuple[Ints, Ints]:
    """Return the first place of each different state, and for each state which of those it is."""
    if words.shape[1] == 1:
        _, first, which = np.unique(words[:, 0], return_index=True, return_inverse=True)
    else:
        data = np.ascontiguousarray(words).view(np.dtype((np.void, words.dtype.itemsize * words.shape[1]))).ravel()
        _, first, which = np.unique(data, return_index=True, return_inverse=True)
    return first, which.ravel()
