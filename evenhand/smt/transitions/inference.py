"""Inference of invariants: found by Spacer at a small size, lifted, pruned, and proved for any size.

Spacer has no uninterpreted sorts, so it is asked about a universe of fixed size.  Its result is a guess: its clauses
are lifted to all elements, clauses that are not inductive at any size are dropped (the evaluator says which a solver's
run falsifies), and the rest is proved by `induct`, by every solver.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evenhand.smt.logic import Formula, Not, conjunction
from evenhand.smt.portfolio import Portfolio
from evenhand.smt.smtlib import show
from evenhand.smt.solvers import SolverLimits
from evenhand.smt.structure import Reader
from evenhand.smt.transitions.grounding import PREDICATE, Atom, Clause, Grounding, lifted
from evenhand.smt.transitions.induction import Inductive, induct
from evenhand.smt.transitions.machine import Ask, Machine

MOST_CLAUSES = 400
"""The limit of clauses of one predicate; Spacer's answers stay far below."""


@dataclass(frozen=True)
class Inferred:
    """The result of an inference.

    `clauses` is the invariant beside the goal, in the theory's vocabulary; `guessed` how many clauses Spacer found at
    `sizes`; `proof` the result of the induction.  `because` says why nothing is proved.
    """

    clauses: tuple[Formula, ...]
    guessed: int
    sizes: Mapping[str, int]
    proof: Inductive | None
    because: str = ""

    @property
    def proved(self) -> bool:
        """Whether goal and clauses together were proved inductive at any size."""
        return self.proof is not None and self.proof.status == "proved"

    @property
    def words(self) -> tuple[str, ...]:
        """The clauses as SMT-LIB 2, in the theory's symbols."""
        return tuple(show(clause) for clause in self.clauses)


def infer(
    machine: Machine,
    goal: Formula,
    ask: Ask,
    portfolio: Portfolio,
    *,
    sizes: Mapping[str, int],
    limits: SolverLimits | None = None,
    name: str = "infer",
) -> Inferred:
    """Return clauses that make `goal`, a formula about a state, inductive.

    `sizes` is the number of elements of each sort for Spacer (1 where not given).  Raises ValueError for a goal about a
    step.
    """
    if machine.span(goal):
        raise ValueError("an invariant is inferred for a formula about a state")
    grounding = Grounding(machine, sizes)
    said = portfolio.horn(grounding.horn(goal), PREDICATE, limits=limits)
    if said.get("status") == "unsat":
        return Inferred((), 0, sizes, None, "the goal is violated at this size")
    if said.get("status") != "sat":
        return Inferred((), 0, sizes, None, f"Spacer does not know: {said.get('because', '')}")
    try:
        found = _clauses(said["meaning"], grounding.arguments(), True)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        return Inferred((), 0, sizes, None, f"the answer of Spacer cannot be read: {error}")
    guesses = tuple(dict.fromkeys(lifted(machine, clause) for clause in sorted(found, key=sorted) if clause))
    kept, because = _weeded(machine, goal, guesses, ask, name)
    if because:
        return Inferred(kept, len(found), sizes, None, because)
    proof = induct(machine, conjunction([goal, *kept]), ask, name=name)
    return Inferred(kept, len(found), sizes, proof, proof.because)


def _weeded(
    machine: Machine, goal: Formula, guesses: tuple[Formula, ...], ask: Ask, name: str
) -> tuple[tuple[Formula, ...], str]:
    """The guesses that hold initially and that steps preserve, given the goal and each other; why it stopped early."""
    kept, moment = guesses, 0
    reader = Reader(machine.theory.meanings)
    for turn in itertools.count():
        if not kept:
            break
        whole = conjunction(kept)
        assumed = [("assumed", machine.at(conjunction([goal, whole]), 0))] if moment else []
        query = machine.query(moment, *assumed, ("goal", Not(machine.at(whole, moment))), initial=not moment)
        answered = ask(f"{name}.weed.{turn}", query, "unsat")
        if answered.status == "unsat" and moment:
            break
        if answered.status == "unsat":
            moment = 1
            continue
        if answered.status != "sat" or answered.model is None:
            return kept, f"{name}.weed.{turn}: {answered.because}"
        state = machine.moments(answered.model, moment)[moment]
        left: tuple[Formula, ...] = tuple(clause for clause in kept if reader.holds(clause, state))
        if len(left) == len(kept):
            return kept, "the evaluator contradicts the solver: it finds no clause false"
        kept = left
    return kept, ""


def _clauses(meaning: Any, atoms: tuple[Atom, ...], positive: bool) -> frozenset[Clause]:
    """The clauses of a propositional formula, negated unless `positive`.  Raises ValueError for other formulas."""
    if isinstance(meaning, int):
        return frozenset((frozenset(((atoms[meaning], positive),)),))
    match meaning:
        case ["true"] | ["false"]:
            return frozenset() if (meaning == ["true"]) == positive else frozenset((frozenset[tuple[Atom, bool]](),))
        case ["not", part]:
            return _clauses(part, atoms, not positive)
        case ["and" | "or" as word, *parts]:
            found = [_clauses(part, atoms, positive) for part in parts]
            return _joined(found) if (word == "and") == positive else _crossed(found)
        case ["=>", left, right]:
            return _clauses(["or", ["not", left], right], atoms, positive)
        case ["=", left, right]:
            return _clauses(["and", ["=>", left, right], ["=>", right, left]], atoms, positive)
        case ["if", test, then, other]:
            return _clauses(["and", ["=>", test, then], ["or", test, other]], atoms, positive)
        case _:
            raise ValueError(f"no propositional formula: {str(meaning)[:80]}")


def _joined(parts: list[frozenset[Clause]]) -> frozenset[Clause]:
    return frozenset[Clause]().union(*parts)


def _crossed(parts: list[frozenset[Clause]]) -> frozenset[Clause]:
    """The clauses of a disjunction: one from each part, without tautologies.  Raises ValueError for too many."""
    found: frozenset[Clause] = frozenset((frozenset[tuple[Atom, bool]](),))
    for part in parts:
        both = (one | other for one in found for other in part)
        found = frozenset(clause for clause in both if not any((atom, not said) in clause for atom, said in clause))
        if len(found) > MOST_CLAUSES:
            raise ValueError(f"more than {MOST_CLAUSES} clauses")
    return found
