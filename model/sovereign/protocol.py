"""The protocol as the registry finds it: systems, readings, mutants."""

from __future__ import annotations

from evenhand.core.system import Protocol
from evenhand.model.sovereign.mutants import MUTANTS
from evenhand.model.sovereign.readings import Readings
from evenhand.model.sovereign.systems import SYSTEMS

SOVEREIGN = Protocol(
    name="sovereign",
    title="Constitution-bound kernel (RSA-0, Phase X)",
    source="RSA-0 Phase X, implementation report",
    systems=SYSTEMS,
    readings=Readings(),
    mutants=MUTANTS,
)
"""A kernel that issues warrants, and an executor that acts only on warrants."""
