"""The predicates of the claims about the guard: active, winning, claiming, written without the guard's rules.

Also the parts that a second run shares with the first, for claims that compare two runs of any system.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any, TypeVar

from evenhand.model.markspace.guard_vocabulary import (
    Config,
    Doing,
    GuardStep,
    Intent,
    Phase,
    Policy,
    State,
    Verdict,
    What,
)

C = TypeVar("C")
S = TypeVar("S")
A = TypeVar("A")
T = TypeVar("T")

IMMEDIATE = ("first_writer", "highest_confidence", "yield_all")
"""The systems in which the guard answers a request at once."""

CORE = (*IMMEDIATE, "deferred")
"""The systems in which no agent writes marks about another's marks."""

GUARDED = (*CORE, "meddled")
"""Every system of the guard."""


def holds_nothing_but(shown: Any, *names: str) -> bool:
    """Whether the fields of an observation that are not named hold what they hold of nothing."""
    return all(getattr(shown, one.name) == one.default for one in fields(shown) if one.name not in names)


def asks(step: GuardStep) -> bool:
    """Whether an authorised, idle agent calls pre_action and the guard answers."""
    return step.action.what is What.PRE and step.shown.verdict not in (None, Verdict.DENIED)


def claim_on(config: Config, state: State, resource: str) -> str | None:
    """The author of the action mark on the resource, warnings set aside; None if there is none."""
    return state.claims[config.resources.index(resource)]


def doing_of(config: Config, state: State, agent: str) -> Doing:
    """The agent's activity."""
    return state.doing[config.agents.index(agent)]


def active_on(intents: Iterable[Intent], resource: str) -> tuple[Intent, ...]:
    """The live intents on the resource that no warning hides at this instant, by rank (6.1 step 1)."""
    return tuple(i for i in intents if i.resource == resource and i.life >= 0 and not i.hidden)


def earliest(intents: Sequence[Intent]) -> Intent:
    """The first by (created_at, id)."""
    return intents[0]


def winner_among(config: Config, intents: Sequence[Intent]) -> Intent | None:
    """The winner by 6.1 step 3 among intents of two or more agents; None: the principal decides."""
    match config.policy:
        case Policy.FIRST_WRITER:
            return earliest(intents)
        case Policy.HIGHEST_CONFIDENCE:
            top = sorted({intent.confidence for intent in intents})[-1]
            return earliest([intent for intent in intents if intent.confidence == top])
        case Policy.YIELD_ALL:
            return None


def running_on(config: Config, state: State, resource: str) -> tuple[str, ...]:
    """The agents whose tool is running on the resource."""
    return tuple(
        agent
        for agent, doing in zip(config.agents, state.doing, strict=True)
        if doing.phase is Phase.RUNNING and doing.resource == resource
    )


def allowed_agents(step: GuardStep) -> tuple[str, ...]:
    """The agents that receive ALLOW in this step."""
    if step.action.what is What.BOUNDARY:
        return tuple(agent for agent, verdict in step.shown.told if verdict is Verdict.ALLOW)
    return (step.action.agent,) if step.shown.verdict is Verdict.ALLOW else ()


def there(part: T | None) -> T:
    """A part that is present wherever the claim applies."""
    assert part is not None
    return part


def same_config(_w: object, config: C) -> C:
    """The configuration of the first run for the second."""
    return config


def same_state(_w: object, _config: object, state: S) -> S:
    """The state of the first run for the second."""
    return state


def same_action(_w: object, act: A) -> tuple[A, ...]:
    """The action of the first run for the second."""
    return (act,)
