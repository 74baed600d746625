"""Do the same few things in every order: what is counted, and when a count begins anew.

Three stalled epochs in a row end a run otherwise than four with one of another sort between.  Where a run concludes
otherwise if an action is not repeated at once but behind another, both are done in several orders.  Chance seldom does
one thing three times with just one other between.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import permutations, product
from typing import Any, TypeAlias

from evenhand.conform.checking.coding import Coder
from evenhand.conform.checking.comparing import words_of
from evenhand.conform.checking.spelling import texts_of
from evenhand.core.codec import encode
from evenhand.core.system import AnyStep
from evenhand.core.trace import AnyTrace, Scenario, Trace

FREE, LONGEST = 5, 10
"""Actions of a run that may be either of the two, and at most; those behind are all of one sort."""

LEAST = 3
"""How often the action is done that is counted."""

SENT, OFTEN = 8, 64
"""Runs of each two actions that are sent, and of all that end alike."""

PLACES = 2
"""Configurations in which each pair of sorts is tried."""

Sort: TypeAlias = frozenset[str]
"""The protocol's own words that a step shows."""


class Counting:
    """Makes runs of two actions each; equal seed and runs give equal runs."""

    def __init__(self, coder: Coder, bases: Sequence[AnyTrace], seed: int = 0) -> None:
        self.coder, self.system, self.random = coder, coder.system, random.Random(seed)
        self.words = words_of(self.system.types)
        self.longest = Counter[tuple[Any, Any]]()
        self.sorts: dict[tuple[Any, Any], dict[Sort, Any]] = {}
        self.sent = Counter[tuple[str, str]]()
        if self.system.conclusion is None:
            return
        for base in bases:
            here = base.scenario.config, base.scenario.start
            some = self.sorts.setdefault(here, {})
            self.longest[here] = max(self.longest[here], len(base.steps))
            for step in base.steps:
                some.setdefault(self._said(step.shown), step.action)

    def _said(self, shown: Any) -> Sort:
        return self.words.intersection(texts_of(encode(shown)))

    def runs(self) -> Iterator[AnyTrace]:
        """Yield the runs, in long ones first, and each two sorts in one configuration before any in a second one."""
        places = list(self.sorts)
        self.random.shuffle(places)
        places.sort(key=lambda one: -self.longest[one])
        done = Counter[tuple[Sort, ...]]()
        for turn in range(1, PLACES + 1):
            for place in places:
                pairs = list(permutations(self.sorts[place], 2))
                self.random.shuffle(pairs)
                for pair in pairs:
                    if done[pair] < turn:
                        done[pair] += 1
                        yield from self._orders(*place, [self.sorts[place][one] for one in pair])

    def _orders(self, config: Any, start: Any, letters: Sequence[Any]) -> Iterator[AnyTrace]:
        """Yield runs in which the second action is done often, if it matters that the first one stands between."""
        always, between = (self._run(config, start, letters, order) for order in ((1,) * FREE, (1, 1, 0, 1, 0)))
        ends = self._end(always), self._end(between)
        orders = [one for one in product((0, 1), repeat=FREE) if LEAST <= sum(one) < FREE]
        for order in self.random.sample(orders, SENT) if ends[0] != ends[1] else ():
            made = self._run(config, start, letters, order)
            if made and self.sent[ends] < OFTEN:
                self.sent[ends] += 1
                actions = tuple(step.action for step in made)
                yield Trace(Scenario(config, start, actions), tuple(made))

    def _end(self, steps: Sequence[AnyStep]) -> str:
        return repr(self.system.conclusion(steps)) if self.system.conclusion and steps else ""

    def _run(self, config: Any, start: Any, letters: Sequence[Any], order: Sequence[int]) -> list[AnyStep]:
        """The steps of the model in this order, and of the first action to the end; none if one is not offered."""
        state, steps = start, list[AnyStep]()
        for which in (*order, *[0] * (LONGEST - len(order))):
            if not self.system.is_enabled(config, state, letters[which]):
                return steps if len(steps) >= len(order) else []
            steps.append(self.system.take(config, state, letters[which]))
            state = steps[-1].after
        return steps
