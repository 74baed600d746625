"""Prove claims by induction: true initially, and kept by every step, for any number of agents.

Houdini: of all candidates, those go that an initial state or a step from states with all the others breaks, until none
does.  What is left is inductive together.  Then the few that a claim rests on are asked again, of both solvers; only
where both say that no countermodel exists is a claim proved.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from evenhand.smt.logic import TRUE, Formula, Function, Implies, Not, Relation, Term, Var, forall, free
from evenhand.smt.portfolio import Portfolio
from evenhand.smt.smtlib import Query, show
from evenhand.smt.solvers import Z3, SolverLimits
from evenhand.smt.theory import Theory
from evenhand.source.counts import PREFIX, begun, change
from evenhand.source.family import STATE, Family
from evenhand.source.functions import Move
from evenhand.source.probes import Meaning, Meanings, after, after_parts, meanings
from evenhand.source.simplify import all_of, negation, replaced

LIMITS = SolverLimits(rlimit=1_000_000, timeout_ms=8_000)
"""Limits of one query, low because a proof consists of many small ones."""
PROOF = SolverLimits(rlimit=5_000_000, timeout_ms=20_000)
"""Limits of a step of the proof itself, and of claims before anything is guessed: there are few."""
SEARCH = SolverLimits(rlimit=200_000, timeout_ms=8_000)
"""Limits of one candidate after one step, lower because most candidates are not needed."""

FEW = 12
"""Candidates that are asked again with the limits of a proof where the search did not decide them."""


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
    totals: tuple[Function, ...] = ()
    later: dict[int, tuple[Formula, Formula]] = field(default_factory=dict[int, tuple[Formula, Formula]])
    """By identity, because hashing a formula walks all of it; the formula is kept, so that its id is not reused."""

    def after(self, formula: Formula) -> Formula:
        """A formula of the state after it, as a formula of the state before."""
        if id(formula) not in self.later:
            self.later[id(formula)] = formula, replaced(after(formula, self.means), dict(self.constants))
        return self.later[id(formula)][1]


def means_after(family: Family) -> list[Meanings]:
    """Return what each symbol means after each move, ghosts included."""
    return [
        {
            **meanings(family.shape, move.after, STATE),
            **{one.relation.name: Meaning((), one.moves[place]) for one in family.ghosts},
        }
        for place, move in enumerate(family.moves)
    ]


class Induction:
    """The induction of one family."""

    def __init__(self, family: Family, portfolio: Portfolio) -> None:
        self.family, self.portfolio = family, portfolio
        self.quick = Portfolio([Z3])
        self.rests: dict[tuple[int, int], list[Formula]] = {}
        self.theory: Theory = family.theory
        self.counted = len(family.world.totals)
        self.cases: list[_Case] = []
        for place, start in enumerate(family.starts):
            said = {one.relation.name: Meaning((), one.starts[place]) for one in family.ghosts}
            means: Meanings = {**meanings(family.shape, start.state, STATE), **said}
            self.cases.append(self._case("start", start.variables, start.guard, means, None))
        for move, means in zip(family.moves, means_after(family), strict=True):
            self.cases.append(self._case(move.name, move.variables, move.guard, means, move))

    def _case(self, name: str, variables: tuple[Var, ...], guard: Formula, means: Meanings, move: Move | None) -> _Case:
        constants: dict[Var, Term] = {
            one: Function(f"at.{len(self.cases)}.{place}", (), one.sort)() for place, one in enumerate(variables)
        }
        means, totals, links = self._totals(f"{PREFIX}at.{len(self.cases)}", means, start=move is None)
        said: list[Formula] = []
        for one in links:
            given = replaced(one, constants)
            said.append(forall(sorted(free(given), key=lambda v: v.name), given))
        known = all_of((replaced(guard, constants), *said))
        return _Case(name, known, means, constants, move is None, move, totals)

    def _totals(
        self, name: str, means: Meanings, *, start: bool
    ) -> tuple[Meanings, tuple[Function, ...], list[Formula]]:
        """What counts and totals mean after a case: functions of their own, and how they come from those before."""
        totals = self.family.world.totals
        found, new, links = dict(means), list[Function](), list[Formula]()
        for one in totals:
            later = totals.after(f"{name}.{len(found)}", one, after_parts(one.parts, found))
            found[one.function.name] = Meaning(one.parameters, None, ((TRUE, later.term),))
            if later.function not in [known.function for known in totals]:
                new.append(later.function)
            links += begun(later, totals.whole(one)) if start else [change(one.term, one.options, later)]
        return found, tuple(new), [one for one in links if one != TRUE]

    def close(self) -> None:
        """End the solver of the search."""
        self.quick.close()

    def _query(self, case: _Case | None, claims: Iterable[tuple[str, Formula]]) -> Query:
        assert self.counted == len(self.family.world.totals), "a count that no case knows"
        terms = () if case is None else case.constants.values()
        constants = [one.function for one in terms if not isinstance(one, Var)]
        axioms = tuple((axiom.name, axiom.formula) for axiom in self.theory.axioms)
        return Query(
            self.theory.sorts,
            (*self.theory.functions, *constants, *(() if case is None else case.totals)),
            self.theory.relations,
            (*axioms, *((name, formula) for name, formula in claims if formula != TRUE)),
        )

    def houdini(self, candidates: Sequence[Formula], known: Sequence[Formula]) -> list[Formula]:
        """Return what is known to be inductive, and those candidates that are inductive together with it.

        A step that keeps a candidate is asked again only if the proof used a candidate that has gone since.
        """
        alive = dict(enumerate([*known, *candidates]))
        every = frozenset(range(len(known)))
        proofs = {(place, number): every for place in range(len(self.cases)) for number in range(len(known))}
        changed = True
        while changed:
            changed = False
            for place, case in enumerate(self.cases):
                asked = [
                    number
                    for number in alive
                    if (place, number) not in proofs or not proofs[place, number] <= alive.keys()
                ]
                for number, core in self._kept(case, asked, alive):
                    changed = True
                    if core is None:
                        del alive[number]
                    else:
                        proofs[place, number] = core
        for (place, number), core in proofs.items():
            if number in alive and number >= len(known):
                self.rests[place, id(alive[number])] = [alive[one] for one in sorted(core)]
        return list(alive.values())

    def _kept(
        self, case: _Case, asked: Sequence[int], alive: Mapping[int, Formula]
    ) -> list[tuple[int, frozenset[int] | None]]:
        """For each candidate that is asked about those on which it rests after this case; None if it is not kept."""
        found: list[tuple[int, frozenset[int] | None]] = []
        open_: list[int] = []
        for number in asked:
            if case.after(alive[number]) == TRUE:
                found.append((number, frozenset()))
            else:
                open_.append(number)
        unsure: list[int] = []
        for number, status, used in self._asked(case, open_, alive, SEARCH):
            if status == "unknown":
                unsure.append(number)
            else:
                found.append((number, used if status == "unsat" else None))
        # Few and alone, they are often decided; the claims come first.
        limits = PROOF if len(alive) <= FEW else LIMITS
        for number, status, used in self._asked(case, sorted(unsure)[:FEW], alive, limits):
            found.append((number, used if status == "unsat" else None))
        return [*found, *((number, None) for number in sorted(unsure)[FEW:])]

    def _asked(
        self, case: _Case, numbers: Sequence[int], alive: Mapping[int, Formula], limits: SolverLimits
    ) -> list[tuple[int, str, frozenset[int]]]:
        """Whether a case can break each of these candidates, and on which of all alive the answer rests."""
        if not numbers:
            return []
        assumed = [] if case.start else [(f"kept.{number}", one) for number, one in alive.items()]
        goals = [Relation(f"broken.{number}", ()) for number in numbers]
        broken = [
            (f"when.{number}", Implies(goal(), negation(case.after(alive[number]))))
            for number, goal in zip(numbers, goals, strict=True)
        ]
        query = self._query(case, [*assumed, ("case", case.known), *broken])
        query = replace(query, relations=(*query.relations, *goals))
        found: list[tuple[int, str, frozenset[int]]] = []
        for number, (status, core) in zip(numbers, self.quick.each(query, goals, limits=limits), strict=True):
            used = frozenset(int(name.removeprefix("kept.")) for name in core if name.startswith("kept."))
            found.append((number, status, used))
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

    def prove_all(self, goals: Sequence[Formula], kept: Sequence[Formula]) -> Proof:
        """Prove invariants among those kept."""
        return self._rest([], goals, kept)

    def prove_starts(self, formula: Formula) -> Proof:
        """Prove a formula of every initial state."""
        return self._rest([(case, case.after(formula)) for case in self.cases if case.start], [], ())

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
            for at, case in enumerate(self.cases):
                later = case.after(goal)
                if later == TRUE:
                    continue
                core = self._core(case, later, self.rests.get((at, id(goal)), () if case.start else kept))
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
        answered = self.quick.ask(self._step(case, formula, kept), expected="unsat", limits=PROOF)
        if answered.status != "unsat":
            answered = self.portfolio.ask(self._step(case, formula, kept), expected="unsat", limits=PROOF)
        if answered.status != "unsat":
            return None
        names = answered.answers[0].core or ()
        return [kept[int(name.removeprefix("kept."))] for name in names if name.startswith("kept.")]

    def _both(self, case: _Case | None, formula: Formula, core: Sequence[Formula]) -> str:
        """Why a step of the proof is not decided by both solvers; empty if it is."""
        answered = self.portfolio.ask(self._step(case, formula, core), expected="unsat", limits=PROOF)
        said = {one.module for one in answered.answers if one.status == "unsat"}
        if answered.status == "unsat" and said == {"z3", "cvc5"}:
            return ""
        where = "a state" if case is None else case.name
        return f"the solvers do not both prove it for {where}: {answered.because}"
