"""The jugs of the film "Die Hard 3": measure four gallons with one jug of three gallons and one of five.

The claim that the big jug never holds four gallons is false, and its counterexample is the solution.

Published: 16 distinct and 97 generated states (TLA+ examples, `DieHard`), and a shortest solution of six steps.
"""

from dataclasses import make_dataclass

import evenhand
from evenhand.core.plan import refuted

Jugs = make_dataclass("Jugs", ["small", "big"], frozen=True)


def step(jugs, action):
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


@evenhand.always("The big jug never holds four gallons.", expected=(refuted("the puzzle has a solution"),))
def never_four(jugs):
    return jugs.big != 4


@evenhand.always("No jug holds more than it can.")
def within_measure(jugs):
    return 0 <= jugs.small <= 3 and 0 <= jugs.big <= 5


VERBS = ("fill small", "fill big", "empty small", "empty big", "small to big", "big to small")
die_hard = evenhand.system("die_hard", initial=[Jugs(0, 0)], actions=lambda _: VERBS, step=step, types=(Jugs,))
