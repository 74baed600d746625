"""Conformance: compare theory and model on the model's own steps.

Two comparisons on every case that `view` can turn into a structure.  The theorem's formula must be true exactly where
the claim's predicate is, on the reference **and on every mutant** (an always true formula would pass on the reference
alone), and both truth values must occur.  And every defined relation must hold of exactly the elements of which it was
observed: the reference's definitions on the reference, a mutant's on that mutant.

The steps have four origins (`ORIGINS`), which a disagreement names: every small situation, boundary cases that a solver
makes (see `boundary_cases`), drawn samples with coverage targets (see `samples`), and replayed countermodels.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

from evenhand.core.kinds import Property
from evenhand.core.relations import DeterminedBy, Paired
from evenhand.core.system import AnyStep, AnySystem, Mutant
from evenhand.core.taking import Taker, changed_rules
from evenhand.evidence.second_runs import compare
from evenhand.processes.collector import uncollected
from evenhand.smt.boundary_cases import AGAINST, BoundaryCase, boundary_cases
from evenhand.smt.cases import case_of, cases, place_of, second_runs
from evenhand.smt.conformance import ORIGINS, Conformance
from evenhand.smt.lenses import Look, lens_of
from evenhand.smt.logic import Definition, Holds, walk
from evenhand.smt.memo import Cache
from evenhand.smt.samples import Samples
from evenhand.smt.structure import Structure
from evenhand.smt.theorem import Theorem


def variants(system: AnySystem, mutants: Sequence[Mutant[Any]]) -> tuple[AnySystem, ...]:
    """Return the reference and each of its mutants, at the system's own scope and readings.

    Mutants whose rules are of another type than the system's are left out.
    """
    own = [mutant for mutant in mutants if type(mutant.rules) is type(system.rules)]
    return (system, *(replace(system, rules=mutant.rules, variant=mutant.name) for mutant in own))


def agree(
    theorem: Theorem,
    system: AnySystem,
    mutants: Sequence[Mutant[Any]],
    *,
    also: Mapping[str, Sequence[AnyStep]] | None = None,
) -> Conformance:
    """Compare theory and model on the theorem's samples of every variant, and on the steps in `also` by variant."""
    with uncollected():  # all that is made is kept, and looking through it takes a seventh of the time
        return _agree(theorem, system, mutants, also or {})


def _agree(
    theorem: Theorem, system: AnySystem, mutants: Sequence[Mutant[Any]], extra: Mapping[str, Sequence[AnyStep]]
) -> Conformance:
    claim, tally = theorem.stepwise(system), _Tally(theorem)
    sampled = theorem.samples if isinstance(theorem.samples, Samples) else None
    usual = _steps(theorem, system, system, None)
    pairs = isinstance(claim, Paired)
    told, seconds = [_Told(system, claim, one.step) for one in usual], Taker(system)
    among = variants(system, mutants)
    for variant in (*among, *_sampled_readings(system, sampled)):
        reference = variant.variant == "reference"
        words = theorem.theory.meanings if reference else _mutated(theorem, variant.variant)
        taken: Sequence[_Taken] = usual if reference else _steps(theorem, system, variant, usual)
        if not reference and sampled is not None:
            taken = _picked(taken, pairs=pairs, words=words is not None)
        for one in taken:
            found: Iterable[tuple[Any, bool]]
            if one.alike is None:
                found = told[one.place].cases if reference else cases(variant, claim, (one.step,))
            elif pairs:
                found = told[one.alike].under(variant, seconds)
            else:
                # Steps equal to the reference's were compared already, except with the mutant's own definitions.
                found = told[one.alike].cases if words is not None else []
            for case, truth in found:
                tally.case(one.origin, variant.variant, case, truth, words)
        if isinstance(claim, DeterminedBy):
            for case, truth in cases(variant, claim, (one.step for one in taken)):
                tally.case("drawn", variant.variant, case, truth, words)
        for case, truth in cases(variant, claim, extra.get(variant.variant, ())):
            tally.case("replayed", variant.variant, case, truth, words)
    made = boundary_cases(theorem, system) if sampled is not None else ()
    for boundary_case in (one for one in made if not one.impossible):
        tally.boundary_case(boundary_case, list(cases(system, claim, boundary_case.steps)))
    return tally.result(len(among) - 1, sampled, usual, made)


