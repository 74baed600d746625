"""The test vectors of `markspace`."""

from __future__ import annotations

from evenhand.core.vector_plan import VectorPlan, VectorScope
from evenhand.properties.markspace.predicates import GUARDED

VECTORS = VectorPlan(
    places=(
        *(VectorScope(name, steps=6) for name in GUARDED),
        VectorScope("space", steps=4),
        VectorScope("signals", steps=1),
        VectorScope("layers", steps=5),
        VectorScope("composing", steps=9),
        VectorScope("scheduling", steps=5),
        VectorScope("clock", steps=5),
    ),
)
"""The guard under each policy, the space, single strengths, the layers, subscriptions and their two clocks."""
