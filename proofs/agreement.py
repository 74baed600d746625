"""Agreement: does the theory say of the model's own steps what the model does?

Two comparisons on every case that `view` can turn into a structure.  The theorem's formula must be true exactly
where the claim's predicate is, on the reference **and on every mutant** (a formula that is always true would
pass on the reference alone), and both truth values must have been seen.  And every defined word of the theory
must hold of exactly the things of which it was observed: the reference's words on the reference, a mutant's words
on that mutant.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from evenhand.model.system import Mutant, System
from evenhand.proofs.smt.logic import Definition, Holds, walk
from evenhand.proofs.smt.structure import Reader, Structure
from evenhand.proofs.theorem import Theorem
from evenhand.properties.property import AnyStep, DeterminedBy, EachStep, Monitor, Property, TwoRun
from evenhand.properties.refutes import twins_of

__all__ = ["Linked", "agree", "cases", "variants"]

AnySystem: TypeAlias = System[Any, Any, Any, Any, Any]


@dataclass(frozen=True)
class Linked:
    """How far the theory was compared with the model.

    `cases` were sampled, `outside` of them the theory says nothing about; the others gave `structures` different
    structures of at most `size` elements per sort, the claim true on `true` cases and false on `false`.  `words`
    counts comparisons of defined words, `mutants` the variants that were compared.  `disagreements` says the first few,
    `silent` names words of the formula that were only ever observed true, or false.
    """

    cases: int = 0
    outside: int = 0
    structures: int = 0
    size: int = 0
    true: int = 0
    false: int = 0
    words: int = 0
    mutants: int = 0
    disagreements: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()

    @property
    def because(self) -> str:
        """Why the link does not carry the proof; empty if it does."""
        if self.disagreements:
            return f"theory and model disagree: {self.disagreements[0]}"
        if not self.structures:
            return "the link was tried on no step of the model"
        if not self.true or not self.false:
            return f"the claim was never seen {'true' if not self.true else 'false'} on a step inside the theory"
        if self.silent:
            return f"a word of the formula was observed with one value only: {', '.join(self.silent)}"
        return ""

    @property
    def sentence(self) -> str:
        """The link in one line, as reports print it."""
        share = 100 * self.outside // self.cases if self.cases else 0
        return (
            f"linked on {self.structures} structures up to size {self.size} "
            f"({self.mutants} mutants; claim true on {self.true}, false on {self.false}; "
            f"{share}% of {self.cases} sampled cases lie outside the theory)"
        )


def cases(system: AnySystem, claim: Property, steps: Iterable[AnyStep]) -> Iterator[tuple[Any, bool]]:
    """The cases a claim makes of steps, each with whether the claim is true of it.

    A step for `EachStep`; the first step of a run for `Monitor` (the theorem is the step of an induction, what the
    monitor remembers must be in it); (w, step, other step) for `TwoRun`; a pair of steps with equal keys for
    `DeterminedBy`.  Raises TypeError for other kinds.
    """
    match claim:
        case EachStep():
            for step in steps:
                if claim.applies(step.config):
                    yield step, not claim.when(step) or claim.check(step)
        case TwoRun():
            for step in steps:
                if claim.applies(step.config):
                    for w, other in twins_of(system, claim, step):
                        yield (w, step, other), claim.agree(w, step, other)
        case Monitor():
            for step in steps:
                if claim.applies(step.config):
                    value = claim.update(claim.start(step.config), step)
                    yield step, not claim.when(step.config, value) or claim.ok(step.config, value)
        case DeterminedBy():
            first: dict[Any, AnyStep] = {}
            for step in steps:
                if claim.applies(step.config) and claim.when(step):
                    kept = first.setdefault(claim.key(step), step)
                    if kept is not step:
                        yield (kept, step), claim.value(kept) == claim.value(step)
        case _:
            raise TypeError(f"claim {claim.name} is of kind {claim.kind}; theorems state claims about steps or pairs")


def variants(system: AnySystem, mutants: Sequence[Mutant[Any]]) -> tuple[AnySystem, ...]:
    """The reference and each mutant of it, at the system's own scope and readings."""
    return (system, *(replace(system, rules=mutant.rules, variant=mutant.name) for mutant in mutants))


