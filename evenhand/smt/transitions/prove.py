"""Prove an invariant under the conditions of a theorem.

HOLDS means: base and step of the induction are proved without contradiction; the machine has an initial state; a run
from one reaches the witness; every axiom in `needs` is in every core of some step; every mutant behaves as declared,
refuted by a run from an initial state that replays in the executable mutant; and machine and model conform.
"""

from __future__ import annotations

from evenhand.core.system import AnySystem
from evenhand.core.trace import replay
from evenhand.core.verdict import Status
from evenhand.evidence.judge import first_refuted_step, judge, restate
from evenhand.smt.countermodel import EncodingDisagrees, Induction, NoCounterpart, Outcome, Refutation
from evenhand.smt.ends import run_of
from evenhand.smt.logic import Not, disjunction
from evenhand.smt.portfolio import Answered
from evenhand.smt.proof_task import ProofTask
from evenhand.smt.proved import Killed, ProofStatus, Proved
from evenhand.smt.structure import Reader, Structure
from evenhand.smt.theorem import Mutation
from evenhand.smt.transitions.induction import Inductive, induct
from evenhand.smt.transitions.invariant import Invariant, Steps
from evenhand.smt.transitions.linking import link, state_after, truths
from evenhand.smt.transitions.machine import Machine
from evenhand.smt.transitions.runs import Run, reach


