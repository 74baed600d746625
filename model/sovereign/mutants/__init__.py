"""The faulty kernels, executors and loggers: deliberate faults, each with the smallest place that can kill it."""

from __future__ import annotations

from evenhand.model.sovereign.kernel import Rules
from evenhand.model.system import Mutant

__all__ = ["MUTANTS"]

MUTANTS: tuple[Mutant[Rules], ...] = ()
"""Every mutant, in a fixed order."""
