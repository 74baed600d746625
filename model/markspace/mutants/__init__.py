"""The faulty kernels: deliberate faults over every layer, each with the smallest place that can kill it."""

from __future__ import annotations

from evenhand.core.bundle import mutants_in
from evenhand.model.markspace.mutants import guarding, layers, marks, stored

__all__ = ["MUTANTS"]

MUTANTS = mutants_in(guarding, marks, stored, layers)
"""Every mutant, in a fixed order."""