def _sampled_readings(system: AnySystem, sampled: Samples | None) -> Iterator[AnySystem]:
    if sampled is None:
        return
    for name, rules in sampled.sampled_readings.items():
        yield replace(system, rules=rules, variant=name)


@dataclass(frozen=True, slots=True)
class _Taken:
    """A step, its origin, its place among the variant's steps, and the place of the reference's equal step, if any."""

    origin: str
    step: AnyStep
    place: int
    alike: int | None


class _Told:
    """The cases of a claim at a step of the reference, and at the equal step of a variant."""

    def __init__(self, system: AnySystem, claim: Property, step: AnyStep) -> None:
        self.system, self.claim, self.step = system, claim, step
        self.seconds = second_runs(system, claim, step) if isinstance(claim, Paired) else ()
        if isinstance(claim, Paired):
            self.cases = [(case_of(claim, one), not one.why) for one in self.seconds]
        else:
            self.cases = list(cases(system, claim, (step,)))

    def under(self, variant: AnySystem, taker: Taker) -> Iterator[tuple[Any, bool]]:
        """Yield the cases of a claim about pairs; the variant's second runs are the reference's where they agree."""
        assert isinstance(self.claim, Paired)
        changed = changed_rules(self.system.rules, variant.rules)
        for one, case in zip(self.seconds, self.cases, strict=True):
            fork, place = one.fork, place_of(variant, self.claim, self.step)
            runs = [(fork.config, fork.state, fork.right)]
            if place.step is None:  # else the first run is a step that is known to be the variant's too
                runs.append((place.config, place.state, fork.left))
            if changed is not None and all(taker.same_run(variant.rules, changed, *run) for run in runs):
                yield case
            else:
                other = compare(variant, self.claim, place, one.way)
                yield case_of(self.claim, other), not other.why


_STEPS: dict[tuple[int, int, str, int], tuple[Any, Any, tuple[_Taken, ...]]] = {}
_TAKERS: dict[tuple[int, int], Taker] = {}
_Places: TypeAlias = Mapping[Hashable, _Taken]
_PLACES: Cache[_Places] = Cache(16)
_OWN: Cache[_Places] = Cache(16)
_PAIRS, _SINGLES = 6, 24


def _steps(
    theorem: Theorem, system: AnySystem, variant: AnySystem, usual: Sequence[_Taken] | None
) -> tuple[_Taken, ...]:
    """The steps on which a variant of `system` is compared; theorems that share samples share them."""
    samples = theorem.samples
    # Two systems with one step function take the same steps.
    place = (id(samples), id(variant.step), f"{variant.variant} {variant.readings!r}", id(variant.rules))
    if place not in _STEPS:
        made = _sampled(samples, system, variant) if isinstance(samples, Samples) else _drawn(samples, variant)
        if not isinstance(samples, Samples):  # theorems that share a function of samples stand side by side
            for other in [one for one, kept in _STEPS.items() if kept[0] is not samples]:
                if not isinstance(_STEPS[other][0], Samples):
                    del _STEPS[other]
        # Samples and rules are kept, so that their ids are not reused.
        _STEPS[place] = (samples, variant.rules, tuple(_marked(made, usual)))
    return _STEPS[place][2]


def _drawn(samples: Callable[[AnySystem], Iterable[AnyStep]], variant: AnySystem) -> Iterator[tuple[str, AnyStep]]:
    return (("drawn", step) for step in samples(variant))


