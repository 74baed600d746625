"""The coffee can: take two beans; if they are alike put a black one in, else put the white one back.

Published: `CoffeeCan100Beans` of the TLA+ examples has 5,150 distinct states: every can of one to a hundred beans is an
initial state, and there are 2 + 3 + … + 101 of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import evenhand
from tests.known.known import Known

MOST = 100


@dataclass(frozen=True)
class Can:
    """The number of beans of each colour."""

    black: int
    white: int


Moment = evenhand.Step[None, Can, str, None]
CHANGES = {"two black": (-1, 0), "two white": (1, -2), "one of each": (-1, 0), "end": (0, 0)}


def actions(can: Can) -> list[str]:
    """The pairs in the can; the last bean stays."""
    pairs = {
        "two black": can.black > 1,
        "two white": can.white > 1,
        "one of each": can.black > 0 and can.white > 0,
        "end": can.black + can.white == 1,
    }
    return [pair for pair, there in pairs.items() if there]


def step(can: Can, action: str) -> Can:
    """One draw."""
    black, white = CHANGES[action]
    return Can(can.black + black, can.white + white)


@evenhand.each_step("The number of white beans stays odd or even.")
def parity(step: Moment) -> bool:
    """The loop invariant: it tells the colour of the last bean."""
    return step.before.white % 2 == step.after.white % 2


@evenhand.eventually("One bean is left.", fairness=("draw",))
def ends(step: Moment) -> bool:
    """Each draw takes one bean."""
    return step.after.black + step.after.white == 1


CAN = evenhand.system(
    "coffee_can",
    initial=[Can(black, beans - black) for beans in range(1, MOST + 1) for black in range(beans + 1)],
    actions=actions,
    step=step,
    fair={"draw": evenhand.Fairness("weak", lambda can, action: True)},
)
KNOWN = Known(CAN, states=5_150, true=(parity, ends))
