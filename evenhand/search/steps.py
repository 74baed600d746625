"""What both methods make: the rows of a state, one for each step out of it or for a group of equal ones."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from evenhand.core.answers import caught
from evenhand.search.witness import AnySystem, ModelError, named

__all__ = ["Method", "Row", "nth_action", "number_of", "stepped"]

Row = tuple[int, Any, "Sequence[int] | None", Any, Any]
"""One row of a state: number of the (first) action, the action or None, the group's members or None, after, shown."""


class Method(Protocol):
    """A way to get the steps out of a state."""

    name: str

    def begin(self, config: Any, number: int) -> None:
        """Start on a configuration, the one of that number."""
        ...

    def rows(self, config: Any, state: Any) -> Iterator[Row]:
        """The steps on offer, in the order of `enabled` by first member."""
        ...

    def action(self, config: Any, state: Any, number: int) -> Any:
        """The action of that number among those on offer."""
        ...

    def step(self, rules: Any, config: Any, state: Any, action: Any) -> tuple[Any, Any]:
        """The system's step, by this method's means, for any action."""
        ...


def stepped(system: AnySystem, config: Any, state: Any, action: Any) -> tuple[Any, Any]:
    """`step`, with what a model may do wrong turned into a ModelError that names the action."""
    try:
        made = system.step(system.rules, config, state, action)
    except caught() as error:
        system.blame_step(state, action, error)
    return system.pair_of(made, state, action)


def nth_action(system: AnySystem, config: Any, state: Any, number: int) -> Any:
    """The action of that number among those on offer in `state`.  Raises IndexError when there are fewer."""
    if system.joint is None:
        for action in itertools.islice(system.enabled(config, state), number, None):
            return action
    elif menus := _menus(system, config, state):
        picked: list[tuple[str, Any]] = []
        left = number
        for agent, menu in reversed(menus):
            left, x = divmod(left, len(menu)) if menu else (1, 0)
            picked.append((agent, menu[x] if menu else None))
        if not left:
            return system.joint.join(config, state, tuple(reversed(picked)))
    raise IndexError(f"{named(system)}: state {state!r} offers no action number {number}")


def number_of(system: AnySystem, config: Any, state: Any, action: Any) -> int:
    """The number of an action among those on offer in `state`; of a joint one, whatever the order of its agents.

    Raises ModelError for one that is not on offer.
    """
    found = 0
    try:
        if system.joint is None:
            return next(place for place, one in enumerate(system.enabled(config, state)) if one == action)
        made = dict(system.joint.split(action))
        for agent, menu in _menus(system, config, state):
            found = found * len(menu) + menu.index(made.pop(agent))
        if not made:
            return found
    except (KeyError, StopIteration, ValueError):
        pass
    raise ModelError(f"{named(system)}: action {action!r} is not on offer in state {state!r}")


def _menus(system: AnySystem, config: Any, state: Any) -> list[tuple[str, tuple[Any, ...]]]:
    joint = system.joint
    assert joint is not None
    agents = joint.agents(config, state)
    return [(agent, tuple(joint.choices(config, system.scope, state, agent))) for agent in agents]