def _sampled(samples: Samples, system: AnySystem, variant: AnySystem) -> Iterator[tuple[str, AnyStep]]:
    """Take a variant's steps; those equal to the reference's are the reference's own objects."""
    taker = _TAKERS.setdefault((id(system.step), id(system.rules)), Taker(system))
    changed = changed_rules(system.rules, variant.rules)
    for origin, situation in samples.situations(variant):
        yield origin, taker.taken(variant, changed, *situation)


def _marked(made: Iterable[tuple[str, AnyStep]], usual: Sequence[_Taken] | None) -> Iterator[_Taken]:
    own: _Places = {} if usual is None else _OWN.get((usual,), partial(_by_identity, usual))
    known: _Places = {} if usual is None else _PLACES.get((usual,), partial(_by_situation, usual))
    for place, (origin, step) in enumerate(made):
        other = own.get(id(step))  # most steps are the reference's own objects, which need no hash
        if other is None and known:
            other = known.get(_situation(step))
            if other is not None and (step.shown != other.step.shown or step.after != other.step.after):
                other = None
        yield _Taken(origin, step, place, None if other is None else other.place)


def _by_identity(taken: Sequence[_Taken]) -> _Places:
    return {id(one.step): one for one in taken}


def _by_situation(taken: Sequence[_Taken]) -> _Places:
    return {_situation(one.step): one for one in taken}


def _situation(step: AnyStep) -> Hashable:
    """What a step is taken from, by value; by identity where it has parts that cannot be hashed."""
    found = step.config, step.before, step.action
    try:
        hash(found)
    except TypeError:
        return tuple(map(id, found))
    return found


