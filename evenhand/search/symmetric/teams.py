"""Find the agents that choose in no order: those that may trade places wherever a state offers the same.

The joint choices of such a *team* are multisets: one order of each is taken, and stands for the others.  That is right
if exchanging two members exchanges their menus and leaves every other choice alone, which is checked here, choice by
choice; what the states must do is checked in `learner`.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.core.answers import ModelError
from evenhand.core.system import AnySystem
from evenhand.search.symmetric.group import AnyQuotient, Class


@dataclass(frozen=True)
class Team:
    """Places (among the agents that choose) that trade choices, the columns that move along, and their choices.

    `choice[k][kind]` is the number, on the menu of member k, of the choice that the first has as number `kind`.
    `sources` are the effects of the exchanges of members.
    """

    places: tuple[int, ...]
    fields: tuple[tuple[int, ...], ...]
    choice: tuple[tuple[int, ...], ...]
    sources: tuple[tuple[int, ...], ...]

    @property
    def columns(self) -> frozenset[int]:
        """The columns of all members."""
        return frozenset(place for fields in self.fields for place in fields)


def teams_of(
    system: AnySystem,
    quotient: AnyQuotient,
    config: Any,
    classes: Sequence[Class],
    state: Any,
    offer: tuple[tuple[str, ...], tuple[tuple[Any, ...], ...]],
) -> list[Team]:
    """Return the teams of a state that offers this: the agents that choose, and their menus."""
    agents, _ = offer
    found: list[Team] = []
    for one in classes:
        members = [k for k, name in enumerate(one.names) if name in agents]
        choice = _choices(system, quotient, config, one, members, state, offer) if len(members) > 1 else None
        if choice is not None:
            found.append(
                Team(
                    tuple(agents.index(one.names[k]) for k in members),
                    tuple(one.fields[k] for k in members),
                    choice,
                    tuple(one.swaps[pair].source for pair in itertools.combinations(members, 2)),
                )
            )
    return found


def _choices(
    system: AnySystem, quotient: AnyQuotient, config: Any, one: Class, members: Sequence[int], state: Any, offer: Any
) -> tuple[tuple[int, ...], ...] | None:
    """The choices of each member that are images of the first one's; None if an exchange touches other choices."""
    joint = system.joint
    assert joint is not None
    agents: tuple[str, ...] = offer[0]
    menus: tuple[tuple[Any, ...], ...] = offer[1]

    def image(pair: tuple[int, int], picked: Sequence[int]) -> list[int] | None:
        made = tuple((agent, menu[x]) for agent, menu, x in zip(agents, menus, picked, strict=True))
        moved = quotient.action(one.swaps[pair].by, config, joint.join(config, state, made))
        split = dict(joint.split(moved))
        if sorted(split) != sorted(agents):
            return None
        try:
            return [menu.index(split[agent]) for agent, menu in zip(agents, menus, strict=True)]
        except ValueError as error:
            raise ModelError(
                f"{system.label}: the scope is not closed under quotient {quotient.name!r}: an image of {made!r} is "
                "not on offer. Offer it too, or explore without the quotient"
            ) from error

    seats = {k: agents.index(one.names[k]) for k in members}
    nothing = [0] * len(agents)
    forth: dict[tuple[int, int], list[int]] = {}
    for pair in itertools.combinations(members, 2):
        a, b = seats[pair[0]], seats[pair[1]]
        if len(menus[a]) != len(menus[b]):
            return None
        forth[pair] = []
        for place, menu in enumerate(menus):
            for x in range(len(menu)):
                got = image(pair, [*nothing[:place], x, *nothing[place + 1 :]])
                there = b if place == a else a if place == b else place
                if got is None or (place not in (a, b) and got[place] != x):
                    return None
                if place == a:
                    forth[pair].append(got[there])
    first, *others = members
    table = {first: list(range(len(menus[seats[first]])))} | {k: forth[first, k] for k in others}
    for one_, other in itertools.combinations(others, 2):
        if [forth[one_, other][x] for x in table[one_]] != table[other]:
            return None
    # Choice by choice is not enough if an image of several choices is not made of their images.
    for number, pair in enumerate(itertools.combinations(members, 2)):
        picked = [(7 * place + number) % len(menu) for place, menu in enumerate(menus)]
        a, b = seats[pair[0]], seats[pair[1]]
        expected = list(picked)
        expected[b] = forth[pair][picked[a]]
        expected[a] = forth[pair].index(picked[b])
        if image(pair, picked) != expected:
            return None
    return tuple(tuple(table[k]) for k in members)
