"""Let a kernel choose: lists of two actions in one, where each action alone gets an answer of the same sort.

A kernel may choose one entry of a list by a rule of its own (`$chosen` of `words`).  Chance seldom offers it two that
it may take.  What it chose is compared where the list has another order (`two_safety`).
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from evenhand.conform.checking.coding import Coder
from evenhand.conform.checking.comparing import words_of
from evenhand.conform.checking.spelling import texts_of
from evenhand.core.codec import encode
from evenhand.core.trace import AnyTrace, Scenario

FEW = 2
"""Entries of a list that is joined with another."""

MOST = 48
"""Choices that are offered."""


def offers(coder: Coder, bases: Sequence[AnyTrace], names: Iterable[str], seed: int = 0) -> Iterator[AnyTrace]:
    """Yield runs of one action each, whose list in one of the fields `names` is that of two actions of the bases."""
    system, words = coder.system, words_of(coder.system.types)
    pairs: list[tuple[Any, Any, str]] = []
    for name in sorted(names):
        alike: dict[Any, dict[Any, Any]] = {}
        for base in bases:
            config, start = base.scenario.config, base.scenario.start
            for step in base.steps:
                if step.before == start and 0 < len(getattr(step.action, name, ())) <= FEW:
                    said = words.intersection(texts_of(encode(step.shown)))
                    key = config, start, replace(step.action, **{name: ()}), said
                    alike.setdefault(key, {}).setdefault(step.shown, step)
        pairs += ((one, other, name) for some in alike.values() for one, other in combinations(some.values(), 2))
    for one, other, name in random.Random(seed).sample(pairs, min(MOST, len(pairs))):
        action = replace(one.action, **{name: (*getattr(one.action, name), *getattr(other.action, name))})
        if system.has_answer(one.config, one.before, action):
            yield coder.trace(Scenario(one.config, one.before, (action,)))
