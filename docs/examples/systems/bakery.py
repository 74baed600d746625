"""Lamport's bakery: a process takes a number above all that it sees, and waits for those with a smaller one.

Reading the other numbers takes time, so a process says that it is choosing. Without that sign two processes can take
the same number, and the one with the smaller name enters after the other. Numbers above a limit are not taken.

No published count is at hand for this grain of steps; mutual exclusion is the published theorem.
"""

from dataclasses import make_dataclass, replace

import evenhand
from evenhand.core.plan import refuted

PROCESSES, MOST = (0, 1), 3
State = make_dataclass("State", ["at", "number", "seen"], frozen=True)


def put(pair, index, entry):
    return (entry, pair[1]) if index == 0 else (pair[0], entry)


def bakery_of(name, sign):
    def waits_for(state, who, other):
        choosing = sign and state.at[other] in ("choosing", "writing")
        return choosing or (state.number[other] > 0 and (state.number[other], other) < (state.number[who], who))

    def actions(state):
        for who in PROCESSES:
            stuck = state.at[who] == "waiting" and waits_for(state, who, 1 - who)
            if not stuck and not (state.at[who] == "writing" and state.seen[who] >= MOST):
                yield who

    def step(state, who):
        match state.at[who]:
            case "resting":
                return replace(state, at=put(state.at, who, "choosing"))
            case "choosing":
                return replace(state, at=put(state.at, who, "writing"), seen=put(state.seen, who, max(state.number)))
            case "writing":
                number = put(state.number, who, state.seen[who] + 1)
                return replace(state, at=put(state.at, who, "waiting"), number=number, seen=put(state.seen, who, 0))
            case "waiting":
                return replace(state, at=put(state.at, who, "inside"))
            case _:
                return replace(state, at=put(state.at, who, "resting"), number=put(state.number, who, 0))

    start = State(("resting", "resting"), (0, 0), (0, 0))
    return evenhand.system(name, initial=[start], actions=actions, step=step, types=(State,), ends=True)


@evenhand.always("The two are not both inside.", expected=(refuted("nobody says it is choosing", system="no_sign"),))
def exclusion(state):
    return state.at != ("inside", "inside")


@evenhand.reachable("Two processes can hold the same number.")
def same_number(step):
    return step.after.number[0] == step.after.number[1] > 0


bakery, no_sign = bakery_of("bakery", sign=True), bakery_of("no_sign", sign=False)