class InvariantProofTask(ProofTask):
    """The proof of one invariant; see `evenhand.smt.prove.prove`."""

    def run(self, invariant: Invariant) -> Proved:
        """Ask every query, try the mutants, check conformance, and return the result."""
        machine = invariant.machine
        self.runs: dict[str, list[Steps]] = {}
        proof = induct(machine, invariant.formula, self.ask, depth=invariant.depth)
        outcome = self._ended(invariant, proof)
        self.satisfiable(
            "initial",
            machine.query(0, initial=True),
            "the machine has no initial state",
            lambda model: machine.false_in(machine.moments(model, 0), initial=True),
        )
        self._witnessed(invariant)
        if proof.status == "proved":
            self.needed((*proof.base, *proof.step))
        killed = tuple(self._mutant(invariant, mutation) for mutation in invariant.mutants)
        conformance = link(invariant, self.system, self.bundle.model.mutants, also=self.runs)
        main = (*proof.base, *proof.step)[-1]
        return self.finish(main, outcome, killed, conformance)

    def obligations(self, invariant: Invariant) -> tuple[tuple[str, Answered], ...]:
        """Ask the queries of the induction, and of mutants that are declared as proved; return all answers by name."""
        if invariant.expected is not Status.REFUTED:
            induct(invariant.machine, invariant.formula, self.ask, depth=invariant.depth)
        for mutation in invariant.mutants:
            if mutation.expected == "proved":
                machine = invariant.machine.redefined(mutation.definitions)
                name = f"mutant.{mutation.mutant.name}"
                induct(machine, invariant.formula, self.ask, depth=invariant.depth, name=name)
        return tuple(self.queries)

    def _ended(self, invariant: Invariant, proof: Inductive) -> Outcome | None:
        """The outcome of the induction's own counterexample; None without one."""
        if proof.status == "proved":
            return None
        if proof.run is None:
            self.doubt(ProofStatus.UNDECIDED, f"no solver decides it: {proof.because}")
            return None
        reader = Reader(self.theory.meanings)
        last = proof.run.states[proof.run.steps - invariant.machine.span(invariant.formula)]
        if proof.status == "refuted" and reader.holds(invariant.always, last):
            self.doubt(ProofStatus.UNDECIDED, "a lemma is no invariant: a run from an initial state violates it")
            return None
        outcome = self._followed(invariant, proof.run, "reference", self.system, invariant.machine)
        self.countered(outcome)
        return outcome

    def _witnessed(self, invariant: Invariant) -> None:
        """Doubt unless a run of at most `reach` steps from an initial state meets the witness."""
        machine, moments = invariant.machine, range(invariant.reach + 1)
        seen = disjunction(machine.at(invariant.witness, i) for i in moments)
        steps = invariant.reach + machine.span(invariant.witness)
        query = machine.query(steps, ("witness", seen), initial=True)

        def false_in(model: Structure) -> str:
            run = machine.moments(model, steps)
            reader = Reader(machine.theory.meanings)
            met = any(reader.holds(invariant.witness, run[i]) for i in moments)
            return machine.false_in(run, initial=True) or ("" if met else "no state of it is the witness")

        self.satisfiable("witness", query, f"no run of {steps} steps sees the witness", false_in)

    def _mutant(self, invariant: Invariant, mutation: Mutation) -> Killed:
        machine = invariant.machine.redefined(mutation.definitions)
        name, system = f"mutant.{mutation.mutant.name}", self.mutated(mutation)
        if mutation.expected == "proved":
            proof = induct(machine, invariant.formula, self.ask, depth=invariant.depth, name=name)
            answered = (*proof.base, *proof.step)[-1]
            return self.killed(mutation, answered, None)
        found = reach(machine, Not(invariant.always), invariant.reach, self.ask, name=name, expected="sat")
        variant = mutation.mutant.name
        outcome = None if found.run is None else self._followed(invariant, found.run, variant, system, machine)
        return self.killed(mutation, found.answers[-1], outcome)

    def _followed(self, invariant: Invariant, run: Run, variant: str, system: AnySystem, machine: Machine) -> Outcome:
        """The outcome of a run of the machine, realised and replayed in a variant of the model."""
        shown = run.states[0]
        if invariant.realise is None:
            return self._sampled(invariant, machine, shown, system)
        evidence = invariant.realise(run)
        if evidence is None:
            return NoCounterpart(shown, "no scenario of the model matches this run: an axiom is missing")
        taken: Steps = tuple(replay(system, evidence).steps)
        judgement = judge(system, invariant.claim, evidence)
        if judgement.refutes:
            self.runs.setdefault(variant, []).append(taken)
            return Refutation(shown, restate(system, invariant.claim, evidence), judgement.reason)
        apart = self._apart(invariant, run, taken)
        if apart:
            return EncodingDisagrees(shown, f"{system.name} ({system.variant}) does otherwise: {apart}")
        return Induction(shown, evidence, f"{judgement.reason}; whether the first state is reachable is not known")

    def _sampled(self, invariant: Invariant, machine: Machine, shown: Structure, system: AnySystem) -> Outcome:
        """The first sampled run of a variant that refutes the claim, is the machine's, and makes the formula false."""
        reader = Reader(machine.theory.meanings)
        for steps in invariant.samples(system):
            count = first_refuted_step(system, invariant.claim, run_of(steps))
            if count is None:
                continue
            wrong = steps[: max(count, 1)]
            seen = [invariant.view(wrong, number) for number in range(len(wrong))]
            taken = [one.without(machine.theory.meanings) for one in seen if one is not None]
            if len(taken) < len(wrong) or not all(reader.holds(machine.step, one) for one in taken):
                continue
            ends = [] if machine.span(invariant.always) else [state_after(machine, taken[-1])]
            broken = next((one for one in (taken[-1], *ends) if not reader.holds(invariant.always, one)), None)
            if broken is not None and reader.holds(machine.init, taken[0]):
                evidence = run_of(wrong)
                why = judge(system, invariant.claim, evidence).reason
                return Refutation(broken, restate(system, invariant.claim, evidence), why)
        return NoCounterpart(shown, "no sampled run refutes the claim as a run of the machine")

    def _apart(self, invariant: Invariant, run: Run, taken: Steps) -> str:
        """The difference between a replayed run of the model and the machine's; empty if their states agree."""
        if len(taken) != run.steps:
            return f"it takes {len(taken)} steps and the machine {run.steps}"
        kept = [name for name in invariant.machine.state if name not in invariant.memory]
        for number in range(len(taken)):
            seen = invariant.view(taken, number)
            if seen is None:
                return f"its step {number} lies outside the theory"
            after = state_after(invariant.machine, seen)
            for name in kept:
                if _extent(after, name) != _extent(run.states[number + 1], name):
                    return f"after step {number} {name} is another"
        remembers = bool(invariant.memory) or truths(invariant.claim, taken)[-1] is False
        return "" if remembers else "the claim is true of it"


def _extent(state: Structure, name: str) -> int:
    """The number of a symbol's tuples or values, which is comparable whatever the elements are called."""
    return len(state.relations[name]) if name in state.relations else len(set(state.functions[name].values()))
