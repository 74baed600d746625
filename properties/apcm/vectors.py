"""Where the vectors of this protocol come from."""

from __future__ import annotations

from evenhand.properties.vectoring import Orbits, Place, VectorPlan

__all__ = ["VECTORS"]

VECTORS = VectorPlan(
    places=(
        Place("universe", {"actions": 2, "preferences": 2}, steps=1),
        Place("run", {"actions": 2, "preferences": 2, "hostile": 1}, steps=6),
        Place("agents", {"actions": 2, "preferences": 2}, steps=2),
        Place("conditions", {"steps": 4}, steps=8),
    ),
    orbits=Orbits(
        "universe",
        "Every APCM of two actions and two preferences with every well-formed REVISE artefact, up to renaming.",
        {"actions": 2, "preferences": 2, "hostile": 0},
    ),
)
"""One step on everything, a few steps without end, and the run conditions."""
