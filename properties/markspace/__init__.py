"""The claims about markspace: one for each P-number, and claims beyond the list.

Start with the four modules of `predicates`, which define active, winning, visible and superseded; then one module for
each idea: `guarding`, `operating`, `contesting`, `deciding`, `signals`, `space`, `stored`, `seeing`, `leaking`,
`layers`, `layered`, `limits`, `composing`, `composed`, `queued`, `clocked`.  `table` lists the sixty-six properties.
"""

from __future__ import annotations

from evenhand.core.bundle import Claims, claims_in
from evenhand.properties.markspace import (
    clocked,
    composed,
    composing,
    contesting,
    deciding,
    guarding,
    layered,
    layers,
    leaking,
    limits,
    operating,
    queued,
    seeing,
    signals,
    space,
    stored,
)
from evenhand.properties.markspace.generators import GENERATORS
from evenhand.properties.markspace.observers import OBSERVERS
from evenhand.properties.markspace.plans import plans
from evenhand.properties.markspace.profile import PROFILE
from evenhand.properties.markspace.vectors import VECTORS

__all__ = ["CLAIMS"]

_CLAIMS = claims_in(
    guarding,
    operating,
    contesting,
    deciding,
    signals,
    space,
    stored,
    seeing,
    leaking,
    layers,
    layered,
    limits,
    composing,
    composed,
    queued,
    clocked,
)

CLAIMS = Claims(
    claims=_CLAIMS,
    generators=GENERATORS,
    plans=plans(_CLAIMS),
    observers=OBSERVERS,
    profile=PROFILE,
    vectors=VECTORS,
)
"""The property side of `markspace`."""
