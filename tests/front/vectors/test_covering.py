"""The set cover is smallest, compared with brute force, and a wrong answer of the solver is caught."""

from __future__ import annotations

import itertools
import random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from evenhand.conform.vectors import covering
from evenhand.conform.vectors.covering import NoCover, smallest_cover


def _naive(sets: list[frozenset[int]], costs: list[int]) -> tuple[int, int]:
    """Return the least number of sets, and the least cost among covers of that number, by trying all."""
    whole = frozenset[int]().union(*sets)
    for size in range(len(sets) + 1):
        prices = [
            sum(costs[place] for place in picked)
            for picked in itertools.combinations(range(len(sets)), size)
            if frozenset[int]().union(*(sets[place] for place in picked)) == whole
        ]
        if prices:
            return size, min(prices)
    raise AssertionError


@pytest.mark.parametrize("seed", range(25))
def test_a_cover_is_smallest_and_then_cheapest(seed: int) -> None:
    """Against every combination of up to nine random sets."""
    draw = random.Random(seed)
    sets = [frozenset(draw.sample(range(8), draw.randint(0, 4))) for _ in range(draw.randint(1, 9))]
    costs = [draw.randint(1, 5) for _ in sets]
    cover = smallest_cover(sets, costs)
    assert (len(cover.chosen), sum(costs[place] for place in cover.chosen)) == _naive(sets, costs)
    assert cover.smallest


def test_greedy_would_take_one_more() -> None:
    """The textbook case: taking the largest set first needs three, two are enough."""
    sets = [frozenset({1, 2, 3, 4}), frozenset({1, 2, 5}), frozenset({3, 4, 6})]
    assert smallest_cover(sets).chosen == (1, 2)


def test_nothing_to_cover_needs_nothing() -> None:
    """No sets, or empty ones."""
    assert smallest_cover([]).chosen == smallest_cover([frozenset()]).chosen == ()


@pytest.mark.parametrize(
    "answer",
    [
        SimpleNamespace(x=np.zeros(2), mip_dual_bound=0.0, message=""),
        SimpleNamespace(x=None, mip_dual_bound=0.0, message="no time"),
    ],
)
def test_an_answer_that_is_no_cover_is_refused(monkeypatch: pytest.MonkeyPatch, answer: Any) -> None:
    """Each answer of the solver is checked."""

    def lie(*_args: Any, **_more: Any) -> Any:
        return answer

    monkeypatch.setattr(covering, "milp", lie)
    with pytest.raises(NoCover, match=r"no cover of the size|gave no answer: no time"):
        smallest_cover([frozenset({1}), frozenset({2})])
