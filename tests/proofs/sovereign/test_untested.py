"""A false axiom is a disagreement, or told as assumed where no sample has another value of its symbol."""

from __future__ import annotations

from dataclasses import replace

from evenhand.proofs.sovereign.rules import CAND, CITE, OBS, budget, cites
from evenhand.smt.logic import Formula, forall
from evenhand.smt.prove import prove
from evenhand.smt.proved import ProofStatus
from evenhand.smt.registry import theorems
from evenhand.smt.theory import Axiom
from tests.properties.sovereign.bundle import BUNDLE

_O, _C, _X = OBS("o"), CAND("c"), CITE("x")


def _told(name: str, planted: Formula) -> tuple[ProofStatus, str]:
    theorem = next(one for one in theorems("sovereign") if one.name == name)
    theory = replace(theorem.theory, axioms=(*theorem.theory.axioms, Axiom("planted", planted)))
    found = prove(replace(theorem, theory=theory, mutants=()), bundle=BUNDLE)
    return found.status, found.verdict.because


def test_no_observation_is_a_budget() -> None:
    status, because = _told("order_of_candidates_decides_nothing", forall([_O], ~budget(_O)))
    assert status is ProofStatus.UNDECIDED and "axiom planted is false of a step" in because


def test_no_candidate_cites() -> None:
    """The view leaves candidates out."""
    status, because = _told("more_tokens_never_help", forall([_C, _X], ~cites(_C, _X)))
    assert status is ProofStatus.HOLDS and because.endswith(
        "assumed, for no sample has another value of a symbol: planted (cites))"
    )
