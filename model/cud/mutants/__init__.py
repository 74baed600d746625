"""The mutant kernels: deliberate faults of IX-2, each with the smallest scope that can kill it.

A mutant is the reference rules with one function (rarely two) replaced by a plausible wrong reading or shortcut; each
fault is total, so that `step` stays total.  Systems that run whole epochs see it in their observations; the counter
of the free-agent graph belongs to the harness and is seen only there.
"""

from __future__ import annotations

from evenhand.core.bundle import mutants_in
from evenhand.core.lookup import UnknownName
from evenhand.core.system import Mutant
from evenhand.model.cud.kernel import Rules
from evenhand.model.cud.mutants import arbitration, authority, reporting, validity

__all__ = ["MUTANTS", "mutant"]

MUTANTS = mutants_in(arbitration, authority, validity, reporting)
"""Every mutant kernel, in a fixed order."""


def mutant(name: str) -> Mutant[Rules]:
    """Return the mutant called `name`.  Raises UnknownName for an unknown one."""
    by_name = {one.name: one for one in MUTANTS}
    if name not in by_name:
        raise UnknownName("mutant", name, by_name)
    return by_name[name]
