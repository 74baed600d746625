"""Refutations by samples: a sampled run refutes a mutant only if it is a countermodel and replays."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from evenhand.core.system import AnySystem
from evenhand.core.trace import Scenario
from evenhand.smt.cases import wrong_ends
from evenhand.smt.countermodel import NoCounterpart, Refutation
from evenhand.smt.ends import Ends, end_at, ends_along, single, ways
from evenhand.smt.logic import exists
from evenhand.smt.prove import prove
from evenhand.smt.proved import ProofStatus
from evenhand.smt.structure import Structure
from evenhand.smt.theory import Axiom
from evenhand.smt.transitions.invariant import Steps
from tests.engines.smt.transitions.test_invariant import BUNDLE as LOCKS
from tests.engines.smt.transitions.test_invariant import INVARIANT
from tests.models.grant import BUNDLE, SYSTEM, THEOREM, THEORY, asks, blank, x


def _rounds(system: AnySystem, start: int = 0) -> Any:
    for config in system.all_configs():
        for action in system.enabled(config, 0):
            yield end_at(system, Scenario(config, start, ()), start, action)


def _astray(system: AnySystem) -> Any:
    """Rounds in a state to which their ways do not lead."""
    for config in system.all_configs():
        for action in system.enabled(config, 0):
            yield end_at(system, Scenario(config, 0, (("a",),)), 7, action)


SAMPLED = replace(THEOREM, realise=None, samples=Ends(_rounds))


def test_a_sampled_run_refutes_the_mutant() -> None:
    """It is the first round in which two agents are granted, and it replays from the start."""
    found = prove(SAMPLED, bundle=BUNDLE)
    assert found.status is ProofStatus.HOLDS
    (everybody, _) = found.mutants
    assert isinstance(everybody.outcome, Refutation) and everybody.outcome.evidence.actions == (("a", "b"),)  # type: ignore[union-attr]


def test_what_is_no_countermodel_or_does_not_replay_refutes_nothing() -> None:
    """A view that sees nothing, a start that is not initial, a way to elsewhere, no fault, an unsaid one."""
    everybody, last = SAMPLED.mutants
    faultless = replace(everybody, mutant=last.mutant)
    unsaid = replace(everybody, definitions=last.definitions)
    for wrong in (
        replace(SAMPLED, view=blank),
        replace(SAMPLED, samples=Ends(lambda system: _rounds(system, start=1))),
        replace(SAMPLED, samples=Ends(_astray)),
        replace(SAMPLED, mutants=(faultless,)),
    ):
        found = prove(wrong, bundle=BUNDLE)
        assert found.status is ProofStatus.UNDECIDED and isinstance(found.mutants[0].outcome, NoCounterpart)
    assert prove(replace(SAMPLED, mutants=(unsaid,)), bundle=BUNDLE).status is ProofStatus.UNDECIDED


def test_an_axiom_that_a_round_of_the_reference_breaks_proves_nothing() -> None:
    """Such rounds were left out unseen, so that a theory that lacks them proved the claim of all."""
    silent = replace(THEORY, axioms=(*THEORY.axioms, Axiom("one_is_silent", exists([x], ~asks(x)))))
    for samples in (THEOREM.samples, SAMPLED.samples):
        found = prove(replace(THEOREM, theory=silent, samples=samples), bundle=BUNDLE)
        assert found.status is ProofStatus.UNDECIDED
        assert found.verdict.because == "theory and model disagree: axiom one_is_silent is false of a step of reference"


def _unseen(_run: Steps, _number: int) -> Structure | None:
    return None


def test_a_sampled_run_refutes_the_mutant_of_an_invariant() -> None:
    """Up to the step that is wrong; not under a view that sees nothing, and not where the mutant has no fault."""
    sampled = replace(INVARIANT, realise=None)
    found = prove(sampled, bundle=LOCKS)
    assert found.status is ProofStatus.HOLDS and isinstance(found.mutants[0].outcome, Refutation)
    careless, closed = sampled.mutants
    faultless = replace(careless, mutant=closed.mutant)
    for wrong in (replace(sampled, view=_unseen), replace(sampled, mutants=(faultless,))):
        assert isinstance(prove(wrong, bundle=LOCKS).mutants[0].outcome, NoCounterpart)


def test_a_theorem_needs_runs_or_a_realisation() -> None:
    """Samples that are mere steps show no way to them."""
    with pytest.raises(ValueError, match="lacks `realise`"):
        replace(THEOREM, realise=None)


def test_ways_lead_to_their_states() -> None:
    """Each state that is found is the end of its way, those behind a first way too, and unwanted ones are left out."""

    def after(state: int, act: int) -> int | None:
        return state + act if state + act < 20 else None

    found = ways("config", 0, lambda _state: (3, 5), after, 4, [(7, 2)])
    assert {0, 3, 5, 7, 9} <= set(found) and all(sum(way.actions) == state for state, way in found.items())
    assert ways("config", 18, lambda _state: (3,), after, 9) == {18: Scenario("config", 18, ())}


def test_ends_are_last_steps_of_their_runs() -> None:
    """Of a run of two rounds, and of single situations."""
    config = next(iter(SYSTEM.all_configs()))
    one, two = ends_along(SYSTEM, config, 0, ("a",), ("b",))
    assert (one[0].actions, two[0].actions) == ((("a",),), (("a",), ("b",))) and two[1].action == ("b",)
    assert [step.action for step in single(lambda: [(config, 0, ("a",))])(SYSTEM)] == [("a",)]
    assert not list(wrong_ends(SYSTEM, THEOREM.claim, [one, two]))
