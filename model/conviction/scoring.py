"""Weight, score and winner (16.6, 16.7, 17): exact, and independent of names unless a reading lets names decide."""

from __future__ import annotations

from evenhand.model.conviction.exact import Surd, multiplier
from evenhand.model.conviction.vocabulary import Config, Entry, State

Scores = tuple[tuple[str, Surd, int | None], ...]
"""For each proposal its identifier, the sum of its effective stakes, the rank of its LastStakeTick."""


Tied = tuple[tuple[str, int | None], ...]
"""Proposals of one score, each with the rank of its LastStakeTick."""


def held(config: Config, rounds: int) -> int:
    """The r of 16.7 for a stake placed `rounds` STAKE rounds ago."""
    counted = rounds + (config.readings.rounds_from == "one")
    return (
        min(counted, config.constants.saturation) if config.readings.multiplier_cap == "saturation_rounds" else counted
    )


def weight(config: Config, rounds: int) -> Surd:
    """The multiplier of 16.7."""
    c = config.constants
    return multiplier(c.greatest, c.fraction, c.saturation, held(config, rounds))


def nothing(config: Config) -> Surd:
    """Return zero in the field of this configuration."""
    c = config.constants
    return multiplier(c.greatest, c.fraction, c.saturation, 0).times(0)


def score(config: Config, proposal: str, entries: tuple[tuple[Entry, Surd], ...]) -> Surd:
    """The sum of the effective stakes on a proposal: the square of 17.1's score, with the same ranking."""
    total = nothing(config)
    for entry, factor in entries:
        if entry.proposal == proposal:
            total += factor.times(entry.amount)
    return total


def highest(scores: Scores) -> Tied:
    """The proposals with the highest score (17.2)."""
    most = max(total for _, total, _ in scores)
    return tuple((uid, last) for uid, total, last in scores if total == most)


def earliest(config: Config, top: Tied) -> tuple[str, ...]:
    """Of tied proposals those with the earliest LastStakeTick (17.3).

    One without a LastStakeTick counts as the earliest, or the latest, as read; of two ranks the greater is the earlier.
    """
    never = tuple(uid for uid, last in top if last is None)
    oldest = max((last for _, last in top if last is not None), default=0)
    staked = tuple(uid for uid, last in top if last == oldest)
    return staked or never if config.readings.never_staked == "latest" else never or staked


def winner(config: Config, _state: State, scores: Scores) -> tuple[str, str]:
    """The winning proposal (empty: none) and the reason: 17.2, then 17.3, then the reading of a full tie."""
    if not scores:
        return "", "no proposal"
    top = highest(scores)
    if len(top) == 1:
        return top[0][0], "highest score"
    first = earliest(config, top)
    if len(first) == 1:
        return first[0], "earliest LastStakeTick"
    if config.readings.full_tie == "lowest_proposal_id":
        return min(first), "lowest proposal id"
    return "", "full tie"
