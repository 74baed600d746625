"""Observers: what can be seen of a run beside what its steps show.

A harness that classifies a run, or a counter that only the state holds, is seen by somebody; what it says may
differ between two readings or kernels that show the same in every step.  An observer is a deterministic monitor
without a verdict: it runs along and says something, or None as long as it has nothing to say.  `observing` makes a
system of a system and its observers, so that every engine that compares what is shown compares that as well.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from evenhand.core.property import AnyStep
from evenhand.core.system import Joint, Step, System

__all__ = ["NEXT", "ObservedState", "Observer", "Seen", "observing", "readout"]

AnySystem = System[Any, Any, Any, Any, Any]

NEXT = "next"
"""The name under which the only action that is on offer next is read, where there is only one."""


@dataclass(frozen=True, kw_only=True)
class Observer:
    """Something that watches runs: `read` says what it makes of one, from the values that `update` gives.

    `start(config)` is the first value (hashable), `update(value, step)` the next.  `read(config, value)` must have
    an encoding (`evenhand.core.codec`) and is None while there is nothing to say.  Like a claim it sees
    configurations, states and what is shown, never rules.  `systems` names those it watches (empty: all).
    `label`, if there is one, names the class of a run from what was read: what boundary vectors are about.
    """

    name: str
    sentence: str
    start: Callable[[Any], Any]
    update: Callable[[Any, AnyStep], Any]
    read: Callable[[Any, Any], Hashable]
    systems: tuple[str, ...] = ()
    label: Callable[[Any], str] | None = None


@dataclass(frozen=True)
class ObservedState:
    """A state with the values of the observers beside it, in their order."""

    state: Any
    values: tuple[Any, ...]


@dataclass(frozen=True)
class Seen:
    """What a step shows, and what the observers then read, as (name, reading)."""

    shown: Any
    read: tuple[tuple[str, Any], ...]


def observing(system: AnySystem, observers: Sequence[Observer], *, forced: bool = False) -> AnySystem:
    """The system with its observers running along: its states are `ObservedState`, it shows `Seen`.

    With `forced`, the only action that is on offer after a step is read as well: where strategies choose, what
    comes next is as good as shown.
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
    """The action on offer, if there is exactly one; a state whose agents have a choice says nothing."""
    joint = system.joint
    if joint is not None:  # without taking the product
        for agent in joint.agents(config, state):
            if len(list(islice(joint.choices(config, system.scope, state, agent), 2))) != 1:
                return None
    offered = list(islice(system.enabled(config, state), 2))
    return offered[0] if len(offered) == 1 else None


def readout(observers: Sequence[Observer], config: Any, steps: Iterable[AnyStep]) -> dict[str, Any]:
    """What each observer reads after these steps, by name."""
    values = [one.start(config) for one in observers]
    for step in steps:
        values = [one.update(value, step) for one, value in zip(observers, values, strict=True)]
    return {one.name: one.read(config, value) for one, value in zip(observers, values, strict=True)}
