"""Prove claims about whole runs for any number of agents, by a rank that fair steps lower.

A run owes something from a start, or from a step that raises it, until a step serves it.  A rank can fall only finitely
often: a list of sets of finitely many agents (or of pairs, or truths), of which the first one that changes at all loses
a member and gains none; or what the claim gives, a number that is not negative, a set, or a tuple of these.  Fairness
is assumed of all together, or of each agent; of one agent it *helps* where a formula says so, else everywhere.  A claim
holds if, wherever a run owes:

1. no step makes the rank rise, unless it serves;
2. a step that serves a fairness assumption of the claim that helps lowers the rank, or serves the claim;
3. some assumption that helps has an action on offer;
4. an assumption of weak fairness that helps and has one on offer does so after every other step, or the rank falls;
   one of strong fairness that helps goes on helping, or the rank falls.

In a run that owes for ever the rank would stand still from some step on, and no assumption would be served again while
it helps (1 and 2).  By 3 one always helps and has an action on offer.  If it is a weak one, it does so for ever (4),
and fairness would serve it.  If only strong ones are left, one of them does so again and again, for there are finitely
many, and helps for ever (4), and fairness would serve that.  A run that ends while it owes is excluded by 3.

A claim that assumes no fairness is proved as if every step were fair.  A claim that no loop attempts without progress
needs 1 for every step without progress, and that an attempt lowers the rank.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from evenhand.core.kinds import Liveness
from evenhand.smt import logic as fol
from evenhand.smt.logic import FALSE, TRUE, Formula
from evenhand.source.assumptions import Assumption
from evenhand.source.candidates import atoms
from evenhand.source.family import Course, Family, Ghost, Stated
from evenhand.source.functions import Move
from evenhand.source.induction import Induction, Proof, means_after
from evenhand.source.probes import Meanings, after
from evenhand.source.shapes import order
from evenhand.source.simplify import all_of, any_of, every, implication, negation, some

OWED = fol.Relation("owed", ())
"""Whether the run owes something: no field of a state has a name without a dot."""

Part = tuple[tuple[fol.Var, ...], Formula]
"""A set of agents: its variables and what is true of them."""


@dataclass(frozen=True)
class Rank:
    """What falls: sets, or, if there are none, what the claim gives; and where the assumptions of each agent help."""

    parts: tuple[Part, ...] = ()
    helps: Mapping[str, Formula] | None = None


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


class Progress:
    """One claim about whole runs of a family with its debt."""

    def __init__(self, family: Family, claim: Liveness, means: Sequence[Meanings]) -> None:
        self.family, self.claim = family, claim
        self.stated: Stated = family.claims[claim.name]
        self.courses: tuple[Course, ...] = self.stated.courses
        self.means = means
        self.loops = claim.begins == "loop"
        self.fair: Mapping[str, Assumption] = {} if self.loops else self.stated.fair

    def offered(self, name: str) -> Formula:
        """That some action on offer serves an assumption, for its variables."""
        pairs = zip(self.family.moves, self.courses, strict=True)
        return any_of(some(move.variables, all_of((move.guard, one.fair[name]))) for move, one in pairs)

    def ready(self, name: str, rank: Rank) -> Formula:
        """That an assumption helps and has an action on offer."""
        return all_of((self.helps(name, rank), self.offered(name)))

    def helps(self, name: str, rank: Rank) -> Formula:
        """Where an assumption helps."""
        return TRUE if rank.helps is None else rank.helps.get(name, TRUE)

    def on_offer(self, rank: Rank) -> Formula:
        """That something is owed only where some assumption that helps has an action on offer (3)."""
        if self.loops:
            return TRUE
        if not self.fair:
            anything = any_of(some(move.variables, move.guard) for move in self.family.moves)
            return implication(OWED(), anything)
        return implication(OWED(), any_of(some(one.variables, self.ready(n, rank)) for n, one in self.fair.items()))

    def steps(self, rank: Rank) -> Iterator[tuple[Move, Formula]]:
        """What every step must do to the rank (1, 2 and 4)."""
        for move, course, means in zip(self.family.moves, self.courses, self.means, strict=True):
            lower, level = course.ranked if course.ranked is not None else fallen(rank.parts, means)
            asked = all_of((OWED(), negation(course.served)))
            yield move, implication(asked, level)
            for must in self.must_fall(course, means, rank):
                yield move, implication(all_of((asked, must)), lower)

    def must_fall(self, course: Course, means: Meanings, rank: Rank) -> Iterator[Formula]:
        """Yield the conditions under which a step lowers the rank."""
        if self.loops or not self.fair:
            yield course.raised if self.loops else TRUE
        for name, one in self.fair.items():
            yield some(one.variables, all_of((self.helps(name, rank), course.fair[name])))
            yield some(one.variables, self.lost(name, course, means, rank))

    def lost(self, name: str, course: Course, means: Meanings, rank: Rank) -> Formula:
        """That an assumption helps no more, or, if it is a weak one, has no action on offer any more (4)."""
        weak = self.fair[name].kind == "weak"
        needed = self.ready(name, rank) if weak else self.helps(name, rank)
        return all_of((needed, negation(course.fair[name]), negation(after(needed, means))))

    def prove(self, induction: Induction, kept: Sequence[Formula], rank: Rank) -> Proof:
        """Prove the claim by a rank and by invariants that were kept."""
        raising = [(move, negation(one.raises)) for move, one in zip(self.family.moves, self.courses, strict=True)]
        first = induction.prove_here(implication(all_of(self.stated.firsts), self.on_offer(rank)), kept)
        if not first.proved:
            return replace(first, because="it is open whether a fair action is on offer while something is owed")
        proof = induction.prove_steps([*self.steps(rank), *(one for one in raising if one[1] != TRUE)], kept)
        if not proof.proved:
            whose = "the rank that the claim gives" if self.claim.rank is not None else "a rank that was found"
            return replace(proof, because=f"it is open whether {whose} falls by fair steps: {proof.because}")
        invariants = tuple(dict.fromkeys((*first.invariants, *proof.invariants)))
        return Proof(True, invariants, first.queries + proof.queries)


def fallen(rank: Sequence[Part], means: Meanings) -> tuple[Formula, Formula]:
    """Return that a list of sets falls by a step, and that it falls or stays as it is."""
    lower, level = FALSE, TRUE
    for variables, formula in reversed(rank):
        later = after(formula, means)
        gains_none = every(variables, implication(later, formula))
        loses = some(variables, all_of((formula, negation(later))))
        lower, level = (all_of((gains_none, any_of((loses, one)))) for one in (lower, level))
    return lower, level


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


def progress_of(family: Family, claim: Liveness) -> Progress:
    """Return a claim about whole runs, of the family with its debt."""
    whole = with_debt(family, claim)
    return Progress(whole, claim, means_after(whole))
