"""The protocol for the registry: systems, readings, mutants."""

from __future__ import annotations

from typing import Any

from evenhand.core.system import Protocol, System
from evenhand.model.markspace.clocked import CLOCK
from evenhand.model.markspace.composing import COMPOSING, SCHEDULING
from evenhand.model.markspace.guard_systems import GUARDS
from evenhand.model.markspace.layers_system import LAYERS
from evenhand.model.markspace.mutants import MUTANTS
from evenhand.model.markspace.readings import Readings
from evenhand.model.markspace.signals import SIGNALS
from evenhand.model.markspace.space_system import SPACE

SYSTEMS: dict[str, System[Any, Any, Any, Any, Any]] = {
    **GUARDS,
    "space": SPACE,
    "signals": SIGNALS,
    "layers": LAYERS,
    "composing": COMPOSING,
    "scheduling": SCHEDULING,
    "clock": CLOCK,
}
"""Systems by name: the guard under each policy, the space, the functions of strength, the optional layers."""

MARKSPACE = Protocol(
    name="markspace",
    title="Stigmergic coordination through marks",
    source="Markspace Coordination Protocol: Specification, 2026-03-23-draft",
    systems=SYSTEMS,
    readings=Readings(),
    mutants=MUTANTS,
)
"""The protocol, for the registry."""
