"""Termination detection, as a specification, where messages take time (from the teaching of EWD 998).

Published: `AsyncTerminationDetection` of the TLA+ examples has 4,097 distinct states: four nodes, and a constraint that
keeps at most three messages on their way to each; any of 8^4 states before it is detected, and one after.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

import evenhand
from tests.known.known import Known, put

NODES = range(4)
MOST = 3
Action = tuple[str, int, bool]
Moment = evenhand.Step[None, "State", Action, None]


@dataclass(frozen=True)
class State:
    """Which nodes are active, how many messages are on their way to each, and whether the end was detected."""

    active: tuple[bool, ...]
    pending: tuple[int, ...] = (0,) * len(NODES)
    detected: bool = False

    @property
    def ended(self) -> bool:
        """No node is active, and no message will wake one."""
        return not any(self.active) and not any(self.pending)


def actions(state: State) -> Iterator[Action]:
    """An active node ends or sends a message, which wakes its receiver; the end may be detected at any time."""
    for node in NODES:
        if state.active[node]:
            yield from (("end", node, False), ("end", node, True))
        if any(state.active):
            yield ("send to", node, False)
        if state.pending[node]:
            yield ("receive", node, False)
    if state.ended:
        yield ("detect", 0, True)


def step(state: State, action: Action) -> State:
    """Take one action of the specification; an end may be detected at once."""
    verb, node, noticed = action
    active, pending = state.active, state.pending
    match verb:
        case "end":
            after = replace(state, active=put(active, node, False))
            return replace(after, detected=state.detected or (noticed and after.ended))
        case "send to":
            return replace(state, pending=put(pending, node, pending[node] + 1))
        case "receive":
            return replace(state, active=put(active, node, True), pending=put(pending, node, pending[node] - 1))
        case _:
            return replace(state, detected=True)


@evenhand.always("What is detected is so.")
def safe(state: State) -> bool:
    """No node is active then, and no message on its way."""
    return not state.detected or state.ended


def has_ended(step: Moment) -> bool:
    """Before this step."""
    return step.before.ended


@evenhand.each_step("What has ended stays so.", when=has_ended)
def quiescent(step: Moment) -> bool:
    """No node wakes up by itself."""
    return step.after.ended


def few_messages(state: State) -> bool:
    """The constraint of the publication."""
    return all(waiting <= MOST for waiting in state.pending)


STARTS = [State(active) for active in product((False, True), repeat=len(NODES))]
DETECTION = evenhand.system("async_termination", initial=STARTS, actions=actions, step=step, constraint=few_messages)
KNOWN = Known(DETECTION, states=4_097, true=(safe, quiescent))
