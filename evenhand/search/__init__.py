"""Exhaustive search: every reachable state of every configuration of a scope, and a verdict on each claim.

`explore` is the way in.  `graph` searches, `methods` makes the steps, `check`, `pairs` and `liveness` look at
them, `evidence` turns what they find into runs that replay, `verdicts` says what may be said.
"""

from evenhand.search.engine import Exploration, NoSuchPart, Prepared, explore, prepare
from evenhand.search.estimate import estimate
from evenhand.search.witness import LicenceMissing, ModelError

__all__ = ["Exploration", "LicenceMissing", "ModelError", "NoSuchPart", "Prepared", "estimate", "explore", "prepare"]
