"""Prove mutants equal to the reference, for any number of whatever a theory counts.

A search shows a mutant equivalent within its scope.  Where a theory expresses the mutant, a proof goes further: every
observed defined relation (one that the theorem's `view` gives) is the same under both definitions, in every structure.
Relations that no step shows may differ; if no observed one depends on the change, nothing is asked or shown.

The conditions are like those of a theorem: (1) a solver proves each relation equal and none contradicts it; (2) the
axioms have a model and do not depend on the change; (3) the same question distinguishes another fault of the theory;
(4) the mutant's definitions agree with the executable mutant on its own steps, and each relation was observed both true
and false.  A structure in which a relation differs is realised and replayed in both variants: if they show different
things, the mutant is not equivalent, whatever a search said.

The result is about the observed relations: they are not all that a step shows, nor all of its state.

A protocol may state more than its theorems do in the module `equality` of its folder (`EQUALITIES`).
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from evenhand.core.bundle import Bundle
from evenhand.core.system import Mutant, System
from evenhand.core.trace import Scenario, replay
from evenhand.core.verdict import Evidence, Status
from evenhand.smt.cases import cases
from evenhand.smt.conformance import Conformance
from evenhand.smt.countermodel import all_of, confirmed, minimise
from evenhand.smt.differential import agree
from evenhand.smt.ends import Ends
from evenhand.smt.logic import Definition, Formula, Not, forall, iff
from evenhand.smt.matrix import touches
from evenhand.smt.portfolio import Portfolio, shared
from evenhand.smt.proof_task import ProofTask
from evenhand.smt.proved import ProofStatus
from evenhand.smt.registry import theorems
from evenhand.smt.rewriting import symbols
from evenhand.smt.solvers import SolverLimits
from evenhand.smt.structure import Structure
from evenhand.smt.theorem import Mutation, Theorem
from evenhand.smt.theory import Theory

MARK = "_m"
"""The suffix of the mutant's relations beside the reference's."""


@dataclass(frozen=True, kw_only=True)
class Equality:
    """The statement that `mutant`, expressed by `definitions` in the theory of `theorem`, equals the reference.

    The theorem provides theory, conformance, system, readings and scope.  `instead` maps a relation of hidden state
    that may differ to the closed formula that relates the two versions (the mutant's relation `word` is `word_m`).
    """

    mutant: Mutant[Any]
    theorem: Theorem
    definitions: tuple[Definition, ...]
    instead: tuple[tuple[str, Formula], ...] = ()


@dataclass(frozen=True)
class EqualityResult:
    """HOLDS if every observed relation is proved equal, REFUTED if a run shows a difference.

    `words` are the relations that were asked about, `scope` is the theorem's; `apart` is the run on which the two
    differ, `system` the executable mutant in it.
    """

    mutant: str
    status: Status
    because: str
    scope: str = ""
    words: tuple[str, ...] = ()
    conformance: Conformance | None = None
    apart: Scenario[Any, Any, Any] | None = None
    system: System[Any, Any, Any, Any, Any] | None = None


def equalities(bundle: Bundle, mutant: Mutant[Any]) -> tuple[Equality, ...]:
    """Return the equalities of a mutant: those its protocol states, else one for each theorem with this mutant.

    Raises ProtocolBroken for theorems that do not import.
    """
    name = f"evenhand.proofs.{bundle.name}.equality"
    known = theorems(bundle.name)
    there = importlib.util.find_spec(f"evenhand.proofs.{bundle.name}") if known else None
    if (
        there is not None
        and there.submodule_search_locations is not None
        and importlib.util.find_spec(name) is not None
    ):
        own = cast("tuple[Equality, ...]", importlib.import_module(name).EQUALITIES)
        stated = tuple(one for one in own if one.mutant == mutant)
        if stated:
            return stated
    return tuple(
        Equality(mutant=mutant, theorem=theorem, definitions=tried.definitions)
        for theorem in known
        for tried in theorem.mutants
        if tried.mutant == mutant
    )


def equality_of(bundle: Bundle, mutant: str, *, portfolio: Portfolio | None = None) -> EqualityResult:
    """Return whether a mutant equals the reference for any size: the first result that decides, else the last.

    Raises NoSolver when no solver is installed.
    """
    found = EqualityResult(mutant, Status.UNDECIDED, "no theory of the protocol says this mutant")
    declared = next((one for one in bundle.model.mutants if one.name == mutant), None)
    if declared is None:
        return replace(found, because="no theory speaks of mutants made by rule")
    for asked in equalities(bundle, declared):
        found = distinguished(asked, bundle, portfolio=portfolio)
        if found.status is not Status.UNDECIDED:
            break
    return found


def distinguished(equality: Equality, bundle: Bundle, *, portfolio: Portfolio | None = None) -> EqualityResult:
    """Return the result for one mutant in one theory."""
    theorem, mutant = equality.theorem, equality.mutant
    if dict(theorem.readings) != dict(mutant.readings):
        return EqualityResult(mutant.name, Status.UNDECIDED, f"theorem {theorem.name} is about other readings")
    return _Asking(equality, bundle, portfolio or shared()).run()


class _Asking(ProofTask):
    """The proof of one equality."""

    def __init__(self, equality: Equality, bundle: Bundle, portfolio: Portfolio) -> None:
        theorem = equality.theorem
        own = Mutation(mutant=equality.mutant, definitions=equality.definitions, expected="proved")
        self.faults = tuple(one for one in theorem.mutants if one.mutant != equality.mutant)
        self.theorem = replace(theorem, mutants=(own,))
        super().__init__(self.theorem, theorem.theory, bundle=bundle, limits=SolverLimits(), portfolio=portfolio)
        self.equality = equality
        self.faulty = self.mutated(own)

    def run(self) -> EqualityResult:
        mutant, definitions = self.equality.mutant, self.equality.definitions
        observed, constant = self.observed()
        reached = tuple(word for word in observed if touches(self.theory, (word,), definitions))
        if not reached:
            return EqualityResult(
                mutant.name, Status.UNDECIDED, f"no observed word of theory {self.theory.name} depends on the change"
            )
        for axiom in self.theory.axioms:
            if touches(self.theory, symbols(axiom.formula), definitions):
                self.doubt(ProofStatus.UNDECIDED, f"axiom {axiom.name} contains a word that the mutant changes")
        both, goals = self.beside(definitions, reached)
        apart = self.equal(both, goals)
        if isinstance(apart, Scenario):
            said = f"the two show different things in a run of {len(apart.actions)} actions that a solver made"
            return EqualityResult(mutant.name, Status.REFUTED, said, words=reached, apart=apart, system=self.faulty)
        for axioms in (self.theory, both):
            self.satisfiable(
                "axioms", axioms.query(), "the axioms alone have no model", lambda model: confirmed(self.theory, model)
            )
        if not self.sees_others(reached):
            self.doubt(ProofStatus.VACUOUS, f"these words distinguish no other fault of theory {self.theory.name}")
        conformance = agree(self.theorem, self.system, (mutant,))
        if conformance.disagreements:
            self.doubt(ProofStatus.UNDECIDED, f"theory and model disagree: {conformance.disagreements[0]}")
        elif not conformance.words or not conformance.structures:
            self.doubt(ProofStatus.UNDECIDED, "the mutant's words were compared with no step of the mutant")
        never = [word for word in reached if word in constant]
        if never:
            self.doubt(ProofStatus.UNDECIDED, f"a symbol was observed with one value only: {', '.join(never)}")
        if self.doubts:
            return EqualityResult(
                mutant.name, Status.UNDECIDED, self.doubts[0][1], words=reached, conformance=conformance
            )
        solvers = {
            answer.solver.split()[0] for _, one in self.queries for answer in one.answers if answer.status == "unsat"
        }
        because = (
            f"proved equal for {self.theorem.scope} (theory {self.theory.name}, {len(reached)} words, "
            f"{' and '.join(sorted(solvers))}; compared on {conformance.structures} structures of both)"
        )
        return EqualityResult(mutant.name, Status.HOLDS, because, self.theorem.scope, reached, conformance)

    def observed(self) -> tuple[tuple[str, ...], frozenset[str]]:
        """Return the defined relations observed on the reference, and those of them seen with one value only."""
        values: dict[str, set[bool]] = {}
        for structure in self.structures(self.system):
            for name, definition in self.theory.meanings.items():
                rows = structure.relations.get(name)
                if rows is not None:
                    places = 1
                    for sort in definition.relation.domain:
                        places *= len(structure.universe[sort.name])
                    seen = values.setdefault(name, set())
                    seen |= ({True} if rows else set()) | ({False} if len(rows) < places else set())
        words = tuple(name for name in self.theory.meanings if name in values)
        return words, frozenset(name for name in words if len(values[name]) < 2)

    def structures(self, system: System[Any, Any, Any, Any, Any]) -> Iterator[Structure]:
        """Yield the structures of the samples that lie inside the theory."""
        for case, _ in cases(system, self.theorem.stepwise(system), self.theorem.samples(system)):
            found = self.theorem.view(case)
            if found is not None and all(self.theory.reader.holds(one.formula, found) for one in self.theory.axioms):
                yield found

    def beside(
        self, definitions: Sequence[Definition], words: Sequence[str]
    ) -> tuple[Theory, list[tuple[str, Formula]]]:
        """Return the theory with the mutant's definitions beside its own, and the goal for each relation."""
        other = replace(self.theory.redefined(definitions), axioms=()).twice(MARK, shared=self.theory.symbols)
        copies = tuple(one for one in other.definitions if one.name not in self.theory.meanings)
        both = replace(self.theory, name=self.theory.name + MARK, definitions=(*self.theory.definitions, *copies))
        instead = dict(self.equality.instead) if definitions == self.equality.definitions else {}
        goals: list[tuple[str, Formula]] = []
        for word in words:
            meaning = self.theory.meanings[word]
            mine = meaning.relation(*meaning.variables)
            theirs = both.meanings[word + MARK].relation(*meaning.variables)
            goals.append((word, instead.get(word, forall(meaning.variables, iff(mine, theirs)))))
        return both, goals

    def equal(self, both: Theory, goals: Sequence[tuple[str, Formula]]) -> Scenario[Any, Any, Any] | None:
        """Prove each relation equal; return the first replayed run that shows a difference, else record doubts."""
        for word, goal in goals:
            answered = self.ask(f"equal.{word}", both.query(("goal", Not(goal))), "unsat")
            if answered.status == "unsat":
                continue
            if answered.status != "sat" or answered.model is None:
                self.doubt(ProofStatus.UNDECIDED, f"no solver decides whether {word} is the same: {answered.because}")
                continue
            for run in self.runs(answered.model, all_of(both, Not(goal))):
                if isinstance(run, Scenario) and self.differ(run):
                    return run
            self.doubt(ProofStatus.UNDECIDED, f"{word} differs in a structure of the theory, and no run was made of it")
        return None

    def runs(self, model: Structure, keeps: Callable[[Structure], bool]) -> Iterator[Evidence | None]:
        """Yield runs that may show the difference: those made of the model, or the sampled ones."""
        if self.theorem.realise is not None:
            yield from map(self.theorem.realise, (minimise(model, keeps), model))
        elif isinstance(self.theorem.samples, Ends):
            yield from (run for run, _ in self.theorem.samples.runs(self.system))

    def differ(self, run: Scenario[Any, Any, Any]) -> bool:
        """Return whether the executable mutant and the reference show different things on a run."""
        one, other = (replay(system, run).steps for system in (self.system, self.faulty))
        return [step.shown for step in one] != [step.shown for step in other]

    def sees_others(self, words: Sequence[str]) -> bool:
        """Return whether another fault of the theory makes one of these relations differ, as a positive control."""
        for fault in self.faults:
            if fault.expected != "refuted" or not touches(self.theory, words, fault.definitions):
                continue
            both, goals = self.beside(fault.definitions, words)
            for word, goal in goals:
                if (
                    self.ask(f"control.{fault.mutant.name}.{word}", both.query(("goal", Not(goal))), "sat").status
                    == "sat"
                ):
                    return True
        return False
