"""The price of re-rolling: r bundles of one proposer against k others win with probability r / (r + k)."""

from __future__ import annotations

from fractions import Fraction

import pytest

from evenhand.model.sovereign.artifacts import bundle_hash
from evenhand.model.sovereign.menus import candidate, usual
from evenhand.model.sovereign.vocabulary import WRITE_LOCAL

TRIALS = 300


def wins(rivals: int, rolls: int) -> int:
    """Return in how many of so many trials the least of `rolls` reworded bundles beats the least of `rivals` others."""
    seen, won = usual(), 0
    for trial in range(TRIALS):
        theirs = min(bundle_hash(candidate(seen, text=f"rival {trial} {n}"), "content") for n in range(rivals))
        mine = min(
            bundle_hash(candidate(seen, WRITE_LOCAL, why=f"because {trial} {n}"), "content") for n in range(rolls)
        )
        won += mine < theirs
    return won


@pytest.mark.parametrize(("rivals", "rolls"), [(1, 1), (1, 4), (4, 1)])
def test_rewording_wins_as_often_as_the_closed_form_says(rivals: int, rolls: int) -> None:
    """Within four standard deviations: a selector that read anything else would be far off."""
    share = Fraction(rolls, rolls + rivals)
    spread = float(share * (1 - share) * TRIALS) ** 0.5
    assert abs(wins(rivals, rolls) - float(share * TRIALS)) < 4 * spread
