"""Prove claims by induction: true initially, and kept by every step, for any number of agents.

Houdini: of all candidates, those go that an initial state or a step from states with all the others breaks, until none
does.  What is left is inductive together.  Then the few that a claim rests on are asked again, of both solvers; only
where both say that no countermodel exists is a claim proved.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from evenhand.smt.logic import FALSE, TRUE, Formula, Function, Not, Or, Term, Var, disjunction, exists
from evenhand.smt.portfolio import Answered, Portfolio
from evenhand.smt.smtlib import Query, show
from evenhand.smt.solvers import Z3, SolverLimits
from evenhand.smt.structure import Reader
from evenhand.smt.theory import Theory
from evenhand.source.family import STATE, Family, Move
from evenhand.source.probes import Meanings, after, meanings
from evenhand.source.simplify import all_of, negation, replaced

LIMITS = SolverLimits(rlimit=3_000_000, timeout_ms=8_000)
"""Limits of one query, low because a proof consists of many small ones."""

FEW = 12
"""Candidates that are asked one by one where a solver does not decide them together."""


@dataclass(frozen=True)
class Proof:
    """What a claim rests on: `invariants` in SMT-LIB, `queries` that both solvers decided; or why it is open."""

    proved: bool
    invariants: tuple[str, ...] = ()
    queries: int = 0
    because: str = ""


@dataclass
class _Case:
    """An initial state or a move, with its variables as constants: what is known there, and what symbols mean after."""

    name: str
    known: Formula
    means: Meanings
    constants: dict[Var, Term]
    start: bool
    move: Move | None = None
    later: dict[int, Formula] = field(default_factory=dict[int, Formula])

    def after(self, formula: Formula) -> Formula:
        """A formula of the state after it, as a formula of the state before."""
        found = self.later.get(id(formula))
        if found is None:
            found = self.later[id(formula)] = replaced(after(formula, self.means), dict(self.constants))
        return found


class Induction:
    """The induction of one family."""

    def __init__(self, family: Family, portfolio: Portfolio) -> None:
        self.family, self.portfolio = family, portfolio
        self.quick = Portfolio([Z3])
        self.reader = Reader()
        self.theory: Theory = family.theory
        self.cases: list[_Case] = []
        for start in family.starts:
            means = meanings(family.shape, start.state, STATE)
            self.cases.append(self._case("start", start.variables, start.guard, means, None))
        for move in family.moves:
            means = meanings(family.shape, move.after, STATE)
            self.cases.append(self._case(move.name, move.variables, move.guard, means, move))

    def _case(
        self, name: str, variables: tuple[Var, ...], guard: Formula, means: Meanings, move: Move | None
    ) -> _Case:
        constants: dict[Var, Term] = {
            one: Function(f"at.{len(self.cases)}.{place}", (), one.sort)() for place, one in enumerate(variables)
        }
        return _Case(name, replaced(guard, constants), means, constants, move is None, move)

    def close(self) -> None:
        """End the solver of the search."""
        self.quick.close()

    def _query(self, case: _Case | None, claims: Iterable[tuple[str, Formula]]) -> Query:
        constants = [] if case is None else [one.function for one in case.constants.values() if not isinstance(one, Var)]
        axioms = tuple((axiom.name, axiom.formula) for axiom in self.theory.axioms)
        return Query(
            self.theory.sorts,
            (*self.theory.functions, *constants),
            self.theory.relations,
            (*axioms, *((name, formula) for name, formula in claims if formula != TRUE)),
        )

    def houdini(self, candidates: Sequence[Formula]) -> list[Formula]:
        """Return those candidates that are inductive together."""
        kept = list(candidates)
        changed = True
        while changed:
            changed = False
            for case in self.cases:
                before = len(kept)
                kept = self._survivors(case, kept)
                changed = changed or (len(kept) < before and not case.start)
        return kept

    def _survivors(self, case: _Case, kept: list[Formula]) -> list[Formula]:
        """The candidates that a case keeps, assuming all of them before a move."""
        while kept:
            assumed = [] if case.start else [(f"kept.{i}", one) for i, one in enumerate(kept)]
            later = [case.after(one) for one in kept]
            broken = [negation(one) for one in later if one != TRUE]
            if not broken:
                return kept
            query = self._query(case, [*assumed, ("case", case.known), ("broken", disjunction(broken))])
            answered = self.quick.ask(query, expected="unsat", limits=LIMITS)
            if answered.status == "unsat":
                return kept
            model = answered.model
            if model is None:
                return self._one_by_one(case, kept)
            left = [one for one, now in zip(kept, later, strict=True) if self.reader.holds(now, model)]
            if len(left) == len(kept):
                return []
            kept = left
        return kept

    def _one_by_one(self, case: _Case, kept: list[Formula]) -> list[Formula]:
        """As `_survivors`, one query for each candidate; those that no solver decides go."""
        found: list[Formula] = []
        assumed = [] if case.start else [(f"kept.{i}", one) for i, one in enumerate(kept)]
        for one in kept:
            now = case.after(one)
            if now != TRUE:
                query = self._query(case, [*assumed, ("case", case.known), ("broken", negation(now))])
                if self.quick.ask(query, expected="unsat", limits=LIMITS).status != "unsat":
                    continue
            found.append(one)
        return found

    def prove(self, goal: Formula, kept: Sequence[Formula]) -> Proof:
        """Prove that a formula of a state is true in every reachable state, by invariants among `kept`."""
        if not any(one is goal for one in kept):
            return Proof(False, because="it is not inductive, and the invariants that were found do not make it so")
        return self._rest([], [goal], kept)

    def prove_steps(self, goals: Sequence[tuple[Move, Formula]], kept: Sequence[Formula]) -> Proof:
        """Prove formulas of steps: each for its move, by invariants among `kept`."""
        cases = {id(case.move): case for case in self.cases if case.move is not None}
        asked = [(cases[id(move)], replaced(formula, dict(cases[id(move)].constants))) for move, formula in goals]
        return self._rest([(case, formula) for case, formula in asked if formula != TRUE], [], kept)

    def prove_here(self, formula: Formula, kept: Sequence[Formula]) -> Proof:
        """Prove a formula of a state from invariants alone."""
        return self._rest([(None, formula)], [], kept)

    def _rest(
        self, first: Sequence[tuple[_Case | None, Formula]], wanted: Sequence[Formula], kept: Sequence[Formula]
    ) -> Proof:
        """Find the invariants on which goals rest, by cores; then ask both solvers about each step of the proof."""
        needed: list[Formula] = list(wanted)
        used: list[tuple[_Case | None, Formula, list[Formula]]] = []
        for case, formula in first:
            core = self._core(case, formula, kept)
            if core is None:
                name = "every reachable state" if case is None else case.name
                return Proof(False, because=f"no invariant that was found shows it for {name}")
            used.append((case, formula, core))
            needed += [one for one in core if not any(one is other for other in needed)]
        place = 0
        while place < len(needed):
            goal = needed[place]
            place += 1
            for case in self.cases:
                later = case.after(goal)
                if later == TRUE:
                    continue
                core = self._core(case, later, () if case.start else kept)
                if core is None:
                    return Proof(False, because=f"it is open whether {case.name} keeps {show(goal)}")
                used.append((case, later, core))
                needed += [one for one in core if not any(one is other for other in needed)]
        for case, formula, core in used:
            why = self._both(case, formula, core)
            if why:
                return Proof(False, because=why)
        return Proof(True, tuple(show(one) for one in needed), len(used))

    def _step(self, case: _Case | None, formula: Formula, assumed: Sequence[Formula]) -> Query:
        claims = [(f"kept.{i}", one) for i, one in enumerate(assumed)]
        if case is not None:
            claims.append(("case", case.known))
        return self._query(case, [*claims, ("goal", Not(formula))])

    def _core(self, case: _Case | None, formula: Formula, kept: Sequence[Formula]) -> list[Formula] | None:
        """The invariants that a step of the proof uses; None where it is no proof."""
        answered = self.quick.ask(self._step(case, formula, kept), expected="unsat", limits=LIMITS)
        if answered.status != "unsat":
            return None
        names = answered.answers[0].core or ()
        return [kept[int(name.removeprefix("kept."))] for name in names if name.startswith("kept.")]

    def _both(self, case: _Case | None, formula: Formula, core: Sequence[Formula]) -> str:
        """Why a step of the proof is not decided by both solvers; empty if it is."""
        answered = self.portfolio.ask(self._step(case, formula, core), expected="unsat", limits=LIMITS)
        said = {one.module for one in answered.answers if one.status == "unsat"}
        if answered.status == "unsat" and said == {"z3", "cvc5"}:
            return ""
        where = "a state" if case is None else case.name
        return f"the solvers do not both prove it for {where}: {answered.because}"


__all__ = ["FALSE", "Answered", "Induction", "Or", "Proof", "all_of", "exists"]
