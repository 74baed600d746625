"""Compile a configuration whose agents trade places: joint choices as multisets, each standing for all its orders.

A team's choices are run in one order.  The others lead to images of the same state if the team's new field values do
not depend on the old: each path must leave them unread and write them all.  Otherwise the leaf is compiled as in
verdict by verdict of all joint choices.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from evenhand.core.system import AnySystem
from evenhand.search.rows.compiler import NEVER, Broken, Compiler, Leaf, Program, Unfit
from evenhand.search.rows.proxies import Narrowed, TooWide
from evenhand.search.rows.shape import KEPT
from evenhand.search.rows.table import Unit, columns_of
from evenhand.search.rows.watch import Evades
from evenhand.search.symmetric.group import Group, NoGroup, arrangements, group_of
from evenhand.search.symmetric.moves import AnyQuotient
from evenhand.search.symmetric.teams import Offer, Team, teams_of

ONE_BY_ONE = 3_000_000
"""Joint choices of a state that are compiled one after the other if no team can be formed."""


@dataclass(frozen=True)
class Folded:
    """A compiled configuration, its group, the teams of each leaf, and the number of multisets that were run."""

    program: Program
    group: Group
    teams: tuple[tuple[Team, ...], ...]
    merged: int


class _Reads(Exception):
    """A path reads, or keeps, a field of a member of a team."""


class _Folding(Compiler):
    def __init__(self, system: AnySystem, config: Any, claims: Sequence[Any], quotient: AnyQuotient) -> None:
        super().__init__(system, config, claims)
        self.quotient = quotient
        self.group = group_of(system, quotient, config, self.shape)
        self.teams: list[tuple[Team, ...]] = []
        self.merged = 0

    def leaf(self, number: int, narrowed: Narrowed, offer: Any, start: Narrowed) -> Leaf:
        """Compile as compiled search does, except for teams and for leaves without a picked state."""
        self.teams.append(())
        if not self._picks(start):
            return Leaf(NEVER, [], broken="none of the states that are picked offers this")
        if isinstance(offer, Broken) or not offer[1]:
            return super().leaf(number, narrowed, offer, start)
        key, agents, menus = offer
        state = self.shape.build([d[n[0]] for d, n in zip(self.shape.domains, narrowed, strict=True)])
        teams = teams_of(
            self.system,
            self.quotient,
            self.config,
            self.group.classes,
            Offer(state, agents, menus),
            (self.dispatch, number, start),
        )
        if teams:
            try:
                units = [_sorted_by(teams, unit, start) for unit in self._units(key, agents, menus, teams, start)]
            except _Reads:
                pass
            else:
                self.teams[-1] = tuple(teams)
                return Leaf(math.prod(map(len, menus)), columns_of(self.shape, start, units), (agents, menus))
        if math.prod(map(len, menus)) > ONE_BY_ONE:
            raise Unfit(
                f"{self.system.label}: a state offers {math.prod(map(len, menus))} joint choices, and no agents trade "
                "places there: what a step does to an agent depends on what the others have, or on its own past"
            )
        return super().leaf(number, narrowed, offer, start)

    def _picks(self, start: Narrowed) -> bool:
        """Whether a state with such values can be the picked one; in doubt, true."""
        for one in self.group.classes:
            least = 0
            for fields in one.fields if len(one.fields[0]) == 1 else ():
                above = [value for value in start[fields[0]] if value >= least]
                if not above:
                    return False
                least = min(above)
        return True

    def _units(
        self, key: Any, agents: tuple[str, ...], menus: Any, teams: Sequence[Team], start: Narrowed
    ) -> Iterator[Unit]:
        strides = [math.prod(map(len, menus[place + 1 :])) for place in range(len(menus))]
        separated, rules = self.separated, self.system.rules
        judged = [
            [(agent, separated.judge(rules, self.config, key, agent, x)) for x in menu]
            for agent, menu in zip(agents, menus, strict=True)
        ]
        groups: dict[Any, list[int]] = {}
        for picked, weight in _multisets(menus, teams):
            made = tuple([column[x] for column, x in zip(judged, picked, strict=True)])
            found = groups.setdefault(separated.merge(rules, self.config, key, made), [-1, 0])
            if found[0] < 0:
                found[0] = sum(x * stride for x, stride in zip(picked, strides, strict=True))
            found[1] += weight
            self.merged += 1
        for verdict, (first, weight) in groups.items():
            made = tuple((a, m[first // s % len(m)]) for a, m, s in zip(agents, menus, strides, strict=True))
            yield self.verdict_unit(first, weight, verdict, made, start)


def _multisets(menus: Sequence[Sequence[Any]], teams: Sequence[Team]) -> Iterator[tuple[list[int], int]]:
    """Numbers of choices, one for each agent, of each multiset of the teams' choices; and how many orders it has."""
    alone = [place for place in range(len(menus)) if not any(place in team.places for team in teams)]
    kinds: list[Iterable[Any]] = [
        itertools.combinations_with_replacement(range(len(menus[team.places[0]])), len(team.places)) for team in teams
    ]
    picked = [0] * len(menus)
    rest: list[Iterable[Any]] = [range(len(menus[place])) for place in alone]
    chosen: tuple[Any, ...]
    for chosen in itertools.product(*kinds, *rest):
        weight = 1
        for team, some in zip(teams, chosen, strict=False):
            weight *= arrangements(some)
            for place, kind, choice in zip(team.places, some, team.choice, strict=True):
                picked[place] = choice[kind]
        for place, x in zip(alone, chosen[len(teams) :], strict=True):
            picked[place] = x
        yield picked, weight


def _sorted_by(teams: Sequence[Team], unit: Unit, start: Narrowed) -> Unit:
    """The unit with its writes into the fields of a team in the order of the picked state.  Raises _Reads."""
    moved = [place for team in teams for fields in team.fields for place in fields]
    ways: list[tuple[Narrowed, Any]] = []
    for narrowed, result in unit.ways:
        if any(narrowed[place] != start[place] for place in moved):
            raise _Reads
        if not isinstance(result, tuple):
            ways.append((narrowed, result))
            continue
        written, label = cast("tuple[tuple[int, ...], int]", result)
        numbers = list(written)
        if any(numbers[place] == KEPT for place in moved):
            raise _Reads
        for team in teams:
            owned = sorted([numbers[place] for place in fields] for fields in team.fields)
            for fields, mine in zip(team.fields, owned, strict=True):
                for place, number in zip(fields, mine, strict=True):
                    numbers[place] = number
        ways.append((narrowed, (tuple(numbers), label)))
    return replace(unit, ways=ways)


def undeclared(system: AnySystem) -> str:
    """Return which declaration symmetric search lacks; empty where it has all."""
    if system.separated is None or system.joint is None:
        return "no `separated` step is declared"
    return "no `domains` are declared" if system.domains is None else ""


def folded(system: AnySystem, config: Any, claims: Sequence[Any], quotient: AnyQuotient) -> Folded:
    """Return the compiled configuration under its group.  Raises Unfit with the reason where there is none."""
    if against := undeclared(system):
        raise Unfit(f"{against} of {system.label}, so the states of a configuration cannot be divided")
    try:
        compiler = _Folding(system, config, claims, quotient)
        return Folded(compiler.program(), compiler.group, tuple(compiler.teams), compiler.merged)
    except NoGroup as error:
        raise Unfit(str(error)) from error
    except (Evades, TooWide) as error:
        raise Unfit(f"{system.label}: {error}") from error
