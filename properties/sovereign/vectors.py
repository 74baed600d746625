"""The test vectors of `sovereign`."""

from __future__ import annotations

from evenhand.core.vector_plan import VectorPlan, VectorScope

VECTORS = VectorPlan(
    places=(
        VectorScope("agent", {"proposals": 3}, steps=6),
        VectorScope("lists", {"observations": 2, "candidates": 2}, steps=1),
        VectorScope("session", {"refusals": 3, "thousands": 2}, steps=4),
        VectorScope("constitutions", {"types": 1}, steps=1),
    ),
)
"""The agent with its attacker, single decisions, short sessions under each condition, a cycle of each constitution."""
