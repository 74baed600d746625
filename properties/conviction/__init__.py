"""The claims about the conviction-staking consensus: points, proposals, stakes, winners, the clock, identity.

Start reading at `predicates`, which says what the words mean; then one module for each idea.
"""

from __future__ import annotations

from evenhand.core.bundle import Claims
from evenhand.properties.conviction.expected import EXPECTED
from evenhand.properties.conviction.generators import GENERATORS
from evenhand.properties.conviction.identity import IDENTITY
from evenhand.properties.conviction.plans import plans
from evenhand.properties.conviction.points import POINTS
from evenhand.properties.conviction.profile import PROFILE
from evenhand.properties.conviction.proposing import PROPOSING
from evenhand.properties.conviction.reach import REACH
from evenhand.properties.conviction.staking import STAKING
from evenhand.properties.conviction.ticking import TICKING
from evenhand.properties.conviction.vectors import VECTORS
from evenhand.properties.conviction.winning import WINNING

__all__ = ["CLAIMS"]

CLAIMS = Claims(
    claims=(*POINTS, *PROPOSING, *STAKING, *WINNING, *TICKING, *IDENTITY, *REACH),
    generators=GENERATORS,
    expected=EXPECTED,
    plans=plans(),
    profile=PROFILE,
    vectors=VECTORS,
)
"""The property side of `conviction`."""
