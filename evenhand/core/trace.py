"""Scenarios and the results of replaying them: traces, lassos, pairs.

A scenario is initial data and actions, named by content.  Only replay makes a trace, so no engine can report a run that
the model does not have.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from evenhand.core.alike import alike
from evenhand.core.answers import kind_of, short
from evenhand.core.system import Step, System

C = TypeVar("C")
S = TypeVar("S")
A = TypeVar("A")
O = TypeVar("O")  # noqa: E741 - as in `system`
R = TypeVar("R")


class NotReplayable(ValueError):
    """A scenario or lasso that the model does not run as recorded; says at which step and why."""


@dataclass(frozen=True)
class Scenario(Generic[C, S, A]):
    """Initial data and the actions taken from it, first to last."""

    config: C
    start: S
    actions: tuple[A, ...] = ()


@dataclass(frozen=True)
class Trace(Generic[C, S, A, O]):
    """A scenario with its steps; `states` has one more entry than `steps`."""

    scenario: Scenario[C, S, A]
    steps: tuple[Step[C, S, A, O], ...]

    @property
    def states(self) -> tuple[S, ...]:
        """The states of the run, the start first."""
        return (self.scenario.start, *(step.after for step in self.steps))

    @property
    def final(self) -> S:
        """The state after the last action."""
        return self.steps[-1].after if self.steps else self.scenario.start


@dataclass(frozen=True)
class Lasso(Generic[C, S, A]):
    """An infinite run: `stem` once, then `loop` for ever; the loop ends where it began."""

    config: C
    start: S
    stem: tuple[A, ...]
    loop: tuple[A, ...]

    @property
    def unrolled(self) -> Scenario[C, S, A]:
        """Stem and one turn of the loop, as a scenario."""
        return Scenario(self.config, self.start, self.stem + self.loop)


@dataclass(frozen=True)
class Pair(Generic[C, S, A]):
    """Two runs that a 2-safety claim compares, and the name of their relation."""

    left: Scenario[C, S, A]
    right: Scenario[C, S, A]
    relation: str


AnyScenario: TypeAlias = Scenario[Any, Any, Any]
AnyTrace: TypeAlias = Trace[Any, Any, Any, Any]
AnyLasso: TypeAlias = Lasso[Any, Any, Any]


def replay(system: System[C, S, A, O, R], scenario: Scenario[C, S, A]) -> Trace[C, S, A, O]:
    """Return the trace of `scenario`, ignoring what is on offer.  Raises TypeError for anything but a Scenario."""
    if not isinstance(scenario, Scenario) or not isinstance(scenario.actions, tuple):
        what = scenario.actions if isinstance(scenario, Scenario) else scenario
        raise TypeError(f"replay takes a Scenario(config, start, (action, …)), not {short(what)} ({kind_of(what)})")
    return Trace(scenario, tuple(stepping(system, scenario)))


def stepping(system: System[C, S, A, O, R], scenario: Scenario[C, S, A]) -> Iterator[Step[C, S, A, O]]:
    """Yield the steps of `scenario` one by one, ignoring what is on offer."""
    state = scenario.start
    for action in scenario.actions:
        step = system.take(scenario.config, state, action)
        yield step
        state = step.after


def replay_lasso(
    system: System[C, S, A, O, R], lasso: Lasso[C, S, A]
) -> tuple[Trace[C, S, A, O], tuple[Step[C, S, A, O], ...]]:
    """Replay a lasso; return the whole trace, and the steps of its loop.

    Raises NotReplayable if the loop is empty or does not end where it began.
    """
    if not lasso.loop:
        raise NotReplayable("the loop of a lasso needs at least one action")
    trace = replay(system, lasso.unrolled)
    entry = trace.states[len(lasso.stem)]
    if trace.final != entry or not alike(trace.final, entry):
        raise NotReplayable(
            f"the loop of {len(lasso.loop)} actions leaves {system.name} in another state than it began in; "
            "the model changed after this was recorded"
        )
    return trace, trace.steps[len(lasso.stem) :]
