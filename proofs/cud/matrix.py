"""The kill matrix of `cud`: every theorem against every mutant kernel that the theory of an epoch can express.

The expectations are those of `faults`, for all theorems and all mutants, not only those tried at every run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from evenhand.proofs.cud.definitions import FAULTS, OUTSIDE
from evenhand.proofs.cud.epoch import EPOCH
from evenhand.proofs.cud.faults import KILLED, SPARED, lean, said
from evenhand.proofs.cud.mail import FAULTS as OF_MAIL
from evenhand.proofs.cud.mail import POSTED
from evenhand.proofs.cud.own_past import LEARNED, TWICE
from evenhand.proofs.cud.theorems import UNTRIMMED
from evenhand.smt.matrix import Attempt, Registered
from evenhand.smt.theorem import Mutation

__all__ = ["OUTSIDE", "attempts"]


def attempts() -> Iterator[Attempt]:
    """Yield the cells of all theorems about the default readings."""
    for theorem in UNTRIMMED:
        if theorem.readings:
            continue
        for mutant, changed in FAULTS.items():
            definitions = said(theorem.theory, EPOCH, changed)
            registered: Registered = ""
            if mutant in KILLED.get(theorem.name, ()):
                registered = "killed"
            elif mutant in SPARED.get(theorem.name, {}):
                registered = "survives"
            tried = lean(replace(theorem, mutants=(Mutation(mutant=mutant, definitions=definitions),)))
            yield Attempt(tried, mutant, definitions, registered)
    for theorem in (*POSTED, LEARNED):
        declared = {one.mutant: one.expected for one in theorem.mutants}
        for mutant, single in OF_MAIL.items():
            changed = TWICE.said(single) if theorem is LEARNED else single
            expected = declared.get(mutant)
            found: Registered = "killed" if expected == "refuted" else "survives" if expected else ""
            tried = replace(theorem, mutants=(Mutation(mutant=mutant, definitions=changed),))
            yield Attempt(tried, mutant, changed, found)
