"""Raft's leader election: a server that hears nothing starts a new term and asks the others for their votes.

A server votes once in a term, for the first that asks; a majority makes a leader. A candidate that is content with its
own vote lets two lead one term. Terms end at two.

`votes` are those that a server heard of, `led` has each leader with its term.

No published count is at hand for elections alone; that a term has at most one leader is the published theorem.
"""

from dataclasses import make_dataclass, replace

import evenhand
from evenhand.core.plan import refuted

COUNT, LAST = 3, 2
State = make_dataclass("State", ["term", "role", "voted", "votes", "sent", "led"], frozen=True)


def put(row, index, entry):
    return (*row[:index], entry, *row[index + 1 :])


def election(name, needed):
    def may_vote(state, who, sender, term):
        """A newer term takes back every vote."""
        return term > state.term[who] or state.voted[who] in (None, sender)

    def actions(state):
        for who in range(COUNT):
            if state.role[who] != "leader" and state.term[who] < LAST:
                yield ("time out", who, who, state.term[who] + 1)
            if state.role[who] == "candidate" and len(state.votes[who]) >= needed:
                yield ("lead", who, who, state.term[who])
            for kind, sender, to, term in sorted(state.sent):
                if kind == "vote" and to == who and term == state.term[who] and sender not in state.votes[who]:
                    yield ("count", who, sender, term)
                elif kind == "ask" and sender != who and term >= state.term[who] and may_vote(state, who, sender, term):
                    yield ("grant", who, sender, term)

    def step(state, action):
        verb, who, other, term = action
        if verb == "lead":
            return replace(state, role=put(state.role, who, "leader"), led=state.led | {(term, who)})
        if verb == "count":
            return replace(state, votes=put(state.votes, who, state.votes[who] | {other}))
        state = replace(state, term=put(state.term, who, term), voted=put(state.voted, who, other))
        if verb == "time out":
            sent, votes = state.sent | {("ask", who, -1, term)}, put(state.votes, who, frozenset({who}))
            return replace(state, role=put(state.role, who, "candidate"), votes=votes, sent=sent)
        role, votes = put(state.role, who, "follower"), put(state.votes, who, frozenset())
        return replace(state, role=role, votes=votes, sent=state.sent | {("vote", who, other, term)})

    nobody = frozenset()
    start = State((0,) * COUNT, ("follower",) * COUNT, (None,) * COUNT, (nobody,) * COUNT, nobody, nobody)
    return evenhand.system(name, initial=[start], actions=actions, step=step, types=(State,), ends=True)


@evenhand.always("A term has at most one leader.", expected=(refuted("its own vote is enough", system="alone"),))
def one_leader(state):
    return len({term for term, _leader in state.led}) == len(state.led)


@evenhand.reachable("Each of two terms can have a leader.")
def two_terms(step):
    return len(step.after.led) == 2


raft_election, alone = election("raft_election", needed=COUNT // 2 + 1), election("alone", needed=1)
