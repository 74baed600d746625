"""The theorems are green, their mutants are refuted as declared, and each states a claim of its system."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evenhand.proofs.apcm import THEOREMS
from evenhand.proofs.apcm.compiling import TEXT
from evenhand.proofs.apcm.compiling import FAULTS
from evenhand.proofs.apcm.encoding import scene, structure_of, view_text
from evenhand.proofs.apcm.samples import samples
from evenhand.smt.prove import prove
from evenhand.smt.theorem import Theorem
from tests.properties.apcm.bundle import BUNDLE

QUICK = (
    "authorised_violations_unavoidable",
    "authorised_only_in_collision",
    "gridlock_iff_all_forbidden",
    "some_artifact_permits_unless_blocked",
)


def named(name: str) -> Theorem:
    """Return the theorem of that name."""
    return next(theorem for theorem in THEOREMS if theorem.name == name)


@pytest.mark.parametrize("name", QUICK)
def test_a_theorem_is_proved(name: str) -> None:
    """With its mutants and its conformance."""
    found = prove(named(name), bundle=BUNDLE)
    assert found.green, found.verdict.because
    assert all(one.as_declared for one in found.mutants)


@pytest.mark.deep
@pytest.mark.parametrize("name", [theorem.name for theorem in THEOREMS])
def test_every_theorem_is_proved(name: str) -> None:
    found = prove(named(name), bundle=BUNDLE)
    assert found.green, found.verdict.because


def test_each_theorem_states_a_claim_of_its_system() -> None:
    """Every fault is one of a mutant of the model."""
    assert all(theorem.system in theorem.claim.systems for theorem in THEOREMS)
    assert set(FAULTS) <= set(BUNDLE.model.mutants)


def test_view_and_scene_are_inverse() -> None:
    """A step abstracted to a structure, concretised to a scenario, replayed, abstracted again: the same relations."""
    system = BUNDLE.model.systems["universe"]
    seen = 0
    for step in samples(system):
        structure = view_text(step)
        if structure is None or step.before.previous is not None:
            continue
        scenario = scene(structure)
        assert scenario is not None
        again = system.take(scenario.config, scenario.start, scenario.actions[-1])
        other = structure_of(again)
        assert other is not None
        for name in (*(relation.name for relation in TEXT.relations), "compiles", "forbidden", "permitted"):
            if not name.startswith("before_"):
                assert other.relations[name] == structure.relations[name], name
        seen += 1
    assert seen > 50


def test_a_theorem_that_is_false_is_refuted() -> None:
    """Necessity without preservations: the countermodel replays in the model."""
    wrong = replace(
        named("authorised_violations_unavoidable"),
        assumes=named("authorised_violations_unavoidable").theory.meanings["compiles"].relation(),
        mutants=(),
    )
    found = prove(wrong, bundle=BUNDLE)
    assert not found.green
