"""The common part of all proof tasks: queries, doubts, mutants and the final status.

A proof task collects doubts.  The gravest decides: solvers that contradict each other, a counterexample that replays,
vacuity, any other doubt.  A theorem HOLDS only without doubts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

from evenhand.core.bundle import Bundle
from evenhand.core.canonical import Json
from evenhand.core.lookup import UnknownName
from evenhand.core.system import AnyStep, AnySystem
from evenhand.core.trace import Pair, Scenario, replay
from evenhand.core.verdict import Evidence, Status, Verdict
from evenhand.smt.conformance import Conformance
from evenhand.smt.countermodel import EncodingDisagrees, Induction, NoCounterpart, Outcome, Refutation
from evenhand.smt.fragment import fragment
from evenhand.smt.portfolio import CERTIFICATE, CHECKER, Answered, Portfolio, ProofText
from evenhand.smt.proved import Killed, ProofStatus, Proved
from evenhand.smt.record import record_of
from evenhand.smt.smtlib import Query
from evenhand.smt.solvers import SolverLimits
from evenhand.smt.structure import Structure
from evenhand.smt.theorem import Mutation, Stated
from evenhand.smt.theory import Theory


class ProofTask:
    """The proof of one theorem or invariant; `doubts` lists why it does not hold, in the order of finding.

    Raises UnknownName when the protocol lacks the system, the claim, a reading or a mutant that is named.
    """

    def __init__(
        self,
        stated: Stated,
        theory: Theory,
        *,
        bundle: Bundle,
        limits: SolverLimits,
        portfolio: Portfolio,
        keep_proofs: bool = False,
    ) -> None:
        self.stated, self.theory, self.bundle = stated, theory, bundle
        self.limits, self.portfolio, self.keep_proofs = limits, portfolio, keep_proofs
        self.system: AnySystem = stated.place(bundle)
        self.queries: list[tuple[str, Answered]] = []
        self.fragments: dict[str, str] = {}
        self.doubts: list[tuple[ProofStatus, str]] = []
        self.replayed: dict[str, list[AnyStep]] = {}
        self.proofs: dict[str, ProofText] = {}

    def ask(self, name: str, query: Query, expected: Literal["sat", "unsat"]) -> Answered:
        """Return the solvers' joint answer; a contradiction is a doubt.  With `keep_proofs`, keep cvc5's proof."""
        answered = self.note(name, self.portfolio.ask(query, expected=expected, limits=self.limits))
        if self.keep_proofs and answered.status == "unsat":
            self.proofs[name] = self.portfolio.proof(answered, limits=self.limits)
        return answered

    def note(self, name: str, answered: Answered) -> Answered:
        """Record an answer under this name, with its decidable fragment; a contradiction is a doubt."""
        self.fragments[name] = str(fragment(answered.query))
        self.queries.append((name, answered))
        if answered.status == "disagreement":
            self.doubt(ProofStatus.DISAGREEMENT, f"the solvers contradict each other on {name}: {answered.because}")
        return answered

    def doubt(self, status: ProofStatus, because: str) -> None:
        """Record a reason why the theorem does not hold."""
        self.doubts.append((status, because))

    def satisfiable(self, name: str, query: Query, otherwise: str, confirmed: Callable[[Structure], str]) -> None:
        """Doubt unless `query` has a model and `confirmed` finds nothing false in any solver's model.

        `confirmed` returns what is false in a model, or an empty string; `otherwise` is the doubt without a model.
        """
        answered = self.ask(name, query, "sat")
        if answered.status == "unsat":
            self.doubt(ProofStatus.VACUOUS, otherwise)
        elif answered.status == "unknown":
            self.doubt(ProofStatus.UNDECIDED, f"no solver decides whether {name} can be satisfied: {answered.because}")
        for answer in answered.answers:
            self.contradicted(name, answer.solver, confirmed(answer.model) if answer.model is not None else "")

    def contradicted(self, name: str, solver: str, said: str) -> None:
        """Doubt where the evaluator says what is false in a solver's model of `name`."""
        if said:
            self.doubt(ProofStatus.UNDECIDED, f"the evaluator contradicts {solver}'s model of {name}: {said}")

    def needed(self, steps: Sequence[Answered]) -> None:
        """Doubt unless each axiom of `needs` is in every core of some step, and each core contains its goal.

        An axiom that is assumed at several moments is named `axiom.0`, `axiom.1` … in the cores.  Raises UnknownName
        when the theory lacks an axiom of `needs`.
        """
        known = {axiom.name for axiom in self.theory.axioms}
        cores = [[frozenset(map(_bare, a.core)) for a in step.answers if a.core is not None] for step in steps]
        for name in self.stated.needs:
            if name not in known:
                raise UnknownName("axiom", name, known)
            if not any(found and all(name in core for core in found) for found in cores):
                self.doubt(ProofStatus.VACUOUS, f"it is proved without axiom {name}, which its author says it needs")
        if not all("goal" in core for found in cores for core in found):
            self.doubt(ProofStatus.VACUOUS, "a goal is proved without itself: the axioms contradict each other")

    def mutated(self, mutation: Mutation) -> AnySystem:
        """Return the executable mutant, at the system's scope and readings."""
        return replace(self.system, rules=mutation.mutant.rules, variant=mutation.mutant.name)

    def countered(self, outcome: Outcome) -> None:
        """Record a countermodel of the theorem; one that does not replay from an initial state is a doubt."""
        self.remember("reference", self.system, outcome)
        if not isinstance(outcome, Refutation):
            self.doubt(
                ProofStatus.UNDECIDED,
                f"a countermodel that is no counterexample ({kind_of(outcome)}): {outcome.because}",
            )

    def killed(self, mutation: Mutation, answered: Answered, outcome: Outcome | None) -> Killed:
        """Return the result for a mutant; a result other than declared is a doubt."""
        name = mutation.mutant.name
        refuted = mutation.expected == "refuted"
        if outcome is not None:
            self.remember(name, self.mutated(mutation), outcome)
        good = isinstance(outcome, Refutation) if refuted else answered.status == "unsat"
        because = outcome.because if outcome is not None else answered.because
        if not good:
            found = kind_of(outcome) if outcome is not None else answered.status
            self.doubt(
                ProofStatus.UNDECIDED, f"mutant {name} should be {mutation.expected} and is not ({found}): {because}"
            )
        status = Status.UNDECIDED
        if isinstance(outcome, Refutation):
            status = Status.REFUTED
        elif answered.status == "unsat":
            status = Status.HOLDS
        verdict = Verdict(
            claim=self.stated.claim.name,
            status=status,
            engine="prove",
            system=self.stated.system,
            readings=dict(self.stated.readings),
            variant=name,
            scope={"proved": self.stated.scope} if status is Status.HOLDS else {},
            evidence=outcome.evidence if isinstance(outcome, Refutation) else None,
            because=because,
            trusted_base=self.trusted(f"mutant.{name}"),
        )
        return Killed(mutation, answered, outcome, good, verdict)

    def remember(self, variant: str, system: AnySystem, outcome: Outcome) -> None:
        """Keep the last steps of a replayed countermodel: conformance is checked on them too."""
        evidence: Evidence | None = outcome.evidence if isinstance(outcome, Refutation | Induction) else None
        if isinstance(evidence, Scenario | Pair):
            runs = (evidence,) if isinstance(evidence, Scenario) else (evidence.left, evidence.right)
            steps = [replay(system, run).steps for run in runs]
            self.replayed.setdefault(variant, []).extend(taken[-1] for taken in steps if taken)

    def finish(
        self, main: Answered, outcome: Outcome | None, killed: tuple[Killed, ...], conformance: Conformance
    ) -> Proved:
        """Return the status, the verdict and the record."""
        stated = self.stated
        if conformance.because:
            self.doubt(ProofStatus.UNDECIDED, conformance.because)
        word, because = self._judge(main, outcome, conformance)
        status = {ProofStatus.HOLDS: Status.HOLDS, ProofStatus.REFUTED: Status.REFUTED}.get(word, Status.UNDECIDED)
        shout = f"{word.value}: " if word in (ProofStatus.VACUOUS, ProofStatus.DISAGREEMENT) else ""
        verdict = Verdict(
            claim=stated.claim.name,
            status=status,
            engine="prove",
            system=stated.system,
            readings=dict(stated.readings),
            scope={
                "theorem": stated.name,
                "proof_status": word.value,
                "proved": stated.scope if word is ProofStatus.HOLDS else "",
                "conformance": conformance.sentence,
                "fragment": self._fragment(),
            },
            evidence=outcome.evidence if isinstance(outcome, Refutation) else None,
            coverage=self._coverage(killed, conformance),
            because=shout + because,
            trusted_base=self.trusted("theorem"),
        )
        record = record_of(
            self.limits,
            self.queries,
            self.proofs if self.keep_proofs else None,
            theorem=_theorem_json(stated),
            fragments=dict(self.fragments),
            mutants={one.mutation.mutant.name: _killed_json(one) for one in killed},
            outcome=_outcome_json(outcome),
            conformance={name: getattr(conformance, name) for name in COUNTED},
            verdict=word.value,
            because=because,
        )
        found = tuple(self.queries), killed, conformance, outcome
        return Proved(stated, word, verdict, *found, dict(self.fragments), record, dict(self.proofs))

    def _coverage(self, killed: tuple[Killed, ...], conformance: Conformance) -> dict[str, int]:
        return {
            "queries": len(self.queries),
            "mutants": len(killed),
            "mutants_as_declared": sum(one.as_declared for one in killed),
            "linked_structures": conformance.structures,
            "linked_true": conformance.true,
            "linked_false": conformance.false,
            "linked_outside": conformance.outside,
            "linked_cases": conformance.cases,
        }

    def _fragment(self) -> str:
        """Whether all proof steps lie in the decidable fragment, with the reason of the first outside it."""
        steps = [said for name, said in self.fragments.items() if name.split(".")[0] == "theorem"]
        return next((said for said in steps if ": no" in said), steps[0])

    def _judge(self, main: Answered, outcome: Outcome | None, conformance: Conformance) -> tuple[ProofStatus, str]:
        """The status and its reason, by gravity: disagreement, counterexample, vacuity, doubt, else the answer."""
        for grave in (ProofStatus.DISAGREEMENT, ProofStatus.VACUOUS):
            said = [because for word, because in self.doubts if word is grave]
            if said and not (grave is ProofStatus.VACUOUS and isinstance(outcome, Refutation)):
                return grave, said[0]
        if isinstance(outcome, Refutation):
            return ProofStatus.REFUTED, outcome.because
        if self.doubts:
            return self.doubts[0]
        if main.status == "unsat":
            return ProofStatus.HOLDS, f"proved of the theory for {self.stated.scope}, {conformance.sentence}"
        return ProofStatus.UNDECIDED, main.because

    def trusted(self, name: str) -> tuple[str, ...]:
        """Return the trusted base of what the queries of this name decide: whatever answered any of them."""
        steps = [answered for asked, answered in self.queries if f"{asked}.".startswith(f"{name}.")]
        given = [answer for step in steps for answer in step.answers]
        decided = [answer for answer in given if answer.status != "unknown"]
        names = [CHECKER if a.module == CERTIFICATE else f"{a.solver} {a.version}".strip() for a in decided]
        words = f"theory {self.theory.name} with its axioms", "view and realise"
        printer = () if all(answer.module == CERTIFICATE for answer in given) else ("SMT-LIB printer",)
        return ("executable model", *words, *printer, *sorted({*names}))


