"""The baseline: a plain breadth-first search over the model's own objects."""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple


class Counts(NamedTuple):
    """The counts on which all contenders must agree; edges are distinct pairs of states, loops included."""

    states: int
    transitions: int
    edges: int
    depth: int


def bare(system: Any) -> Counts:
    """Return the counts of a plain breadth-first search over the model's own objects."""
    depths: dict[Any, int] = {}
    transitions = edges = 0
    for config in system.all_configs():
        queue = deque(system.initial(config))
        depths |= dict.fromkeys(queue, 0)
        while queue:
            state = queue.popleft()
            targets = set[Any]()
            for action in system.enabled(config, state):
                target, _ = system.step(system.rules, config, state, action)
                transitions += 1
                targets.add(target)
                if target not in depths:
                    depths[target] = depths[state] + 1
                    queue.append(target)
            edges += len(targets)
    return Counts(len(depths), transitions, edges, max(depths.values()))
