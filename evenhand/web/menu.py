"""The actions on offer in a state, a page at a time, with what each would show and change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from evenhand.core.system import AnySystem
from evenhand.core.text import inert
from evenhand.web.state_table import differences, in_words, label

PAGE = 24
"""Actions on one page."""

LISTED = 5_000
"""Actions that are read; beyond it the menu says that there are more, and an edited request reaches the rest."""

CHOICES = 200
"""Choices of one agent that a list shows."""


@dataclass(frozen=True)
class Option:
    """An action on offer: its number in the order of the model, its text, what it shows, and what it changes."""

    number: int
    action: str
    shows: str
    changes: tuple[str, ...]
    moves: bool


@dataclass(frozen=True)
class Choice:
    """The choices of one agent, in the order of the model."""

    agent: str
    choices: tuple[str, ...]


@dataclass(frozen=True)
class Menu:
    """A page of options: `fitting` contain the words, out of `total` read (`more`: the model offers more)."""

    options: tuple[Option, ...]
    first: int
    fitting: int
    total: int
    more: bool
    choices: tuple[Choice, ...] = ()

    @property
    def pages(self) -> int:
        """The number of pages."""
        return max(1, -(-self.fitting // PAGE))


def menu(system: AnySystem, config: Any, state: Any, *, words: str = "", page: int = 1) -> Menu:
    """Return the actions on offer that contain every word: the page-th `PAGE` of them."""
    wanted = words.lower().split()
    fitting: list[tuple[int, Any, str]] = []
    total = 0
    offered = system.enabled(config, state)
    for number, action in enumerate(islice(offered, LISTED)):
        total += 1
        text = label(action)
        if all(word in text.lower() for word in wanted):
            fitting.append((number, action, text))
    more = next(offered, None) is not None
    first = PAGE * (min(max(1, page), max(1, -(-len(fitting) // PAGE))) - 1)
    options = tuple(_option(system, config, state, *one) for one in fitting[first : first + PAGE])
    return Menu(options, first, len(fitting), total, more, tuple(_choices(system, config, state)))


def _option(system: AnySystem, config: Any, state: Any, number: int, action: Any, text: str) -> Option:
    step = system.take(config, state, action)
    shows = "" if step.shown is None or step.shown == () else in_words(step.shown, 160)
    return Option(number, text, shows, differences(state, step.after)[:3], step.after != state)


def _choices(system: AnySystem, config: Any, state: Any) -> Iterator[Choice]:
    """Yield the choices of each agent where actions are joint."""
    if (joint := system.joint) is None:
        return
    for agent in joint.agents(config, state):
        offered = islice(joint.choices(config, system.scope, state, agent), CHOICES)
        yield Choice(inert(agent), tuple(label(one, 120) for one in offered))


def action_at(system: AnySystem, config: Any, state: Any, number: int) -> Any:
    """Return the action with this number among those on offer.  Raises ValueError."""
    if number >= 0:
        for action in islice(system.enabled(config, state), number, number + 1):
            return action
    raise ValueError(f"no action with number {number} is on offer in this state")


def picked(system: AnySystem, config: Any, state: Any, numbers: tuple[int, ...]) -> Any:
    """Return the joint action of one choice for each agent, by their numbers.  Raises ValueError."""
    if (joint := system.joint) is None:
        raise ValueError(f"the actions of {system.name} are not joint: take one from the list")
    agents = joint.agents(config, state)
    if len(agents) != len(numbers):
        raise ValueError(f"{len(agents)} agents choose here, not {len(numbers)}")
    made: list[tuple[str, Any]] = []
    for agent, number in zip(agents, numbers, strict=True):
        found = (
            list(islice(joint.choices(config, system.scope, state, agent), number, number + 1)) if number >= 0 else []
        )
        if not found:
            raise ValueError(f"agent {agent} has no choice with number {number} here")
        made.append((agent, found[0]))
    return joint.join(config, state, tuple(made))