def _picked(taken: Sequence[_Taken], *, pairs: bool, words: bool) -> list[_Taken]:
    """A selection of a mutant's steps, mostly those that differ from the reference; more if `words` define it."""
    limit = (_PAIRS if pairs else _SINGLES) * (3 if words and pairs else 1)
    apart = [one for one in taken if one.alike is None]
    alike = [one for one in taken if one.alike is not None] if pairs or words else []
    return _spread(apart, limit) + _spread(alike, limit // 2)


def _spread(taken: list[_Taken], limit: int) -> list[_Taken]:
    return taken[:: -(-len(taken) // limit) or 1]


def _mutated(theorem: Theorem, name: str) -> Mapping[str, Definition] | None:
    """The mutant's definitions; None where the theory has no such mutant."""
    for mutation in theorem.mutants:
        if mutation.mutant.name == name:
            return theorem.theory.redefined(mutation.definitions).meanings
    return None


class _Tally:
    def __init__(self, theorem: Theorem) -> None:
        self._theorem, self._lens = theorem, lens_of(theorem)
        self._formula = theorem.formula
        samples = theorem.samples
        # Other samples may take a mutant to states that axioms about reachable states exclude.
        self._of_mutants = isinstance(samples, Samples)
        self._lax = samples.restrictions if isinstance(samples, Samples) else frozenset[str]()
        self._looks: dict[int, tuple[Any, Look]] = {}
        self._wrong: dict[Look, str] = {}
        self._said: dict[Look, bool] = {}
        self._testing: dict[Look, None] = {}
        self._counts: dict[str, Any] = {"cases": 0, "outside": 0, "size": 0, "true": 0, "false": 0, "words": 0}
        self._values: set[tuple[str, bool]] = set()
        self._caught: dict[str, int] = {}
        self._disagreements: list[str] = []
        self._unreached: list[str] = []
        self._lifted: list[str] = []
        self._denied = 0

    def case(
        self, origin: str, variant: str, case: Any, truth: bool, words: Mapping[str, Definition] | None
    ) -> Structure | None:
        """Compare on one case; return its structure, None outside the view."""
        self._counts["cases"] += 1
        known = self._looks.get(id(case))
        if known is None or known[0] is not case:
            known = self._looks[id(case)] = case, self._lens.look(case)
        look = known[1]
        structure, wrong = look.structure, self._wrong.get(look)
        if structure is not None and wrong is None:
            wrong = self._wrong[look] = self._lens.broken(look, self._theorem.theory)
        if structure is None or wrong:
            self._counts["outside"] += 1
            if wrong and wrong not in self._lax and (self._of_mutants or variant == "reference"):
                self._note(origin, f"axiom {wrong} is false of a step of {variant}")
            return structure
        if self._of_mutants or variant == "reference":
            self._testing[look] = None
        self._counts["true" if truth else "false"] += 1
        self._counts["size"] = max(self._counts["size"], structure.size)
        said = self._said.get(look)
        if said is None:
            said = self._said[look] = self._lens.plain.holds(self._formula, structure)
        if words is not None:
            sentences, count, values = self._lens.words(variant, look, words)
            self._counts["words"] += count
            self._values |= values
            for sentence in sentences:
                self._note(origin, f"on a step of {variant} {sentence}")
        if said != truth:
            self._note(origin, f"on a step of {variant} the formula is {said} and the claim {truth}")
        return structure

    def boundary_case(self, boundary_case: BoundaryCase, found: list[tuple[Any, bool]]) -> None:
        """Compare on a boundary case, and count whether its step satisfies the case's formula."""
        words, reached = self._theorem.theory.meanings, False
        for case, truth in found:
            structure = self.case("corner", "reference", case, truth, words)
            if structure is not None:
                bare = structure.without(words)
                reached = reached or self._lens.plain.holds(boundary_case.formula, bare)
        if boundary_case.axiom:  # `case` has noted a step of the model that breaks an axiom
            self._denied += not reached
            if reached and boundary_case.name.removeprefix(AGAINST) in self._lax:
                self._lifted.append(boundary_case.name)
        elif not reached:
            self._unreached.append(boundary_case.name)

    def _note(self, origin: str, sentence: str) -> None:
        self._caught[origin] = self._caught.get(origin, 0) + 1
        if len(self._disagreements) < 5:
            self._disagreements.append(sentence)

    def result(
        self, mutants: int, sampled: Samples | None, usual: Sequence[_Taken], made: Sequence[BoundaryCase]
    ) -> Conformance:
        """Return the counts."""
        spoken = {part.relation.name for part in walk(self._formula) if isinstance(part, Holds)}
        met = {name for name, _ in self._values}
        silent = tuple(name for name in sorted(met & spoken) if not {(name, True), (name, False)} <= self._values)
        looks, axioms = tuple(self._testing), self._theorem.theory.axioms
        constant = {axiom.name: self._lens.constant(axiom, looks) for axiom in axioms if axiom.name not in self._lax}
        found: dict[str, Any] = {}
        if sampled is not None:
            drawn = [one.step for one in usual if one.origin == "drawn"]
            events = {name: sum(map(bool, map(test, drawn))) for name, (test, _) in sampled.events.items()}
            possible = [boundary_case for boundary_case in made if not boundary_case.impossible]
            words = sum(not boundary_case.axiom for boundary_case in possible)
            found = {
                "every": len(usual) - len(drawn),
                "upto": sampled.upto,
                "drawn": len(drawn),
                "boundary_cases": len(possible),
                "impossible": tuple(boundary_case.name for boundary_case in made if boundary_case.impossible),
                "lifted": tuple(self._lifted),
                "reached": words - len(self._unreached),
                "denied": self._denied,
                "events": tuple(events.items()),
                "short": tuple(
                    f"{name} {events[name]} times, not {floor}"
                    for name, (_, floor) in sampled.events.items()
                    if events[name] < floor
                ),
            }
        return Conformance(
            **self._counts,
            **found,
            structures=len(self._said),
            mutants=mutants,
            disagreements=tuple(self._disagreements),
            silent=silent,
            untested=tuple((name, symbols) for name, symbols in constant.items() if symbols),
            unreached=tuple(self._unreached),
            caught=tuple((origin, self._caught[origin]) for origin in ORIGINS if origin in self._caught),
        )
