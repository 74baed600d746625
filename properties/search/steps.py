"""What both tiers make: the rows of a state, one for each step out of it or for a group of equal ones."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from evenhand.properties.search.found import AnySystem, ModelError, named

__all__ = ["Row", "Tier", "nth_action", "stepped"]

Row = tuple[int, Any, "Sequence[int] | None", Any, Any]
"""One row of a state: number of the (first) action, the action or None, the group's members or None, after, shown."""


class Tier(Protocol):
    """A way to get the steps out of a state."""

    number: int

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
        """The system's step, by this tier's means, for any action."""
        ...


def stepped(system: AnySystem, config: Any, state: Any, action: Any) -> tuple[Any, Any]:
    """`step`, with what a model may do wrong turned into a ModelError that names the action."""
    try:
        after, shown = system.step(system.rules, config, state, action)
    except Exception as error:
        raise ModelError(
            f"{named(system)}: the step of action {action!r} in state {state!r} raised "
            f"{type(error).__name__}: {error}. A step is total and returns (state, shown): "
            "show a rejection and leave the state instead"
        ) from error
    return after, shown


def nth_action(system: AnySystem, config: Any, state: Any, number: int) -> Any:
    """The action of that number among those on offer in `state`.  Raises IndexError when there are fewer."""
    for action in itertools.islice(system.enabled(config, state), number, None):
        return action
    raise IndexError(f"{named(system)}: state {state!r} offers no action number {number}")
