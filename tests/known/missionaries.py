"""Missionaries and cannibals cross a river; nowhere may missionaries be fewer than the cannibals with them.

Published: `MissionariesAndCannibals` of the TLA+ examples has 61 distinct states.  TLC stops there when all are across,
after eleven steps, the classic shortest solution; one cannibal's way back from there is not counted.  All in all there
are 64 states, since any of three cannibals may be the one.
"""

from __future__ import annotations

from dataclasses import dataclass

import evenhand
from tests.known.known import Known, some_of

MISSIONARIES, CANNIBALS = frozenset({0, 1, 2}), frozenset({3, 4, 5})
ALL = MISSIONARIES | CANNIBALS
Few = frozenset[int]


@dataclass(frozen=True)
class State:
    """The people on the east bank, and whether the boat is there."""

    east: Few = ALL
    boat_east: bool = True


def safe(bank: Few) -> bool:
    """No missionary is there, or at least as many as cannibals."""
    return not bank & MISSIONARIES or len(bank & CANNIBALS) <= len(bank & MISSIONARIES)


def step(state: State, boat: Few) -> State:
    """The boat crosses."""
    return State(state.east - boat if state.boat_east else state.east | boat, not state.boat_east)


def actions(state: State) -> list[Few]:
    """One or two of the people at the boat, if both banks stay safe."""
    here = state.east if state.boat_east else ALL - state.east
    boats = [boat for boat in some_of(here) if len(boat) <= 2]
    return [boat for boat in boats if safe(step(state, boat).east) and safe(ALL - step(state, boat).east)]


@evenhand.always("No missionary is outnumbered.")
def nobody_is_eaten(state: State) -> bool:
    """On either bank."""
    return safe(state.east) and safe(ALL - state.east)


@evenhand.reachable("All can get across.")
def across(step: evenhand.Step[None, State, Few, None]) -> bool:
    """The puzzle."""
    return not step.after.east


RIVER = evenhand.system("missionaries", initial=[State()], actions=actions, step=step)
UNTIL_SOLVED = 61
KNOWN = Known(RIVER, states=64, true=(nobody_is_eaten,), reached=((across, 11),))
