"""Find the agents that choose in no order: those that may trade places wherever a state offers the same.

The joint choices of such a *team* are multisets: one order of each is run, and stands for the others.  That is right if
exchanging two members exchanges their menus, leaves every other choice alone, and takes the states of the leaf to
states of the leaf; both are checked here, choice by choice.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.core.answers import ModelError
from evenhand.core.system import AnySystem
from evenhand.search.rows.proxies import Narrowed
from evenhand.search.rows.table import Projection
from evenhand.search.symmetric.group import Class
from evenhand.search.symmetric.moves import AnyQuotient


@dataclass(frozen=True)
class Team:
    """Places (among the agents that choose) that trade choices, the fields that move along, and their choices.

    `choice[k][kind]` is the number, on the menu of member k, of the choice that the first has as number `kind`.
    """

    places: tuple[int, ...]
    fields: tuple[tuple[int, ...], ...]
    choice: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Offer:
    """The offer of a leaf: a state that has it, the agents that choose, and their menus."""

    state: Any
    agents: tuple[str, ...]
    menus: tuple[tuple[Any, ...], ...]


def teams_of(
    system: AnySystem,
    quotient: AnyQuotient,
    config: Any,
    classes: Sequence[Class],
    offer: Offer,
    where: tuple[Projection, int, Narrowed],
) -> list[Team]:
    """Return the teams of a leaf; `where` is its dispatch, its number there, and the values of its fields."""
    found: list[Team] = []
    for one in classes:
        members = [k for k, name in enumerate(one.names) if name in offer.agents]
        if len(members) < 2 or not all(_stays(one, pair, *where) for pair in itertools.combinations(members, 2)):
            continue
        choice = _choices(system, quotient, config, one, members, offer)
        if choice is not None:
            places = tuple(offer.agents.index(one.names[k]) for k in members)
            found.append(Team(places, tuple(one.fields[k] for k in members), choice))
    return found


def _stays(one: Class, pair: tuple[int, int], dispatch: Projection, leaf: int, start: Narrowed) -> bool:
    """Whether exchanging two names takes the states of a leaf to states of that leaf."""
    mask = (dispatch.table == leaf).reshape(dispatch.sizes)
    for here, there in zip(one.fields[pair[0]], one.fields[pair[1]], strict=True):
        if start[here] != start[there] or (here in dispatch.fields) != (there in dispatch.fields):
            return False
        if here in dispatch.fields:
            first, second = dispatch.fields.index(here), dispatch.fields.index(there)
            if dispatch.classes[first] != dispatch.classes[second]:
                return False
            mask = mask.swapaxes(first, second)
    return bool(np.array_equal(mask, (dispatch.table == leaf).reshape(dispatch.sizes)))


def _choices(
    system: AnySystem, quotient: AnyQuotient, config: Any, one: Class, members: Sequence[int], offer: Offer
) -> tuple[tuple[int, ...], ...] | None:
    """The choices of each member that are images of the first one's; None if an exchange touches other choices."""
    joint = system.joint
    assert joint is not None
    agents, menus = offer.agents, offer.menus

    def image(pair: tuple[int, int], picked: Sequence[int]) -> list[int] | None:
        made = tuple((agent, menu[x]) for agent, menu, x in zip(agents, menus, picked, strict=True))
        moved = quotient.action(one.swaps[pair].by, config, joint.join(config, offer.state, made))
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
