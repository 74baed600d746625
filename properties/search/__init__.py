"""Exhaustive search: every reachable state of every configuration of a scope, and a verdict on each claim.

`explore` is the way in.  `graph` searches, `tiers` makes the steps, `check`, `pairs` and `liveness` look at
them, `evidence` turns what they find into runs that replay, `verdicts` says what may be said.
"""

from evenhand.properties.search.engine import Exploration, NoSuchPart, Prepared, explore, prepare
from evenhand.properties.search.estimate import estimate
from evenhand.properties.search.found import LicenceMissing, ModelError

__all__ = ["Exploration", "LicenceMissing", "ModelError", "NoSuchPart", "Prepared", "estimate", "explore", "prepare"]
