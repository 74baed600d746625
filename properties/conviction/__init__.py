"""The claims about the conviction-staking consensus: points, proposals, stakes, winners, the clock, identity.

Start with `predicates`, which defines the terms; then one module for each idea.
"""

from __future__ import annotations

from evenhand.core.bundle import Claims, claims_in
from evenhand.properties.conviction import (
    admitting,
    identity,
    logged,
    points,
    proposing,
    reach,
    staking,
    ticking,
    winning,
)
from evenhand.properties.conviction.generators import GENERATORS
from evenhand.properties.conviction.observers import OBSERVERS
from evenhand.properties.conviction.plans import plans
from evenhand.properties.conviction.profile import PROFILE
from evenhand.properties.conviction.vectors import VECTORS

__all__ = ["CLAIMS"]

CLAIMS = Claims(
    claims=claims_in(points, proposing, staking, winning, ticking, logged, admitting, identity, reach),
    generators=GENERATORS,
    plans=plans(),
    profile=PROFILE,
    observers=OBSERVERS,
    vectors=VECTORS,
)
"""The property side of `conviction`."""
