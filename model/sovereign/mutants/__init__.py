"""The faulty kernels, executors and loggers: deliberate faults, each with the smallest scope that can kill it."""

from __future__ import annotations

from evenhand.core.system import Mutant
from evenhand.model.sovereign.kernel import Rules
from evenhand.model.sovereign.mutants.deciding import DECISION_MUTANTS
from evenhand.model.sovereign.mutants.executor_and_log import EXECUTOR_AND_LOG_MUTANTS
from evenhand.model.sovereign.mutants.gates import GATE_MUTANTS
from evenhand.model.sovereign.mutants.strictness import STRICTNESS_MUTANTS

__all__ = ["MUTANTS"]

MUTANTS: tuple[Mutant[Rules], ...] = (*GATE_MUTANTS, *DECISION_MUTANTS, *EXECUTOR_AND_LOG_MUTANTS, *STRICTNESS_MUTANTS)
"""Every mutant, in a fixed order."""
