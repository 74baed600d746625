"""The claims about coordination under deadlock: safety, liveness and reachability.

Start reading at `predicates`, which defines capability, veto and collision; then one module for each idea: `safety`,
`arbitration`, `blindness`, `history`, `liveness`, `classes`, `reach`, and `whole_epoch`.
"""

from __future__ import annotations

from evenhand.core.bundle import Claims, claims_in
from evenhand.properties.cud import arbitration, blindness, classes, history, liveness, reach, safety, whole_epoch
from evenhand.properties.cud.generators import GENERATORS
from evenhand.properties.cud.observers import OBSERVERS
from evenhand.properties.cud.phases import phases
from evenhand.properties.cud.plans import plans
from evenhand.properties.cud.profile import PROFILE
from evenhand.properties.cud.vectors import VECTORS

__all__ = ["CLAIMS"]

_EVERY = claims_in(safety, arbitration, blindness, history, liveness, classes, reach, whole_epoch)

CLAIMS = Claims(
    claims=_EVERY,
    generators=GENERATORS,
    plans=plans(_EVERY),
    observers=OBSERVERS,
    vectors=VECTORS,
    phases=phases,
    profile=PROFILE,
)
