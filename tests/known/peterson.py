"""Peterson's lock, line by line.

Published: `Peterson` of the TLA+ examples (`locks_auxiliary_vars`) has 42 distinct states; the model in the tests of
the search has fewer, because it does not separate a resting process from one about to raise its flag.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import evenhand
from tests.known.known import Known, put

PROCESSES = (0, 1)
LINES = {"rest": "raise", "raise": "give", "give": "wait", "wait": "inside", "inside": "lower", "lower": "rest"}
Moment = evenhand.Step[None, "State", int, None]


@dataclass(frozen=True)
class State:
    """The flags, the process whose turn it is, and the line of each process."""

    flags: tuple[bool, ...] = (False, False)
    turn: int = 0
    at: tuple[str, ...] = ("rest", "rest")


def actions(state: State) -> list[int]:
    """A waiting process goes on when the other's flag is down or the turn is its own."""
    return [
        process
        for process in PROCESSES
        if state.at[process] != "wait" or not state.flags[1 - process] or state.turn == process
    ]


def step(state: State, process: int) -> State:
    """The next line of one process."""
    line = state.at[process]
    after = replace(state, at=put(state.at, process, LINES[line]))
    if line in ("raise", "lower"):
        return replace(after, flags=put(state.flags, process, line == "raise"))
    return replace(after, turn=1 - process) if line == "give" else after


def runs(process: int) -> Callable[[State, int], bool]:
    """A process may rest for ever, but stops in no other place."""
    return lambda state, chosen: chosen == process and state.at[process] != "rest"


@evenhand.always("The processes are not both inside.")
def exclusion(state: State) -> bool:
    """Safety."""
    return state.at != ("inside", "inside")


@evenhand.leads_to(
    "Who raises its flag gets in.",
    trigger=lambda step: step.action == 0 and step.before.at[0] == "raise",
    fairness=("first", "second"),
)
def gets_in(step: Moment) -> bool:
    """Liveness, for the first process."""
    return step.after.at[0] == "inside"


LOCK = evenhand.system(
    "peterson_by_lines",
    initial=[State()],
    actions=actions,
    step=step,
    fair={name: evenhand.Fairness("weak", runs(process)) for process, name in enumerate(("first", "second"))},
)
KNOWN = Known(LOCK, states=42, true=(exclusion, gets_in))
