"""The theory of messages and observations is that of the model, and of no kernel with a fault in either."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from evenhand.core.registry import find
from evenhand.core.system import Mutant
from evenhand.proofs.cud.mail import FAULTS, POST, POSTED
from evenhand.smt.differential import agree
from evenhand.smt.structure import Reader
from evenhand.smt.theorem import Theorem

SYSTEM = find("cud").model.systems["run"]


def _about(fault: Mutant[Any]) -> Theorem:
    return next(
        theorem
        for theorem in POSTED
        for mutation in theorem.mutants
        if mutation.mutant is fault and mutation.expected == "refuted"
    )


@pytest.mark.parametrize("fault", list(FAULTS), ids=lambda fault: fault.name)
def test_a_kernel_with_a_fault_is_not_that_of_the_model(fault: Mutant[Any]) -> None:
    """Its words, said of the reference, are other than what the reference shows."""
    wrong = replace(_about(fault), theory=POST.redefined(FAULTS[fault]), mutants=())
    assert "by definition" in " ".join(agree(wrong, SYSTEM, ()).disagreements)


def test_the_samples_show_each_word() -> None:
    """Each observed word is true of something, but `twofold`: no honest kernel sends two drafts under one name."""
    (theorem, *_) = POSTED
    reader = Reader(POST.meanings)
    seen: set[str] = set()
    for step in theorem.samples(SYSTEM):
        structure = theorem.view(step)
        if structure is not None:
            assert reader.holds(POST.assumed, structure)
            seen |= {name for name in POST.meanings if structure.relations.get(name)}
    assert seen == {"sent", "lost", "kept", "hears", "sees", "recalls"}
