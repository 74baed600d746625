"""The claims about the constitution-bound kernel: decisions, selection, effects, logs and deadlock.

Start reading at `predicates`, which defines admissible and allowed; then one module for each idea: `deciding`,
`selecting`, `executing`, `operating`, `logging`, `stopping`, `living`, `reach`.
"""

from __future__ import annotations

from evenhand.core.bundle import Claims, claims_in
from evenhand.properties.sovereign import deciding, executing, living, logging, operating, reach, selecting, stopping
from evenhand.properties.sovereign.generators import GENERATORS
from evenhand.properties.sovereign.observers import OBSERVERS
from evenhand.properties.sovereign.plans import plans
from evenhand.properties.sovereign.profile import PROFILE
from evenhand.properties.sovereign.vectors import VECTORS

__all__ = ["CLAIMS"]

_CLAIMS = claims_in(deciding, selecting, executing, operating, logging, stopping, living, reach)

CLAIMS = Claims(
    claims=_CLAIMS,
    generators=GENERATORS,
    plans=plans(_CLAIMS),
    observers=OBSERVERS,
    vectors=VECTORS,
    profile=PROFILE,
)
