"""How large a search will be, before it is begun.

A short search either closes, and then its count is exact, or shows how many values each part of a state
takes; their product, times the joint choices of a state, is the size to expect if nothing is correlated.
An estimate, not a bound: a part that takes new values only deep in the graph is underrated.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from itertools import islice
from typing import Any, cast

from evenhand.properties.search.found import AnySystem
from evenhand.properties.search.graph import Bounds, Walk, Watchers, search
from evenhand.properties.search.tiers import tier_for

__all__ = ["estimate"]

PROBED = 3
"""Configurations that are probed."""

STATES = 200
"""States that each probe looks at."""

CONFIGS = 1_000_000
"""Configurations that are counted."""


def estimate(system: AnySystem) -> int | None:
    """About how many steps (states times joint choices, over all configurations) a search will take.

    None where there are more configurations than can be counted, or none at all to probe.
    """
    configs = list(islice(system.all_configs(), PROBED))
    count = sum(1 for _ in islice(system.all_configs(), CONFIGS + 1))
    if not configs or count > CONFIGS:
        return None
    tier, _ = tier_for(system, None)
    sizes = [
        _size(search(system, tier, config, number, Watchers(), Bounds(max_states=STATES, depth=None)))
        for number, config in enumerate(configs)
    ]
    return max(sizes) * count


def _size(walk: Walk) -> int:
    if not walk.open:
        return walk.transitions
    values: list[set[Hashable]] = []
    for state in walk.states:
        for place, part in enumerate(_parts(state)):
            if place == len(values):
                values.append(set())
            values[place].add(part)
    states = math.prod(len(seen) for seen in values)
    choices = -(-walk.transitions // len(walk.states))
    return max(states, len(walk.states)) * choices


def _parts(state: Any) -> Iterator[Hashable]:
    """The smallest parts of a state: fields of records, entries of tuples."""
    if is_dataclass(state) and not isinstance(state, type):
        for entry in fields(state):
            yield from _parts(getattr(state, entry.name))
    elif isinstance(state, tuple):
        for part in cast("Sequence[Any]", state):
            yield from _parts(part)
    else:
        yield state
