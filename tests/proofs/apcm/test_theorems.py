"""The theorems are green, their mutants are refuted as declared, and each states a claim of its system."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from evenhand.core.system import AnySystem
from evenhand.model.apcm.compiler import REFERENCE
from evenhand.model.apcm.step import ApcmStep
from evenhand.proofs.apcm.compiling import FAULTS, KERNEL, OBSERVED, TEXT, read
from evenhand.proofs.apcm.encoding import scene, structure_of, view_text
from evenhand.proofs.apcm.samples import samples, samples_of_precedents
from evenhand.smt.prove import prove
from evenhand.smt.registry import theorems
from evenhand.smt.smtlib import show
from evenhand.smt.structure import Reader
from evenhand.smt.theorem import Theorem
from evenhand.smt.theory import Theory
from evenhand.source.refusal import Unreadable
from tests.deep import rest_slow
from tests.properties.apcm.bundle import BUNDLE

THEOREMS = theorems("apcm")

QUICK = (
    "authorised_violations_unavoidable",
    "authorised_only_in_collision",
    "gridlock_iff_all_forbidden",
    "some_artifact_permits_unless_blocked",
)


def named(name: str) -> Theorem:
    """Return the theorem of that name."""
    return next(theorem for theorem in THEOREMS if theorem.name == name)


@pytest.mark.parametrize("name", rest_slow(QUICK))
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


def _differ(theory: Theory, steps: Iterable[ApcmStep]) -> set[str]:
    """Return the words that a theory defines otherwise than steps show them."""
    reader, structures = Reader(theory.meanings), [one for one in map(view_text, steps) if one is not None]
    assert len(structures) >= 100
    return {
        name
        for one in structures
        for name in OBSERVED
        if reader.extension(theory.meanings[name].relation, one.without(OBSERVED)) != one.relations[name]
    }


def test_words_are_what_the_functions_say() -> None:
    """Of each readable mutant; as words of the reference, those of each but the equivalent ones are wrong."""
    system = BUNDLE.model.systems["universe"]
    equal, unread = {"rule_1_as_equality", "errors_by_section"}, dict[str, str]()

    def steps(variant: AnySystem) -> list[ApcmStep]:
        return [*samples(variant), *samples_of_precedents(variant)][::3]

    usual = steps(system)
    for mutant in BUNDLE.model.mutants:
        try:
            theory = TEXT.redefined(FAULTS[mutant])
        except (Unreadable, ValueError) as error:
            unread[mutant.name] = str(error)
            continue
        assert not _differ(theory, steps(replace(system, rules=mutant.rules, variant=mutant.name))), mutant.name
        assert bool(_differ(theory, usual)) == (mutant.name not in equal), mutant.name
    assert {name for name, why in unread.items() if "changes no word" not in why} == {
        "satisfying_excuses_violating",
        "necessity_of_the_first_name",
        "any_digest_links",
        "first_step_needs_a_link",
        "fail_fast",
        "first_listed_wins",
        "selector_peeks_at_apcm",
    }
    assert len(FAULTS) >= 34


def test_words_are_the_same_in_every_process() -> None:
    """The names of bound variables count nothing that ran before."""
    assert read(REFERENCE) == KERNEL
    assert show(KERNEL["gratuitous"]) == "(and (av p) (exists ((act1 Act)) (and (keeps act1) (not (violates act1 p)))))"


def test_a_theorem_that_is_false_is_refuted() -> None:
    """Necessity without preservations: the countermodel replays in the model."""
    wrong = replace(
        named("authorised_violations_unavoidable"),
        assumes=named("authorised_violations_unavoidable").theory.meanings["compiles"].relation(),
        mutants=(),
    )
    found = prove(wrong, bundle=BUNDLE)
    assert not found.green
