"""The numbers of known states, for whole arrays of states at a time."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from evenhand.search.csr import Ints

WORD = 62
"""Bits of a word that are used; two are left so that no sum of words overflows."""

Words: TypeAlias = NDArray[np.int64]
"""States, one a row, of so many words each."""


DIRECT = 22
"""Bits of a state up to which the table has a place for every state that there may be."""

NEAR = 32
"""Places apart up to which equal numbers are found without sorting."""


class Visited:
    """The known states of so many words, numbered from 0 on, in a hash table; or by all their `bits`, if these are few.

    A place for every state is faster to look into: nothing is compared, and the table is no larger than the states.
    """

    def __init__(self, width: int, bits: int = WORD) -> None:
        self.direct = bits <= DIRECT
        self.table = np.full(1 << (bits if self.direct else 12), -1, dtype=np.int32)
        self.words = np.zeros((1 << 10, width), dtype=np.int64)
        self.count = 0

    def entered(self, words: Words, most: int | None = None) -> tuple[Ints, Ints]:
        """Return the number of each state, and the places of the first of each new one.

        New ones are numbered in their order; those from `most` on are not kept, and have number -1.
        """
        first = self.count
        self._grow(first + len(words))
        self.words[first : first + len(words)] = words
        found, places = self._looked_up(words, first)
        unknown = np.flatnonzero(found >= first)
        if not len(unknown):
            return found, unknown
        # Of several equal new states one is in the table, not always the first.
        earliest = np.full(len(words), len(words), dtype=np.int64)
        np.minimum.at(earliest, found[unknown] - first, unknown)
        entries = np.flatnonzero(earliest < len(words))
        new = np.sort(earliest[entries])
        numbers = np.full(len(words), -1, dtype=np.int64)
        kept = new if most is None else new[: max(0, most - first)]
        numbers[kept] = first + np.arange(len(kept))
        found[unknown] = numbers[earliest[found[unknown] - first]]
        self.words[first : first + len(kept)] = words[kept]
        self.count = first + len(kept)
        if len(kept) < len(new):
            self._enter()
        else:
            self.table[places[entries]] = numbers[earliest[entries]]
        return found, kept

    def numbers(self, words: Words) -> Ints:
        """Return the number of each state, -1 for an unknown one."""
        return self._looked_up(words, None)[0]

    def _looked_up(self, words: Words, first: int | None) -> tuple[Ints, Ints]:
        """The number of each state and its place in the table; unknown ones enter it, numbered from `first` on."""
        if self.direct:
            found = self.table[words[:, 0]].astype(np.int64)
            free = np.flatnonzero(found < 0)
            if first is not None:
                self.table[words[free, 0]] = first + free  # of equal states one gets the place
                found[free] = self.table[words[free, 0]]
            return found, words[:, 0]
        found, places = np.full((2, len(words)), -1, dtype=np.int64)
        asked, place = np.arange(len(words)), self._home(words)
        while len(asked):
            there = self.table[place]
            free = np.flatnonzero(there < 0)
            if first is None:
                some = np.flatnonzero(there >= 0)
                asked, place, there = asked[some], place[some], there[some]
            elif len(free):
                self.table[place[free]] = first + asked[free]  # of several states at one place, one gets it
                there[free] = self.table[place[free]]
            same = _equal(np.take(self.words, there, axis=0), np.take(words, asked, axis=0))
            done = np.flatnonzero(same)
            found[asked[done]], places[asked[done]] = there[done], place[done]
            left = np.flatnonzero(~same)
            asked, place = asked[left], self._next(place[left])
        return found, places

    def _grow(self, count: int) -> None:
        """Make room for so many states."""
        if count > len(self.words):
            more = np.zeros((2 * count, self.words.shape[1]), dtype=np.int64)
            more[: self.count] = self.words[: self.count]
            self.words = more
        if 2 * count > len(self.table) and not self.direct:
            self.table = np.zeros(1 << (4 * count).bit_length(), dtype=np.int32)
            self._enter()

    def _enter(self) -> None:
        """Make the table anew."""
        self.table.fill(-1)
        self._looked_up(self.words[: self.count], 0)

    def _home(self, words: Words) -> Ints:
        code = np.zeros(len(words), dtype=np.uint64)
        for word in range(words.shape[1]):
            code = (code ^ words[:, word].view(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
            code ^= code >> np.uint64(29)
        return (code & np.uint64(len(self.table) - 1)).astype(np.int64)

    def _next(self, place: Ints) -> Ints:
        return place + 1 & len(self.table) - 1


def _equal(some: Words, others: Words) -> NDArray[np.bool_]:
    """Whether states are equal, one by one."""
    same: NDArray[np.bool_] = some[:, 0] == others[:, 0]
    for word in range(1, some.shape[1]):
        same &= some[:, word] == others[:, word]
    return same


def different(numbers: Ints, apart: int) -> int:
    """Return how many different numbers there are, where equal ones are less than `apart` places apart.

    May sort them in place: hashing, as `np.unique` does, takes thirty times as long on such products of numbers.  Where
    few actions are on offer at a time, it is faster still to compare each number with those before it.
    """
    if apart <= NEAR:
        again = np.zeros(len(numbers), dtype=np.bool_)
        for by in range(1, apart):
            again[by:] |= numbers[by:] == numbers[:-by]
        return len(numbers) - int(np.count_nonzero(again))
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
