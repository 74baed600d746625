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
    """The choices of each member that are images of the first one's; None if an exchange touches other choices.

    Exchanges with the first member generate all others.
    """
    joint = system.joint
    assert joint is not None
    agents: tuple[str, ...] = offer[0]
    menus: tuple[tuple[Any, ...], ...] = offer[1]

    def image(by: Any, picked: Sequence[int]) -> list[int] | None:
        made = tuple((agent, menu[x]) for agent, menu, x in zip(agents, menus, picked, strict=True))
        split = dict(joint.split(quotient.action(by, config, joint.join(config, state, made))))
        if sorted(split) != sorted(agents):
            return None
        try:
            return [menu.index(split[agent]) for agent, menu in zip(agents, menus, strict=True)]
        except ValueError as error:
            raise ModelError(
                f"{system.label}: the scope is not closed under quotient {quotient.name!r}: an image of {made!r} is "
                "not on offer. Offer it too, or explore without the quotient"
            ) from error

    first, *others = (agents.index(one.names[k]) for k in members)
    found = [tuple(range(len(menus[first])))]
    for member, other in zip(members[1:], others, strict=True):
        if len(menus[first]) != len(menus[other]):
            return None
        by, images = one.swaps[members[0], member].by, list[list[int]]()
        for place, menu in enumerate(menus):
            there = {first: other, other: first}.get(place, place)
            images.append([])
            for x in range(len(menu)):
                got = image(by, [x if at == place else 0 for at in range(len(menus))])
                if got is None:
                    return None
                images[place].append(got[there])
            if there == place and images[place] != list(range(len(menu))):
                return None
        # Choice by choice is not enough if an image of several choices is not made of their images.
        picked = [(7 * place + member) % len(menu) for place, menu in enumerate(menus)]
        expected = list(picked)
        expected[first], expected[other] = images[other][picked[other]], images[first][picked[first]]
        if image(by, picked) != expected:
            return None
        found.append(tuple(images[first]))
    return tuple(found)
