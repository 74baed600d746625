"""The theorems are green, their mutants are refuted as declared, and each states a claim of its system."""

from __future__ import annotations

import pytest

from evenhand.proofs.sovereign import THEOREMS
from evenhand.proofs.sovereign.deciding import DECISION
from evenhand.proofs.sovereign.definitions import FAULTS
from evenhand.proofs.sovereign.encoding import scene, structure_of
from evenhand.proofs.sovereign.samples import samples
from evenhand.smt.prove import prove
from tests.properties.sovereign.bundle import BUNDLE

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


def test_view_and_scene_agree() -> None:
    """A decision abstracted to a structure, concretised to a cycle, decided and abstracted again has the same words."""
    system = BUNDLE.model.systems["lists"]
    seen = 0
    for step in samples(system):
        structure = structure_of(step)
        if structure is None or len(step.action.candidates) > 2:
            continue
        scenario = scene(structure)
        if scenario is None:
            continue
        other = structure_of(system.take(scenario.config, scenario.start, scenario.actions[-1]))
        assert other is not None
        for name in ("exits", "exhausted", "acts", "refuses", "warranted"):
            assert other.relations[name] == structure.relations[name], name
        for name in ("at_1", "at_2", "at_3", "at_4", "at_5", "admitted"):
            assert len(other.relations[name]) == len(structure.relations[name]), name
        seen += 1
    assert seen > 40 and DECISION.name == "sovereign_decision"
