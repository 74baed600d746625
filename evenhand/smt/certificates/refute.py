"""Refute clauses by a SAT solver, and write the refutation with the clauses that each step uses.

The solver prints a DRUP proof: clauses that follow by unit propagation.  Propagating each once more tells which clauses
it follows from; what the empty clause does not need is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import Any

from evenhand_certificates.clauses import Clause

Derived = tuple[Clause, tuple[int, ...]]
"""A clause, and the places of the clauses it follows from: of the given ones first, then of earlier steps."""


class NoRefutation(Exception):
    """The clauses have a model that no lemma excludes."""


def learned(clauses: list[Clause], lemmas: Callable[[set[int]], Iterable[Clause]]) -> list[Clause]:
    """Add lemmas to the clauses until they have no model; return what the solver learned, the empty clause last.

    `lemmas` yields valid clauses that are false in a model, given as the set of its true literals.  Raises
    NoRefutation where it yields none, and ImportError without the package python-sat.
    """
    solvers: Any = import_module("pysat.solvers")
    with solvers.Solver(name="glucose4", bootstrap_with=clauses, with_proof=True) as solver:
        while solver.solve():
            new = list(dict.fromkeys(lemmas(set(solver.get_model()))))
            if not new:
                raise NoRefutation("the instances have a model")
            for clause in new:
                solver.add_clause(clause)
            clauses += new
        lines = [line.split() for line in solver.get_proof()]
    return [*(tuple(map(int, line[:-1])) for line in lines if line[0] != "d" and len(line) > 1), ()]


def hinted(clauses: Sequence[Clause], proof: Iterable[Clause]) -> list[Derived]:
    """Return the steps of a proof that the empty clause needs, each with what it follows from.

    Raises NoRefutation for a clause that does not follow by unit propagation.
    """
    propagation = _Propagation(clauses)
    for clause in proof:
        if propagation.step(clause):
            return _needed(len(clauses), propagation.steps)
    raise NoRefutation("the proof does not end in the empty clause")


def _needed(given: int, steps: Sequence[Derived]) -> list[Derived]:
    """The steps on which the last one depends, renumbered."""
    used = {given + len(steps) - 1}
    for place in range(len(steps) - 1, -1, -1):
        if given + place in used:
            used.update(steps[place][1])
    kept = [place for place in range(len(steps)) if given + place in used]
    now = {given + place: given + number for number, place in enumerate(kept)}
    return [(steps[place][0], tuple(now.get(hint, hint) for hint in steps[place][1])) for place in kept]


class _Propagation:
    """Unit propagation with two watched literals; what is true without assumptions is a step of its own."""

    def __init__(self, clauses: Sequence[Clause]) -> None:
        self.steps: list[Derived] = []
        self._given = len(clauses)
        self._clauses: list[list[int]] = []
        self._watched: dict[int, list[int]] = {}
        self._reason: dict[int, int] = {}  # true literal: place of the clause that made it true, -1 if assumed
        self._trail: list[int] = []
        self._ended = False
        for clause in clauses:
            self._add(tuple(dict.fromkeys(clause)))
        for place in range(self._given):
            if not self._ended:
                self._settle(place)

    def step(self, clause: Clause) -> bool:
        """Add a clause that follows; return whether the empty clause is reached.  Raises NoRefutation."""
        if self._ended:
            return True
        if any(literal in self._reason for literal in clause):
            return False  # true already, so never needed
        mark = len(self._trail)
        for literal in clause:
            self._put(-literal, -1)
        conflict = self._propagate(mark)
        if conflict is None:
            raise NoRefutation("a clause of the proof does not follow by unit propagation")
        hints = self._hints(conflict)
        for literal in self._trail[mark:]:
            del self._reason[literal]
        del self._trail[mark:]
        self._record(clause, hints)
        return self._ended

    def _record(self, clause: Clause, hints: tuple[int, ...]) -> None:
        self.steps.append((clause, hints))
        if not clause:
            self._ended = True
            return
        self._settle(self._add(clause))

    def _add(self, clause: Clause) -> int:
        place = len(self._clauses)
        ordered = sorted(clause, key=lambda literal: -literal in self._reason)
        self._clauses.append(ordered)
        for literal in ordered[:2]:
            self._watched.setdefault(-literal, []).append(place)
        return place

    def _settle(self, place: int) -> None:
        """If a clause is a unit by what is true already, propagate it and make steps of all that follows."""
        clause = self._clauses[place]
        if any(literal in self._reason for literal in clause):
            return
        left = [literal for literal in clause if -literal not in self._reason]
        if len(left) > 1:
            return
        mark = len(self._trail)
        if left:
            self._put(left[0], place)
            conflict = self._propagate(mark)
        else:
            conflict = place
        for literal in self._trail[mark:]:
            self._as_step(literal)
        if conflict is not None:
            self.steps.append(((), self._hints(conflict)))
            self._ended = True

    def _as_step(self, literal: int) -> None:
        """Give a literal that is true without assumptions a clause of its own."""
        place = self._reason[literal]
        if len(self._clauses[place]) == 1:
            return
        others = [self._reason[-other] for other in self._clauses[place] if other != literal]
        self.steps.append(((literal,), (*others, place)))
        self._clauses.append([literal])
        self._reason[literal] = len(self._clauses) - 1

    def _put(self, literal: int, place: int) -> None:
        if literal not in self._reason:
            self._reason[literal] = place
            self._trail.append(literal)

    def _propagate(self, start: int) -> int | None:
        """Propagate from a place of the trail; return the clause that became false."""
        while start < len(self._trail):
            true = self._trail[start]
            start += 1
            watching, kept = self._watched.get(true, []), list[int]()
            for number, place in enumerate(watching):
                conflict = self._visit(place, -true, kept)
                if conflict:
                    self._watched[true] = kept + watching[number + 1 :]
                    return place
            self._watched[true] = kept
        return None

    def _visit(self, place: int, false: int, kept: list[int]) -> bool:
        """Look at a clause one of whose watched literals became false; return whether the clause is false."""
        clause = self._clauses[place]
        if len(clause) > 1 and clause[0] == false:
            clause[0], clause[1] = clause[1], clause[0]
        if clause[0] in self._reason:
            kept.append(place)
            return False
        for other in range(2, len(clause)):
            if -clause[other] not in self._reason:
                clause[1], clause[other] = clause[other], clause[1]
                self._watched.setdefault(-clause[1], []).append(place)
                return False
        kept.append(place)
        if len(clause) == 1 or -clause[0] in self._reason:
            return True
        self._put(clause[0], place)
        return False

    def _hints(self, conflict: int) -> tuple[int, ...]:
        """The clauses that lead to a conflict, in the order of propagation; what is true anyway by its own clause."""
        needed: set[int] = set()
        waiting = [-literal for literal in self._clauses[conflict]]
        while waiting:
            literal = waiting.pop()
            place = self._reason[literal]
            if place >= 0 and literal not in needed:
                needed.add(literal)
                waiting += [-other for other in self._clauses[place] if other != literal]
        return (*(self._reason[literal] for literal in self._trail if literal in needed), conflict)
