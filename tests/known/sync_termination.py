"""Termination detection, as a specification: a node wakes another one at once (from the teaching of EWD 840).

Published: `SyncTerminationDetection` of the TLA+ examples has 129 distinct states; we remembered the number and not how
many nodes; it comes out with seven: any of 2^7 states before it is detected, and one after.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

import evenhand
from tests.known.known import Known, put

COUNT = 7
Action = tuple[str, int, bool]
Moment = evenhand.Step[None, "State", Action, None]


@dataclass(frozen=True)
class State:
    """The active nodes, and whether it was detected that there are none."""

    active: tuple[bool, ...]
    detected: bool = False


def actions(state: State) -> Iterator[Action]:
    """An active node ends (which may be detected at once) or wakes another; the end may be detected at any time."""
    nodes = range(len(state.active))
    for node in nodes:
        if state.active[node]:
            yield from (("end", node, False), ("end", node, True))
            yield from (("wake", other, False) for other in nodes)
    if not any(state.active):
        yield ("detect", 0, True)


def step(state: State, action: Action) -> State:
    """Take one action of the specification."""
    verb, node, noticed = action
    if verb == "detect":
        return replace(state, detected=True)
    active = put(state.active, node, verb == "wake")
    return State(active, state.detected or (noticed and not any(active)))


@evenhand.always("What is detected is so.")
def safe(state: State) -> bool:
    """No node is active then."""
    return not state.detected or not any(state.active)


def ended(step: Moment) -> bool:
    """The last node has ended, and the end is not detected yet."""
    return not any(step.after.active) and not step.after.detected


@evenhand.leads_to("That all have ended is detected.", trigger=ended, fairness=("detect",))
def live(step: Moment) -> bool:
    """If detection is fair."""
    return step.after.detected


def detection(count: int) -> evenhand.System[None, State, Action, None, None]:
    """Return the system with so many nodes."""
    return evenhand.system(
        "sync_termination",
        initial=[
            State(active, detected)
            for active in product((False, True), repeat=count)
            for detected in ((False,) if any(active) else (False, True))
        ],
        actions=actions,
        step=step,
        fair={"detect": evenhand.Fairness("weak", lambda state, action: action[0] == "detect")},
    )


KNOWN = Known(detection(COUNT), states=129, true=(safe, live))
