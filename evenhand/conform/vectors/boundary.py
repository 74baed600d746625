"""Find boundary cases: runs that one step or one choice separates from a run of another class.

A kernel that is off by one, or latches too early, is right on most runs and wrong on these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evenhand.conform.vectors.targets import Candidate
from evenhand.core.bundle import Bundle
from evenhand.core.observer import Observer, readout
from evenhand.core.system import AnySystem
from evenhand.core.trace import AnyScenario, Scenario, replay


@dataclass(frozen=True)
class Boundary:
    """A run of class `here` that one change (`by`) separates from a run of class `there`."""

    candidate: Candidate
    here: str
    there: str
    by: str

    @property
    def kind(self) -> str:
        """The change without its place.  One vector is kept for each pair of classes and kind."""
        return "step" if self.by.startswith("one step") else "choice"


def class_of(observers: Sequence[Observer], system: AnySystem, scenario: AnyScenario) -> str | None:
    """Return the class that the first labelling observer gives a run; None while it has none."""
    for one in observers:
        if one.label is not None:
            read = readout((one,), scenario.config, replay(system, scenario).steps)[one.name]
            return None if read is None else one.label(read)
    return None


def neighbours(system: AnySystem, scenario: AnyScenario) -> Iterator[tuple[str, AnyScenario]]:
    """Yield the runs that are one step shorter, or in which one choice is simpler.

    A run with a frozen end also ends one step sooner.  A simpler choice is the first one on offer, for one agent of a
    joint action.
    """
    actions = scenario.actions
    if len(actions) > 1:
        yield "one step less", replace(scenario, actions=actions[:-1])
        for config, start in system.smaller(scenario.config, scenario.start):
            yield "one step less", Scenario(config, start, actions[:-1])
    state = scenario.start
    for number, action in enumerate(actions, start=1):
        for what, poorer in _poorer(system, scenario.config, state, action):
            run = (*actions[: number - 1], poorer, *actions[number:])
            yield f"one choice less: {what} in step {number}", replace(scenario, actions=run)
        state = system.take(scenario.config, state, action).after


def _poorer(system: AnySystem, config: Any, state: Any, action: Any) -> Iterator[tuple[str, Any]]:
    joint = system.joint
    if joint is None:
        first = next(system.enabled(config, state), None)
        if first is not None and first != action:
            yield "the first on offer", first
        return
    made = joint.split(action)
    for place, (agent, choice) in enumerate(made):
        if agent not in joint.agents(config, state):
            continue
        first = next(iter(joint.choices(config, system.scope, state, agent)), None)
        if first is not None and first != choice:
            yield f"{agent}'s", joint.join(config, state, (*made[:place], (agent, first), *made[place + 1 :]))


def boundaries(bundle: Bundle, pool: Iterable[Candidate]) -> tuple[Boundary, ...]:
    """Return one smallest boundary run for each change of class and kind of change, sorted by name.

    Only neighbours with the same agents and initial data are considered.
    """
    best: dict[tuple[str, str, str, str], Boundary] = {}
    for candidate in sorted(pool, key=lambda one: one.size):
        system = candidate.reference(bundle)
        observers = bundle.observers_of(system.name)
        there = class_of(observers, system, candidate.scenario)
        if there is None:
            continue
        for by, scenario in neighbours(system, candidate.scenario):
            here = class_of(observers, system, scenario)
            if here is None or here == there:
                continue
            short = replace(candidate, scenario=scenario, origin=f"a neighbour of what was {candidate.origin}")
            found = Boundary(short, here, there, by)
            best.setdefault((system.name, here, there, found.kind), found)
    return tuple(best[key] for key in sorted(best))
