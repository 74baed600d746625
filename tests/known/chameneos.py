"""Chameneos: creatures that meet in pairs and both take the colour that neither had, until so many meetings were held.

Published: `Chameneos` of the TLA+ examples has 34,534 distinct states; we remembered the number and not its constants;
it comes out with four creatures and four meetings.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

import evenhand
from tests.known.known import Known, put

CREATURES, MEETINGS = 4, 4
COLOURS = (0, 1, 2)
FADED = -1
NOBODY = -1
Moment = evenhand.Step[None, "State", int, None]


@dataclass(frozen=True)
class State:
    """The colour of each creature and how often it met another; the creature in the meeting place; meetings held."""

    colours: tuple[int, ...]
    met: tuple[int, ...] = (0,) * CREATURES
    waiting: int = NOBODY
    meetings: int = 0


def actions(state: State) -> list[int]:
    """A creature that has not faded comes to the meeting place, unless it waits there."""
    return [who for who, colour in enumerate(state.colours) if colour != FADED and who != state.waiting]


def step(state: State, who: int) -> State:
    """It waits, it meets the waiting creature, or it fades because no meeting is left."""
    if state.waiting == NOBODY and state.meetings < MEETINGS:
        return replace(state, waiting=who)
    if state.waiting == NOBODY:
        return replace(state, colours=put(state.colours, who, FADED))
    one, two = state.colours[who], state.colours[state.waiting]
    colour = one if one == two else 3 - one - two
    colours, met = state.colours, state.met
    for creature in (who, state.waiting):
        colours, met = put(colours, creature, colour), put(met, creature, met[creature] + 1)
    return State(colours, met, NOBODY, state.meetings + 1)


@evenhand.always("The creatures' own counts add up to twice the number of meetings.")
def sum_met(state: State) -> bool:
    """The property of the specification, at any time rather than at the end."""
    return sum(state.met) == 2 * state.meetings


def some_have_faded(step: Moment) -> bool:
    """With this step or before it."""
    return FADED in step.after.colours


@evenhand.each_step("Nobody fades before the last meeting.", when=some_have_faded)
def last_meeting(step: Moment) -> bool:
    """No meeting follows it."""
    return step.after.meetings == step.before.meetings == MEETINGS


STARTS = [State(colours) for colours in product(COLOURS, repeat=CREATURES)]
PLACE = evenhand.system("chameneos", initial=STARTS, actions=actions, step=step)
KNOWN = Known(PLACE, states=34_534, true=(sum_met, last_meeting))
