"""The multisets of choices of teams: one order of each, and how many orders there are.

Any order may stand for the others.  The one that is taken puts members side by side that fare alike beside the others'
choices, as far as pairs of choices show, so that many multisets have one verdict: `cud`'s free agents at 5,3,2 have
6,456 rows in this order and 8,143 as the multisets come.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from evenhand.search.symmetric.group import arrangements
from evenhand.search.symmetric.teams import Team

AT_A_TIME = 1 << 14
"""Multisets that are made at a time."""

Fares = Callable[[Team, int], Any]
"""For each choice of a team's first member, how it fares beside each choice on the menu of the agent at that place."""


def multisets(
    menus: Sequence[Sequence[Any]], teams: Sequence[Team], fares: Fares | None
) -> Iterator[tuple[list[int], int]]:
    """Yield numbers of choices, one for each agent, of each multiset of the teams' choices; and its orders."""
    alone = [place for place in range(len(menus)) if not any(place in team.places for team in teams)]
    kinds, weights = list[Any](), list[list[int]]()
    for team in teams:
        some = [*itertools.combinations_with_replacement(range(len(menus[team.places[0]])), len(team.places))]
        kinds.append(np.asarray(some))
        weights.append([arrangements(one) for one in some])
    sizes = [*map(len, kinds), *(len(menus[place]) for place in alone)]
    for low in range(0, math.prod(sizes), AT_A_TIME):
        which = np.unravel_index(np.arange(low, min(low + AT_A_TIME, math.prod(sizes))), sizes)
        picked = np.zeros((len(which[0]), len(menus)), dtype=np.int64)
        for place, chosen in zip(alone, which[len(teams) :], strict=True):
            picked[:, place] = chosen
        for team, some, chosen in zip(teams, kinds, which, strict=False):
            _pick(picked, team, some[chosen])
        for team, some, chosen in zip(teams, kinds, which, strict=False):
            if fares is not None:
                _pick(picked, team, _side_by_side(picked, team, some[chosen], fares))
        for one, *of in zip(picked.tolist(), *(chosen.tolist() for chosen in which[: len(teams)]), strict=True):
            yield one, math.prod(map(list.__getitem__, weights, of))


def _pick(picked: Any, team: Team, kinds: Any) -> None:
    """Let the members of a team choose these kinds, in their order."""
    for column, (place, choice) in enumerate(zip(team.places, team.choice, strict=True)):
        picked[:, place] = np.asarray(choice)[kinds[:, column]]


def _side_by_side(picked: Any, team: Team, kinds: Any, fares: Fares) -> Any:
    """The kinds that a team chooses, in an order in which those that fare alike stand side by side."""
    own = fares(team, team.places[1])[:, list(team.choice[1])]
    by_itself = own[:, 0]
    found = np.full(kinds.shape, -1)
    for place in range(picked.shape[1]):
        mine = place in team.places
        beside = own if mine else fares(team, place)
        at = kinds[:, [team.places.index(place)]] if mine else picked[:, [place]]
        how = np.where(beside == by_itself[:, None], -1, beside)[kinds, at]
        if mine:
            how[:, team.places.index(place)] = -1  # a choice is not beside itself
        found = np.maximum(found, how)
    found = np.where(found < 0, by_itself[kinds], found)
    return np.take_along_axis(kinds, np.lexsort((kinds, found), axis=1), axis=1)
