"""The cigarette smokers: a dealer lays out two of three ingredients, and the owner of the third smokes.

Published: `CigaretteSmokers` of the TLA+ examples has 6 distinct states.
"""

from __future__ import annotations

from dataclasses import dataclass

import evenhand
from tests.known.known import Known

INGREDIENTS = ("matches", "paper", "tobacco")
Action = tuple[str, str]
Moment = evenhand.Step[None, "State", Action, None]


@dataclass(frozen=True)
class State:
    """The ingredient missing on the table, if the dealer has laid out the two others, and the smoker."""

    missing: str | None
    smoking: frozenset[str] = frozenset()


def actions(state: State) -> list[Action]:
    """The one whose ingredient is missing starts; when it stops, the dealer lays out any two."""
    if state.missing is not None:
        return [("start", state.missing)]
    return [("stop", missing) for missing in INGREDIENTS]


def step(state: State, action: Action) -> State:
    """Take one action of the specification."""
    verb, missing = action
    return State(None, frozenset({missing})) if verb == "start" else State(missing)


@evenhand.always("At most one smokes.")
def one_at_most(state: State) -> bool:
    """The invariant of the specification."""
    return len(state.smoking) <= 1


def starts(step: Moment) -> bool:
    """A smoker begins to smoke."""
    return step.action[0] == "start"


@evenhand.each_step("Who smokes was the one with the missing ingredient.", when=starts)
def the_right_one(step: Moment) -> bool:
    """No other smoker can roll a cigarette."""
    return step.before.missing in step.after.smoking


TABLE = evenhand.system(
    "cigarette_smokers", initial=[State(missing) for missing in INGREDIENTS], actions=actions, step=step
)
KNOWN = Known(TABLE, states=6, true=(one_at_most, the_right_one))
