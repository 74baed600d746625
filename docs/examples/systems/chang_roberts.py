"""Leader election on a ring (Chang and Roberts): each candidate sends its number round; the smallest comes back.

A node passes on a smaller number than its own and has lost then; it keeps a larger one to itself.

Published: 137 distinct states (TLA+ examples, `MCChangRoberts`; three nodes, ascending, give this number).
"""

from dataclasses import make_dataclass, replace
from itertools import product

import evenhand

NUMBER = (1, 2, 3)
State = make_dataclass("State", ["candidate", "status", "begun", "inbox"], frozen=True)


def put(row, index, entry):
    return (*row[:index], entry, *row[index + 1 :])


def actions(state):
    for node in range(len(NUMBER)):
        if not state.begun[node]:
            yield ("begin", node, NUMBER[node])
        else:
            yield from (("take", node, number) for number in sorted(state.inbox[node]))


def passed(state, node, number):
    after = (node + 1) % len(NUMBER)
    return replace(state, inbox=put(state.inbox, after, state.inbox[after] | {number}))


def step(state, action):
    verb, node, number = action
    if verb == "begin":
        begun = replace(state, begun=put(state.begun, node, True))
        return passed(begun, node, number) if state.candidate[node] else begun
    taken = replace(state, inbox=put(state.inbox, node, state.inbox[node] - {number}))
    if state.status[node] == "lost" or number < NUMBER[node]:
        return passed(replace(taken, status=put(state.status, node, "lost")), node, number)
    return replace(taken, status=put(state.status, node, "won")) if number == NUMBER[node] else taken


@evenhand.always("Who wins has the smallest number of the candidates, and all others have lost.")
def the_smallest_wins(state):
    smallest = min((number for number, stands in zip(NUMBER, state.candidate, strict=True) if stands), default=0)
    right = tuple("won" if number == smallest else "lost" for number in NUMBER)
    return "won" not in state.status or state.status == right


@evenhand.reachable("Somebody can win.")
def elects(step):
    return "won" in step.after.status


STARTS = [
    State(some, tuple("candidate" if one else "lost" for one in some), (False,) * 3, (frozenset(),) * 3)
    for some in product((False, True), repeat=len(NUMBER))
]
chang_roberts = evenhand.system("chang_roberts", initial=STARTS, actions=actions, step=step, types=(State,), ends=True)
