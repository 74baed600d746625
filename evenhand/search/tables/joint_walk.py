"""Breadth-first search over joint choices: each state has the rows of its classes, and a row stands for many actions.

States, actions and findings have the numbers of explicit search.  Claims that do not ask for the action are answered
for whole arrays of rows; the others once for equal values read, see `joint`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from evenhand.search.bounds import Bounds
from evenhand.search.tables.asking import Updated
from evenhand.search.tables.classes import KEPT, Leaf
from evenhand.search.tables.joint import JointLearner
from evenhand.search.tables.questions import ACTS, MET, VIOLATED
from evenhand.search.tables.visited import different
from evenhand.search.tables.walk import CHUNK, Packing, Pairs, TableWalk
from evenhand.search.witness import NotLearned

PORTION = 1 << 18
"""Rows that are applied at a time."""

FEW = 0.5
"""Rows in tables, for each row that is applied, from which tables give nothing, once there are `SOME` states."""

SOME = 1_000


class Flat(NamedTuple):
    """The rows of all classes as arrays; class c has rows `starts[c]` to `ends[c]`, and offers `sizes[c]` actions."""

    starts: Any
    ends: Any
    sizes: Any
    after: Any
    counts: Any
    shown: Any
    label: Any
    asks: Any
    first: Any
    weight: Any


class Portion(NamedTuple):
    """Rows applied to states, in the order of states and of first actions.

    The place of each state, the row, its rank among the rows of the state; the columns of all states, and what each row
    of any class makes of them.
    """

    place: Any
    row: Any
    rank: Any
    states: Any
    effects: Any

    def pairs(self, *more: Any) -> Pairs:
        """Return the columns before, those after, and `more`."""
        size = len(self.states)

        def column(one: int) -> Any:
            before = self.states[one % size, self.place]
            after = self.effects[one % size, self.row] if one >= size else KEPT
            return np.where(after == KEPT, before, after)

        return Pairs(size, column, more)


class JointWalk(TableWalk):
    """The search of one configuration of joint choices."""

    learner: JointLearner  # type: ignore[assignment]

    def __init__(self, learner: JointLearner, number: int, bounds: Bounds) -> None:
        super().__init__(learner, number, bounds, None)  # type: ignore[arg-type]
        self.kinds: list[Any] = []
        self.counts_of: list[Any] = []
        self.applied = 0
        self.there: list[Any] = []
        self.masks: tuple[Any, Packing, Any, Any] | None = None
        self.expanded = 0

    def flat(self) -> Flat:
        """Return the rows of all classes."""
        learner = self.learner
        if learner.known is None:
            rows = learner.rows
            ends = np.cumsum([len(one.first) for one in rows])
            starts = ends - [len(one.first) for one in rows]
            sizes = np.asarray([one.size for one in rows], dtype=np.int64)
            after = np.asarray([row for one in rows for row in one.after], dtype=np.int32)
            after = after.reshape(-1, learner.size).T.copy()
            columns = [
                np.asarray([value for one in rows for value in getattr(one, name)], dtype=np.int64)
                for name in ("shown", "label", "asks", "first", "weight")
            ]
            counts = np.full((learner.questions.first_test, 3, after.shape[1]), -1, dtype=np.int64)
            for row, one in enumerate(some for made in rows for some in made.counts):
                for place, three in one.items():
                    counts[place, :, row] = three
            learner.known = Flat(starts, ends, sizes, after, counts, *columns)
        known: Flat = learner.known
        return known

    def portions(self, rows: Any, counts: Any, kinds: Any) -> Iterator[Portion]:
        """Yield the rows of these states, whole states at a time; state i has `counts[i]` of these classes."""
        flat = self.flat()
        sizes = flat.ends[kinds] - flat.starts[kinds]
        ends, total, low = np.cumsum(counts), np.concatenate([[0], np.cumsum(sizes)]), 0
        begins, owners = ends - counts, np.repeat(np.arange(len(counts)), counts)
        while low < len(counts):
            start = int(begins[low])
            high = int(np.searchsorted(total[ends], total[start] + PORTION, side="right"))
            high = max(low + 1, high)
            end = int(ends[high - 1])
            place = np.repeat(owners[start:end], sizes[start:end])
            row = np.arange(len(place)) + np.repeat(
                flat.starts[kinds[start:end]] - (total[start:end] - total[start]), sizes[start:end]
            )
            if end - start > high - low:
                row = row[np.lexsort((flat.first[row], place))]
            rank = np.arange(len(place)) - (total[begins[place]] - total[start])
            yield Portion(place, row, rank, rows, flat.after)
            low = high

    def words_after(self, sids: Any, row: Any) -> Any:
        """Return the words of the states after these rows: the bits that a row keeps, and those that it sets."""
        after = self._after_rows()
        if self.masks is None or self.masks[0] is not after or self.masks[1] is not self.packing:
            kept = after == KEPT
            keep, value = (self.packing.packed(np.where(kept, *two)) for two in ((self._full(), 0), (0, after)))
            self.masks = after, self.packing, keep, value
        return self.words[sids] & self.masks[2][row] | self.masks[3][row]

    def _after_rows(self) -> Any:
        """What each row makes of the columns."""
        return self.flat().after

    def arrived_at(self, _leaf: Leaf, after: Any) -> Any:
        """Return the columns of the states to which steps of a leaf lead, given those after them."""
        return after

    def _full(self) -> Any:
        """For each column the number with all its bits set."""
        return np.asarray([(1 << bits) - 1 for bits in self.packing.bits], dtype=np.int64)[:, None]

    def _any_offer(self, low: int, high: int) -> bool:
        kinds = [self.learner.classified(self._rows(s, min(high, s + CHUNK)))[1] for s in range(low, high, CHUNK)]
        return any(bool(self.flat().sizes[some].any()) for some in kinds)

    def _expand(self, low: int, high: int) -> None:
        """Take every step out of some states."""
        learner, rows = self.learner, self._rows(low, high)
        counts, kinds = learner.classified(rows)
        self.expanded += high - low
        flat = self.flat()
        self.applied += int((flat.ends[kinds] - flat.starts[kinds]).sum())
        if self.expanded > SOME and len(flat.first) > FEW * self.applied:
            raise NotLearned(
                f"{self.expanded:,} states have {self.applied:,} steps of {len(flat.first):,} kinds: "
                "steps read nearly everything"
            )
        self._fit()
        self.kinds.append(kinds)
        self.counts_of.append(counts)
        self.transitions += int(flat.sizes[kinds].sum())
        for portion in self.portions(rows, counts, kinds):
            source, number = portion.place + low, flat.first[portion.row]
            there, _ = self._arrived(self.words_after(source, portion.row), source, number)
            most = int(portion.rank.max(initial=0)) + 1
            self.edge_count += different(source * (self.states + 1) + there, most)
            if learner.of_monitors:
                self.there.append(there.astype(np.int32))
            self._answer(portion, source, there)

    def _answer(self, portion: Portion, source: Any, there: Any) -> None:
        """Count the answers of claims about steps, and keep the edges for those about whole runs."""
        learner, flat = self.learner, self.flat()
        if not len(portion.row):
            return
        row, count, first_test = portion.row, len(portion.row), learner.questions.first_test
        pairs = portion.pairs(flat.shown[row])
        every = [asked.answers(pairs, count) for asked in learner.of_steps]
        acting = [answers == ACTS for answers in every]
        label = np.zeros(count, dtype=np.int64)
        for place, (answers, acts) in enumerate(zip(every, acting, strict=True)):
            if (acts != (flat.asks[row] >> place & 1 > 0)).any():
                learner.asked_otherwise(place)
            if place < first_test:
                self._count_rows(place, answers, source, row)
                if acts.any():
                    self._count_actions(place, source[acts], row[acts])
                continue
            holds = np.where(acts, flat.label[row] >> place - first_test & 1, answers & MET)
            self.counts[place][MET] += self.total(flat.weight[row] * (holds > 0), source)
            label |= holds << place - first_test
        if learner.questions.tests:
            self._keep(source, there, flat.first[row], label)

    def updates(self, updated: Updated, portion: Portion, values: Any) -> Any:
        """Return the numbers of a monitor's values after these rows, given those before."""
        return updated.answers(portion.pairs(self.flat().shown[portion.row], values), len(portion.row))

    def _count_rows(self, place: int, answers: Any, source: Any, row: Any) -> None:
        flat = self.flat()
        for answer in (MET, MET | VIOLATED):
            self.counts[place][answer] += self.total(flat.weight[row] * (answers == answer), source)
        bad = np.flatnonzero(answers & VIOLATED)
        if len(bad):
            self._found(place, int(source[bad[0]]), int(flat.first[row[bad[0]]]))

    def _count_actions(self, place: int, source: Any, row: Any) -> None:
        """Count the answers about single actions of these rows."""
        met, bad, first = self.flat().counts[place][:, row]
        self.counts[place][MET] += self.total(met - bad, source)
        self.counts[place][MET | VIOLATED] += self.total(bad, source)
        wrong = np.flatnonzero(bad)
        if len(wrong):
            self._found(place, *min(zip(source[wrong].tolist(), first[wrong].tolist(), strict=True)))

    def total(self, numbers: Any, _source: Any) -> int:
        """Return the sum of these numbers, each of which is about one of these states."""
        return int(numbers.sum())

    def _found(self, place: int, sid: int, number: int) -> None:
        known = self.first[place]
        self.first[place] = (sid, number) if known is None else min(known, (sid, number))
