"""A second origin for the engines' results: the plainest search, written without them.

It is not fast, and it uses neither the judge nor the shrinker nor the machine.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from evenhand.core.system import AnyStep, AnySystem, Fairness
from evenhand.core.trace import Lasso, Scenario


def reachable_states(system: AnySystem) -> set[tuple[Any, Any]]:
    """Yield every reachable (configuration, state)."""
    found: set[tuple[Any, Any]] = set()
    waiting = [(config, start) for config in system.all_configs() for start in system.initial(config)]
    while waiting:
        here = waiting.pop()
        if here not in found:
            found.add(here)
            config, state = here
            waiting += [(config, system.take(config, state, a).after) for a in system.enabled(config, state)]
    return found


def shortest_failing(system: AnySystem, fails: Callable[[list[AnyStep]], bool], most: int) -> int:
    """Return the least number of actions of a run for which `fails(steps)`, trying all runs up to `most` actions."""
    runs: list[tuple[Any, Any, list[AnyStep]]] = [
        (config, start, []) for config in system.all_configs() for start in system.initial(config)
    ]
    for length in range(most + 1):
        if any(fails(steps) for _, _, steps in runs):
            return length
        longer: list[tuple[Any, Any, list[AnyStep]]] = []
        for config, state, steps in runs:
            for action in system.enabled(config, state):
                step = system.take(config, state, action)
                longer.append((config, step.after, [*steps, step]))
        runs = longer
    raise AssertionError(f"nothing fails within {most} actions")


def random_run(system: AnySystem, random: Random, length: int) -> tuple[Scenario[Any, Any, Any], list[AnyStep]]:
    """Return a run of `length` actions, each drawn evenly from those on offer."""
    config = random.choice(list(system.all_configs()))
    state = start = random.choice(list(system.initial(config)))
    steps: list[AnyStep] = []
    for _ in range(length):
        offered = list(system.enabled(config, state))
        if not offered:
            break
        steps.append(system.take(config, state, random.choice(offered)))
        state = steps[-1].after
    return Scenario(config, start, tuple(step.action for step in steps)), steps


def all_lassos(system: AnySystem, size: int) -> Iterator[tuple[Lasso[Any, Any, Any], list[AnyStep]]]:
    """Yield every lasso with `size` actions in stem and loop together, and its steps."""
    for config in system.all_configs():
        for start in system.initial(config):
            for actions, steps in _walks(system, config, start, size):
                states = [start, *(step.after for step in steps)]
                for entry in range(size):
                    if states[entry] == states[-1]:
                        yield Lasso(config, start, actions[:entry], actions[entry:]), steps


def _walks(system: AnySystem, config: Any, state: Any, length: int) -> Iterator[tuple[tuple[Any, ...], list[AnyStep]]]:
    if length == 0:
        yield (), []
        return
    for action in system.enabled(config, state):
        step = system.take(config, state, action)
        for actions, steps in _walks(system, config, step.after, length - 1):
            yield (action, *actions), [step, *steps]


def fair_by_definition(system: AnySystem, config: Any, loop: list[AnyStep], fairness: Fairness[Any, Any]) -> bool:
    """Return whether repeating `loop` meets the assumption, from its textbook form on the infinite run.

    "From some point on enabled" on a run that repeats is: enabled all along five turns; "infinitely often" is: at least
    five times in five turns.
    """
    turns = list(itertools.chain.from_iterable(itertools.repeat(loop, 5)))
    enabled = [
        any(fairness.taken(step.before, action) for action in list(system.enabled(config, step.before)))
        for step in turns
    ]
    taken = sum(fairness.taken(step.before, step.action) for step in turns) >= 5
    demanded = all(enabled) if fairness.kind == "weak" else sum(enabled) >= 5
    return taken or not demanded
