"""Two-phase commit: a transaction manager asks, hears that all are prepared, and decides for all.

Messages, once sent, stay. A hasty manager does not wait for the last answer and decides wrongly.

Published: 288 distinct and 1,146 generated states (TLA+ examples, `TwoPhase`, three resource managers).
"""

from dataclasses import make_dataclass, replace

import evenhand
from evenhand.core.plan import refuted

State = make_dataclass("State", ["rms", "tm", "prepared", "sent"], frozen=True)


def can(state, verb, rm, missing):
    match verb:
        case "commit":
            return state.tm == "init" and len(state.prepared) >= len(state.rms) - missing
        case "abort":
            return state.tm == "init"
        case "hear":
            return state.tm == "init" and ("prepared", rm) in state.sent
        case "prepare" | "give up":
            return state.rms[rm] == "working"
        case "obey commit":
            return ("commit", 0) in state.sent
        case _:
            return ("abort", 0) in state.sent


def step(state, action):
    verb, rm = action
    if verb in ("commit", "abort"):
        return replace(state, tm="committed" if verb == "commit" else "aborted", sent=state.sent | {(verb, 0)})
    if verb == "hear":
        return replace(state, prepared=state.prepared | {rm})
    new = {"prepare": "prepared", "obey commit": "committed"}.get(verb, "aborted")
    sent = state.sent | {("prepared", rm)} if verb == "prepare" else state.sent
    return replace(state, rms=(*state.rms[:rm], new, *state.rms[rm + 1 :]), sent=sent)


@evenhand.always("No two decide differently.", expected=(refuted("it does not hear all", system="hasty"),))
def consistent(state):
    return not set(state.rms) >= {"committed", "aborted"}


@evenhand.reachable("All can commit.")
def all_commit(step):
    return set(step.after.rms) == {"committed"}


def commit(name, managers=3, missing=0):
    verbs = ("hear", "prepare", "give up", "obey commit", "obey abort")
    turns = [("commit", 0), ("abort", 0), *((verb, rm) for rm in range(managers) for verb in verbs)]
    start = State(("working",) * managers, "init", frozenset(), frozenset())
    offered = lambda state: [turn for turn in turns if can(state, *turn, missing)]  # noqa: E731
    return evenhand.system(name, initial=[start], actions=offered, step=step, types=(State,))


two_phase, hasty = commit("two_phase"), commit("hasty", missing=1)
