"""The protocol as the registry finds it: systems, readings, mutants."""

from __future__ import annotations

from evenhand.core.system import Protocol
from evenhand.model.apcm.mutants import MUTANTS
from evenhand.model.apcm.readings import Readings
from evenhand.model.apcm.systems import SYSTEMS

APCM = Protocol(
    name="apcm",
    title="Justification compiler (RSA-PoC v1.0)",
    source="Implementor instructions for RSA-PoC v1.0 (RSA-PoC-NORM-COLLISION-0)",
    systems=SYSTEMS,
    readings=Readings(),
    mutants=MUTANTS,
)
"""Justification compiled to a mask over a consequence map."""
