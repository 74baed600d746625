"""The test vectors of `apcm`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from evenhand.core.trace import Scenario
from evenhand.core.vector_plan import Orbits, Registered, VectorPlan, VectorScope
from evenhand.model.apcm.conditions import conditions, play
from evenhand.model.apcm.readings import Readings
from evenhand.model.apcm.step import initial


def _registered() -> Iterator[Registered]:
    for one in conditions():
        actions = tuple(step.action for step in play(one.config))
        run = Scenario(one.config, initial(one.config)[0], actions)
        changed = tuple(
            (one_field.name, value)
            for one_field in fields(Readings)
            if (value := getattr(one.config.readings, one_field.name)) != one_field.default
        )
        yield Registered(one.name, one.title, ", ".join(one.source), "conditions", run, changed)


VECTORS = VectorPlan(
    places=(
        VectorScope("universe", {"actions": 2, "preferences": 2}, steps=1),
        VectorScope("run", {"actions": 2, "preferences": 2, "hostile": 1}, steps=6),
        VectorScope("agents", {"actions": 2, "preferences": 2}, steps=2),
        VectorScope("conditions", {"steps": 4}, steps=8),
    ),
    registered=_registered,
    orbits=Orbits(
        "universe",
        "Every APCM of two actions and two preferences with every well-formed REVISE artefact, up to renaming.",
        {"actions": 2, "preferences": 2, "hostile": 0},
        source="6.1, 6.2, 6.3, 6.4, 7",
    ),
)
"""One step of the universe, some steps of endless runs and of the agents, and the run conditions."""
