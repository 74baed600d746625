"""The claims about the justification compiler: guarantees, refusals, independence, deadlock and reachability.

Start reading at `predicates`, which defines keeping, covering and being blocked; then one module for each idea:
`compiling`, `refusing`, `recording`, `blindness`, `deadlock`, `conduct`, `reach`.  Every claim is expected to hold
unless its `expected` says otherwise.  An unexpected verdict is a finding: report it, never edit the expectation to fit.
"""

from __future__ import annotations

from evenhand.core.bundle import Claims, claims_in
from evenhand.properties.apcm import blindness, compiling, conduct, deadlock, reach, recording, refusing
from evenhand.properties.apcm.generators import GENERATORS
from evenhand.properties.apcm.observers import OBSERVERS
from evenhand.properties.apcm.plans import plans
from evenhand.properties.apcm.profile import PROFILE
from evenhand.properties.apcm.vectors import VECTORS

__all__ = ["CLAIMS"]

_EVERY = claims_in(compiling, refusing, recording, blindness, deadlock, conduct, reach)

CLAIMS = Claims(
    claims=_EVERY,
    generators=GENERATORS,
    plans=plans(_EVERY),
    observers=OBSERVERS,
    vectors=VECTORS,
    profile=PROFILE,
)
