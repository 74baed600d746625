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

SOME, SEEDS = 60, 200
"""Seeds over which shares are counted: first some, then all if these leave a doubt."""

FIRST = 8
"""Seeds under which two plays are compared one by one."""

FEW = 64
"""Seeds over which a worth is averaged."""

LIKELY, SURE = 1.5, 4.5
"""Standard errors beyond which a difference is doubted, and beyond which it is no chance (seven in a million)."""

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
        self._known: dict[Hashable, list[Hashable]] = {}

    def alike(self, subject: Subject, left: Sample, right: Sample) -> bool:
        """Return whether what is seen of two plays comes equally often, as far as chance lets one tell.

        What is the same under each of the first seeds is taken to be the same.
        """
        if self._seen(subject, left, FIRST) == self._seen(subject, right, FIRST):
            return True
        for seeds, sure in ((SOME, LIKELY), (SEEDS, SURE)):
            one, other = (Counter(self._seen(subject, sample, seeds)) for sample in (left, right))
            del one[None], other[None]
            totals = one.total(), other.total()
            if not all(totals):
                return True
            if not any(differ((one[key], other[key]), totals, sure) for key in one.keys() | other.keys()):
                return True
        return False

    def _seen(self, subject: Subject, sample: Sample, seeds: int) -> list[Hashable]:
        play = sample.play
        known = self._known.setdefault((comparable((play.agents, play.rounds, play.names)), sample.key), [])
        for seed in range(len(known), seeds):
            known.append(sample.seen(perform(subject, replace(play, seed=seed))))
        return known[:seeds]


def differ(counts: tuple[int, int], totals: tuple[int, int], sure: float) -> bool:
    """Return whether two shares differ by more than so many standard errors."""
    pooled = sum(counts) / sum(totals)
    error = math.sqrt(pooled * (1 - pooled) * sum(1 / total for total in totals))
    return abs(counts[0] / totals[0] - counts[1] / totals[1]) > sure * error


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
