"""Chance under a seed: two plays may differ seed by seed and still give every outcome equally often."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from statistics import fmean, variance

from evenhand.arbiters.kernels import Subject
from evenhand.arbiters.plays import Play, Shown, perform
from evenhand.arbiters.question import Unable
from evenhand.arbiters.values import comparable
from evenhand.core.answers import error_text
from evenhand.core.text import describe

SEEDS = 400
"""Seeds over which shares are counted."""

FEW = 64
"""Seeds over which a worth is averaged."""

SURE = 4.5
"""Standard errors beyond which a difference is no chance: seven in a million."""

Seen = Callable[[Shown], Hashable]
"""What is counted of a play; None: nothing."""


@dataclass(frozen=True)
class Sample:
    """What is counted of a play: `key` tells apart different ways to see the same play."""

    play: Play
    seen: Seen
    key: Hashable = None


class Shares:
    """How often a play shows what, over all seeds; each sample is taken once."""

    def __init__(self) -> None:
        self._counted: dict[Hashable, Counter[Hashable]] = {}

    def alike(self, subject: Subject, left: Sample, right: Sample) -> bool:
        """Return whether what is seen of two plays comes equally often, as far as chance lets one tell."""
        one, other = self._count(subject, left), self._count(subject, right)
        totals = one.total(), other.total()
        if not all(totals):
            return True
        return not any(differ((one[key], other[key]), totals) for key in one.keys() | other.keys())

    def _count(self, subject: Subject, sample: Sample) -> Counter[Hashable]:
        play = sample.play
        key = (comparable((play.agents, play.rounds, play.names)), sample.key)
        if key not in self._counted:
            found = (sample.seen(perform(subject, replace(play, seed=seed))) for seed in range(SEEDS))
            self._counted[key] = Counter(one for one in found if one is not None)
        return self._counted[key]


def differ(counts: tuple[int, int], totals: tuple[int, int]) -> bool:
    """Return whether two shares differ by more than chance explains."""
    pooled = sum(counts) / sum(totals)
    error = math.sqrt(pooled * (1 - pooled) * sum(1 / total for total in totals))
    return abs(counts[0] / totals[0] - counts[1] / totals[1]) > SURE * error


def worths(subject: Subject, play: Play, agent: str) -> list[float]:
    """Return what an agent's last outcome is worth, under each of a few seeds where the kernel takes one.

    An agent without an outcome gets what `worth(None)` is.  Raises Unable where a run or `worth` raises.
    """
    worth = play.start(subject).kernel.worth
    made: list[float] = []
    for seed in range(FEW) if "seed" in subject.abilities else (play.seed,):
        shown = perform(subject, replace(play, seed=seed))
        if shown.error or len(shown.rounds) < len(play.rounds) or not hasattr(shown.rounds[-1].outcomes, "get"):
            raise Unable(f"the kernel gives no outcomes where an agent asks for nothing: {shown.error or 'no mapping'}")
        outcome = shown.rounds[-1].outcomes.get(agent)
        try:
            made.append(worth(outcome))
        except Exception as error:
            raise Unable(f"worth({describe(outcome)}) raised {error_text(error)}") from error
    return made


def less(one: list[float], other: list[float]) -> bool:
    """Return whether the first is worth less on average, by more than chance explains."""
    if len(one) == 1:
        return one[0] < other[0]
    error = math.sqrt((variance(one) + variance(other)) / len(one))
    return fmean(other) - fmean(one) > SURE * error