def agree(
    theorem: Theorem,
    claim: Property,
    system: AnySystem,
    mutants: Sequence[Mutant[Any]],
    *,
    also: Mapping[str, Sequence[AnyStep]] | None = None,
) -> Linked:
    """Compare theory and model on the theorem's samples of every variant, and on the steps `also` gives by variant."""
    tally = _Tally(theorem)
    extra = also or {}
    usual: dict[tuple[int, int, int], tuple[AnyStep, list[tuple[Any, bool]]]] = {}
    for variant in variants(system, mutants):
        reference = variant.variant == "reference"
        words = theorem.theory.meanings if reference else _mutated(theorem, variant.variant)
        steps = list(theorem.samples(variant))
        for step in steps:
            found = list(cases(variant, claim, (step,)))
            place = (id(step.config), id(step.before), id(step.action))
            if reference:
                usual[place] = (step, found)
            # Where a mutant does what the reference does, its case is the reference's and was compared already.
            elif words is None and place in usual and found == usual[place][1]:
                continue
            for case, truth in found:
                tally.case(variant.variant, case, truth, words)
        if isinstance(claim, DeterminedBy):
            for case, truth in cases(variant, claim, steps):
                tally.case(variant.variant, case, truth, words)
        for case, truth in cases(variant, claim, extra.get(variant.variant, ())):
            tally.case(variant.variant, case, truth, words)
    return tally.result(len(mutants))


def _mutated(theorem: Theorem, name: str) -> Mapping[str, Definition] | None:
    """The mutant's words; None where the theory has no such mutant."""
    for mutation in theorem.mutants:
        if mutation.mutant == name:
            return theorem.theory.redefined(mutation.definitions).meanings
    return None


class _Tally:
    """Counts as it goes; one reader per set of definitions."""

    def __init__(self, theorem: Theorem) -> None:
        self._theorem = theorem
        self._formula = theorem.formula
        self._assumed = theorem.theory.assumed
        self._plain = Reader(theorem.theory.meanings)
        self._readers: dict[str, Reader] = {}
        self._seen: dict[tuple[str, Hashable], tuple[bool, bool]] = {}
        self._values: dict[str, set[bool]] = {}
        self._counts = {"cases": 0, "outside": 0, "size": 0, "true": 0, "false": 0, "words": 0}
        self._disagreements: list[str] = []

    def case(self, variant: str, case: Any, truth: bool, words: Mapping[str, Definition] | None) -> None:
        """Compare on one case."""
        self._counts["cases"] += 1
        structure = self._theorem.view(case)
        if structure is None or not self._plain.holds(self._assumed, structure):
            self._counts["outside"] += 1
            return
        self._counts["true" if truth else "false"] += 1
        self._counts["size"] = max(self._counts["size"], structure.size)
        key = (variant if words is not None else "", structure.key)
        said = self._seen.get(key)
        if said is None:
            formula = self._plain.holds(self._formula, structure)
            sound = words is None or self._words(variant, structure, words)
            said = self._seen[key] = (formula, sound)
        if said[0] != truth:
            self._note(f"on a step of {variant} the formula is {said[0]} and the claim {truth}")

    def _words(self, variant: str, structure: Structure, words: Mapping[str, Definition]) -> bool:
        """Whether every observed word means what its definition says."""
        observed = [name for name in words if name in structure.relations]
        bare = structure.without(words)
        reader = self._readers.setdefault(variant, Reader(words))
        good = True
        for name in observed:
            self._counts["words"] += 1
            defined = reader.extension(words[name].relation, bare)
            seen = structure.relations[name]
            values = self._values.setdefault(name, set())
            values.update([True] * bool(seen))
            if len(seen) < _places(words[name], structure):
                values.add(False)
            if defined != seen:
                good = False
                self._note(f"on a step of {variant} {name} is {sorted(defined)} by definition, {sorted(seen)} in fact")
        return good

    def _note(self, sentence: str) -> None:
        if len(self._disagreements) < 5:
            self._disagreements.append(sentence)

    def result(self, mutants: int) -> Linked:
        """What was counted."""
        spoken = {part.relation.name for part in walk(self._formula) if isinstance(part, Holds)}
        seen = sorted(self._values.items())
        silent = tuple(name for name, values in seen if name in spoken and len(values) < 2)
        structures = {key for _, key in self._seen}
        return Linked(
            **self._counts,
            structures=len(structures),
            mutants=mutants,
            disagreements=tuple(self._disagreements),
            silent=silent,
        )


def _places(definition: Definition, structure: Structure) -> int:
    count = 1
    for sort in definition.relation.domain:
        count *= len(structure.universe[sort.name])
    return count
