"""Where to draw runs that may become vectors: Issues of small numbers, long enough to be finalized."""

from __future__ import annotations

from evenhand.core.vector_plan import VectorPlan, VectorScope

_SMALL = {"ready": 0, "penalty": 0}

VECTORS = VectorPlan(
    places=(
        VectorScope("issue", {"cycles": 1, "rounds": 1, "texts": 3, "stake": 3, "budget": 4, "ready": 0}, steps=6),
        VectorScope("issue", {**_SMALL, "texts": 0, "stake": 1, "budget": 2}, steps=9),
        VectorScope("issue", {**_SMALL, "texts": 0, "stake": 1, "budget": 2, "think": 2}, steps=14),
        VectorScope("issue", {**_SMALL, "texts": 0, "stake": 0, "budget": 1, "rounds": 3, "agents": 1}, steps=9),
        VectorScope("trio", steps=8),
        VectorScope("run", steps=3),
        VectorScope("series", steps=9),
        VectorScope(
            "issue", {"hostile": 1, "strangers": 1, "agents": 1, "cycles": 1, "budget": 2, "stake": 1}, steps=4
        ),
    )
)
"""Cycles with parts of points, ties, a slow clock, stake that ages, outsiders, two Issues, strangers, hostile acts."""
