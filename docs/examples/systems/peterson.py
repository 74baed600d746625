"""Peterson's lock: a process raises its flag, gives the turn away, and waits while the other's flag is up and the turn
is the other's.

A selfish process keeps the turn for itself, and both get in.

Published: 42 distinct states (TLA+ examples, `Peterson` of `locks_auxiliary_vars`).
"""

from dataclasses import make_dataclass, replace

import evenhand
from evenhand.core.plan import refuted

LINES = {"rest": "raise", "raise": "give", "give": "wait", "wait": "inside", "inside": "lower", "lower": "rest"}
State = make_dataclass("State", ["flags", "turn", "at"], frozen=True)


def put(pair, index, entry):
    return (entry, pair[1]) if index == 0 else (pair[0], entry)


def actions(state):
    free = [not state.flags[1 - who] or state.turn == who for who in (0, 1)]
    return [who for who in (0, 1) if state.at[who] != "wait" or free[who]]


def lock(name, polite):
    def step(state, who):
        line = state.at[who]
        after = replace(state, at=put(state.at, who, LINES[line]))
        if line in ("raise", "lower"):
            return replace(after, flags=put(state.flags, who, line == "raise"))
        return replace(after, turn=1 - who if polite else who) if line == "give" else after

    def runs(who):  # a process may rest for ever, but stops in no other place
        return evenhand.Fairness("weak", lambda state, chosen: chosen == who and state.at[who] != "rest")

    start = State((False, False), 0, ("rest", "rest"))
    fair = evenhand.per_agent("running", (0, 1), runs)
    return evenhand.system(name, initial=[start], actions=actions, step=step, fair=fair, types=(State,))


@evenhand.always("The two are not both inside.", expected=(refuted("each keeps the turn", system="selfish"),))
def exclusion(state):
    return state.at != ("inside", "inside")


@evenhand.leads_to(
    "Who raises its flag gets in.",
    trigger=lambda step: step.action == 0 and step.before.at[0] == "raise",
    fairness=("running",),
    expected=(refuted("the other may come back first, again and again", system="selfish"),),
)
def gets_in(step):
    return step.after.at[0] == "inside"


peterson, selfish = lock("peterson", polite=True), lock("selfish", polite=False)
