"""Validate a countermodel: confirm, minimise, realise and replay it.

A solver's model counts only after the evaluator, which shares nothing with solver and printer, finds every assertion
true in it.  It is then minimised, realised as a scenario, and replayed in the executable model.  A theorem may leave
the realisation to its samples: then a sampled step takes the place of the solver's model, if its structure is a
countermodel too and its run replays.  Four outcomes:
`Refutation` (it replays from an initial state: a counterexample), `Induction` (the step is wrong, but its state may be
unreachable), `NoCounterpart` (no scenario matches: an axiom is missing) and `EncodingDisagrees` (the model does
something else).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from evenhand.core.kinds import Property, Safety
from evenhand.core.relations import Paired
from evenhand.core.system import AnySystem
from evenhand.core.trace import Lasso, Pair, replay
from evenhand.core.verdict import Evidence
from evenhand.evidence.judge import judge, own_runs, restate
from evenhand.evidence.second_runs import at_step, compared
from evenhand.smt.cases import wrong_ends
from evenhand.smt.ends import Ends
from evenhand.smt.logic import Formula, Not
from evenhand.smt.structure import BadStructure, Structure
from evenhand.smt.theorem import Theorem
from evenhand.smt.theory import Theory

_Said: TypeAlias = tuple[str, tuple[str, ...]]


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
    """Theory and executable model, or solver and evaluator, disagree."""

    structure: Structure
    because: str


Outcome: TypeAlias = Refutation | Induction | NoCounterpart | EncodingDisagrees


def confirmed(theory: Theory, model: Structure, *claims: Formula) -> str:
    """Return the axiom or claim that the evaluator finds false in a solver's model; empty if there is none."""
    reader = theory.reader
    for axiom in theory.axioms:
        if not reader.holds(axiom.formula, model):
            return f"axiom {axiom.name} is false in it"
    if not all(reader.holds(claim, model) for claim in claims):
        return "the formula that it should witness is false in it"
    return ""


def follow(theorem: Theorem, theory: Theory, model: Structure, system: AnySystem) -> Outcome:
    """Confirm, minimise, realise and replay a countermodel of the theorem in `theory`; return the outcome.

    `theory` is the theorem's own or a mutant of it, `system` the executable variant that belongs to it.
    """
    wrong = Not(theorem.formula)
    if said := confirmed(theory, model, wrong):
        return EncodingDisagrees(model, f"the evaluator contradicts the solver's model: {said}")
    if theorem.realise is None:
        return sampled(theorem, theory, model, system)
    small = minimise(model, all_of(theory, wrong))
    found = _replayed(theorem, small, system)
    if isinstance(found, Refutation) or small == model:
        return found
    # The minimised structure may not be realisable where the solver's own is.
    larger = _replayed(theorem, model, system)
    return larger if isinstance(larger, Refutation) else found


def sampled(theorem: Theorem, theory: Theory, model: Structure, system: AnySystem) -> Outcome:
    """Return the first sample of the variant that is a countermodel in `theory` and whose run refutes the claim."""
    assert isinstance(theorem.samples, Ends), "there is a realisation"
    for case, evidence in wrong_ends(system, theorem.claim, theorem.samples.runs(system)):
        seen = theorem.view(case)
        shown = None if seen is None else seen.without(theory.meanings)
        if shown is not None and not confirmed(theory, shown, Not(theorem.formula)):
            judgement = judge(system, theorem.claim, evidence)
            if judgement.refutes and _ends_in(system, theorem.claim, evidence, case):
                return Refutation(shown, restate(system, theorem.claim, evidence), judgement.reason)
    return NoCounterpart(model, "no sampled run refutes the claim by a countermodel")


def _ends_in(system: AnySystem, claim: Property, evidence: Evidence, case: Any) -> bool:
    """Whether the steps of a case are those with which its runs end: the way to one may be another variant's."""
    steps = cast("tuple[Any, ...]", case if isinstance(case, tuple) else (case,))
    return all(replay(system, run).steps[-1] in steps for run in own_runs(claim, evidence))


def all_of(theory: Theory, claim: Formula) -> Callable[[Structure], bool]:
    """Return a test whether the axioms and `claim` are true; it tries the formula that was false last first."""
    waiting = [claim, *(axiom.formula for axiom in theory.axioms)]

    def keeps(model: Structure) -> bool:
        for place, formula in enumerate(waiting):
            if not theory.reader.holds(formula, model):
                waiting.insert(0, waiting.pop(place))
                return False
        return True

    return keeps


