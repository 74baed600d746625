"""Runs on which theories and model are compared: walks of the guard, ways to states of spaces and deployments."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from evenhand.core.system import AnySystem
from evenhand.core.trace import AnyScenario, Scenario
from evenhand.model.markspace.guard_vocabulary import Act, Config, GuardStep, State, What
from evenhand.model.markspace.layers import initial as initial_layers
from evenhand.model.markspace.layers_vocabulary import LayersConfig, Operation, World
from evenhand.model.markspace.marks import Mark, Space, SpaceConfig, Tick, Write
from evenhand.smt.ends import End, drawn_runs, end_at, ways


def walks(
    system: AnySystem, label: str, length: int, *cases: tuple[int, int, int, int], **changes: Any
) -> Iterator[tuple[GuardStep, ...]]:
    """Yield seeded walks of any variant: of agents, resources, seconds that an intent lives, and as many draws.

    A step draws a kind of act that is on offer, then one act of that kind.
    """

    def pick(small: AnySystem, config: Config, choose: random.Random, state: State) -> Act:
        kinds: dict[What, list[Act]] = {}
        for act in small.enabled(config, state):
            kinds.setdefault(act.what, []).append(act)
        return choose.choice(kinds[choose.choice(list(kinds))])

    for agents, resources, ttl, draws in cases:
        small = system.at(agents=agents, resources=resources, ttl=ttl)
        config = replace(next(iter(small.all_configs())), **changes)
        yield from drawn_runs(small, config, f"{label} {agents}", draws, length, partial(pick, small, config))


def written(system: AnySystem, config: SpaceConfig, marks: Sequence[Mark], act: Any) -> End:
    """Return the end of a run that writes these marks, and of an act in the space of them."""
    now = max((mark.age for mark in marks), default=0)
    acts: list[Any] = []
    for mark in marks:
        acts += [Tick(now - mark.age)] if mark.age < now else []
        acts.append(Write(mark.agent, mark.draft, mark.id))
        now = mark.age
    acts += [Tick(now)] if now else []
    return end_at(system, Scenario(config, Space(), tuple(acts)), Space(tuple(marks)), act)


def layered(
    system: AnySystem, config: LayersConfig, menu: tuple[Operation, ...], most: int, *firsts: Sequence[Operation]
) -> Mapping[World, AnyScenario]:
    """Return the first states of a deployment by a variant, breadth first, each with a way there."""

    def after(state: World, act: Operation) -> World | None:
        later: World = system.take(config, state, act).after
        return later if len(later.stored) < config.capacity else None

    return ways(config, initial_layers(config)[0], lambda _state: menu, after, most, firsts)
