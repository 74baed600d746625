"""What the claims about the guard mean by active, winning and claiming, said again without the guard's rules.

Also the parts of a second run that are those of the first, for claims that compare two runs of any system.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

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
"""The systems in which nobody writes marks about another's marks."""

GUARDED = (*CORE, "meddled")
"""Every system of the guard."""


def asks(step: GuardStep) -> bool:
    """An authorised, idle agent calls pre_action, and the guard answers."""
    return step.action.what is What.PRE and step.shown.verdict not in (None, Verdict.DENIED)


def claim_on(config: Config, state: State, resource: str) -> str | None:
    """Whose action mark stands on the resource, warnings set aside."""
    return state.claims[config.resources.index(resource)]


def doing_of(config: Config, state: State, agent: str) -> Doing:
    """What the agent is about."""
    return state.doing[config.agents.index(agent)]


def active_on(intents: Iterable[Intent], resource: str) -> tuple[Intent, ...]:
    """Live intents on the resource that no warning hides at this instant, by rank (6.1 step 1)."""
    return tuple(i for i in intents if i.resource == resource and i.life >= 0 and not i.hidden)


def earliest(intents: Sequence[Intent]) -> Intent:
    """The first by (created_at, id)."""
    return intents[0]


def winner_among(config: Config, intents: Sequence[Intent]) -> Intent | None:
    """6.1 step 3 for intents of at least two agents: None where the principal decides."""
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
    """Who receives ALLOW in this step."""
    if step.action.what is What.BOUNDARY:
        return tuple(agent for agent, verdict in step.shown.told if verdict is Verdict.ALLOW)
    return (step.action.agent,) if step.shown.verdict is Verdict.ALLOW else ()


def there(part: T | None) -> T:
    """A part that is there wherever the claim that asks for it applies."""
    assert part is not None
    return part


def same_config(_w: object, config: C) -> C:
    """The second run has the configuration of the first."""
    return config


def same_state(_w: object, _config: object, state: S) -> S:
    """The second run starts in the state of the first."""
    return state


def same_action(_w: object, act: A) -> tuple[A, ...]:
    """The second run takes the action of the first."""
    return (act,)
