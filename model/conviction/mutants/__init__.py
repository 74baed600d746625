"""Deliberate faults, each with the smallest place that can kill it."""

from __future__ import annotations

from evenhand.core.bundle import mutants_in
from evenhand.model.conviction.mutants import money, play

__all__ = ["MUTANTS"]

MUTANTS = mutants_in(money, play)
"""Every mutant, in a fixed order."""
