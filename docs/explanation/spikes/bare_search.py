"""A bare breadth-first search, so that the spikes lean on `System` and on nothing else."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from evenhand.core.system import System

__all__ = ["Found", "search"]


@dataclass(frozen=True)
class Found:
    """A closed graph: its states by breadth-first level, its transitions, a shortest run to the goal."""

    levels: tuple[int, ...]
    transitions: int
    witness: tuple[Any, ...] | None

    @property
    def states(self) -> int:
        """All states, over all levels."""
        return sum(self.levels)


def search(system: System[Any, Any, Any, Any, Any], goal: Callable[[Any, Any], bool]) -> Found:
    """Every reachable state of a system with one configuration; `goal(config, state)` ends the witness."""
    (config,) = system.all_configs()
    paths: dict[Any, tuple[Any, ...]] = {state: () for state in system.initial(config)}
    queue, levels, transitions = deque(paths), [0], 0
    witness: tuple[Any, ...] | None = None
    while queue:
        state = queue.popleft()
        path = paths[state]
        if len(path) == len(levels):
            levels.append(0)
        levels[len(path)] += 1
        if witness is None and goal(config, state):
            witness = path
        for action in system.enabled(config, state):
            after = system.take(config, state, action).after
            transitions += 1
            if after not in paths:
                paths[after] = (*path, action)
                queue.append(after)
    return Found(tuple(levels), transitions, witness)
