"""Monitors over tables: the product of the states with a monitor's values, node by node as in explicit search."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenhand.core.kinds import Monitor
from evenhand.search.check import NEVER_RETURNED
from evenhand.search.tables.asking import Updated
from evenhand.search.tables.joint_walk import JointWalk
from evenhand.search.witness import Tally

VALUES = 1 << 20
"""More values than a monitor may have."""


class Histories:
    """The product of the states of a finished search with the values of one monitor.

    A node is a state, a value, the node before, and the number of the action between.
    """

    def __init__(self, walk: JointWalk, claim: Monitor, updated: Updated) -> None:
        self.walk, self.claim, self.updated = walk, claim, updated
        self.kinds, self.counts = np.concatenate(walk.kinds), np.concatenate(walk.counts_of)
        self.begins = np.cumsum(self.counts) - self.counts
        self.there = np.concatenate(walk.there) if walk.there else np.zeros(0, dtype=np.int32)
        flat = walk.flat()
        total = np.concatenate([[0], np.cumsum(flat.ends[self.kinds] - flat.starts[self.kinds])])
        self.offset = total[self.begins]
        initials = walk.levels[1] if len(walk.levels) > 1 else walk.states
        start = updated.values.number(claim.memory(walk.learner.config))
        self.initial = initials
        self.nodes = [
            np.arange(initials, dtype=np.int64),
            np.full(initials, start, dtype=np.int64),
            np.full(initials, -1, dtype=np.int64),
            np.zeros(initials, dtype=np.int64),
        ]
        self.known = np.zeros(0, dtype=np.int64)  # the initial nodes were not checked

    def search(self, most: int | None) -> bool:
        """Find every node, and return whether there are at `most` so many."""
        low, high = 0, self.initial
        while low < high:
            order = np.argsort(self.nodes[0][low:high], kind="stable") + low
            found = [self._after(order[s : s + 512]) for s in range(0, len(order), 512)]
            self._enter([np.concatenate(column) for column in zip(*found, strict=True)])
            low, high = high, len(self.nodes[0])
            if most is not None and high > most:
                return False
        return True

    def _after(self, nodes: Any) -> list[Any]:
        """The steps of some nodes: state before, action, node, state after, value after; each once."""
        walk, flat = self.walk, self.walk.flat()
        sids, values = self.nodes[0][nodes], self.nodes[1][nodes]
        rows = walk.packing.unpacked(walk.words[sids])
        parts: list[list[Any]] = []
        counts = self.counts[sids]
        within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        kinds = self.kinds[np.repeat(self.begins[sids], counts) + within]
        for portion in walk.portions(rows, counts, kinds):
            place, row = portion.place, portion.row
            there = self.there[self.offset[sids[place]] + portion.rank].astype(np.int64)
            after = walk.updates(self.updated, portion, values[place])
            new = self._unknown(there, after)
            place, row, there, after = place[new], row[new], there[new], after[new]
            parts.append([sids[place], flat.first[row], nodes[place], there, after])
        return [np.concatenate(column) for column in zip(*parts, strict=True)]

    def _unknown(self, there: Any, value: Any) -> Any:
        code = there * VALUES + value
        if not len(self.known):
            return np.ones(len(code), dtype=np.bool_)
        place = np.minimum(np.searchsorted(self.known, code), len(self.known) - 1)
        return self.known[place] != code

    def _enter(self, found: list[Any]) -> None:
        """Number the new nodes in the order of the states before, then of the actions, then of the nodes before."""
        sid, action, node, there, value = found
        order = np.lexsort((node, action, sid))
        code = (there * VALUES + value)[order]
        _, first = np.unique(code, return_index=True)
        order = order[np.sort(first)]
        for place, column in enumerate((there, value, node, action)):
            self.nodes[place] = np.concatenate([self.nodes[place], column[order]])
        self.known = np.sort(np.concatenate([self.known, code[np.sort(first)]]))

    def tally(self) -> Tally:
        """Return the tally of the claim, of all nodes found."""
        claim, config, values = self.claim, self.walk.learner.config, self.updated.values.values
        here, later = (column[self.initial :] for column in self.nodes[:2])
        counts = np.bincount(later, minlength=len(values)).tolist()
        kept = [claim.answer(config, value) if count else None for value, count in zip(values, counts, strict=True)]
        answered = np.asarray([one is not None for one in kept], dtype=np.bool_)
        wrong = np.asarray([one is not None and not one for one in kept], dtype=np.bool_)
        bad = np.flatnonzero(wrong[later]) + self.initial
        doubts: tuple[str, ...] = ()
        start = values[int(self.nodes[1][0])] if self.initial else None
        if len(later) and start is not None and all(values[value] is None for value in np.unique(later).tolist()):
            doubts = (NEVER_RETURNED,)
        finding = None
        if len(bad):
            node, taken = int(bad[0]), list[int]()
            while self.nodes[2][node] >= 0:
                taken.append(int(self.nodes[3][node]))
                node = int(self.nodes[2][node])
            finding = self.walk.finding(int(self.nodes[0][node]), *reversed(taken))
        every, total = np.ones(len(self.nodes[0]), dtype=np.int64), self.walk.total
        checked, met, violated = (total(one, here) for one in (every[self.initial :], answered[later], wrong[later]))
        return Tally(1, checked, met, violated, finding, doubts, {"histories": total(every, self.nodes[0])})
