"""The test vectors of `sovereign`."""

from __future__ import annotations

from collections.abc import Iterator

from evenhand.core.trace import Scenario
from evenhand.core.vector_plan import Registered, VectorPlan, VectorScope
from evenhand.model.sovereign.registered import conditions, play


def _registered() -> Iterator[Registered]:
    for one in conditions():
        steps = play(one).steps
        run = Scenario(one.config, steps[0].before, tuple(step.action for step in steps))
        yield Registered(one.name, one.title, one.source, "session", run)


VECTORS = VectorPlan(
    places=(
        VectorScope("agent", {"proposals": 3}, steps=6),
        VectorScope("lists", {"observations": 2, "candidates": 2}, steps=1),
        VectorScope("session", {"refusals": 3, "thousands": 2}, steps=4),
        VectorScope("constitutions", {"types": 1}, steps=1),
    ),
    registered=_registered,
)
"""The agent with its attacker, single decisions, short sessions under each condition, a cycle of each constitution."""
