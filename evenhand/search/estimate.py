"""Estimate the size of a search before it starts.

A short search either closes, and then its count is exact, or shows how many values each part of a state takes; their
product, times the joint choices of a state, is the size to expect if nothing is correlated.  This is no bound: a part
that takes new values only deep in the graph is underestimated.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from itertools import islice
from typing import Any, cast

from evenhand.core.system import AnyStep, AnySystem
from evenhand.search.bounds import Bounds
from evenhand.search.graph import Attempt, Watcher, search
from evenhand.search.steps import joint_choices
from evenhand.search.walk import Walk

PROBED = 8
"""Configurations that are probed, evenly spread."""

STATES = 200
"""States of each probe."""

STEPS = 5_000
"""Steps of each probe: where a state offers thousands of joint choices, a few such states tell as much."""

NUMBER = 1
"""The configuration number of a probe: not the first, of which a search takes many steps again to compare."""

WIDE = 50_000
"""Joint choices of one state beyond which no probe runs, and `STATES` states are assumed to offer as many."""

CONFIGS = 1_000_000
"""Most configurations that are counted."""


def estimate(system: AnySystem) -> int | None:
    """Return about how many steps (states times joint choices, over all configurations) a search will take.

    None if there are more configurations than can be counted, or none to probe.
    """
    configs = list(islice(system.all_configs(), CONFIGS + 1))
    if not configs or len(configs) > CONFIGS:
        return None
    widest = widest_state(system)
    if widest > WIDE:
        return widest * STATES * len(configs)
    return max(_size(system, config) for config in configs[:: -(-len(configs) // PROBED)]) * len(configs)


def widest_state(system: AnySystem) -> int:
    """Return the joint choices of the initial state that offers the most, counted as a product and never listed.

    0 for a system whose actions are no product, because those are listed anyway.
    """
    if system.joint is None:
        return 0
    configs = islice(system.all_configs(), PROBED)
    return max((joint_choices(system, one, state) for one in configs for state in system.initial(one)), default=0)


class _Choices(Watcher):
    """Counts the joint choices of each state."""

    name = "the estimate"

    def __init__(self) -> None:
        self.of: list[int] = []

    def visit(self, sid: int, _state: Any, /) -> None:
        """Start a count; states come in the order of their numbers."""
        self.of.append(0)

    def look(self, step: AnyStep, action: int, there: int, /) -> None:
        self.of[-1] += 1


class _Enough(Exception):
    """The probe has taken its steps; `args` is the search so far."""


class _Ending(Attempt):
    """Ends a probe before it takes more steps."""

    size, steps = STATES + 1, STEPS

    def __call__(self, walk: Walk) -> None:
        raise _Enough(walk)


def _size(system: AnySystem, config: Any) -> int:
    choices = _Choices()
    walk: Walk
    try:
        bounds = Bounds(max_states=STATES)
        walk = search(system, config, NUMBER, (choices,), bounds, attempt=_Ending())
        if not walk.open:
            return walk.transitions
    except _Enough as enough:
        (walk,) = enough.args
    values: list[set[Hashable]] = []
    for state in walk.states:
        for place, part in enumerate(_parts(state)):
            if place == len(values):
                values.append(set())
            values[place].add(part)
    states = max(math.prod(len(seen) for seen in values), len(walk.states))
    # The initial states say little about the rest: after them a run may already be over.
    starts = walk.levels[1] if len(walk.levels) > 1 else len(walk.states)
    later = choices.of[starts:] or choices.of
    return sum(choices.of[:starts]) + -(-sum(later) * (states - starts) // len(later))


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
