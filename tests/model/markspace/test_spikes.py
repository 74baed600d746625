"""When a burst across the end of a window is one (9.7): never, unless the window before was a burst of its own.

Let n counts have mean m and deviation s, and let the window before count m + d, no burst: d <= k*s.  With it in the
history the threshold is at least m + d, because k^2 * s^2 * (n + 1) >= d^2 * (n - k^2).  If current and previous count
exceed twice the threshold, and the previous one does not exceed it, then the current one does by itself.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from evenhand.model.markspace.envelope import spikes
from evenhand.model.markspace.layers_vocabulary import LayersConfig, Watched
from evenhand.model.markspace.marks import Kind
from evenhand.model.markspace.readings import Readings


def _counted(count: int) -> tuple[tuple[str, Kind], ...]:
    return (("a", Kind.OBSERVATION),) * count


def _bursts(sigmas: Fraction, history: tuple[int, ...], before: int, now: int) -> tuple[bool, bool]:
    """Whether the check flags the current window, and whether its own count alone does."""
    config = LayersConfig(frozenset(), ("alice",), Readings(), sigmas=sigmas)
    past = tuple((count, 0) for count in (*history, before))
    both = spikes(config, Watched(_counted(now), _counted(before), past), Kind.OBSERVATION)
    return both, spikes(config, Watched(_counted(now), (), past), Kind.OBSERVATION)


def _was_one(sigmas: Fraction, history: tuple[int, ...], before: int) -> bool:
    config = LayersConfig(frozenset(), ("alice",), Readings(), sigmas=sigmas)
    return spikes(config, Watched(_counted(before), (), tuple((one, 0) for one in history)), Kind.OBSERVATION)


@pytest.mark.parametrize("sigmas", [Fraction(1, 2), Fraction(1), Fraction(7, 2)])
def test_no_burst_straddles_that_was_none_before(sigmas: Fraction) -> None:
    """Every history of up to three windows with counts to three, and larger counts after it."""
    looked = 0
    for length in range(4):
        for history in product(range(4), repeat=length):
            for before, now in product(range(6), repeat=2):
                if not _was_one(sigmas, history, before):
                    both, alone = _bursts(sigmas, history, before, now)
                    assert both == alone
                    looked += both
    assert looked


def test_a_burst_straddles_that_was_one_before() -> None:
    """By hand, with k = 1: counts of 1, 1, 10 have mean 4 and variance 18, and 7 is less than 4 + sqrt(18)."""
    assert _was_one(Fraction(1), (1, 1), 10)
    assert _bursts(Fraction(1), (1, 1), 10, 7) == (True, False)
