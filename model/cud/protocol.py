"""The protocol as the registry finds it: systems, readings, mutants."""

from __future__ import annotations

from evenhand.core.system import Protocol
from evenhand.model.cud.conditions import CONDITIONS
from evenhand.model.cud.free_system import FREE
from evenhand.model.cud.mutants import MUTANTS
from evenhand.model.cud.readings import Readings
from evenhand.model.cud.run_system import RUN, UNIVERSE

CUD = Protocol(
    name="cud",
    title="Coordination under deadlock (IX-2)",
    source="IX-2 pre-implementation answers, rounds 1 to 6",
    systems={system.name: system for system in (RUN, FREE, UNIVERSE, CONDITIONS)},
    readings=Readings(),
    mutants=MUTANTS,
)
"""A two-pass kernel, and agents that coordinate themselves."""
