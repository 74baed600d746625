"""Transaction commit: what two-phase commit implements, stated without messages.

Published: Lamport's video course and the TLA+ examples (`TCommit`): 34 distinct states for three resource managers.
"""

from __future__ import annotations

import evenhand
from tests.known.known import Known, put

State = tuple[str, ...]
Action = tuple[int, str]
Moment = evenhand.Step[None, State, Action, None]
FINAL = {"committed", "aborted"}


def possible(state: State, action: Action) -> bool:
    """Commit when all are prepared or have committed; abort when none has committed."""
    who, what = action
    match what:
        case "prepared":
            return state[who] == "working"
        case "committed":
            return state[who] == "prepared" and set(state) <= {"prepared", "committed"}
        case _:
            return state[who] in ("working", "prepared") and "committed" not in state


def actions(state: State) -> list[Action]:
    """Yield the actions that the specification enables."""
    acts = [(who, what) for who in range(len(state)) for what in ("prepared", "committed", "aborted")]
    return [act for act in acts if possible(state, act)]


@evenhand.always("No two resource managers decide differently.")
def consistent(state: State) -> bool:
    """The invariant of the specification."""
    return not set(state) >= FINAL


@evenhand.each_step("A decision is final.")
def decisions_stay(step: Moment) -> bool:
    """No decision is taken back."""
    pairs = zip(step.before, step.after, strict=True)
    return all(before == after for before, after in pairs if before in FINAL)


COMMIT = evenhand.system(
    "transaction_commit",
    initial=[("working",) * 3],
    actions=actions,
    step=lambda state, action: put(state, *action),
)
KNOWN = Known(COMMIT, states=34, true=(consistent, decisions_stay))
