"""Observers: what can be read of a run beside the observations of its steps.

A harness that classifies a run, or a counter that only the state holds, may differ between two readings or kernels
whose steps show the same.  An observer is a deterministic monitor without a verdict: it runs along and reads out a
value, or None while it has none.  `observing` combines a system with its observers, so that every engine that compares
observations compares these values as well.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from evenhand.core.system import AnyStep, AnySystem, Joint, Step, System

NEXT = "next"
"""The name under which the next action is read, if exactly one is on offer."""


def _none_yet(_config: Any) -> None:
    return None


def _as_it_is(_config: Any, value: Hashable) -> Hashable:
    return value


@dataclass(frozen=True, kw_only=True)
class Observer:
    """A monitor of runs: `read` gives a value from those that `update` computes along the run.

    `start(config)` is the first value (hashable; by default None), `update(value, step)` the next.  `read(config,
    value)`, by default the value, must have an encoding (`evenhand.core.codec`) and is None while there is nothing to
    read.  Like a claim an observer sees configurations, states and observations, never rules.  `systems` names those
    it watches (empty: all).  `label`, if given, names the class of a run from what was read; boundary vectors are about
    these classes.  `source` names the paragraphs that define them.
    """

    name: str
    sentence: str
    update: Callable[[Any, AnyStep], Any]
    start: Callable[[Any], Any] = _none_yet
    read: Callable[[Any, Any], Hashable] = _as_it_is
    systems: tuple[str, ...] = ()
    label: Callable[[Any], str] | None = None
    source: str = ""


@dataclass(frozen=True)
class ObservedState:
    """A state with the values of the observers, in their order."""

    state: Any
    values: tuple[Any, ...]


@dataclass(frozen=True)
class Seen:
    """The observation of a step, and what the observers read after it, as (name, value)."""

    shown: Any
    read: tuple[tuple[str, Any], ...]


def observing(system: AnySystem, observers: Sequence[Observer], *, forced: bool = False) -> AnySystem:
    """Return the system with its observers: its states are `ObservedState`, its observations `Seen`.

    With `forced`, the only action on offer after a step is read as well: where strategies choose, the next action is as
    good as observed.
    """

    def begun(config: Any, states: Iterable[Any]) -> Iterator[ObservedState]:
        values = tuple(one.start(config) for one in observers)
        return (ObservedState(state, values) for state in states)

    def step(rules: Any, config: Any, state: ObservedState, action: Any) -> tuple[ObservedState, Seen]:
        after, shown = system.step(rules, config, state.state, action)
        made = Step(config, state.state, action, shown, after)
        values = tuple(one.update(value, made) for one, value in zip(observers, state.values, strict=True))
        read = tuple((one.name, one.read(config, value)) for one, value in zip(observers, values, strict=True))
        if forced:
            read += ((NEXT, _only(system, config, after)),)
        return ObservedState(after, values), Seen(shown, read)

    def smaller(config: Any, start: ObservedState) -> Iterator[tuple[Any, ObservedState]]:
        for simpler, first in system.smaller(config, start.state):
            yield from ((simpler, made) for made in begun(simpler, (first,)))

    def allows(config: Any, state: ObservedState, action: Any) -> bool:
        return system.is_enabled(config, state.state, action)

    actions, joint = system.actions, system.joint
    return System(
        name=system.name,
        rules=system.rules,
        configs=system.configs,
        initial=lambda config: begun(config, system.initial(config)),
        step=step,
        actions=None if actions is None else lambda config, scope, state: actions(config, scope, state.state),
        joint=None
        if joint is None
        else Joint(
            lambda config, state: joint.agents(config, state.state),
            lambda config, scope, state, agent: joint.choices(config, scope, state.state, agent),
            lambda config, state, made: joint.join(config, state.state, made),
            joint.split,
        ),
        scope=system.scope,
        readings=system.readings,
        smaller=smaller,
        allows=allows,
        types=system.types,
        variant=system.variant,
    )


def _only(system: AnySystem, config: Any, state: Any) -> Any:
    """The action on offer if there is exactly one, else None."""
    joint = system.joint
    if joint is not None:  # avoids building the product
        for agent in joint.agents(config, state):
            if len(list(islice(joint.choices(config, system.scope, state, agent), 2))) != 1:
                return None
    offered = list(islice(system.enabled(config, state), 2))
    return offered[0] if len(offered) == 1 else None


def readout(observers: Sequence[Observer], config: Any, steps: Iterable[AnyStep]) -> dict[str, Any]:
    """Return the value that each observer reads after these steps, by name."""
    values = [one.start(config) for one in observers]
    for step in steps:
        values = [one.update(value, step) for one, value in zip(observers, values, strict=True)]
    return {one.name: one.read(config, value) for one, value in zip(observers, values, strict=True)}
