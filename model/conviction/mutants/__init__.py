"""Deliberate faults, each with the smallest place that can kill it."""

from __future__ import annotations

from evenhand.core.system import Mutant
from evenhand.model.conviction.mutants.money import MONEY
from evenhand.model.conviction.mutants.play import PLAY
from evenhand.model.conviction.rules import Rules

__all__ = ["MUTANTS"]

MUTANTS: tuple[Mutant[Rules], ...] = (*MONEY, *PLAY)
"""Every mutant, in a fixed order."""
