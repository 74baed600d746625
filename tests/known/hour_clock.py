"""The hour clock, the first specification of the book `Specifying Systems` (chapter 2).

Published: `HourClock` of the TLA+ examples has 12 distinct states.
"""

from __future__ import annotations

import evenhand
from tests.known.known import Known

Moment = evenhand.Step[None, int, str, None]


@evenhand.always("The clock shows an hour.")
def shows_an_hour(hour: int) -> bool:
    """The type invariant of the book."""
    return 1 <= hour <= 12


def at_twelve(step: Moment) -> bool:
    """The hour before the step."""
    return step.before == 12


@evenhand.each_step("After twelve comes one.", when=at_twelve)
def comes_round(step: Moment) -> bool:
    """It is a clock and no counter."""
    return step.after == 1


CLOCK = evenhand.system(
    "hour_clock",
    initial=list(range(1, 13)),
    actions=lambda hour: ["tick"],
    step=lambda hour, action: hour % 12 + 1,
)
KNOWN = Known(CLOCK, states=12, true=(shows_an_hour, comes_round))
