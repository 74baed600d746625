"""Two threads that increment a shared counter without a lock.

Published: Stateright's example `increment`, whose commentary draws the 13 states that two threads have without symmetry
reduction; an update is lost.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import evenhand
from tests.known.known import Known, put

THREADS = 2
READ, WRITE, DONE = 1, 2, 3


@dataclass(frozen=True)
class State:
    """The counter; for each thread the value it read, and its next line."""

    counter: int = 0
    local: tuple[int, ...] = (0,) * THREADS
    next: tuple[int, ...] = (READ,) * THREADS


def step(state: State, thread: int) -> State:
    """A thread reads the counter, or writes the value it read plus one."""
    after = replace(state, next=put(state.next, thread, state.next[thread] + 1))
    if state.next[thread] == READ:
        return replace(after, local=put(state.local, thread, state.counter))
    return replace(after, counter=state.local[thread] + 1)


@evenhand.always("The counter says how many threads are done.")
def no_lost_update(state: State) -> bool:
    """Stateright's `fin`: false, since both can read zero."""
    return state.counter == state.next.count(DONE)


@evenhand.always("The counter says no more than how many threads are done.")
def never_more(state: State) -> bool:
    """Updates are lost, never invented."""
    return state.counter <= state.next.count(DONE)


COUNTER = evenhand.system(
    "increment",
    initial=[State()],
    actions=lambda state: [thread for thread in range(THREADS) if state.next[thread] != DONE],
    step=step,
)
# Both read, both write.
KNOWN = Known(COUNTER, states=13, true=(never_more,), false=((no_lost_update, 4),))
