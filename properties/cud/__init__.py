"""The claims about coordination under deadlock: what the kernel must do, must not do, and what can happen.

Start reading at `predicates`, which says what a capability, a veto and a collision are; then one module for each idea:
`safety`, `arbitration`, `blindness`, `history`, `liveness`, `classes`, `reach`.
"""

from __future__ import annotations

from evenhand.core.bundle import Claims
from evenhand.properties.cud.arbitration import ARBITRATION
from evenhand.properties.cud.blindness import BLINDNESS
from evenhand.properties.cud.classes import CLASSES
from evenhand.properties.cud.expected import EXPECTED
from evenhand.properties.cud.generators import GENERATORS
from evenhand.properties.cud.history import HISTORY
from evenhand.properties.cud.liveness import LIVENESS
from evenhand.properties.cud.observers import OBSERVERS
from evenhand.properties.cud.phases import phases
from evenhand.properties.cud.plans import plans
from evenhand.properties.cud.profile import PROFILE
from evenhand.properties.cud.reach import REACH
from evenhand.properties.cud.safety import SAFETY
from evenhand.properties.cud.vectors import VECTORS
from evenhand.properties.cud.whole_epoch import WHOLE

__all__ = ["CLAIMS"]

_EVERY = (*SAFETY, *ARBITRATION, *BLINDNESS, *HISTORY, *LIVENESS, *CLASSES, *REACH, *WHOLE)

CLAIMS = Claims(
    claims=_EVERY,
    generators=GENERATORS,
    expected=EXPECTED,
    plans=plans(_EVERY),
    observers=OBSERVERS,
    vectors=VECTORS,
    phases=phases,
    profile=PROFILE,
)
"""The property side of `cud`."""
