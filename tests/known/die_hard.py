"""The jugs of the film `Die Hard 3`: measure four gallons with one jug of three and one of five.

Published: Lamport's video course and the TLA+ examples (`DieHard`): 16 distinct states, and a shortest
solution of six steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import evenhand
from tests.known.known import Known


@dataclass(frozen=True)
class Jugs:
    """The number of gallons in each jug."""

    small: int = 0
    big: int = 0


def step(jugs: Jugs, action: str) -> Jugs:
    """Take one action of the specification."""
    small, big = jugs.small, jugs.big
    match action:
        case "fill small":
            return Jugs(3, big)
        case "fill big":
            return Jugs(small, 5)
        case "empty small":
            return Jugs(0, big)
        case "empty big":
            return Jugs(small, 0)
        case "small to big":
            poured = min(small, 5 - big)
            return Jugs(small - poured, big + poured)
        case _:
            poured = min(big, 3 - small)
            return Jugs(small + poured, big - poured)


@evenhand.always("No jug holds more than it can.")
def within_measure(jugs: Jugs) -> bool:
    """The type invariant of the specification."""
    return 0 <= jugs.small <= 3 and 0 <= jugs.big <= 5


@evenhand.always("The big jug never holds four gallons.")
def never_four(jugs: Jugs) -> bool:
    """The puzzle: its counterexample is the solution."""
    return jugs.big != 4


VERBS = ("fill small", "fill big", "empty small", "empty big", "small to big", "big to small")
JUGS = evenhand.system("die_hard", initial=[Jugs()], actions=lambda jugs: VERBS, step=step)
KNOWN = Known(JUGS, states=16, true=(within_measure,), false=((never_four, 6),))
