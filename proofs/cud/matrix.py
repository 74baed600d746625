"""The kill matrix of `cud`: every theorem against every mutant kernel that its theory can express.

The expectations are those of `faults`, for all theorems and all mutants, not only those tried at every run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from evenhand.core.system import Mutant
from evenhand.proofs.cud.definitions import FAULTS, OUTSIDE
from evenhand.proofs.cud.epoch import EPOCH
from evenhand.proofs.cud.faults import KILLED, lean, said
from evenhand.proofs.cud.mail import FAULTS as OF_MAIL
from evenhand.proofs.cud.mail import POST
from evenhand.smt.matrix import Attempt, Registered
from evenhand.smt.registry import theorems
from evenhand.smt.theorem import Mutation

__all__ = ["OUTSIDE", "attempts"]


def attempts() -> Iterator[Attempt]:
    """Yield the cells of all theorems about the default readings."""
    for theorem in theorems("cud"):
        if theorem.readings:
            continue
        base, faults = (POST, OF_MAIL) if POST.meanings.keys() <= theorem.theory.meanings.keys() else (EPOCH, FAULTS)
        registered: dict[Mutant[Any], Registered] = {
            **{one.mutant: "killed" if one.expected == "refuted" else "survives" for one in theorem.mutants},
            **dict.fromkeys(KILLED.get(theorem.name, ()), "killed"),
        }
        for mutant, changed in faults.items():
            definitions = said(theorem.theory, base, changed)
            tried = lean(replace(theorem, mutants=(Mutation(mutant=mutant, definitions=definitions),)))
            yield Attempt(tried, mutant, definitions, registered.get(mutant, ""))
