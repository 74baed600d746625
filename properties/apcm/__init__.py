"""The claims about the justification compiler: what it guarantees and refuses, what decides nothing, where it stops.

Start reading at `predicates`, which says what keeping, covering and being blocked are; then one module for each idea:
`compiling`, `refusing`, `blindness`, `deadlock`, `conduct`, `reach`.
"""

from __future__ import annotations

from evenhand.core.bundle import Claims
from evenhand.properties.apcm.blindness import BLINDNESS
from evenhand.properties.apcm.compiling import COMPILING
from evenhand.properties.apcm.conduct import CONDUCT
from evenhand.properties.apcm.deadlock import DEADLOCK
from evenhand.properties.apcm.expected import EXPECTED
from evenhand.properties.apcm.generators import GENERATORS
from evenhand.properties.apcm.observers import OBSERVERS
from evenhand.properties.apcm.plans import plans
from evenhand.properties.apcm.profile import PROFILE
from evenhand.properties.apcm.reach import REACH
from evenhand.properties.apcm.refusing import REFUSING
from evenhand.properties.apcm.vectors import VECTORS

__all__ = ["CLAIMS"]

_CLAIMS = (*COMPILING, *REFUSING, *BLINDNESS, *DEADLOCK, *CONDUCT, *REACH)

CLAIMS = Claims(
    claims=_CLAIMS,
    generators=GENERATORS,
    expected=EXPECTED,
    plans=plans(_CLAIMS),
    observers=OBSERVERS,
    vectors=VECTORS,
    profile=PROFILE,
)
"""The property side of `apcm`."""