def kind_of(outcome: Outcome) -> str:
    """Return the name of an outcome's kind."""
    match outcome:
        case Refutation():
            return "refutation"
        case Induction():
            return "induction"
        case NoCounterpart():
            return "no counterpart"
        case EncodingDisagrees():
            return "encoding disagrees"


def _bare(name: str) -> str:
    """The name of an axiom without its moment."""
    head, _, moment = name.rpartition(".")
    return head if head and moment.isdigit() else name


def _outcome_json(outcome: Outcome | None) -> Json:
    return None if outcome is None else {"kind": kind_of(outcome), "structure": outcome.structure.to_json()}


COUNTED = ("structures", "size", "cases", "outside", "true", "false")
"""The fields of `Conformance` that a record keeps."""


def _theorem_json(stated: Stated) -> Json:
    return {
        "name": stated.name,
        "claim": stated.claim.name,
        "protocol": stated.protocol,
        "expected": stated.expected.value,
        "scope": stated.scope,
        "needs": list(stated.needs),
        "readings": {name: str(value) for name, value in sorted(stated.readings.items())},
    }


def _killed_json(killed: Killed) -> Json:
    outcome = killed.outcome
    return {
        "expected": killed.mutation.expected,
        "as_declared": killed.as_declared,
        "outcome": None if outcome is None else kind_of(outcome),
        "structure": None if outcome is None else outcome.structure.to_json(),
    }
