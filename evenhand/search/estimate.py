"""Estimate the size of a search before it starts.

A short search either closes, and then its count is exact, or shows how many values each part of a state takes; their
product, times the joint choices of a state, is the size to expect if nothing is correlated.  This is no bound: a part
that takes new values only deep in the graph is underestimated.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from itertools import islice
from typing import Any

from evenhand.core.system import AnySystem
from evenhand.search.containers import parts_of
from evenhand.search.steps import joint_choices, make_step, stepped

PROBED = 8
"""Configurations that are probed, evenly spread."""

STATES = 200
"""States of each probe."""

STEPS, EACH = 5_000, 500
"""Steps of each probe, and of one state: where it offers thousands of joint choices, some of them tell as much."""

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


def _size(system: AnySystem, config: Any) -> int:
    """About how many steps the search of one configuration takes; 0 for one that raises, as its search will tell."""
    try:
        states, offered, closed = _probed(system, config)
    except Exception:
        return 0
    if closed:
        return sum(offered)
    values: list[set[Hashable]] = []
    for state in states:
        for place, part in enumerate(_parts(state)):
            if place == len(values):
                values.append(set())
            values[place].add(part)
    size = max(math.prod(len(seen) for seen in values), len(states))
    # The initial states say little about the rest: after them a run may already be over.
    starts = min(len(offered), len({*system.initial(config)}))
    later = offered[starts:] or offered
    return sum(offered[:starts]) + -(-sum(later) * (size - starts) // len(later))


def ends_at_once(system: AnySystem, config: Any) -> bool:
    """Return whether no sampled step from the initial states leads to one that offers an action."""
    try:
        _, offered, _ = _probed(system, config)
        starts = len({*system.initial(config)})
    except Exception:  # the search that follows raises it too, and says what it is
        return False
    return len(offered) > starts and not any(offered[starts:])


def _probed(system: AnySystem, config: Any) -> tuple[list[Any], list[int], bool]:
    """The states of a short search, how many actions the first of them offer, and whether there are no others.

    Of a state that offers too many steps some are taken, evenly spread.
    """
    states = list(dict.fromkeys(state for state in system.initial(config) if system.inside(config, state)))
    known, offered, left, whole = set(states), list[int](), STEPS, True
    for state in states:
        if len(offered) == STATES or left <= 0:
            return states, offered, False
        count = 0 if system.joint is None else joint_choices(system, config, state)
        apart = count // min(left, EACH) + 1
        while math.gcd(apart, count) > 1 and apart > 1:  # else they miss choices of some agents
            apart += 1
        taken = 0
        for action in islice(system.enabled(config, state), 0, None, apart):
            after, shown = stepped(system, config, state, action)
            taken += 1
            if after not in known and system.stays(make_step(config, state, action, shown, after)):
                known.add(after)
                states.append(after)
        offered.append(count or taken)
        left, whole = left - max(taken, min(count, left)), whole and apart == 1
    return states, offered, whole


def _parts(state: Any) -> Iterator[Hashable]:
    """The smallest parts of a state: fields of records, entries of tuples."""
    parts = parts_of(state)
    if parts is None:
        yield state
        return
    for part in parts[1]:
        yield from _parts(part)
