"""The faulty compilers: deliberate faults, each with the smallest place that can kill it.

A mutant is the reference rules with one function replaced by a wrong reading that somebody could hold or a shortcut
that somebody could take; each fault is total, so that `step` stays total.
"""

from __future__ import annotations

from evenhand.core.system import Mutant
from evenhand.model.apcm.compiler import Rules
from evenhand.model.apcm.mutants.around import AROUND
from evenhand.model.apcm.mutants.rules import RULES

__all__ = ["MUTANTS"]

MUTANTS: tuple[Mutant[Rules], ...] = (*RULES, *AROUND)
"""Every mutant, in a fixed order."""
