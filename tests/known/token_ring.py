"""Dijkstra's self-stabilizing token ring (EWD 426): from any state on, there is finally one token.

Published: `TokenRing` of the TLA+ examples has 46,656 distinct states: six nodes with six values each, and any state is
an initial one.
"""

from __future__ import annotations

from itertools import product

import evenhand
from tests.known.known import Known, put

NODES, VALUES = 6, 6
State = tuple[int, ...]
Moment = evenhand.Step[None, State, int, None]


def tokens(counters: State) -> list[int]:
    """The nodes with a token: the first if the last has its value, any other if its predecessor has another value."""
    others = (node for node in range(1, NODES) if counters[node] != counters[node - 1])
    return [0, *others] if counters[0] == counters[-1] else list(others)


def step(counters: State, node: int) -> State:
    """A node with a token passes it on: the first node counts up, the others copy."""
    return put(counters, node, counters[node - 1] if node else (counters[0] + 1) % VALUES)


@evenhand.always("Somebody has a token.")
def never_none(counters: State) -> bool:
    """Tokens vanish, but not the last."""
    return bool(tokens(counters))


@evenhand.each_step("Tokens never get more.")
def never_more(step: Moment) -> bool:
    """So a single token stays the only one."""
    return len(tokens(step.after)) <= len(tokens(step.before))


@evenhand.eventually("There is at last one token.")
def stabilizes(step: Moment) -> bool:
    """Without any assumption of fairness."""
    return len(tokens(step.after)) == 1


RING = evenhand.system("token_ring", initial=list(product(range(VALUES), repeat=NODES)), actions=tokens, step=step)
KNOWN = Known(RING, states=46_656, true=(never_none, never_more, stabilizes))
