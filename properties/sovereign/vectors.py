"""Where the vectors of this protocol come from."""

from __future__ import annotations

from evenhand.properties.vectoring import Place, VectorPlan

__all__ = ["VECTORS"]

VECTORS = VectorPlan(
    places=(
        Place("agent", {"proposals": 3}, steps=6),
        Place("lists", {"observations": 2, "candidates": 2}, steps=1),
        Place("session", {"refusals": 3, "thousands": 2}, steps=4),
        Place("constitutions", {"types": 1}, steps=1),
    ),
)
"""The agent with its attacker, decisions alone, short sessions under each condition, a cycle of each constitution."""
