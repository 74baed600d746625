"""The faulty compilers: deliberate faults, each with the smallest scope that can kill it.

A mutant is the reference rules with one function replaced by a plausible wrong reading or shortcut; each fault is
total, so that `step` stays total.
"""

from __future__ import annotations

from evenhand.core.bundle import mutants_in
from evenhand.model.apcm.mutants import inputs_and_views, rules

__all__ = ["MUTANTS"]

MUTANTS = mutants_in(rules, inputs_and_views)
"""Every mutant, in a fixed order."""
