"""Dijkstra's detection of termination (EWD 840): a token goes round a ring of nodes that may wake one another.

A node that wakes one that the token has already left turns black and stains the token. If nodes forget to turn black,
the end is detected too early.

Published: 302 distinct states (TLA+ examples, `EWD840`; three nodes give this number).
"""

from dataclasses import make_dataclass, replace
from itertools import product

import evenhand
from evenhand.core.plan import refuted

COUNT = 3
State = make_dataclass("State", ["active", "black", "token", "stained"], frozen=True)


def put(row, index, entry):
    return (*row[:index], entry, *row[index + 1 :])


def actions(state):
    node = state.token
    tainted = state.black[node] or state.stained
    if tainted if node == 0 else tainted or not state.active[node]:
        yield ("start" if node == 0 else "pass", node, node)
    for node in (node for node in range(COUNT) if state.active[node]):
        yield ("end", node, node)
        yield from (("wake", node, other) for other in range(COUNT) if other != node)


def ring(name, honest):
    def step(state, action):
        verb, node, other = action
        if verb == "start":
            return replace(state, black=put(state.black, 0, False), token=COUNT - 1, stained=False)
        if verb == "pass":
            stained = state.stained or state.black[node]
            return replace(state, black=put(state.black, node, False), token=node - 1, stained=stained)
        if verb == "end":
            return replace(state, active=put(state.active, node, False))
        black = put(state.black, node, True) if honest and other > node else state.black
        return replace(state, active=put(state.active, other, True), black=black)

    every = list(product((False, True), repeat=COUNT))
    starts = [State(active, black, token, True) for active in every for black in every for token in range(COUNT)]
    return evenhand.system(name, initial=starts, actions=actions, step=step, types=(State,), ends=True)


def detected(state):
    return state.token == 0 and not (state.stained or state.black[0] or state.active[0])


@evenhand.always("What is detected is so.", when=detected, expected=(refuted("nodes stay white", system="forgetful"),))
def safe(state):
    return not any(state.active)


@evenhand.reachable("Termination can be detected.")
def detects(step):
    return detected(step.after)


ewd840, forgetful = ring("ewd840", honest=True), ring("forgetful", honest=False)
