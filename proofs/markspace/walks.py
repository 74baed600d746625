"""Seeded walks of the guard: runs on which theories and model are compared."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from evenhand.core.system import System
from evenhand.model.markspace.guard import initial
from evenhand.model.markspace.guard_vocabulary import Act, Config, GuardStep, Phase, State, What
from evenhand.smt.tables import Rows

Guard = System[Config, State, Act, Any, Any]


def walk(system: Guard, config: Config, seed: str, length: int) -> Iterator[GuardStep]:
    """Yield the steps of a run from the start: draw a kind of act that is on offer, then one act of that kind."""
    choose, state = random.Random(seed), initial(config)[0]
    for _ in range(length):
        kinds: dict[What, list[Act]] = {}
        for act in system.enabled(config, state):
            kinds.setdefault(act.what, []).append(act)
        step = system.take(config, state, choose.choice(kinds[choose.choice(list(kinds))]))
        yield step
        state = step.after


def in_phase(config: Config, state: State, phase: Phase) -> Rows:
    """Return each agent in this phase, with its resource."""
    here = zip(config.agents, state.doing, strict=True)
    return frozenset((agent, doing.resource) for agent, doing in here if doing.phase is phase)
