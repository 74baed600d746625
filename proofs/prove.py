"""Prove a theorem, and believe it only under five conditions.

Green means: (1) at least one solver gives the expected verdict and none contradicts it; (2) the axioms alone
have a model; (3) so has the antecedent; (4) every axiom that the author says it needs is in every core;
(5) every mutant behaves as declared, refuted by a countermodel that replays in the executable mutant.  Then the
link must carry (`agreement`).  Anything less is UNDECIDED, with a word of its own where nothing was proved
(VACUOUS) or the solvers contradict each other (DISAGREEMENT).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Literal, TypeAlias

from evenhand.model.canonical import Json
from evenhand.model.system import System, UnknownName
from evenhand.model.trace import Pair, Scenario, replay
from evenhand.proofs.agreement import Linked, agree
from evenhand.proofs.countermodel import (
    EncodingDisagrees,
    Induction,
    NoCounterpart,
    Outcome,
    Refutation,
    confirmed,
    follow,
)
from evenhand.proofs.record import record_digest, record_of
from evenhand.proofs.smt.fragment import fragment
from evenhand.proofs.smt.logic import Formula, Not
from evenhand.proofs.smt.portfolio import Answered, Limits, Portfolio, shared
from evenhand.proofs.theorem import Mutation, Theorem
from evenhand.proofs.theory import Theory
from evenhand.properties.property import AnyStep
from evenhand.properties.registry import Bundle, find
from evenhand.properties.verdict import Evidence, Status, Verdict

__all__ = ["Killed", "Proved", "Word", "prove"]

AnySystem: TypeAlias = System[Any, Any, Any, Any, Any]


class Word(Enum):
    """What a report says of a theorem.

    VACUOUS: the proof goes through, but proves nothing.  DISAGREEMENT: the solvers contradict each other.  Both
    are UNDECIDED as verdicts, never green.
    """

    HOLDS = "HOLDS"
    REFUTED = "REFUTED"
    UNDECIDED = "UNDECIDED"
    VACUOUS = "VACUOUS"
    DISAGREEMENT = "DISAGREEMENT"


@dataclass(frozen=True)
class Killed:
    """What became of one mutant of the theory: as declared or not, and its verdict on the executable mutant."""

    mutation: Mutation
    answered: Answered
    outcome: Outcome | None
    as_declared: bool
    verdict: Verdict


@dataclass(frozen=True)
class Proved:
    """A theorem's verdict with everything it rests on.

    `queries` are (name, answers) in the order in which they were asked; `outcome` is what became of a countermodel
    of the theorem itself; `record` is canonical-JSON-able and holds no clock reading.
    """

    theorem: Theorem
    word: Word
    verdict: Verdict
    queries: tuple[tuple[str, Answered], ...]
    mutants: tuple[Killed, ...] = ()
    linked: Linked | None = None
    outcome: Outcome | None = None
    fragments: Mapping[str, str] = field(default_factory=dict[str, str])
    record: Mapping[str, Json] = field(default_factory=dict[str, Json])

    @property
    def green(self) -> bool:
        """Whether the theorem holds under all conditions."""
        return self.word is Word.HOLDS

    @property
    def digest(self) -> str:
        """The digest of the record."""
        return record_digest(self.record)


def prove(
    theorem: Theorem,
    *,
    bundle: Bundle | None = None,
    timeout_ms: int = 20_000,
    rlimit: int = 20_000_000,
    portfolio: Portfolio | None = None,
) -> Proved:
    """Prove `theorem` and check what a green verdict rests on.

    `bundle` is the theorem's protocol (by default the registry's).  Raises NoSolver when no solver is there and
    UnknownName when the protocol lacks the system, the claim or a mutant that the theorem names.
    """
    return _Run(theorem, bundle or find(theorem.protocol), Limits(rlimit, timeout_ms), portfolio or shared()).run()


class _Run:
    """One theorem on its way; `doubts` are the reasons why it is not green, first the gravest."""

    def __init__(self, theorem: Theorem, bundle: Bundle, limits: Limits, portfolio: Portfolio) -> None:
        self.theorem, self.bundle, self.limits, self.portfolio = theorem, bundle, limits, portfolio
        self.system = _named(bundle.model.systems, "system", theorem.system).under(**theorem.readings)
        self.claim = _named({claim.name: claim for claim in bundle.claims}, "claim", theorem.claim)
        self.executable = {mutant.name: mutant for mutant in bundle.model.mutants}
        self.queries: list[tuple[str, Answered]] = []
        self.fragments: dict[str, str] = {}
        self.doubts: list[tuple[Word, str]] = []
        self.replayed: dict[str, list[AnyStep]] = {}
        for mutation in theorem.mutants:
            _named(self.executable, "mutant", mutation.mutant)

    def run(self) -> Proved:
        theorem = self.theorem
        main, steps = self.decide("theorem", theorem.theory, "unsat" if self.wants_proof() else "sat")
        outcome = self.main_outcome(main)
        self.satisfiable("axioms", None, "the axioms alone have no model")
        self.satisfiable("witness", theorem.antecedent, "the antecedent has no witness")
        if main.status == "unsat":
            self.needed(steps)
        killed = tuple(self.mutant(mutation) for mutation in theorem.mutants)
        linked = agree(theorem, self.claim, self.system, self.bundle.model.mutants, also=self.replayed)
        if linked.because:
            self.doubt(Word.UNDECIDED, linked.because)
        return self.finish(main, outcome, killed, linked)

    def wants_proof(self) -> bool:
        return self.theorem.expected is Status.HOLDS

    def decide(
        self, name: str, theory: Theory, expected: Literal["sat", "unsat"]
    ) -> tuple[Answered, tuple[Answered, ...]]:
        """Prove or refute the theorem in `theory`: the deciding answer, and all steps that a proof rests on."""
        theorem = self.theorem
        if not theorem.lemmas:
            found = self.ask(name, theory, [("goal", Not(theorem.formula))], expected)
            return found, (found,)
        if expected == "unsat":
            steps = self.by_lemmas(name, theory)
            if steps is not None:
                return steps[-1], steps
        # A conjunct at a time, with nothing opaque: whatever has a model here is a countermodel.
        answers: list[Answered] = []
        for number, part in enumerate(theorem.parts, start=1):
            answers.append(self.ask(f"{name}.part{number}", theory, [("goal", Not(part))], expected))
            if answers[-1].status in ("sat", "disagreement"):
                return answers[-1], (answers[-1],)
        undecided = next((one for one in answers if one.status != "unsat"), answers[-1])
        return undecided, tuple(answers)

    def by_lemmas(self, name: str, theory: Theory) -> tuple[Answered, ...] | None:
        """The answers of every lemma and of the goal from them; None where one is not proved."""
        theorem = self.theorem
        known: dict[str, Formula] = {}
        steps: list[Answered] = []
        for lemma in theorem.lemmas:
            claims = [(f"lemma.{used}", known[used]) for used in lemma.uses] + [("goal", Not(lemma.formula))]
            steps.append(self.ask(f"{name}.{lemma.name}", theory, claims, "unsat", lemma.opaque))
            if steps[-1].status != "unsat":
                return None
            known[lemma.name] = lemma.formula
        claims = [(f"lemma.{used}", formula) for used, formula in known.items()]
        steps.append(self.ask(name, theory, [*claims, ("goal", Not(theorem.formula))], "unsat", theorem.opaque))
        return tuple(steps) if steps[-1].status == "unsat" else None

    def ask(
        self,
        name: str,
        theory: Theory,
        claims: Sequence[tuple[str, Formula]],
        expected: Literal["sat", "unsat"],
        opaque: tuple[str, ...] = (),
    ) -> Answered:
        query = theory.query(*claims, opaque=opaque)
        self.fragments[name] = str(fragment(query))
        answered = self.portfolio.ask(query, expected=expected, limits=self.limits)
        self.queries.append((name, answered))
        if answered.status == "disagreement":
            self.doubt(Word.DISAGREEMENT, f"the solvers contradict each other on {name}: {answered.because}")
        return answered

    def doubt(self, word: Word, because: str) -> None:
        self.doubts.append((word, because))

    def main_outcome(self, main: Answered) -> Outcome | None:
        if main.status == "unknown":
            self.doubt(Word.UNDECIDED, f"no solver decides it: {main.because}")
        if main.status != "sat" or main.model is None:
            return None
        outcome = follow(self.theorem, self.theorem.theory, main.model, self.claim, self.system)
        self.remember("reference", self.system, outcome)
        if not isinstance(outcome, Refutation):
            self.doubt(
                Word.UNDECIDED, f"a countermodel that is no counterexample ({_kind(outcome)}): {outcome.because}"
            )
        return outcome

    def satisfiable(self, name: str, claim: Formula | None, otherwise: str) -> None:
        answered = self.ask(name, self.theorem.theory, [] if claim is None else [(name, claim)], "sat")
        if answered.status == "unsat":
            self.doubt(Word.VACUOUS, otherwise)
        elif answered.status == "unknown":
            self.doubt(Word.UNDECIDED, f"nobody knows whether {name} can be satisfied: {answered.because}")
        for answer in answered.answers:
            if answer.model is not None:
                said = confirmed(self.theorem.theory, answer.model, *(() if claim is None else (claim,)))
                if said:
                    self.doubt(Word.UNDECIDED, f"the evaluator contradicts {answer.solver}'s model of {name}: {said}")

    def needed(self, steps: tuple[Answered, ...]) -> None:
        """Every axiom said to be needed is in each solver's core of some step, and every step uses its own goal."""
        known = {axiom.name for axiom in self.theorem.theory.axioms}
        cores = [[answer.core for answer in step.answers if answer.core is not None] for step in steps]
        for name in self.theorem.needs:
            if name not in known:
                raise UnknownName("axiom", name, known)
            if not any(found and all(name in core for core in found) for found in cores):
                self.doubt(Word.VACUOUS, f"it is proved without axiom {name}, which its author says it needs")
        if not all("goal" in core for found in cores for core in found):
            self.doubt(Word.VACUOUS, "a goal is proved without itself: the axioms contradict each other")

    def mutant(self, mutation: Mutation) -> Killed:
        theorem, name = self.theorem, mutation.mutant
        theory = theorem.theory.redefined(mutation.definitions)
        refuted = mutation.expected == "refuted"
        answered, _ = self.decide(f"mutant.{name}", theory, "sat" if refuted else "unsat")
        system = replace(self.system, rules=self.executable[name].rules, variant=name)
        outcome: Outcome | None = None
        if answered.status == "sat" and answered.model is not None:
            outcome = follow(theorem, theory, answered.model, self.claim, system)
            self.remember(name, system, outcome)
        good = isinstance(outcome, Refutation) if refuted else answered.status == "unsat"
        because = outcome.because if outcome is not None else answered.because
        if not good:
            found = _kind(outcome) if outcome is not None else answered.status
            self.doubt(Word.UNDECIDED, f"mutant {name} should be {mutation.expected} and is not ({found}): {because}")
        status = Status.UNDECIDED
        if isinstance(outcome, Refutation):
            status = Status.REFUTED
        elif answered.status == "unsat":
            status = Status.HOLDS
        verdict = Verdict(
            claim=theorem.claim,
            status=status,
            engine="prove",
            system=theorem.system,
            readings=dict(theorem.readings),
            variant=name,
            scope={"proved": theorem.scope} if status is Status.HOLDS else {},
            evidence=outcome.evidence if isinstance(outcome, Refutation) else None,
            because=because,
            trusted_base=self.trusted(answered),
        )
        return Killed(mutation, answered, outcome, good, verdict)

    def remember(self, variant: str, system: AnySystem, outcome: Outcome) -> None:
        """Keep the last step of a realised countermodel: the link is tried on it as well."""
        evidence: Evidence | None = outcome.evidence if isinstance(outcome, Refutation | Induction) else None
        if isinstance(evidence, Scenario | Pair):
            runs = (evidence,) if isinstance(evidence, Scenario) else (evidence.left, evidence.right)
            steps = [replay(system, run).steps for run in runs]
            self.replayed.setdefault(variant, []).extend(taken[-1] for taken in steps if taken)

    def finish(self, main: Answered, outcome: Outcome | None, killed: tuple[Killed, ...], linked: Linked) -> Proved:
        theorem = self.theorem
        word, because = self.judge(main, outcome, linked)
        status = {Word.HOLDS: Status.HOLDS, Word.REFUTED: Status.REFUTED}.get(word, Status.UNDECIDED)
        shout = f"{word.value}: " if word in (Word.VACUOUS, Word.DISAGREEMENT) else ""
        coverage = {
            "queries": len(self.queries),
            "mutants": len(killed),
            "mutants_as_declared": sum(one.as_declared for one in killed),
            "linked_structures": linked.structures,
            "linked_true": linked.true,
            "linked_false": linked.false,
            "linked_outside": linked.outside,
            "linked_cases": linked.cases,
        }
        verdict = Verdict(
            claim=theorem.claim,
            status=status,
            engine="prove",
            system=theorem.system,
            readings=dict(theorem.readings),
            scope={
                "theorem": theorem.name,
                "proved": theorem.scope if word is Word.HOLDS else "",
                "linked": linked.sentence,
                "fragment": self.fragment(),
            },
            evidence=outcome.evidence if isinstance(outcome, Refutation) else None,
            coverage=coverage,
            because=shout + because,
            trusted_base=self.trusted(main),
        )
        record = record_of(
            theorem={
                "name": theorem.name,
                "claim": theorem.claim,
                "protocol": theorem.protocol,
                "expected": theorem.expected.value,
                "scope": theorem.scope,
                "needs": list(theorem.needs),
                "readings": {name: str(value) for name, value in sorted(theorem.readings.items())},
            },
            limits=self.limits,
            queries=self.queries,
            fragments=self.fragments,
            mutants={one.mutation.mutant: _killed_json(one) for one in killed},
            linked={
                "structures": linked.structures,
                "size": linked.size,
                "cases": linked.cases,
                "outside": linked.outside,
                "true": linked.true,
                "false": linked.false,
            },
            verdict=word.value,
            because=because,
        )
        return Proved(
            theorem, word, verdict, tuple(self.queries), killed, linked, outcome, dict(self.fragments), record
        )

    def fragment(self) -> str:
        """Whether every step of the proof lies in the decidable fragment; the first that does not says why."""
        steps = [said for name, said in self.fragments.items() if name.split(".")[0] == "theorem"]
        return next((said for said in steps if ": no" in said), steps[0])

    def judge(self, main: Answered, outcome: Outcome | None, linked: Linked) -> tuple[Word, str]:
        """The word, by gravity: a contradiction, a real counterexample, a vacuity, a doubt, else the verdict."""
        for grave in (Word.DISAGREEMENT, Word.VACUOUS):
            said = [because for word, because in self.doubts if word is grave]
            if said and not (grave is Word.VACUOUS and isinstance(outcome, Refutation)):
                return grave, said[0]
        if isinstance(outcome, Refutation):
            return Word.REFUTED, outcome.because
        if self.doubts:
            return self.doubts[0]
        if main.status == "unsat":
            return Word.HOLDS, f"proved of the theory for {self.theorem.scope}, {linked.sentence}"
        return Word.UNDECIDED, main.because

    def trusted(self, main: Answered) -> tuple[str, ...]:
        solvers = [f"{a.solver} {a.version}".strip() for a in main.answers if a.status != "unknown"]
        words = f"theory {self.theorem.theory.name} with its axioms", "view and realise", "SMT-LIB printer"
        return ("executable model", *words, *solvers)


def _kind(outcome: Outcome) -> str:
    match outcome:
        case Refutation():
            return "refutation"
        case Induction():
            return "induction"
        case NoCounterpart():
            return "no counterpart"
        case EncodingDisagrees():
            return "encoding disagrees"


def _killed_json(killed: Killed) -> Json:
    outcome = killed.outcome
    return {
        "expected": killed.mutation.expected,
        "as_declared": killed.as_declared,
        "outcome": None if outcome is None else _kind(outcome),
        "structure": None if outcome is None else outcome.structure.to_json(),
    }


def _named(known: Mapping[str, Any], what: str, name: str) -> Any:
    if name not in known:
        raise UnknownName(what, name, known)
    return known[name]