def _replayed(theorem: Theorem, structure: Structure, system: AnySystem) -> Outcome:
    assert theorem.realise is not None, "its samples have no runs"
    claim, evidence = theorem.claim, theorem.realise(structure)
    if evidence is None:
        return NoCounterpart(structure, "no scenario of the model matches this structure: an axiom is missing")
    judgement = judge(system, claim, evidence)
    if judgement.refutes:
        return Refutation(structure, restate(system, claim, evidence), judgement.reason)
    if _wrong_step(system, claim, evidence):
        return Induction(structure, evidence, "the step is wrong, but its state is not known to be reachable")
    return EncodingDisagrees(structure, f"{system.name} ({system.variant}) does otherwise: {judgement.reason}")


def _wrong_step(system: AnySystem, claim: Property, evidence: Evidence) -> bool:
    """Whether the last step violates the claim, from any start."""
    if isinstance(evidence, Lasso):
        return False
    scenario = evidence.left if isinstance(evidence, Pair) else evidence
    if not scenario.actions:
        return False
    step = replay(system, scenario).steps[-1]
    if isinstance(claim, Safety) and claim.reads == "steps":
        return claim.at(step.config, None, step) is False
    if not isinstance(claim, Paired) or claim.reads != "steps":
        return False
    return any(one.why for one in compared(system, claim, at_step(step, first=False)))


def minimise(model: Structure, keeps: Callable[[Structure], bool]) -> Structure:
    """Return a structure from which no element and no tuple can be dropped so that `keeps` stays true.

    An element may be dropped with its image under a function, or a bijection would keep both.  Greedy and
    deterministic: the last elements go first.  `keeps(model)` must be true.
    """
    found, before = model, None
    while found is not before:
        before = found
        for gone in _droppable(found):
            found = _if_kept(found, _without(found, gone), keeps)
        for said in _sayings(found):
            found = _if_kept(found, _unsaid(found, said), keeps)
    return found


def _if_kept(model: Structure, less: Structure | None, keeps: Callable[[Structure], bool]) -> Structure:
    try:
        return less if less is not None and keeps(less) else model
    except BadStructure:
        return model


def _droppable(model: Structure) -> list[frozenset[str]]:
    """Elements one by one, last first; then each with its image under a function of one argument."""
    alone = [element for elements in model.universe.values() for element in reversed(elements)]
    pairs = [
        frozenset((row[0], value))
        for table in model.functions.values()
        for row, value in sorted(table.items(), reverse=True)
        if len(row) == 1
    ]
    return [*(frozenset((element,)) for element in alone), *dict.fromkeys(pairs)]


def _sayings(model: Structure) -> list[tuple[_Said, ...]]:
    """Tuples one by one; then each with one of the relation's second copy, to which an axiom may tie it."""
    alone = [(name, entry) for name, table in model.relations.items() for entry in sorted(table, reverse=True)]
    pairs = [
        ((name, entry), (f"{name}2", other))
        for name, entry in alone
        for other in sorted(model.relations.get(f"{name}2", ()), reverse=True)
    ]
    return [*((said,) for said in alone), *pairs]


def _unsaid(model: Structure, said: tuple[_Said, ...]) -> Structure | None:
    """The structure without some tuples; None if it lacks one of them."""
    if any(entry not in model.relations[name] for name, entry in said):
        return None
    less = {name: model.relations[name] - {entry} for name, entry in said}
    return Structure(model.universe, {**model.relations, **less}, model.functions)


def _without(model: Structure, gone: frozenset[str]) -> Structure | None:
    """The structure without some elements; function values among them become the sort's first remaining element.

    None if a sort would be empty or nothing would change.  Element names are unique across sorts, as `portfolio` and
    every `view` guarantee.
    """
    universe = {sort: tuple(e for e in elements if e not in gone) for sort, elements in model.universe.items()}
    if universe == dict(model.universe) or not all(universe.values()):
        return None
    stays = {e: universe[sort][0] for sort, elements in model.universe.items() for e in elements if e in gone}
    functions: dict[str, Mapping[tuple[str, ...], str]] = {
        name: {row: stays.get(value, value) for row, value in table.items() if gone.isdisjoint(row)}
        for name, table in model.functions.items()
    }
    relations = {name: frozenset(e for e in table if gone.isdisjoint(e)) for name, table in model.relations.items()}
    return Structure(universe, relations, functions)
