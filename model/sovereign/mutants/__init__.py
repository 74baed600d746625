"""The faulty kernels, executors and loggers: deliberate faults, each with the smallest scope that can kill it."""

from __future__ import annotations

from evenhand.core.bundle import mutants_in
from evenhand.model.sovereign.mutants import deciding, executor_and_log, gates, strictness

__all__ = ["MUTANTS"]

MUTANTS = mutants_in(gates, deciding, executor_and_log, strictness)
"""Every mutant, in a fixed order."""
