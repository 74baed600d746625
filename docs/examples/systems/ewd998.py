"""Safra's detection of termination (EWD 998): as EWD 840, but messages take time, so nodes count them.

The token adds up what each node has sent less what it has received. A node that receives turns black. If it stays
white, the end is detected while a message is on its way. At most one message is on its way to each node, and no count
goes beyond one.

The token is `at` a node, with a `sum`, and maybe `stained`.

No published count is at hand for this bound; that it implements EWD 840's specification is the published theorem.
"""

from dataclasses import make_dataclass, replace

import evenhand
from evenhand.core.plan import refuted

COUNT = 3
State = make_dataclass("State", ["active", "black", "count", "pending", "at", "sum", "stained"], frozen=True)


def put(row, index, entry):
    return (*row[:index], entry, *row[index + 1 :])


def detected(state):
    clean = not (state.stained or state.black[0] or state.active[0])
    return state.at == 0 and clean and state.sum + state.count[0] == 0


def may_send(state, node, to):
    return to != node and not state.pending[to] and state.count[node] < 1


def actions(state):
    if not detected(state) and (state.at == 0 or not state.active[state.at]):
        yield ("start" if state.at == 0 else "pass", state.at, state.at)
    for node in range(COUNT):
        if state.active[node]:
            yield ("end", node, node)
            yield from (("send", node, to) for to in range(COUNT) if may_send(state, node, to))
        if state.pending[node] and state.count[node] > -1:
            yield ("receive", node, node)


def ring(name, honest):
    def step(state, action):
        verb, node, to = action
        if verb == "start":
            return replace(state, at=COUNT - 1, sum=0, stained=False, black=put(state.black, 0, False))
        if verb == "pass":
            token = {
                "at": node - 1,
                "sum": state.sum + state.count[node],
                "stained": state.stained or state.black[node],
            }
            return replace(state, black=put(state.black, node, False), **token)
        if verb == "end":
            return replace(state, active=put(state.active, node, False))
        if verb == "send":
            return replace(
                state, count=put(state.count, node, state.count[node] + 1), pending=put(state.pending, to, True)
            )
        after = replace(
            state, count=put(state.count, node, state.count[node] - 1), pending=put(state.pending, node, False)
        )
        return replace(after, active=put(state.active, node, True), black=put(state.black, node, honest))

    start = State((True,) * COUNT, (False,) * COUNT, (0,) * COUNT, (False,) * COUNT, 0, 0, True)
    return evenhand.system(name, initial=[start], actions=actions, step=step, types=(State,), ends=detected)


@evenhand.always(
    "What is detected is so.", when=detected, expected=(refuted("it stays white", system="forgetful_998"),)
)
def safe(state):
    return not any(state.active) and not any(state.pending)


@evenhand.reachable("Termination can be detected.")
def detects(step):
    return detected(step.after)


ewd998, forgetful_998 = ring("ewd998", honest=True), ring("forgetful_998", honest=False)
