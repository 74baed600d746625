"""The echo algorithm: a wave through a network builds a spanning tree and returns to its initiator.

Published: `MCEcho` of the TLA+ examples has 75 distinct states; three nodes that are all neighbours have as many.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import evenhand
from tests.known.known import Known, put

NODES = range(3)
INITIATOR = 0
NOBODY = -1
Message = tuple[int, str]
Action = tuple[str, int, Message]
SILENCE: Message = (NOBODY, "")


@dataclass(frozen=True)
class State:
    """Messages to each node, its parent and children, how many messages it received, and its line in the program."""

    inbox: tuple[frozenset[Message], ...] = (frozenset[Message](),) * len(NODES)
    parent: tuple[int, ...] = (NOBODY,) * len(NODES)
    children: tuple[frozenset[int], ...] = (frozenset[int](),) * len(NODES)
    received: tuple[int, ...] = (0,) * len(NODES)
    at: tuple[str, ...] = ("start",) * len(NODES)


def neighbours(node: int) -> set[int]:
    """All other nodes."""
    return set(NODES) - {node}


def told(state: State, to: set[int], message: Message) -> State:
    """A message to some nodes."""
    return replace(
        state, inbox=tuple(inbox | {message} if node in to else inbox for node, inbox in enumerate(state.inbox))
    )


def actions(state: State) -> Iterator[Action]:
    """The next line of each node: it starts, takes messages until one came from every neighbour, and reports."""
    for node, place in enumerate(state.at):
        if place == "start":
            yield ("start", node, SILENCE)
        elif place == "waits" and state.received[node] == len(neighbours(node)):
            yield ("has all", node, SILENCE)
        elif place == "waits":
            yield from (("take", node, message) for message in sorted(state.inbox[node]))
        elif place == "reports":
            yield ("report", node, SILENCE)


def step(state: State, action: Action) -> State:
    """Run one line of the program of one node."""
    verb, node, message = action
    if verb == "take":
        return taken(state, node, message)
    follows = {"start": "waits", "has all": "reports", "report": "done"}
    after = replace(state, at=put(state.at, node, follows[verb]))
    if verb == "start" and node == INITIATOR:
        return told(after, neighbours(node), (node, "wave"))
    if verb == "report" and node != INITIATOR:
        return told(after, {state.parent[node]}, (node, "child"))
    return after


def taken(state: State, node: int, message: Message) -> State:
    """The first message makes its sender the parent, and is passed on to all others."""
    sender, kind = message
    after = replace(
        state,
        inbox=put(state.inbox, node, state.inbox[node] - {message}),
        received=put(state.received, node, state.received[node] + 1),
    )
    if node != INITIATOR and state.received[node] == 0:
        passed_on = told(after, neighbours(node) - {sender}, (node, "wave"))
        return replace(passed_on, parent=put(state.parent, node, sender))
    if kind == "child":
        return replace(after, children=put(state.children, node, state.children[node] | {sender}))
    return after


def above(state: State, node: int) -> set[int]:
    """The ancestors of a node."""
    found: set[int] = set()
    while state.parent[node] not in found | {NOBODY}:
        node = state.parent[node]
        found.add(node)
    return found


@evenhand.always("When the initiator is done, the nodes are a tree below it.")
def tree(state: State) -> bool:
    """The invariant `Correctness` of the specification, for the initiator's last line."""
    return state.at[INITIATOR] != "done" or all(INITIATOR in above(state, node) for node in neighbours(INITIATOR))


@evenhand.always("A node knows no child that does not take it for its parent.")
def children_agree(state: State) -> bool:
    """Parents and children are the same edges."""
    return all(state.parent[child] == node for node in NODES for child in state.children[node])


@evenhand.reachable("The initiator can get done.")
def comes_back(step: evenhand.Step[None, State, Action, None]) -> bool:
    """The wave comes back."""
    return step.after.at[INITIATOR] == "done"


NETWORK = evenhand.system("echo", initial=[State()], actions=actions, step=step)
# Each of three starts, takes two messages, has all and reports.
KNOWN = Known(NETWORK, states=75, true=(tree, children_agree), reached=((comes_back, 3 * 5),))
