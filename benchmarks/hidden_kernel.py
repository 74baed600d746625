"""A mutant behind an adapter that hides its name; the environment names it (`hidden`)."""

from __future__ import annotations

import os

from evenhand.conform.adapters.model import variant

_PROTOCOL, _NAME, _STATE = os.environ.get("EVENHAND_HIDDEN", "cud:veto_ignored:").split(":")
factory = variant(_PROTOCOL, _NAME, tells_state=bool(_STATE))
