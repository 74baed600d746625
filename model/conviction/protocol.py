"""The protocol as the registry finds it: systems, readings, mutants."""

from __future__ import annotations

from evenhand.core.system import Protocol
from evenhand.model.conviction.mutants import MUTANTS
from evenhand.model.conviction.readings import Readings
from evenhand.model.conviction.systems import SYSTEMS

CONVICTION = Protocol(
    name="conviction",
    title="Conviction-staking consensus",
    source="Consensus Algorithm: Principles & Assumptions (texts A and B)",
    systems=SYSTEMS,
    readings=Readings(),
    mutants=MUTANTS,
)
"""Staking with conviction over rounds."""
