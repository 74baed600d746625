"""Paxos: acceptors vote in ballots, and never is more than one value chosen.

Published: `MCPaxosTiny` of the TLA+ examples has 3,921 distinct states.  We remembered the number and not all of its
constants; it comes out with three acceptors, their majorities as quorums, two ballots and two values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import evenhand
from tests.known.known import Known, put

ACCEPTORS, BALLOTS, VALUES = range(3), range(2), ("x", "y")
QUORUMS = list(combinations(ACCEPTORS, 2))
NONE = ""
Message = tuple[str, int, int, int, str]
Action = tuple[str, int, int, str]


@dataclass(frozen=True)
class State:
    """For each acceptor the highest ballot that it heard of, and the last ballot and value that it voted for.

    A message is (kind, acceptor, ballot, ballot of the last vote, value), with -1 and "" for absent parts.
    """

    heard: tuple[int, ...] = (-1,) * len(ACCEPTORS)
    ballot: tuple[int, ...] = (-1,) * len(ACCEPTORS)
    value: tuple[str, ...] = (NONE,) * len(ACCEPTORS)
    sent: frozenset[Message] = frozenset()


def proposal(ballot: int, value: str) -> Message:
    """The message of phase 2a."""
    return ("2a", -1, ballot, -1, value)


def safe(state: State, ballot: int, value: str) -> bool:
    """A quorum has answered the ballot, and its latest vote, if any, is for this value."""
    answers = [message for message in state.sent if message[0] == "1b" and message[2] == ballot]
    for quorum in QUORUMS:
        heard = [message for message in answers if message[1] in quorum]
        votes = [(last, what) for _kind, _who, _ballot, last, what in heard if last >= 0]
        if {message[1] for message in heard} == set(quorum) and (not votes or max(votes) == (max(votes)[0], value)):
            return True
    return False


def actions(state: State) -> Iterator[Action]:
    """The actions that the specification enables, phase by phase."""
    for ballot in BALLOTS:
        yield ("1a", -1, ballot, NONE)
        if not any(proposal(ballot, value) in state.sent for value in VALUES):
            yield from (("2a", -1, ballot, value) for value in VALUES if safe(state, ballot, value))
        for acceptor in ACCEPTORS:
            if ("1a", -1, ballot, -1, NONE) in state.sent and ballot > state.heard[acceptor]:
                yield ("1b", acceptor, ballot, NONE)
            for value in VALUES:
                if proposal(ballot, value) in state.sent and ballot >= state.heard[acceptor]:
                    yield ("2b", acceptor, ballot, value)


def step(state: State, action: Action) -> State:
    """One phase: an acceptor that answers or votes remembers it, and sent messages stay."""
    kind, acceptor, ballot, value = action
    match kind:
        case "1b":
            last, voted = state.ballot[acceptor], state.value[acceptor]
            answer = (kind, acceptor, ballot, last, voted)
            return replace(state, heard=put(state.heard, acceptor, ballot), sent=state.sent | {answer})
        case "2b":
            return State(
                put(state.heard, acceptor, ballot),
                put(state.ballot, acceptor, ballot),
                put(state.value, acceptor, value),
                state.sent | {(kind, acceptor, ballot, -1, value)},
            )
        case _:
            return replace(state, sent=state.sent | {(kind, acceptor, ballot, -1, value)})


def chosen(state: State) -> set[str]:
    """The values for which a quorum voted in one ballot."""
    return {
        value
        for value in VALUES
        for ballot in BALLOTS
        for quorum in QUORUMS
        if all(("2b", acceptor, ballot, -1, value) in state.sent for acceptor in quorum)
    }


@evenhand.always("At most one value is chosen.")
def agreement(state: State) -> bool:
    """The purpose of Paxos."""
    return len(chosen(state)) <= 1


@evenhand.reachable("A value can be chosen.")
def can_choose(step: evenhand.Step[None, State, Action, None]) -> bool:
    """Acceptors that never vote would also agree."""
    return bool(chosen(step.after))


# 1a; two answer; 2a; two vote.
KNOWN = Known(
    evenhand.system("paxos", initial=[State()], actions=actions, step=step),
    states=3_921,
    true=(agreement,),
    reached=((can_choose, 6),),
)
