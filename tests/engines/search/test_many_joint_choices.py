"""A state with more joint choices than can be listed is counted without listing them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from evenhand.model.cud.free_system import FREE
from evenhand.search import estimate
from evenhand.search.estimate import EACH, STEPS, WIDE, widest_state


def test_the_product_is_counted_without_listing_it() -> None:
    """Nine agents choose among nothing, exit, 9 READs and 81 WRITEs each."""
    system = FREE.at(agents=9, keys=9, values=9)
    assert widest_state(system) == 92**9 > WIDE
    about = estimate(system)
    assert about is not None and about % 92**9 == 0


def test_narrow_states_are_listed_all_the_same() -> None:
    """The count is the number of actions on offer in the initial state."""
    config = next(iter(FREE.all_configs()))
    start = next(iter(FREE.initial(config)))
    assert widest_state(FREE) == sum(1 for _ in FREE.enabled(config, start)) == math.prod((8, 8))


def test_steps_of_a_wide_state_are_spread() -> None:
    """Some of the 32,768 joint choices of the first state are taken, of every agent; a small graph is counted."""
    taken: list[Any] = []
    system = FREE.at(agents=5, keys=2, values=2)

    def step(rules: Any, config: Any, state: Any, action: Any) -> Any:
        taken.append(action)
        return system.step(rules, config, state, action)

    about = estimate(replace(system, step=step))
    assert about is not None and about >= 77_025_120
    assert len(taken) <= EACH < STEPS
    for agent, _ in taken[0].choices:
        chosen = (dict(action.choices).get(agent) for action in taken)
        assert len({choice for choice in chosen if choice is not None}) == 8, agent
    assert estimate(system.at(agents=2)) == 2_528
