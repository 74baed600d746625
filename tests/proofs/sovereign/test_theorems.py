"""The theorems are green, their mutants are refuted as declared, and each states a claim of its system."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from evenhand.model.sovereign.mutants import gates
from evenhand.model.sovereign.state import Config
from evenhand.model.sovereign.step import REFERENCE
from evenhand.model.sovereign.vocabulary import Observation
from evenhand.proofs.sovereign.deciding import DECISION, FAULTS, KERNEL, OBSERVED
from evenhand.proofs.sovereign.encoding import structure_of
from evenhand.proofs.sovereign.rules import read
from evenhand.proofs.sovereign.samples import samples
from evenhand.smt.prove import prove
from evenhand.smt.registry import theorems
from evenhand.smt.smtlib import show
from evenhand.smt.structure import Reader
from evenhand.smt.theory import Theory
from evenhand.source.refusal import Unreadable
from tests.properties.sovereign.bundle import BUNDLE

THEOREMS = theorems("sovereign")

QUICK = ("log_append_never_comes_from_a_candidate", "an_effect_spends_an_issued_warrant")


@pytest.mark.parametrize("name", QUICK)
def test_a_theorem_is_proved(name: str) -> None:
    """With its mutants and its conformance."""
    found = prove(next(one for one in THEOREMS if one.name == name), bundle=BUNDLE)
    assert found.green, found.verdict.because
    assert all(one.as_declared for one in found.mutants)


@pytest.mark.deep
@pytest.mark.parametrize("name", [theorem.name for theorem in THEOREMS])
def test_every_theorem_is_proved(name: str) -> None:
    found = prove(next(one for one in THEOREMS if one.name == name), bundle=BUNDLE)
    assert found.green, found.verdict.because


def test_each_theorem_states_a_claim_of_its_system() -> None:
    """Every fault is one of a mutant of the model."""
    assert all(theorem.system in theorem.claim.systems for theorem in THEOREMS)
    assert set(FAULTS) <= set(BUNDLE.model.mutants)


def _differ(theory: Theory, steps: Iterable[Any]) -> set[str]:
    """Return the words that a theory defines otherwise than steps show them."""
    reader, structures = Reader(theory.meanings), [one for one in map(structure_of, steps) if one is not None]
    assert len(structures) >= 50
    return {
        name
        for one in structures
        for name in OBSERVED
        if reader.extension(theory.meanings[name].relation, one.without(OBSERVED)) != one.relations[name]
    }


def test_words_are_what_the_functions_say() -> None:
    """Of each mutant of which a word changes; as words of the reference, those of each are wrong."""
    system = BUNDLE.model.systems["lists"]
    usual, read_ = list(samples(system)), set[str]()
    assert not _differ(DECISION, usual)
    for mutant in BUNDLE.model.mutants:
        try:
            theory = DECISION.redefined(FAULTS[mutant])
        except (Unreadable, ValueError):
            continue
        read_.add(mutant.name)
        steps = list(samples(replace(system, rules=mutant.rules, variant=mutant.name)))
        if mutant.name != "log_append_dropped_by_host":  # no view has what the host drops
            assert not _differ(theory, steps), mutant.name
        assert _differ(theory, usual), mutant.name
    assert {"citation_gate_last", "io_gate_first", "log_append_dropped_by_host"} <= read_ and len(read_) == 20 + 3


def _any_budget(_config: Config, seen: tuple[Observation, ...]) -> bool:
    return any(one.kind == "budget" for one in seen)


def test_what_cannot_be_read_is_refused() -> None:
    """A gate that looks at texts, and a rule that asks about other observations."""
    with pytest.raises(Unreadable, match=r"gates.py.*startswith"):
        read(gates.citations_by_looks.rules)
    with pytest.raises(Unreadable, match=r"gates.py.*another configuration, or other observations"):
        read(gates.read_and_write_paths_merged.rules)
    with pytest.raises(Unreadable, match=r"test_theorems.py.*has no field kind"):
        read(replace(REFERENCE, overspent=_any_budget))


def test_words_are_the_same_in_every_process() -> None:
    """The names of bound variables count nothing that ran before."""
    assert read(REFERENCE) == KERNEL
    assert show(KERNEL["incomplete"]) == "(or (log_append c) (not (exists ((cite1 Cite)) (cites c cite1))) (lacks c))"
