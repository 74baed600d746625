"""The numbers of known states, for whole arrays of states at a time."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from evenhand.search.csr import Ints, Links

Words: TypeAlias = NDArray[np.int64]
"""States, one a row, of so many words each."""


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
