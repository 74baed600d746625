"""Dijkstra's detection of termination with a token on a ring (EWD 840).

Published: `EWD840` of the TLA+ examples has 302 distinct states; we remembered the number and not how many nodes; it
comes out with three.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

import evenhand
from tests.known.known import Known, put

NODES = range(3)
Action = tuple[str, int, int]


@dataclass(frozen=True)
class State:
    """The active nodes, the black nodes, the place of the token, and whether it is black."""

    active: tuple[bool, ...]
    black: tuple[bool, ...]
    token: int
    token_black: bool = True


def actions(state: State) -> Iterator[Action]:
    """A node that is passive or makes no claim passes the token down; an active node may wake another, and ends."""
    node = state.token
    tainted = state.black[node] or state.token_black
    if tainted if node == 0 else tainted or not state.active[node]:
        yield ("start probe" if node == 0 else "pass token", node, node)
    for node in NODES:
        if state.active[node]:
            yield ("end", node, node)
            yield from (("wake", node, other) for other in NODES if other != node)


def step(state: State, action: Action) -> State:
    """Take one action of the specification; a node that wakes one of a higher number turns black."""
    verb, node, other = action
    match verb:
        case "start probe":
            return replace(state, black=put(state.black, 0, False), token=len(NODES) - 1, token_black=False)
        case "pass token":
            stained = state.token_black or state.black[node]
            return replace(state, black=put(state.black, node, False), token=node - 1, token_black=stained)
        case "end":
            return replace(state, active=put(state.active, node, False))
        case _:
            black = put(state.black, node, True) if other > node else state.black
            return replace(state, active=put(state.active, other, True), black=black)


@evenhand.always("If the first node takes it for terminated, no node is active.")
def safe(state: State) -> bool:
    """The invariant `TerminationDetection` of the specification."""
    clean = state.token == 0 and not (state.token_black or state.black[0] or state.active[0])
    return not clean or not any(state.active)


@evenhand.reachable("Termination can be detected.")
def detects(step: evenhand.Step[None, State, Action, None]) -> bool:
    """The token is back, clean, at a first node that is passive and clean."""
    after: State = step.after
    return after.token == 0 and not (after.token_black or after.black[0] or after.active[0])


STARTS = [
    State(active, black, token)
    for active in product((False, True), repeat=len(NODES))
    for black in product((False, True), repeat=len(NODES))
    for token in NODES
]
RING = evenhand.system("ewd840", initial=STARTS, actions=actions, step=step)
# The probe starts, and each of the two others passes the token.
KNOWN = Known(RING, states=302, true=(safe,), reached=((detects, 3),))
