"""Prove claims about whole runs for any number of agents, by a rank that fair steps lower.

A run owes something from a start, or from a step that raises it, until a step serves it.  Parts of the state are sets
of finitely many agents (or of pairs, or one truth).  The rank is a list of such sets; it falls where the first of them
that changes at all loses a member and gains none.  So it cannot fall for ever, and a claim holds if, wherever a run
owes:

1. no step makes the rank rise, unless it serves;
2. a step that serves a fairness assumption of the claim lowers the rank, or serves the claim;
3. some assumption has an action on offer;
4. an assumption of weak fairness that has one keeps one after every other step, or the rank falls.

In a run that owes for ever the rank would stand still from some step on, and no assumption would be served again (1 and
2).  By 3 one always has an action on offer.  If it is a weak one, it has one for ever (4), and fairness would serve it.
If only strong ones are left, one of them has an action again and again, for there are finitely many, and fairness would
serve that.  A run that ends while it owes is excluded by 3.

A claim that assumes no fairness is proved as if every step were fair.  A claim that no loop attempts without progress
needs 1 for every step without progress, and that an attempt lowers the rank.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evenhand.core.fairness import assumed
from evenhand.core.kinds import Liveness
from evenhand.core.system import AnyStep
from evenhand.smt import logic as fol
from evenhand.smt.logic import FALSE, TRUE, Formula
from evenhand.smt.structure import Reader, Structure
from evenhand.source.candidates import atoms
from evenhand.source.family import STATE, Course, Family, Ghost
from evenhand.source.functions import Move
from evenhand.source.induction import Induction, Proof, means_after
from evenhand.source.probes import Meanings, after
from evenhand.source.reached import Reached
from evenhand.source.shapes import order
from evenhand.source.simplify import all_of, any_of, every, implication, negation, some
from evenhand.source.validation import Comparison, assignments

OWED = fol.Relation(f"{STATE}.owed", ())
"""Whether the run owes something."""

MOST = 300
"""States of each size from which a rank is guessed."""

Part = tuple[tuple[fol.Var, ...], Formula]
"""A set of agents: its variables and what is true of them."""


def with_debt(family: Family, claim: Liveness) -> Family:
    """Return the family whose states know whether the run owes what the claim speaks of."""
    courses = family.claims[claim.name].courses
    moves = tuple(
        TRUE
        if claim.begins == "loop"
        else all_of((any_of((OWED(), one.raised)), negation(one.served)))
        if claim.begins == "step"
        else all_of((OWED(), negation(one.served)))
        for one in courses
    )
    starts = tuple(FALSE if claim.begins == "step" else TRUE for _ in family.starts)
    return replace(family, ghosts=(Ghost(OWED, starts, moves),))


@dataclass(frozen=True)
class Change:
    """A step that was run while something is owed and that does not serve it; `falls`: the rank must fall by it."""

    before: int
    after: int
    falls: bool


class Progress:
    """One claim about whole runs of a family with its debt."""

    def __init__(self, family: Family, claim: Liveness, means: Sequence[Meanings]) -> None:
        self.family, self.claim = family, claim
        self.courses: tuple[Course, ...] = family.claims[claim.name].courses
        self.means = means
        self.loops = claim.begins == "loop"

    @property
    def names(self) -> tuple[str, ...]:
        """The assumptions that are used."""
        return () if self.loops else tuple(self.courses[0].fair) if self.courses else ()

    def fair(self, course: Course) -> Formula:
        """That a step must lower the rank: it serves an assumption, or it is any step if there is none."""
        if self.loops:
            return course.raised
        return any_of(course.fair[name][1] for name in self.names) if self.names else TRUE

    def offered(self, name: str) -> Formula:
        """That some action on offer serves an assumption."""
        pairs = zip(self.family.moves, self.courses, strict=True)
        return any_of(some(move.variables, all_of((move.guard, one.fair[name][1]))) for move, one in pairs)

    def on_offer(self) -> Formula:
        """That something is owed only where some assumption has an action on offer (3)."""
        if self.loops:
            return TRUE
        if not self.names:
            anything = any_of(some(move.variables, move.guard) for move in self.family.moves)
            return implication(OWED(), anything)
        return implication(OWED(), any_of(self.offered(name) for name in self.names))

    def steps(self, rank: Sequence[Part]) -> Iterator[tuple[Move, Formula]]:
        """What every step must do to the rank (1, 2 and 4)."""
        for move, course, means in zip(self.family.moves, self.courses, self.means, strict=True):
            lower, level = fallen(rank, means, strictly=True), fallen(rank, means, strictly=False)
            asked = all_of((OWED(), negation(course.served)))
            yield move, implication(asked, level)
            yield move, implication(all_of((asked, self.fair(course))), lower)
            for one in self.persist(course, means):
                yield move, implication(asked, any_of((one, lower)))

    def persist(self, course: Course, means: Meanings) -> Iterator[Formula]:
        """That an assumption of weak fairness with an action on offer keeps one, unless the step serves it (4)."""
        for name in self.names:
            kind, served = course.fair[name]
            if kind == "weak":
                offered = self.offered(name)
                yield implication(all_of((offered, negation(served))), after(offered, means))

    def prove(self, induction: Induction, kept: Sequence[Formula], rank: Sequence[Part]) -> Proof:
        """Prove the claim by a rank and by invariants that were kept."""
        raising = [(move, negation(one.raises)) for move, one in zip(self.family.moves, self.courses, strict=True)]
        first = induction.prove_here(self.on_offer(), kept)
        if not first.proved:
            return replace(first, because="it is open whether a fair action is on offer while something is owed")
        proof = induction.prove_steps([*self.steps(rank), *(one for one in raising if one[1] != TRUE)], kept)
        if not proof.proved:
            return replace(proof, because=f"no rank that was found falls by fair steps: {proof.because}")
        invariants = tuple(dict.fromkeys((*first.invariants, *proof.invariants)))
        return Proof(True, invariants, first.queries + proof.queries)


def fallen(rank: Sequence[Part], means: Meanings, *, strictly: bool) -> Formula:
    """Return that a rank falls by a step, or, unless `strictly`, that it stays as it is."""
    found = FALSE if strictly else TRUE
    for variables, formula in reversed(rank):
        later = after(formula, means)
        gains_none = every(variables, implication(later, formula))
        loses = some(variables, all_of((formula, negation(later))))
        found = all_of((gains_none, any_of((loses, found))))
    return found


def parts_of(family: Family) -> Iterator[list[Part]]:
    """Yield the sets of which a rank may be made: of agents, or of pairs, that one atom, or two, are true of."""
    found: dict[tuple[fol.Var, ...], list[Formula]] = {}
    listed = list(atoms(family))
    constants = [one for one in family.vocabulary.functions if not one.domain]
    for one in constants:
        if ("order", one.codomain) in family.world.looked_at:
            x = fol.Var(f"x.{one.codomain.name}", one.codomain)
            listed += [order(one.codomain)(one(), x), order(one.codomain)(x, one())]
    for atom in listed:
        variables = tuple(sorted(fol.free(atom), key=lambda v: v.name))
        if len(variables) <= 2 and all(v.name[0] in "xy" for v in variables):
            found.setdefault(variables, []).append(atom)
    signed = {variables: [one for atom in here for one in (atom, negation(atom))] for variables, here in found.items()}
    yield [(variables, one) for variables, literals in signed.items() for one in literals]
    yield [
        (variables, made(pair))
        for variables, literals in signed.items()
        for pair in itertools.combinations(literals, 2)
        if pair[0] != negation(pair[1])
        for made in (all_of, any_of)
    ]


class Samples:
    """Steps of small sizes while something is owed, and the states before and after them as structures."""

    def __init__(self, progress: Progress, comparison: Comparison, runs: Sequence[Reached]) -> None:
        self.progress, self.comparison = progress, comparison
        self.states: list[Structure] = []
        self.changes: list[Change] = []
        for run in runs:
            self._run(run)

    def _run(self, run: Reached) -> None:
        claim, system, config = self.progress.claim, run.system, run.config
        raises, serves = claim.tests
        fair = assumed(system.fair(config), claim.fairness)
        weak = [one for one in fair.values() if one.kind == "weak"] if claim.begins != "loop" else []
        known: dict[tuple[Any, bool], int] = {}
        waiting: list[tuple[Any, bool]] = []

        def place(state: Any, owed: bool) -> int:
            if (state, owed) not in known:
                known[state, owed] = len(self.states)
                self.states.append(self._encoded(config, state, owed))
                waiting.append((state, owed))
            return known[state, owed]

        def falls(step: AnyStep) -> bool:
            if claim.begins == "loop":
                return raises(step)
            here, there = (list(system.enabled(config, one)) for one in (step.before, step.after))
            lost = any(
                any(one.taken(step.before, action) for action in here)
                and not one.taken(step.before, step.action)
                and not any(one.taken(step.after, action) for action in there)
                for one in weak
            )
            return lost or not fair or any(one.taken(step.before, step.action) for one in fair.values())

        for start in system.initial(config):
            place(start, claim.begins != "step")
        while waiting and len(known) < MOST:
            state, owed = waiting.pop(0)
            before = known[state, owed]
            for action in system.enabled(config, state):
                step = system.take(config, state, action)
                served = serves(step)
                later = claim.begins == "loop" or ((owed or (claim.begins == "step" and raises(step))) and not served)
                there = place(step.after, later)
                if owed and not served:
                    self.changes.append(Change(before, there, falls(step)))

    def _encoded(self, config: Any, state: Any, owed: bool) -> Structure:
        bare = self.comparison.encoded(config, state)
        return Structure(bare.universe, {**bare.relations, OWED.name: frozenset([()] if owed else [])}, bare.functions)

    def rank(self, parts: Sequence[Part]) -> list[Part]:
        """Return a rank that falls as it must in all steps: of the parts, the one that most steps need comes next.

        It is empty if no step must lower it, or if there is none.
        """
        reader = Reader()
        members: dict[int, list[frozenset[tuple[str, ...]]]] = {}

        def sets(part: int) -> list[frozenset[tuple[str, ...]]]:
            if part not in members:
                variables, formula = parts[part]
                members[part] = [
                    frozenset(
                        tuple(row[one] for one in variables)
                        for row in assignments(variables, state)
                        if reader.holds(formula, state, row)
                    )
                    for state in self.states
                ]
            return members[part]

        left, rank = list(self.changes), list[Part]()
        open_ = list(range(len(parts)))
        while any(one.falls for one in left):
            best, most = -1, 0
            still: list[int] = []
            for part in open_:
                held = sets(part)
                if all(held[one.after] <= held[one.before] for one in left):
                    still.append(part)
                    fallen_ = sum(one.falls and held[one.after] < held[one.before] for one in left)
                    if fallen_ > most:
                        best, most = part, fallen_
            if best < 0:
                return []
            held = sets(best)
            rank.append(parts[best])
            left = [one for one in left if not held[one.after] < held[one.before]]
        return rank


def progress_of(family: Family, claim: Liveness) -> Progress:
    """Return a claim about whole runs, of the family with its debt."""
    whole = with_debt(family, claim)
    return Progress(whole, claim, means_after(whole))
