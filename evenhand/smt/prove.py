"""Prove a theorem or an invariant, under five conditions and a conformance check.

HOLDS means: (1) at least one solver gives the expected verdict and none contradicts it; (2) the axioms alone have a
model; (3) so has the antecedent; (4) every axiom in `needs` is in every core; (5) every mutant behaves as declared,
refuted by a countermodel that replays in the executable mutant.  Then theory and model must conform (`differential`).
Anything less is UNDECIDED, or VACUOUS for a vacuous proof and DISAGREEMENT for solvers that contradict each other.
`transitions.prove` states the conditions for an invariant.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from evenhand.core.bundle import Bundle
from evenhand.core.registry import find
from evenhand.core.verdict import Status
from evenhand.smt.countermodel import Outcome, Refutation, confirmed, follow
from evenhand.smt.differential import agree
from evenhand.smt.logic import Formula, Not, conjunction
from evenhand.smt.portfolio import Answered, Portfolio, shared
from evenhand.smt.proof_task import ProofTask
from evenhand.smt.proved import Killed, ProofStatus, Proved
from evenhand.smt.small_models import LIMITS, SIZES, small_model
from evenhand.smt.solvers import SolverLimits
from evenhand.smt.structure import Structure
from evenhand.smt.theorem import Mutation, Stated, Theorem
from evenhand.smt.theory import Theory
from evenhand.smt.transitions.invariant import Invariant
from evenhand.smt.transitions.prove import InvariantProofTask


def prove(
    theorem: Stated,
    *,
    bundle: Bundle | None = None,
    timeout_ms: int = 20_000,
    rlimit: int = 20_000_000,
    portfolio: Portfolio | None = None,
    keep_proofs: bool = False,
) -> Proved:
    """Prove `theorem` and check the conditions under which it HOLDS.

    `bundle` is the theorem's protocol (by default the registry's); `keep_proofs` asks cvc5 for its own proof of
    every query that it proves.  Raises NoSolver when no solver is installed, UnknownName when the protocol lacks the
    system, the claim or a mutant that the theorem names, TypeError for what is neither theorem nor invariant.
    """
    asked: dict[str, Any] = {
        "bundle": bundle or find(theorem.protocol),
        "limits": SolverLimits(rlimit, timeout_ms),
        "portfolio": portfolio or shared(),
        "keep_proofs": keep_proofs,
    }
    match theorem:
        case Theorem():
            return _Theorem(theorem, theorem.theory, **asked).run(theorem)
        case Invariant():
            return InvariantProofTask(theorem, theorem.machine.theory, **asked).run(theorem)
        case _:
            raise TypeError(f"{theorem!r} is neither a theorem nor an invariant")


def obligations(
    theorem: Stated, *, bundle: Bundle | None = None, limits: SolverLimits | None = None, portfolio: Portfolio
) -> tuple[tuple[str, Answered], ...]:
    """Ask the queries of which a proof of `theorem`, and of its mutants declared as proved, says they have no model.

    Returns name and answer of each.  A theorem that is expected to be refuted has none of its own.  Raises as `prove`.
    """
    asked: dict[str, Any] = {
        "bundle": bundle or find(theorem.protocol),
        "limits": limits or SolverLimits(),
        "portfolio": portfolio,
    }
    match theorem:
        case Theorem():
            return _Theorem(theorem, theorem.theory, **asked).obligations(theorem)
        case Invariant():
            return InvariantProofTask(theorem, theorem.machine.theory, **asked).obligations(theorem)
        case _:
            raise TypeError(f"{theorem!r} is neither a theorem nor an invariant")


class _Theorem(ProofTask):
    def obligations(self, theorem: Theorem) -> tuple[tuple[str, Answered], ...]:
        if self.wants_proof():
            self.decide("theorem", theorem, theorem.theory, "unsat")
        for mutation in theorem.mutants:
            if mutation.expected == "proved":
                theory = theorem.theory.redefined(mutation.definitions)
                self.decide(f"mutant.{mutation.mutant.name}", theorem, theory, "unsat")
        return tuple(self.queries)

    def run(self, theorem: Theorem) -> Proved:
        main, steps = self.decide("theorem", theorem, theorem.theory, "unsat" if self.wants_proof() else "sat")
        outcome = self.main_outcome(theorem, main)
        self.possible("axioms", None, "the axioms alone have no model")
        self.possible("witness", theorem.antecedent, "the antecedent has no witness")
        if main.status == "unsat":
            self.needed(steps)
        killed = tuple(self.mutant(theorem, mutation) for mutation in theorem.mutants)
        conformance = agree(theorem, self.system, self.bundle.model.mutants, also=self.replayed)
        return self.finish(main, outcome, killed, conformance)

    def wants_proof(self) -> bool:
        return self.stated.expected is not Status.REFUTED

    def decide(
        self, name: str, theorem: Theorem, theory: Theory, expected: Literal["sat", "unsat"]
    ) -> tuple[Answered, tuple[Answered, ...]]:
        """Prove or refute the theorem in `theory`: return the deciding answer and all steps of the proof."""
        if not theorem.lemmas:
            found = self.claimed(name, theory, [("goal", Not(theorem.formula))], expected)
            return found, (found,)
        if expected == "unsat":
            steps = self.by_lemmas(name, theorem, theory)
            if steps is not None:
                return steps[-1], steps
        # One conjunct at a time, with nothing opaque, so that any model is a countermodel.
        answers: list[Answered] = []
        for number, part in enumerate(theorem.parts, start=1):
            answers.append(self.claimed(f"{name}.part{number}", theory, [("goal", Not(part))], expected))
            if answers[-1].status in ("sat", "disagreement"):
                return answers[-1], (answers[-1],)
        undecided = next((one for one in answers if one.status != "unsat"), answers[-1])
        return undecided, tuple(answers)

    def by_lemmas(self, name: str, theorem: Theorem, theory: Theory) -> tuple[Answered, ...] | None:
        """Return the answers for every lemma, then for the goal from them; None where one is not proved."""
        known: dict[str, Formula] = {}
        steps: list[Answered] = []
        for lemma in theorem.lemmas:
            claims = [(f"lemma.{used}", known[used]) for used in lemma.uses] + [("goal", Not(lemma.formula))]
            steps.append(self.claimed(f"{name}.{lemma.name}", theory, claims, "unsat", lemma.opaque))
            if steps[-1].status != "unsat":
                return None
            known[lemma.name] = lemma.formula
        claims = [(f"lemma.{used}", formula) for used, formula in known.items()]
        steps.append(self.claimed(name, theory, [*claims, ("goal", Not(theorem.formula))], "unsat", theorem.opaque))
        return tuple(steps) if steps[-1].status == "unsat" else None

    def claimed(
        self,
        name: str,
        theory: Theory,
        claims: Sequence[tuple[str, Formula]],
        expected: Literal["sat", "unsat"],
        opaque: tuple[str, ...] = (),
    ) -> Answered:
        return self.ask(name, theory.query(*claims, opaque=opaque), expected)

    def main_outcome(self, theorem: Theorem, main: Answered) -> Outcome | None:
        if main.status == "unknown":
            self.doubt(ProofStatus.UNDECIDED, f"no solver decides it: {main.because}")
        if main.status != "sat" or main.model is None:
            return None
        outcome = follow(theorem, theorem.theory, main.model, self.system)
        self.countered(outcome)
        return outcome

    def possible(self, name: str, claim: Formula | None, otherwise: str) -> None:
        claims = () if claim is None else (claim,)

        def false_in(model: Structure) -> str:
            return confirmed(self.theory, model, *claims)

        for elements in SIZES:
            model, query = small_model(self.theory, conjunction(claims), self.portfolio, elements=elements)
            if model is not None:
                answered = self.note(name, self.portfolio.model(query, limits=LIMITS, both=True))
                self.contradicted(name, answered.answers[0].solver, false_in(model))
                return
        self.satisfiable(name, self.theory.query(*((name, one) for one in claims)), otherwise, false_in)

    def mutant(self, theorem: Theorem, mutation: Mutation) -> Killed:
        theory = theorem.theory.redefined(mutation.definitions)
        if mutation.expected == "refuted":
            # Most faults show in a small structure; if it replays, no larger query is needed.
            for elements in SIZES:
                model, query = small_model(theory, Not(theorem.formula), self.portfolio, elements=elements)
                found = None if model is None else follow(theorem, theory, model, self.mutated(mutation))
                if isinstance(found, Refutation):
                    answered = self.portfolio.model(query, limits=LIMITS, both=True)
                    return self.killed(mutation, self.note(f"mutant.{mutation.mutant.name}", answered), found)
        expected: Literal["sat", "unsat"] = "sat" if mutation.expected == "refuted" else "unsat"
        answered, _ = self.decide(f"mutant.{mutation.mutant.name}", theorem, theory, expected)
        outcome: Outcome | None = None
        if answered.status == "sat" and answered.model is not None:
            outcome = follow(theorem, theory, answered.model, self.mutated(mutation))
        return self.killed(mutation, answered, outcome)
