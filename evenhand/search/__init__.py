"""Exhaustive search: every reachable state of every configuration of a scope, and a verdict on each claim.

`explore` is the entry point.  `methods` makes the steps, `graph` searches, `check`, `pairs` and `liveness` check the
claims, `evidence` turns findings into runs that replay, `verdicts` makes the verdicts.
"""

from evenhand.core.answers import ModelError
from evenhand.search.engine import Exploration, Prepared, explore, prepare
from evenhand.search.estimate import estimate
from evenhand.search.jobs import NoSuchPart
from evenhand.search.witness import LicenceMissing

__all__ = ["Exploration", "LicenceMissing", "ModelError", "NoSuchPart", "Prepared", "estimate", "explore", "prepare"]
