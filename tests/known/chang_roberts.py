"""Leader election on a ring (Chang and Roberts): the smallest identity among the candidates wins.

Published: `MCChangRoberts` of the TLA+ examples has 137 distinct states; we remembered the number and not its
constants; it comes out with three nodes whose identities ascend in the direction of the messages.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

import evenhand
from tests.known.known import Known, put

NODES = range(3)
IDENTITY = (1, 2, 3)
Action = tuple[str, int, int]


@dataclass(frozen=True)
class State:
    """The initial candidates, the role of each node, the nodes that took their first step, and the messages to each."""

    candidate: tuple[bool, ...]
    status: tuple[str, ...]
    begun: tuple[bool, ...] = (False,) * len(NODES)
    inbox: tuple[frozenset[int], ...] = (frozenset[int](),) * len(NODES)


def start(candidate: tuple[bool, ...]) -> State:
    """A node that is no candidate has lost at once, and only passes on."""
    return State(candidate, tuple("candidate" if one else "lost" for one in candidate))


def actions(state: State) -> Iterator[Action]:
    """A node begins, or takes one of its messages."""
    for node in NODES:
        if not state.begun[node]:
            yield ("begin", node, IDENTITY[node])
        else:
            yield from (("take", node, identity) for identity in sorted(state.inbox[node]))


def passed(state: State, node: int, identity: int) -> State:
    """An identity goes to the next node."""
    after = (node + 1) % len(NODES)
    return replace(state, inbox=put(state.inbox, after, state.inbox[after] | {identity}))


def step(state: State, action: Action) -> State:
    """A candidate announces itself; a smaller identity defeats it, its own elects it, a larger one ends with it."""
    verb, node, identity = action
    if verb == "begin":
        begun = replace(state, begun=put(state.begun, node, True))
        return passed(begun, node, identity) if state.candidate[node] else begun
    taken = replace(state, inbox=put(state.inbox, node, state.inbox[node] - {identity}))
    if state.status[node] == "lost" or identity < IDENTITY[node]:
        return passed(replace(taken, status=put(state.status, node, "lost")), node, identity)
    return replace(taken, status=put(state.status, node, "won")) if identity == IDENTITY[node] else taken


@evenhand.always("Who wins has the smallest identity of those who began as candidates, and all others have lost.")
def the_smallest_wins(state: State) -> bool:
    """The invariant `Correctness` of the specification."""
    smallest = min((IDENTITY[node] for node in NODES if state.candidate[node]), default=0)
    return "won" not in state.status or all(
        status == ("won" if IDENTITY[node] == smallest else "lost") for node, status in enumerate(state.status)
    )


@evenhand.reachable("Somebody can win.")
def elects(step: evenhand.Step[None, State, Action, None]) -> bool:
    """A ring on which no node ever wins also satisfies the invariant."""
    return "won" in step.after.status


RING = evenhand.system(
    "chang_roberts",
    initial=[start(some) for some in product((False, True), repeat=len(NODES))],
    actions=actions,
    step=step,
)
# All begin, and the one candidate's identity is taken three times.
KNOWN = Known(RING, states=137, true=(the_smallest_wins,), reached=((elects, 6),))
