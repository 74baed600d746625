"""The majority vote of Boyer and Moore: one pass and one counter find the value with a majority, if there is one.

Published: `MCMajority` of the TLA+ examples has 2,733 distinct states: three values, sequences of up to five.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import evenhand
from tests.known.known import Known

VALUES = "ABC"
LONGEST = 5


@dataclass(frozen=True)
class State:
    """The sequence, the number of values read, the candidate and its counter."""

    votes: tuple[str, ...]
    candidate: str
    read: int = 0
    count: int = 0


def step(state: State, _action: str) -> State:
    """Read one vote."""
    vote = state.votes[state.read]
    if state.count == 0:
        return State(state.votes, vote, state.read + 1, 1)
    count = state.count + (1 if vote == state.candidate else -1)
    return State(state.votes, state.candidate, state.read + 1, count)


@evenhand.always("At the end nobody but the candidate can have a majority.")
def correct(state: State) -> bool:
    """The invariant `Correct` of the specification."""
    others = set(VALUES) - {state.candidate}
    return state.read < len(state.votes) or all(2 * state.votes.count(other) <= len(state.votes) for other in others)


@evenhand.always("The counter of the candidate is no larger than its number of votes so far.")
def counted(state: State) -> bool:
    """A part of the inductive invariant `Inv`."""
    return 0 <= state.count <= state.votes[: state.read].count(state.candidate)


SEQUENCES = [votes for length in range(LONGEST + 1) for votes in product(VALUES, repeat=length)]
VOTE = evenhand.system(
    "majority",
    initial=[State(votes, candidate) for votes in SEQUENCES for candidate in VALUES],
    actions=lambda state: ["read"] if state.read < len(state.votes) else [],
    step=step,
)
KNOWN = Known(VOTE, states=2_733, true=(correct, counted))
