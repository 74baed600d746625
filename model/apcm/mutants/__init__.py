"""The faulty compilers: deliberate faults, each with the smallest scope that can kill it.

A mutant is the reference rules with one function replaced by a plausible wrong reading or shortcut; each fault is
total, so that `step` stays total.
"""

from __future__ import annotations

from evenhand.core.system import Mutant
from evenhand.model.apcm.compiler import Rules
from evenhand.model.apcm.mutants.inputs_and_views import INPUT_AND_VIEW_MUTANTS
from evenhand.model.apcm.mutants.rules import RULES

__all__ = ["MUTANTS"]

MUTANTS: tuple[Mutant[Rules], ...] = (*RULES, *INPUT_AND_VIEW_MUTANTS)
"""Every mutant, in a fixed order."""
