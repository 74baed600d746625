"""The faulty kernels: deliberate faults over every layer, each with the smallest place that can kill it."""

from __future__ import annotations

from typing import Any

from evenhand.core.system import Mutant
from evenhand.model.markspace.mutants.guarding import GUARDING
from evenhand.model.markspace.mutants.layers import LAYERED
from evenhand.model.markspace.mutants.marks import MARKS

__all__ = ["MUTANTS"]

MUTANTS: tuple[Mutant[Any], ...] = (*GUARDING, *MARKS, *LAYERED)
"""Every mutant, in a fixed order."""
