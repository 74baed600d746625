"""The prisoners and the room with two switches: one counts, the others raise the first switch twice each.

Published: `Prisoners` of the TLA+ examples has 214 distinct states; we remembered the number and not how many
prisoners; it comes out with four.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import evenhand
from tests.known.known import Known, put

OTHERS = 3
COUNTER = -1


@dataclass(frozen=True)
class State:
    """Both switches, how often each of the others raised the first, and the count."""

    first: bool
    second: bool
    raised: tuple[int, ...] = (0,) * OTHERS
    count: int = 0


def step(state: State, prisoner: int) -> State:
    """A visit to the room; a prisoner without a task at the first switch moves the second."""
    if prisoner == COUNTER and state.first:
        return replace(state, first=False, count=state.count + 1)
    if prisoner != COUNTER and not state.first and state.raised[prisoner] < 2:
        return replace(state, first=True, raised=put(state.raised, prisoner, state.raised[prisoner] + 1))
    return replace(state, second=not state.second)


@evenhand.always("Once the counter has counted to its end, every prisoner was in the room.")
def safe(state: State) -> bool:
    """The invariant of the specification: no prisoner says so too early."""
    return state.count < 2 * OTHERS or all(state.raised)


@evenhand.reachable("The counter can count to its end.")
def can_end(step: evenhand.Step[None, State, int, None]) -> bool:
    """The prisoners can be released."""
    return step.after.count == 2 * OTHERS


ROOM = evenhand.system(
    "prisoners",
    initial=[State(first, second) for first in (False, True) for second in (False, True)],
    actions=lambda state: range(COUNTER, OTHERS),
    step=step,
)
# With the switch up at first, one visit of the counter; five rounds of another and the counter complete six.
KNOWN = Known(ROOM, states=214, true=(safe,), reached=((can_end, 1 + 2 * 5),))
