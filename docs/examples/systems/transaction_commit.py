"""Transaction commit: resource managers commit together or abort together.

Nobody sends a message: a manager sees the state of all the others. Two-phase commit implements this with messages.

Published: 34 distinct and 94 generated states (TLA+ examples, `TCommit`, three resource managers).
"""

import evenhand

DECIDED = {"committed", "aborted"}


def can(state, action):
    """Commit when all are prepared or have committed; abort when none has committed."""
    who, what = action
    match what:
        case "prepared":
            return state[who] == "working"
        case "committed":
            return state[who] == "prepared" and set(state) <= {"prepared", "committed"}
        case _:
            return state[who] in ("working", "prepared") and "committed" not in state


def actions(state):
    turns = [(who, what) for who in range(len(state)) for what in ("prepared", "committed", "aborted")]
    return [turn for turn in turns if can(state, turn)]


def step(state, action):
    who, what = action
    return (*state[:who], what, *state[who + 1 :])


@evenhand.always("No two managers decide differently.")
def consistent(state):
    return not set(state) >= DECIDED


@evenhand.each_step("A decision is final.")
def decisions_stay(step):
    return all(old == new for old, new in zip(step.before, step.after, strict=True) if old in DECIDED)


@evenhand.reachable("All can commit.")
def all_commit(step):
    return set(step.after) == {"committed"}


transaction_commit = evenhand.system(
    "transaction_commit", initial=[("working",) * 3], actions=actions, step=step, ends=True
)
