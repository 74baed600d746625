"""The claims about markspace: one for each P-number, and what lies beyond the list.

Start reading at `predicates` and `space_predicates`, which say what active, winning, visible and superseded mean; then
one module for each idea: `guarding`, `contesting`, `deciding`, `signals`, `space`, `seeing`, `leaking`, `layers`,
`limits`, `composing`, `queued`, `clocked`.  `table` lists the sixty-six.
"""

from __future__ import annotations

from evenhand.core.bundle import Claims
from evenhand.properties.markspace.clocked import CLOCKED
from evenhand.properties.markspace.composing import COMPOSING
from evenhand.properties.markspace.contesting import CONTESTING
from evenhand.properties.markspace.deciding import DECIDING
from evenhand.properties.markspace.expected import EXPECTED
from evenhand.properties.markspace.generators import GENERATORS
from evenhand.properties.markspace.guarding import GUARDING
from evenhand.properties.markspace.layers import LAYERS
from evenhand.properties.markspace.leaking import LEAKING
from evenhand.properties.markspace.limits import LIMITS
from evenhand.properties.markspace.plans import plans
from evenhand.properties.markspace.profile import PROFILE
from evenhand.properties.markspace.queued import QUEUED
from evenhand.properties.markspace.seeing import SEEING
from evenhand.properties.markspace.signals import SIGNALS
from evenhand.properties.markspace.space import SPACE

__all__ = ["CLAIMS"]

_CLAIMS = (
    *GUARDING,
    *CONTESTING,
    *DECIDING,
    *SIGNALS,
    *SPACE,
    *SEEING,
    *LEAKING,
    *LAYERS,
    *LIMITS,
    *COMPOSING,
    *QUEUED,
    *CLOCKED,
)

CLAIMS = Claims(claims=_CLAIMS, generators=GENERATORS, expected=EXPECTED, plans=plans(_CLAIMS), profile=PROFILE)
"""The property side of `markspace`."""
