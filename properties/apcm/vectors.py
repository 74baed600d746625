"""The test vectors of `apcm`."""

from __future__ import annotations

from evenhand.core.vector_plan import Orbits, VectorPlan, VectorScope

VECTORS = VectorPlan(
    places=(
        VectorScope("universe", {"actions": 2, "preferences": 2}, steps=1),
        VectorScope("run", {"actions": 2, "preferences": 2, "hostile": 1}, steps=6),
        VectorScope("agents", {"actions": 2, "preferences": 2}, steps=2),
        VectorScope("conditions", {"steps": 4}, steps=8),
    ),
    orbits=Orbits(
        "universe",
        "Every APCM of two actions and two preferences with every well-formed REVISE artefact, up to renaming.",
        {"actions": 2, "preferences": 2, "hostile": 0},
    ),
)
"""One step of the universe, some steps of endless runs and of the agents, and the run conditions."""
