"""What becomes of a countermodel.

A solver's model is believed only after the evaluator, which shares nothing with solver and printer, finds
every assertion true in it.  It is then made small, realised as a scenario, and replayed in the executable model.
Four ends: `Refutation` (it replays from an initial state: a counterexample), `Induction` (the step is wrong, but
nobody knows that its state is reachable), `NoCounterpart` (no scenario matches: an axiom is missing) and
`EncodingDisagrees` (the model does something else).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from evenhand.model.system import System
from evenhand.model.trace import Scenario, replay
from evenhand.proofs.smt.logic import Formula, Not
from evenhand.proofs.smt.structure import BadStructure, Reader, Structure
from evenhand.proofs.theorem import Theorem
from evenhand.proofs.theory import Theory
from evenhand.properties.property import EachStep, Property, TwoRun
from evenhand.properties.refutes import bad_twins, judge, restate
from evenhand.properties.verdict import Evidence

__all__ = [
    "EncodingDisagrees",
    "Induction",
    "NoCounterpart",
    "Outcome",
    "Refutation",
    "confirmed",
    "follow",
    "minimise",
]

AnySystem: TypeAlias = System[Any, Any, Any, Any, Any]


@dataclass(frozen=True)
class Refutation:
    """The countermodel replays from an initial state: the only one of the four that is a counterexample."""

    structure: Structure
    evidence: Evidence
    because: str


@dataclass(frozen=True)
class Induction:
    """The step violates the claim; its state is not known to be reachable.  `evidence` shows both states."""

    structure: Structure
    evidence: Evidence
    because: str


@dataclass(frozen=True)
class NoCounterpart:
    """No scenario of the model matches the structure: the theory lacks an axiom."""

    structure: Structure
    because: str


@dataclass(frozen=True)
class EncodingDisagrees:
    """Theory and executable model, or solver and evaluator, do not say the same."""

    structure: Structure
    because: str


Outcome: TypeAlias = Refutation | Induction | NoCounterpart | EncodingDisagrees


def confirmed(theory: Theory, model: Structure, *claims: Formula) -> str:
    """Which axiom or claim the evaluator finds false in a solver's model; empty if it confirms them all."""
    reader = Reader(theory.meanings)
    for axiom in theory.axioms:
        if not reader.holds(axiom.formula, model):
            return f"axiom {axiom.name} is false in it"
    if not all(reader.holds(claim, model) for claim in claims):
        return "what it should witness is false in it"
    return ""


def follow(theorem: Theorem, theory: Theory, model: Structure, claim: Property, system: AnySystem) -> Outcome:
    """Confirm, minimise, realise and replay a countermodel of the theorem in `theory`.

    `theory` is the theorem's own or a mutant of it, `system` the executable variant that belongs to it.
    """
    wrong = Not(theorem.formula)
    if said := confirmed(theory, model, wrong):
        return EncodingDisagrees(model, f"the evaluator contradicts the solver's model: {said}")
    reader = Reader(theory.meanings)
    assumed = theory.assumed
    small = minimise(model, lambda m: reader.holds(assumed, m) and reader.holds(wrong, m))
    found = _replayed(theorem, small, claim, system)
    if isinstance(found, Refutation) or small == model:
        return found
    # A smaller structure may have lost what makes it realisable; the solver's own gets its chance.
    larger = _replayed(theorem, model, claim, system)
    return larger if isinstance(larger, Refutation) else found


def _replayed(theorem: Theorem, structure: Structure, claim: Property, system: AnySystem) -> Outcome:
    evidence = theorem.realise(structure)
    if evidence is None:
        return NoCounterpart(structure, "no scenario of the model matches this structure: an axiom is missing")
    judgement = judge(system, claim, evidence)
    if judgement.refutes:
        return Refutation(structure, restate(system, claim, evidence), judgement.reason)
    if _wrong_step(system, claim, evidence):
        return Induction(structure, evidence, "the step is wrong, but its state is not known to be reachable")
    return EncodingDisagrees(structure, f"{system.name} ({system.variant}) does otherwise: {judgement.reason}")


def _wrong_step(system: AnySystem, claim: Property, evidence: Evidence) -> bool:
    """Whether the last step violates the claim, wherever it starts."""
    scenario = evidence if isinstance(evidence, Scenario) else getattr(evidence, "left", None)
    if not isinstance(scenario, Scenario) or not scenario.actions:
        return False
    step = replay(system, scenario).steps[-1]
    if isinstance(claim, EachStep):
        return claim.when(step) and not claim.check(step)
    return isinstance(claim, TwoRun) and next(bad_twins(system, claim, step, first=False), None) is not None


def minimise(model: Structure, keeps: Callable[[Structure], bool]) -> Structure:
    """A structure from which no element can be dropped and no tuple taken so that `keeps` stays true.

    Greedy and deterministic: the last elements go first.  `keeps(model)` must be true.
    """
    found = model
    while True:
        for smaller in _smaller(found):
            try:
                good = keeps(smaller)
            except BadStructure:
                good = False
            if good:
                found = smaller
                break
        else:
            return found


def _smaller(model: Structure) -> Iterator[Structure]:
    for sort, elements in model.universe.items():
        if len(elements) > 1:
            for gone in reversed(elements):
                yield _without(model, sort, gone)
    for name, table in model.relations.items():
        for entry in sorted(table, reverse=True):
            yield Structure(model.universe, {**model.relations, name: table - {entry}}, model.functions)


def _without(model: Structure, sort: str, gone: str) -> Structure:
    """The structure without one element; functions that led to it lead to the first that stays.

    Element names are unique across sorts, which both `portfolio` and every `view` see to.
    """
    stays = next(element for element in model.universe[sort] if element != gone)
    functions: dict[str, Mapping[tuple[str, ...], str]] = {
        name: {
            arguments: stays if value == gone else value for arguments, value in table.items() if gone not in arguments
        }
        for name, table in model.functions.items()
    }
    relations = {name: frozenset(e for e in table if gone not in e) for name, table in model.relations.items()}
    universe = {**model.universe, sort: tuple(e for e in model.universe[sort] if e != gone)}
    return Structure(universe, relations, functions)
