"""The claims about the constitution-bound kernel: what it decides, what decides nothing, what may be done, where it
stops.

Start reading at `predicates`, which says what admissible and allowed mean; then one module for each idea: `deciding`,
`selecting`, `executing`, `logging`, `stopping`, `reach`.
"""

from __future__ import annotations

from evenhand.core.bundle import Claims
from evenhand.properties.sovereign.deciding import DECIDING_CLAIMS
from evenhand.properties.sovereign.executing import EXECUTING_CLAIMS
from evenhand.properties.sovereign.expected import EXPECTED
from evenhand.properties.sovereign.generators import GENERATORS
from evenhand.properties.sovereign.logging import LOGGING_CLAIMS
from evenhand.properties.sovereign.observers import OBSERVERS
from evenhand.properties.sovereign.plans import plans
from evenhand.properties.sovereign.profile import PROFILE
from evenhand.properties.sovereign.reach import REACH
from evenhand.properties.sovereign.selecting import SELECTING_CLAIMS
from evenhand.properties.sovereign.stopping import STOPPING_CLAIMS
from evenhand.properties.sovereign.vectors import VECTORS

__all__ = ["CLAIMS"]

_CLAIMS = (
    *DECIDING_CLAIMS,
    *SELECTING_CLAIMS,
    *EXECUTING_CLAIMS,
    *LOGGING_CLAIMS,
    *STOPPING_CLAIMS,
    *REACH,
)

CLAIMS = Claims(
    claims=_CLAIMS,
    generators=GENERATORS,
    expected=EXPECTED,
    plans=plans(_CLAIMS),
    observers=OBSERVERS,
    vectors=VECTORS,
    profile=PROFILE,
)
"""The property side of `sovereign`."""
