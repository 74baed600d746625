"""A loop that finds the highest number of a sequence, from the examples for learning to prove.

Published: `MCFindHighest` of the TLA+ examples has 742 distinct states; sequences of up to three of five numbers have
as many: a sequence of length n has n + 1 states of the loop and one when it is done.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

import evenhand
from tests.known.known import Known


@dataclass(frozen=True)
class State:
    """The sequence, the highest number so far, how many were read, and whether the loop was left."""

    numbers: tuple[int, ...]
    highest: int = -1
    read: int = 0
    done: bool = False


def step(state: State, _action: str) -> State:
    """The body of the loop, or its end."""
    if state.read == len(state.numbers):
        return replace(state, done=True)
    return replace(state, highest=max(state.highest, state.numbers[state.read]), read=state.read + 1)


@evenhand.always("At the end no number is higher, and the highest is one of them.")
def correct(state: State) -> bool:
    """The invariant of the specification."""
    return not state.done or state.highest == max(state.numbers, default=-1)


@evenhand.eventually("The loop ends.", fairness=("loop",))
def ends(step: evenhand.Step[None, State, str, None]) -> bool:
    """On every run in which the loop goes on."""
    return step.after.done


LOOP = evenhand.system(
    "find_highest",
    initial=[State(numbers) for length in range(4) for numbers in product(range(5), repeat=length)],
    actions=lambda state: [] if state.done else ["next"],
    step=step,
    fair={"loop": evenhand.Fairness("weak", lambda state, action: True)},
)
KNOWN = Known(LOOP, states=742, true=(correct, ends))
