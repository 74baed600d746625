"""Theorems about the winner: the highest score wins, the earliest stake breaks ties; and roots rank as sums do."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import isqrt
from typing import Any

from evenhand.core.system import Step
from evenhand.model.conviction.mutants import play
from evenhand.model.conviction.vocabulary import Act, Config, Shown, State
from evenhand.proofs.conviction.finale import finalizations, rational, scene
from evenhand.proofs.conviction.single import theorem
from evenhand.properties.conviction import winning
from evenhand.properties.conviction.predicates import events, finalizes
from evenhand.smt.arithmetic import at_least, at_most, below, element, number, times
from evenhand.smt.logic import Definition, Sort, conjunction, differ, exists, forall, iff, same, variables
from evenhand.smt.preludes import Faults, numbers, relations
from evenhand.smt.structure import Structure
from evenhand.smt.theorem import Theorem
from evenhand.smt.theory import Axiom, Theory

PROPOSAL = Sort("Proposal")
p, q, r = variables(PROPOSAL, "p q r")
score, root, age = numbers("score root age", PROPOSAL)
"""The sum of the effective stakes on a proposal; its root; the age of its LastStakeTick: a greater age is an earlier
tick, and a proposal without one is older than any."""

top, earliest, wins = relations("top earliest wins", PROPOSAL)
_TOP = Definition(top, (p,), forall([q], at_most(score(q), score(p))), "17.2: the highest score")
_EARLIEST = Definition(
    earliest, (p,), forall([q], (top(q) & differ(p, q)) >> below(age(q), age(p))), "17.3: of tied proposals, alone"
)
_WINS = Definition(wins, (p,), top(p) & earliest(p), "17.2, 17.3; where LastStakeTick ties too, nobody wins")

RANKING = Theory(
    name="conviction_winners",
    sorts=(PROPOSAL,),
    functions=(score, root, age),
    relations=(),
    axioms=(
        Axiom(
            "roots",
            forall([p], at_least(root(p), number(0)) & same(times(root(p), root(p)), score(p))),
            "17.1: the root of the sum",
        ),
    ),
    definitions=(_TOP, _EARLIEST, _WINS),
)


def _square_root(value: Fraction) -> Fraction | None:
    if value < 0:
        return None
    found = Fraction(isqrt(value.numerator), isqrt(value.denominator))
    return found if found**2 == value else None


def view(step: Step[Config, State, Act, Shown]) -> Structure | None:
    """Return a finalization as a structure; None for other steps, and where the root of a score is irrational."""
    known = [one.uid for one in step.before.proposals]
    if not finalizes(step) or not known:
        return None
    event = next(events(step.shown, "Finalize"))
    scores = {uid: rational(value) for uid, value in dict(event.get("scores")).items()}
    roots = {uid: None if value is None else _square_root(value) for uid, value in scores.items()}
    if set(roots) != set(known) or None in roots.values():
        return None
    named = {uid: (f"proposal:{uid}",) for uid in known}
    oldest = 1 + max((one.last for one in step.before.proposals if one.last is not None), default=0)
    ages = {one.uid: oldest if one.last is None else one.last for one in step.before.proposals}
    tables: dict[str, dict[str, Any]] = {"score": scores, "root": roots, "age": ages}
    return Structure(
        {"Proposal": tuple(row[0] for row in named.values())},
        {"wins": frozenset([named[event.proposal]] if event.proposal in named else [])},
        {name: {named[uid]: element(table[uid]) for uid in known} for name, table in tables.items()},
    )


FAULTS = Faults(
    (play.lowest_score_wins, RANKING.means("top", forall([q], at_least(score(q), score(p))), "the lowest score")),
    (
        play.latest_stake_wins_a_tie,
        RANKING.means("earliest", forall([q], (top(q) & differ(p, q)) >> below(age(p), age(q))), "the latest"),
    ),
    (play.ties_have_no_winner, RANKING.means("earliest", forall([q], top(q) >> same(p, q)), "a tie has no winner")),
)

_theorem = partial(
    theorem, view=view, realise=scene, samples=finalizations, scope="any number of proposals, stakes and rounds"
)

RANKED = _theorem(
    claim=winning.roots_rank_as_sums_do,
    sentence="Whoever wins by the sum of effective stakes has the highest root of it, and roots rank as sums do.",
    source="17.1, 17.2",
    theory=RANKING,
    variables=(p, q),
    assumes=wins(p),
    goal=conjunction([at_most(root(q), root(p)), iff(below(score(q), score(p)), below(root(q), root(p)))]),
    needs=("roots",),
    witness=exists([p, q, r], wins(p) & below(score(q), score(r))),
    mutants=FAULTS.refuted(play.lowest_score_wins),
)

HIGHEST = _theorem(
    claim=winning.the_highest_score_wins,
    sentence="Who wins has the highest score, and who has it alone wins: names, places and orders decide nothing.",
    theory=replace(RANKING, axioms=()),
    variables=(p,),
    goal=(wins(p) >> forall([q], at_most(score(q), score(p))))
    & (forall([q], differ(p, q) >> below(score(q), score(p))) >> wins(p)),
    witness=exists([p, q], wins(p) & differ(p, q) & same(score(p), score(q))),
    mutants=(
        *FAULTS.refuted(play.lowest_score_wins),
        FAULTS.unseen(play.ties_have_no_winner, "who has the highest score alone wins all the same"),
        FAULTS.unseen(play.latest_stake_wins_a_tie, "it has the highest score as well"),
    ),
)

WINNERS: tuple[Theorem, ...] = (RANKED, HIGHEST)
"""The theorems about the winner."""
