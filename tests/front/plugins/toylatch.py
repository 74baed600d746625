"""A protocol outside the repository, found by its entry point: a latch that one agent holds at a time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evenhand.core.bundle import Bundle
from evenhand.core.plan import Expectation, Plan
from evenhand.core.profile import Aspect, ProfileQuestion
from evenhand.core.property import Property, always, each_step, eventually, reachable
from evenhand.core.system import Mutant, Protocol, Scope, Step, System, reading
from evenhand.core.verdict import Status


@dataclass(frozen=True)
class Readings:
    """The readings of the sentence `an agent may take the latch`."""

    again: str = reading("refused", "granted", sentence="L2: may the holder take the latch once more?")


@dataclass(frozen=True)
class Config:
    """The number of agents, and the readings."""

    agents: int
    readings: Readings


@dataclass(frozen=True)
class State:
    """The holders of the latch, in the order of taking it."""

    inside: tuple[int, ...] = ()


@dataclass(frozen=True)
class Act:
    """An agent takes or leaves."""

    verb: str
    agent: int


@dataclass(frozen=True)
class Rules:
    """Whether the latch is free for an agent, and the holders after one leaves."""

    free: Callable[[Config, State, int], bool]
    left: Callable[[State, int], tuple[int, ...]]


def _free(config: Config, state: State, agent: int) -> bool:
    return not state.inside or (state.inside == (agent,) and config.readings.again == "granted")


def _left(state: State, agent: int) -> tuple[int, ...]:
    return tuple(held for held in state.inside if held != agent)


def _step(rules: Rules, config: Config, state: State, action: Act) -> tuple[State, str]:
    if action.verb == "leave":
        return State(rules.left(state, action.agent)), "left"
    if not rules.free(config, state, action.agent):
        return state, "refused"
    return State(tuple(dict.fromkeys((*state.inside, action.agent)))), "taken"


def _actions(config: Config, _scope: Scope, _state: State) -> Iterator[Act]:
    for agent in range(config.agents):
        yield Act("take", agent)
        yield Act("leave", agent)


def _configs(scope: Scope, readings: Any) -> Iterable[Config]:
    if os.environ.get("TOYLATCH_SLEEP") and scope["agents"] == int(os.environ.get("TOYLATCH_AGENTS", "3")):
        if "TOYLATCH_ASLEEP" in os.environ:
            Path(os.environ["TOYLATCH_ASLEEP"]).touch()
        time.sleep(float(os.environ["TOYLATCH_SLEEP"]))
    if not scope["agents"]:
        raise ValueError("agents must be 1 or more, not 0")
    return (Config(scope["agents"], readings),) if scope["agents"] < 100 else ()


def _for_all(_config: Config, _state: State, _agent: int) -> bool:
    return True


def _looks_twice(state: State, agent: int) -> tuple[int, ...]:
    return _left(State(_left(state, agent)), agent)


def _stays(state: State, _agent: int) -> tuple[int, ...]:
    return state.inside


REFERENCE = Rules(_free, _left)
LATCH: System[Any, Any, Any, Any, Any] = System(
    name="latch",
    rules=REFERENCE,
    configs=_configs,
    initial=lambda _config: (State(),),
    step=_step,
    actions=_actions,
    scope=Scope(agents=2),
    readings=Readings(),
    types=(Readings, Config, State, Act),
)
MUTANTS = (
    Mutant("always_free", "The latch is free for everybody.", "L1", replace(REFERENCE, free=_for_all), "latch"),
    Mutant(
        "slow_leave",
        "Leaving looks twice.",
        "L3",
        replace(REFERENCE, left=_looks_twice),
        "latch",
        expected="equivalent",
        reason="looking twice changes nothing",
    ),
    Mutant(
        "sticky",
        "Nobody leaves.",
        "L3",
        replace(REFERENCE, left=_stays),
        "latch",
        expected="open_gap",
        reason="no claim of this toy says that one can leave",
    ),
)


@always("At most one agent is inside.", source="L1")
def one_inside(state: State) -> bool:
    """An invariant."""
    return len(state.inside) <= 1


def _taking(step: Step[Any, Any, Any, Any]) -> bool:
    return bool(step.shown == "taken")


@each_step("Who takes the latch finds it free.", source="L1", when=_taking)
def taken_when_free(step: Step[Config, State, Act, str]) -> bool:
    """A claim about the state before."""
    return set(step.before.inside) <= {step.action.agent}


@reachable("The latch can be taken.", source="L1")
def taken(step: Step[Config, State, Act, str]) -> bool:
    """A goal."""
    return step.shown == "taken"


@eventually("Somebody takes the latch.", source="L4")
def somebody_enters(step: Step[Config, State, Act, str]) -> bool:
    """False without fairness: a run may leave the latch for ever."""
    return step.shown == "taken"


CLAIMS: tuple[Property, ...] = (one_inside, taken_when_free, taken, somebody_enters)
BUNDLE = Bundle(
    Protocol("latch", "A latch", "L1-L4", {"latch": LATCH}, Readings(), MUTANTS),
    CLAIMS,
    profile=(
        ProfileQuestion(Aspect.POSITION, "one_inside"),
        ProfileQuestion(Aspect.TIME, "taken", note="a goal"),
        ProfileQuestion(Aspect.VALUE, "taken_when_free", affirms=True),
        ProfileQuestion(Aspect.LIVELOCK, "somebody_enters"),
    ),
    expected=(Expectation("somebody_enters", Status.REFUTED, because="nothing forces anybody to take it"),),
    plans=(
        Plan("latch", "explore"),
        Plan("latch", "explore", scope={"agents": 3}),
        Plan("latch", "fuzz", examples=20, steps=6),
    ),
)
