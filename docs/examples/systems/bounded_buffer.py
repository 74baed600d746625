"""A bounded buffer with one condition variable: producers wait while it is full, consumers while it is empty.

Whoever puts or takes wakes one of those who wait, whichever it is. That may be one of its own kind, which goes back to
wait: the wake-up is lost, and with enough threads all wait for ever.

Published: it cannot be stuck if and only if twice the capacity is at least the number of threads (TLA+ examples,
`BlockingQueue`). No published count is at hand.
"""

import evenhand
from evenhand.core.plan import refuted


def threads(producers, consumers):
    return [f"p{number}" for number in range(producers)] + [f"c{number}" for number in range(consumers)]


def buffer(name, producers, consumers, capacity):
    """A state is the number of elements and the set of threads that wait; an action is a thread and whom it wakes."""

    def actions(state):
        size, waiting = state
        for thread in threads(producers, consumers):
            if thread not in waiting:
                blocked = size == (capacity if thread[0] == "p" else 0)
                yield from ((thread, woken) for woken in (sorted(waiting) if waiting and not blocked else [None]))

    def step(state, action):
        (size, waiting), (thread, woken) = state, action
        if size == (capacity if thread[0] == "p" else 0):
            return size, waiting | {thread}
        return size + (1 if thread[0] == "p" else -1), waiting - {woken}

    nobody = frozenset()
    return evenhand.system(name, initial=[(0, nobody)], actions=actions, step=step, shows=False)


@evenhand.deadlock_free(
    "Somebody can go on for ever.",
    wants=lambda state: True,
    expected=(refuted("a wake-up goes to the wrong kind", system="bounded_buffer"),),
)
def never_stuck(step):
    return len(step.after[1]) <= len(step.before[1])


@evenhand.always("There are never fewer elements than none, nor more than there is room for.")
def within_capacity(state):
    return 0 <= state[0] <= 2


bounded_buffer, roomy = buffer("bounded_buffer", 2, 1, 1), buffer("roomy", 2, 1, 2)
