"""The steps out of a state, one for each action on offer."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from evenhand.core.answers import ModelError, caught
from evenhand.core.system import AnyStep, AnySystem, Step

_new = object.__new__
_STEP: type[AnyStep] = Step


@dataclass(frozen=True)
class Method:
    """Explicit search: `step` runs on every action.

    With `learns`, the search goes on from tables that are learned from its first states: `perhaps`, if it is large and
    they can follow the model, or `only`, from the first state on and in no other way.
    """

    system: AnySystem
    learns: Literal["", "perhaps", "only"] = ""

    name: ClassVar = "explicit"


def make_step(config: Any, before: Any, action: Any, shown: Any, after: Any) -> AnyStep:
    """Return `Step(…)`, without the cost per field of a frozen dataclass's constructor."""
    step: AnyStep = _new(_STEP)
    step.__dict__.update(config=config, before=before, action=action, shown=shown, after=after)
    return step


def stepped(system: AnySystem, config: Any, state: Any, action: Any) -> tuple[Any, Any]:
    """Return the system's step; errors of the model become a ModelError that names the action."""
    try:
        made = system.step(system.rules, config, state, action)
    except caught() as error:
        system.blame_step(state, action, error)
    return system.pair_of(made, state, action)


def nth_action(system: AnySystem, config: Any, state: Any, number: int) -> Any:
    """Return the action of that number on offer in `state`.  Raises IndexError when there are fewer."""
    if system.joint is None:
        for action in itertools.islice(system.enabled(config, state), number, None):
            return action
    elif menus := menus_of(system, config, state):
        picked: list[tuple[str, Any]] = []
        left = number
        for agent, menu in reversed(menus):
            left, x = divmod(left, len(menu)) if menu else (1, 0)
            picked.append((agent, menu[x] if menu else None))
        if not left:
            return system.joint.join(config, state, tuple(reversed(picked)))
    raise IndexError(f"{system.label}: state {state!r} offers no action number {number}")


def number_of(system: AnySystem, config: Any, state: Any, action: Any) -> int:
    """Return the number of an action on offer in `state`; the agents of a joint action may come in any order.

    Raises ModelError for an action that is not on offer.
    """
    found = 0
    try:
        if system.joint is None:
            return next(place for place, one in enumerate(system.enabled(config, state)) if one == action)
        made = dict(system.joint.split(action))
        for agent, menu in menus_of(system, config, state):
            found = found * len(menu) + menu.index(made.pop(agent))
        if not made:
            return found
    except (KeyError, StopIteration, ValueError):
        pass
    raise ModelError(f"{system.label}: action {action!r} is not on offer in state {state!r}")


def menus_of(system: AnySystem, config: Any, state: Any) -> list[tuple[str, tuple[Any, ...]]]:
    """Return each agent of a joint action with its choices."""
    joint = system.joint
    assert joint is not None
    agents = joint.agents(config, state)
    return [(agent, tuple(joint.choices(config, system.scope, state, agent))) for agent in agents]


def joint_choices(system: AnySystem, config: Any, state: Any) -> int:
    """Return how many joint actions are on offer, as a product: none is made."""
    menus = menus_of(system, config, state)
    return math.prod([len(menu) for _, menu in menus]) if menus else 0
