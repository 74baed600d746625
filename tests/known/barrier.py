"""A barrier: all processes wait until the last has come, and then all go on.

Published: `Barrier` of the TLA+ examples has 64 distinct states with six processes.
"""

from __future__ import annotations

import evenhand
from tests.known.known import Known, put

State = tuple[bool, ...]
Moment = evenhand.Step[None, State, int, None]
ALL = -1
OPEN = (False,) * 6


def actions(waits: State) -> list[int]:
    """Each process that is not there may come; when all are there, the barrier opens."""
    return [process for process, there in enumerate(waits) if not there] or [ALL]


def step(waits: State, action: int) -> State:
    """One process comes, or all leave."""
    return OPEN if action == ALL else put(waits, action, True)


def some_leave(step: Moment) -> bool:
    """There are fewer at the barrier."""
    return sum(step.after) < sum(step.before)


@evenhand.each_step("Whoever leaves the barrier leaves it with all others.", when=some_leave)
def together(step: Moment) -> bool:
    """The purpose of a barrier."""
    return all(step.before) and not any(step.after)


def anybody(_waits: State) -> bool:
    """A claim about every state."""
    return True


@evenhand.deadlock_free("The barrier can always open again.", wants=anybody)
def opens(step: Moment) -> bool:
    """From any places of the processes."""
    return step.action == ALL


KNOWN = Known(evenhand.system("barrier", initial=[OPEN], actions=actions, step=step), states=64, true=(together, opens))
