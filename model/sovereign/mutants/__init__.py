"""The faulty kernels, executors and loggers: deliberate faults, each with the smallest place that can kill it."""

from __future__ import annotations

from evenhand.core.system import Mutant
from evenhand.model.sovereign.kernel import Rules
from evenhand.model.sovereign.mutants.around import AROUND
from evenhand.model.sovereign.mutants.deciding import DECISION_MUTANTS
from evenhand.model.sovereign.mutants.doing import DOING
from evenhand.model.sovereign.mutants.gates import GATE_MUTANTS

__all__ = ["MUTANTS"]

MUTANTS: tuple[Mutant[Rules], ...] = (*GATE_MUTANTS, *DECISION_MUTANTS, *AROUND, *DOING)
"""Every mutant, in a fixed order."""
