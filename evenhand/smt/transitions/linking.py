"""The conformance of an invariant and the model: both are compared on sampled runs of every variant."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

from evenhand.core.kinds import Property, Safety
from evenhand.core.system import AnySystem, Mutant
from evenhand.processes.collector import uncollected
from evenhand.smt.conformance import Conformance
from evenhand.smt.differential import variants
from evenhand.smt.logic import Formula
from evenhand.smt.structure import Reader, Structure
from evenhand.smt.transitions.invariant import Invariant, Steps
from evenhand.smt.transitions.machine import Machine


def truths(claim: Property, run: Steps) -> tuple[bool, ...]:
    """Return whether the claim is true of each step of a run, or of each state if it reads states or histories.

    Raises TypeError for a claim that a finite run cannot refute.
    """
    if not isinstance(claim, Safety):
        raise TypeError(f"claim {claim.name} is of kind {claim.kind}; invariants state claims about states or steps")
    config = run[0].config
    first, *later = claim.answers(config, run[0].before, run)
    if claim.reads == "histories":
        first = claim.answer(config, claim.memory(config))
    return tuple(kept is not False for kept in (later if claim.reads == "steps" else (first, *later)))


def state_after(machine: Machine, step: Structure) -> Structure:
    """Return the state after a step as a structure of its own, without inputs and `.after` symbols."""
    gone = {*machine.inputs, *machine.state, *(f"{name}.after" for name in machine.state)}

    def moved(tables: Mapping[str, Any]) -> dict[str, Any]:
        kept = {name: table for name, table in tables.items() if name not in gone}
        later = {name: tables[f"{name}.after"] for name in machine.state if f"{name}.after" in tables}
        return {**kept, **later}

    return Structure(step.universe, moved(step.relations), moved(step.functions))


def link(
    invariant: Invariant,
    system: AnySystem,
    mutants: Sequence[Mutant[Any]],
    *,
    also: Mapping[str, Sequence[Steps]] | None = None,
) -> Conformance:
    """Compare machine and model on sampled runs of every variant, and on the runs in `also` by variant."""
    tally = _Tally(invariant)
    with uncollected():
        for variant in variants(system, mutants):
            for run in (*_sampled(invariant, variant), *(also or {}).get(variant.variant, ())):
                if run and invariant.claim.applies(run[0].config):
                    tally.run(variant, run)
    return tally.result(len(mutants))


_RUNS: dict[tuple[int, int, int, str], tuple[Any, Any, tuple[Steps, ...]]] = {}


def _sampled(invariant: Invariant, variant: AnySystem) -> tuple[Steps, ...]:
    """The sampled runs of a variant; invariants that share a function of samples stand side by side, and share them."""
    samples = invariant.samples
    for other in [one for one, kept in _RUNS.items() if kept[0] is not samples]:
        del _RUNS[other]
    place = (id(samples), id(variant.step), id(variant.rules), f"{variant.variant} {variant.readings!r}")
    if place not in _RUNS:  # samples and rules are kept, so that their ids are not reused
        _RUNS[place] = (samples, variant.rules, tuple(samples(variant)))
    return _RUNS[place][2]


class _Tally:
    """The running counts of a comparison, with one reader per set of definitions."""

    def __init__(self, invariant: Invariant) -> None:
        self._invariant, self._machine = invariant, invariant.machine
        self._readers: dict[str, Reader] = {"reference": Reader(self._machine.theory.meanings)}
        for mutation in invariant.mutants:
            theory = self._machine.theory.redefined(mutation.definitions)
            self._readers[mutation.mutant.name] = Reader(theory.meanings)
        self._assumed = self._machine.theory.assumed
        self._of_states = not self._machine.span(invariant.always)
        self._structures: dict[Hashable, Structure] = {}
        self._seen: set[int] = set()
        self._known: dict[tuple[str, int, int], bool] = {}
        self._counts: dict[str, Any] = dict.fromkeys(("cases", "outside", "words", "size", "true", "false"), 0)
        self._disagreements: list[str] = []

    def run(self, variant: AnySystem, run: Steps) -> None:
        """Compare on one run, up to its first step outside the theory."""
        name = variant.variant
        if not any(run[0].before == start for start in variant.initial(run[0].config)):
            self._note(f"a sampled run of {name} does not begin in an initial state")
            return
        inside = list(self._inside(name, run))
        found = truths(self._invariant.claim, run)
        if inside and not self._holds("reference", self._machine.init, inside[0]):
            self._note(f"an initial state of {name} is none in the theory")
        if self._of_states and inside:
            inside.append(self._shared(state_after(self._machine, inside[-1])))
        self._count(cases=len(found), outside=len(found) - min(len(found), len(inside)))
        for structure, truth in zip(inside, found, strict=False):
            self._compare(name, structure, truth)

    def _inside(self, name: str, run: Steps) -> Iterator[Structure]:
        """The steps of a run as structures, up to the first outside the theory."""
        machine = self._machine
        words = machine.theory.meanings
        for number in range(len(run)):
            seen = self._invariant.view(run, number)
            step = None if seen is None else self._shared(seen.without(words))
            if step is None or not self._holds("reference", self._assumed, step):
                if name == "reference":
                    self._note("a step of the reference lies outside the theory, so that no induction passes it")
                return
            if name in self._readers:
                self._count(words=1)
                if not self._holds(name, machine.step, step):
                    self._note(f"a step of {name} is none in the theory")
            yield step

    def _shared(self, structure: Structure) -> Structure:
        """The first structure that equals this one; all are kept, so that no id is reused."""
        return self._structures.setdefault(structure.key, structure)

    def _compare(self, name: str, structure: Structure, truth: bool) -> None:
        self._seen.add(id(structure))
        self._count(true=int(truth), false=int(not truth))
        self._counts["size"] = max(self._counts["size"], structure.size)
        formula = self._holds("reference", self._invariant.always, structure)
        if formula != truth:
            self._note(f"in a run of {name} the formula is {formula} and the claim {truth}")
        for lemma in self._invariant.lemmas if name == "reference" else ():
            told = not self._of_states or self._machine.span(lemma.formula) == 0
            if told and not self._holds("reference", lemma.formula, structure):
                self._note(f"lemma {lemma.name} is false in a run of the reference")

    def _holds(self, name: str, formula: Formula, structure: Structure) -> bool:
        """The value of a formula under a variant's definitions in a shared structure; cached: runs repeat them."""
        key = (name, id(formula), id(structure))
        if key not in self._known:
            self._known[key] = self._readers[name].holds(formula, structure)
        return self._known[key]

    def _count(self, **more: int) -> None:
        for name, count in more.items():
            self._counts[name] += count

    def _note(self, sentence: str) -> None:
        if len(self._disagreements) < 5:
            self._disagreements.append(sentence)

    def result(self, mutants: int) -> Conformance:
        """Return the counts."""
        return Conformance(
            **self._counts,
            structures=len(self._seen),
            mutants=mutants,
            disagreements=tuple(self._disagreements),
        )
