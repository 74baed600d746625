"""Paxos: acceptors promise and vote in numbered ballots, and never is more than one value chosen.

A leader may propose only what the latest vote of a quorum allows. A leader that is content with one
answer breaks it.

A message is (kind, acceptor, ballot, ballot of the last vote, value).

Published: 3,921 distinct states (TLA+ examples, `MCPaxosTiny`; three acceptors, two ballots and two values give it).
"""

from dataclasses import make_dataclass, replace
from itertools import combinations

import evenhand
from evenhand.core.plan import refuted

ACCEPTORS, BALLOTS, VALUES = range(3), range(2), ("x", "y")
QUORUMS, SINGLES = list(combinations(ACCEPTORS, 2)), [(who,) for who in ACCEPTORS]
State = make_dataclass("State", ["heard", "ballot", "value", "sent"], frozen=True)


def safe(state, ballot, value, quorums):
    """Whether a quorum has answered the ballot, and its latest vote, if any, is for this value."""
    for quorum in quorums:
        heard = [
            message for message in state.sent if message[:1] + message[2:3] == ("1b", ballot) and message[1] in quorum
        ]
        votes = [message[3:] for message in heard if message[3] >= 0]
        if {message[1] for message in heard} == set(quorum) and (not votes or max(votes)[1] == value):
            return True
    return False


def paxos_of(name, quorums):
    def actions(state):
        for ballot in BALLOTS:
            yield ("1a", -1, ballot, "")
            if not any(("2a", -1, ballot, -1, value) in state.sent for value in VALUES):
                yield from (("2a", -1, ballot, value) for value in VALUES if safe(state, ballot, value, quorums))
            for who in ACCEPTORS:
                if ("1a", -1, ballot, -1, "") in state.sent and ballot > state.heard[who]:
                    yield ("1b", who, ballot, "")
                for value in VALUES:
                    if ("2a", -1, ballot, -1, value) in state.sent and ballot >= state.heard[who]:
                        yield ("2b", who, ballot, value)

    start = State((-1,) * 3, (-1,) * 3, ("",) * 3, frozenset())
    return evenhand.system(name, initial=[start], actions=actions, step=step, types=(State,))


def step(state, action):
    kind, who, ballot, value = action
    put = lambda row, entry: (*row[:who], entry, *row[who + 1 :])  # noqa: E731
    if kind == "1b":
        answer = (kind, who, ballot, state.ballot[who], state.value[who])
        return replace(state, heard=put(state.heard, ballot), sent=state.sent | {answer})
    sent = state.sent | {(kind, who, ballot, -1, value)}
    if kind != "2b":
        return replace(state, sent=sent)
    return State(put(state.heard, ballot), put(state.ballot, ballot), put(state.value, value), sent)


def chosen(state):
    votes = {message[1:3] + message[4:] for message in state.sent if message[0] == "2b"}
    return {v for v in VALUES for b in BALLOTS for quorum in QUORUMS if all((who, b, v) in votes for who in quorum)}


@evenhand.always("At most one value is chosen.", expected=(refuted("one answer may hide a vote", system="careless"),))
def agreement(state):
    return len(chosen(state)) <= 1


@evenhand.reachable("A value can be chosen.")
def can_choose(step):
    return bool(chosen(step.after))


paxos, careless = paxos_of("paxos", QUORUMS), paxos_of("careless", SINGLES)
