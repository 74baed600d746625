"""Theorems whose samples refute their mutants: each link between theory and model bites in both directions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evenhand.core.registry import find
from evenhand.smt.countermodel import NoCounterpart, Refutation, sampled
from evenhand.smt.ends import Ends
from evenhand.smt.registry import theorems
from evenhand.smt.structure import Structure
from evenhand.smt.theorem import Theorem

EVERY = [
    one for name in ("conviction", "cud", "markspace", "sovereign") for one in theorems(name) if one.realise is None
]


@pytest.mark.parametrize("theorem", EVERY, ids=lambda one: f"{one.protocol}-{one.name}")
def test_a_sample_refutes_where_theory_and_model_have_the_fault(theorem: Theorem) -> None:
    """With the fault in both a run refutes the claim; in the theory alone, or in the model alone, nothing does."""
    assert isinstance(theorem.samples, Ends)
    honest = theorem.place(find(theorem.protocol))
    nothing = Structure({})
    for mutation in theorem.mutants:
        if mutation.expected == "refuted":
            theory = theorem.theory.redefined(mutation.definitions)
            faulty = replace(honest, rules=mutation.mutant.rules, variant=mutation.mutant.name)
            assert isinstance(sampled(theorem, theory, nothing, faulty), Refutation), mutation.mutant.name
            assert isinstance(sampled(theorem, theory, nothing, honest), NoCounterpart), mutation.mutant.name
            assert isinstance(sampled(theorem, theorem.theory, nothing, faulty), NoCounterpart), mutation.mutant.name
