"""A token that goes round a ring: several configurations, and claims of every kind that a campaign treats differently.

Its scope holds the faults that a campaign must survive: `slow` milliseconds of sleep in each configuration, and
`poison`.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from evenhand.core.bundle import Bundle
from evenhand.core.plan import Expectation, Plan
from evenhand.core.property import DeterminedBy, Property, always, each_step, eventually, reachable
from evenhand.core.system import Protocol, Scope, Step, System
from evenhand.core.verdict import Status

POISONS = ("none", "hangs", "crashes", "eats", "raises")
"""The faults that `poison` selects by number."""


@dataclass(frozen=True)
class Config:
    """The agent that starts with the token, the number of agents, and the faults that delay each search."""

    first: int
    agents: int
    slow: int


@dataclass(frozen=True)
class State:
    """The holder of the token, and the previous holder."""

    at: int
    seen: tuple[bool, ...]


@dataclass(frozen=True)
class Act:
    """The holder passes the token on, or keeps it."""

    verb: str


def _step(_rules: Any, config: Config, state: State, action: Act) -> tuple[State, str]:
    if action.verb != "pass":
        return state, "kept"
    at = (state.at + 1) % config.agents
    return State(at, tuple(seen or number == at for number, seen in enumerate(state.seen))), "passed"


def _configs(scope: Scope, _readings: Any) -> Iterable[Config]:
    match POISONS[scope["poison"]]:
        case "hangs":
            time.sleep(600)
        case "crashes":
            os.kill(os.getpid(), signal.SIGKILL)
        case "eats":
            hoard = [bytes(1 << 26) for _ in range(64)]
            raise AssertionError(f"{len(hoard)} times 64 MiB were there")
        case "raises":
            raise RuntimeError("poisoned")
        case _:
            pass
    return tuple(Config(first, scope["agents"], scope["slow"]) for first in range(scope["agents"]))


def _initial(config: Config) -> Iterator[State]:
    if config.slow:
        time.sleep(config.slow / 1000)
    yield State(config.first, tuple(number == config.first for number in range(config.agents)))


RING: System[Any, Any, Any, Any, Any] = System(
    name="ring",
    rules=None,
    configs=_configs,
    initial=_initial,
    step=_step,
    actions=lambda _config, _scope, _state: (Act("pass"), Act("keep")),
    scope=Scope(agents=3, slow=0, poison=0),
    types=(Config, State, Act),
)


@always("Somebody of the ring has the token.", source="R1")
def held(config: Config, state: State) -> bool:
    """An invariant."""
    return 0 <= state.at < config.agents


def _passing(step: Step[Any, Any, Any, Any]) -> bool:
    return bool(step.shown == "passed")


@each_step("Who passes the token does not have it afterwards.", source="R2", when=_passing)
def passed_on(step: Step[Config, State, Act, str]) -> bool:
    """A claim about both states of a step."""
    return step.before.at != step.after.at


@each_step("The second never begins by keeping the token (false).", source="R3")
def second_is_quick(step: Step[Config, State, Act, str]) -> bool:
    """A claim that is false in one configuration only."""
    return step.config.first != 1 or any(step.before.seen[:1]) or step.shown != "kept"


@reachable("Everybody had the token.", source="R4")
def everybody(step: Step[Config, State, Act, str]) -> bool:
    """A goal."""
    return all(step.after.seen)


@eventually("The first gets the token.", source="R5")
def comes_round(step: Step[Config, State, Act, str]) -> bool:
    """A false liveness claim: a run may keep the token for ever."""
    return step.after.at == 0


BY_PLACE = DeterminedBy(
    name="by_place",
    sentence="Where the token goes depends on where it was and on what was done.",
    source="R6",
    key=lambda step: (step.before.at, step.action.verb),
    value=lambda step: step.after.at,
)
BY_VERB = DeterminedBy(
    name="by_verb",
    sentence="Who had the token depends on what is done (false, and seen across configurations only).",
    source="R7",
    when=lambda step: step.shown == "kept" and sum(step.before.seen) == 1,
    key=lambda step: step.action.verb,
    value=lambda step: step.before.at,
)
CLAIMS: tuple[Property, ...] = (BY_PLACE, held, passed_on, second_is_quick, everybody, BY_VERB, comes_round)
BUNDLE = Bundle(
    Protocol("ring", "A token in a ring", "R1-R7", {"ring": RING}),
    CLAIMS,
    expected=(
        Expectation("second_is_quick", Status.REFUTED, because="nobody hurries"),
        Expectation("by_verb", Status.REFUTED, because="anybody may keep it"),
        Expectation("comes_round", Status.REFUTED, because="it may be kept for ever"),
    ),
    plans=(Plan("ring", "explore"), Plan("ring", "explore", scope={"agents": 5}), Plan("ring", "fuzz", examples=20)),
)
