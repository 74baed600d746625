"""A stake weighs the target after so many rounds, and less before (16.7): theorem for any number of stakes and rounds.

With q = theta**r a multiplier is 1 + (Max - 1)(1 - q).  After ConvictionSaturationRounds q is 1 - f, f the target
fraction; before, it is greater.  The theory uses nothing else of powers.
"""

from __future__ import annotations

from fractions import Fraction

from evenhand.core.system import Step
from evenhand.model.conviction import vocabulary as model
from evenhand.model.conviction.mutants import play
from evenhand.proofs.conviction import finale
from evenhand.proofs.conviction.finale import LOT, PROPOSAL, decay, greatest, lot, p, points, staked, weighed, worth
from evenhand.proofs.conviction.single import theorem
from evenhand.properties.conviction import staking
from evenhand.properties.conviction.predicates import events, finalizes, weight
from evenhand.smt.arithmetic import at_least, at_most, below, element, minus, number, plus, times
from evenhand.smt.logic import Function, conjunction, exists, forall, ite, same
from evenhand.smt.preludes import Faults, define, numbers, relations
from evenhand.smt.structure import Structure
from evenhand.smt.tables import constant, ones
from evenhand.smt.theorem import Lemma, Theorem
from evenhand.smt.theory import Axiom, Theory

on = Function("on", (LOT,), PROPOSAL)
(fraction,) = numbers("fraction")
"""ConvictionTargetFraction."""
told, ripened = numbers("told ripened", PROPOSAL)
"""The score before its root, and what a mutant takes for it: the sum of effective stakes a round later."""
(old,) = relations("old", LOT)
"""The stake has been held for ConvictionSaturationRounds."""
(weighs,), (scored,) = relations("weighs", LOT), relations("scored", PROPOSAL)

_MORE = minus(greatest(), number(1))
_TARGET = plus(number(1), times(_MORE, fraction()))
_LEFT = plus(number(1), times(_MORE, minus(number(1), minus(number(1), fraction()))))
"""The multiplier where 1 - f is left: the target, in the terms of a certificate, which replaces equals by equals."""
_there = same(on(lot), p)
_goal = times(staked(p), _TARGET)
_all_reach = forall([lot], _there >> same(worth(lot), times(points(lot), _TARGET)))
_none_exceeds = forall([lot], _there >> at_most(worth(lot), times(points(lot), _TARGET)))
_some_lacks = exists([lot], _there & below(worth(lot), times(points(lot), _TARGET)))

SATURATING = Theory.of(
    "conviction_saturation",
    ripened,
    axioms=(
        Axiom(
            "stakes_are_positive",
            forall([lot], below(number(0), points(lot))) & forall([p], at_least(staked(p), number(0))),
            "4.2, A 16.3",
        ),
        Axiom(
            "constants",
            below(number(1), greatest()) & below(number(0), fraction()) & below(fraction(), number(1)),
            "5: MaxConvictionMultiplier is above 1, ConvictionTargetFraction a fraction",
        ),
        Axiom(
            "powers_of_theta",
            forall(
                [lot],
                ite(
                    old(lot),
                    same(decay(lot), minus(number(1), fraction())),
                    below(minus(number(1), fraction()), decay(lot)) & at_most(decay(lot), number(1)),
                ),
            ),
            "16.7: theta**S is 1 - f, and powers of 0 < theta < 1 fall; r stops at S",
        ),
        Axiom("stakes_weigh", forall([lot], weighs(lot)), "16.6, 16.7"),
        Axiom("scores", forall([p], scored(p)), "17.1"),
        Axiom(
            "sums",
            forall([p], _all_reach >> same(weighed(p), _goal))
            & forall([p], (_none_exceeds & _some_lacks) >> below(weighed(p), _goal)),
            "of finite sums: a factor can be taken out; where no part is more than another and one is less, so is the "
            "sum",
        ),
    ),
    definitions=(
        define("weighs", (lot,), finale.EFFECTIVE, "16.6, 16.7: points times multiplier"),
        define("scored", (p,), same(told(p), weighed(p)), "17.1: the score is the sum of effective stakes"),
    ),
)


def view(step: Step[model.Config, model.State, model.Act, model.Shown]) -> Structure | None:
    """Return a finalization as a structure; None for other steps, where a number it needs is irrational or Max is 1."""
    c = step.config.constants
    found = finale.view(step) if finalizes(step) and c.greatest > 1 else None
    if found is None:
        return None
    entries = {f"lot:{number_}": entry for number_, entry in enumerate(step.before.entries)}
    event = next(events(step.shown, "Finalize"))
    scores = {uid: finale.rational(score) for uid, score in dict(event.get("scores")).items()}
    later = {uid: Fraction(0) for uid in scores}
    for entry in step.before.entries:
        factor = finale.rational(weight(step.config, entry.held + 1))
        if factor is None:
            return None
        later[entry.proposal] += factor * entry.amount
    shared = {one.name for one in SATURATING.functions}
    places = {uid: (f"proposal:{uid}",) for uid in scores}
    return Structure(
        {name: found.universe[name] for name in ("Lot", "Proposal")},
        {
            "old": ones(name for name, entry in entries.items() if entry.held >= c.saturation),
            "scored": frozenset(places.values()),
            "weighs": ones(entries),
        },
        {
            **{name: table for name, table in found.functions.items() if name in shared},
            "on": {(name,): f"proposal:{entry.proposal}" for name, entry in entries.items()},
            "fraction": constant(element(c.fraction)),
            "told": {places[uid]: element(score or 0) for uid, score in scores.items()},
            "ripened": {places[uid]: element(sum_) for uid, sum_ in later.items()},
        },
    )


_FAULTS = Faults(
    (
        play.multiplier_forgets_the_one,
        SATURATING.means("scored", same(told(p), minus(weighed(p), staked(p))), "a point less"),
    ),
    (play.finalize_counts_as_a_round, SATURATING.means("scored", same(told(p), ripened(p)), "a round later")),
    (
        play.multiplier_exceeds_the_maximum,
        SATURATING.means(
            "scored",
            same(times(_MORE, minus(told(p), staked(p))), times(greatest(), minus(weighed(p), staked(p)))),
            "the maximum is added to 1",
        ),
    ),
)
_least = times(staked(p), fraction(), greatest())
_all_old = forall([lot], _there >> old(lot))
_some_young = exists([lot], _there & ~old(lot))

SATURATED: Theorem = theorem(
    claim=staking.saturation_reaches_the_target,
    theory=SATURATING,
    view=view,
    samples=finale.finalizations,
    scope="any number of proposals, stakes and rounds, any fraction and maximum",
    variables=(p,),
    goal=conjunction(
        [
            _all_old >> same(told(p), _goal),
            _all_old >> at_least(told(p), _least),
            _some_young >> below(told(p), _goal),
        ]
    ),
    needs=("stakes_are_positive", "constants", "powers_of_theta", "stakes_weigh", "sums", "scores"),
    lemmas=(
        Lemma("is_what_is_left", forall([lot], old(lot) >> same(worth(lot), times(points(lot), _LEFT)))),
        Lemma(
            "what_is_left_is_the_target", forall([lot], same(times(points(lot), _LEFT), times(points(lot), _TARGET)))
        ),
        Lemma(
            "reaches",
            forall([lot], old(lot) >> same(worth(lot), times(points(lot), _TARGET))),
            ("is_what_is_left", "what_is_left_is_the_target"),
        ),
        Lemma("lacks", forall([lot], ~old(lot) >> below(worth(lot), times(points(lot), _TARGET)))),
        Lemma("suffices", forall([p], at_most(_least, _goal)), opaque=("weighs", "scored")),
        Lemma("saturated", forall([p], _all_old >> same(told(p), _goal)), ("reaches",)),
        Lemma("unsaturated", forall([p], _some_young >> below(told(p), _goal)), ("reaches", "lacks")),
    ),
    opaque=("weighs",),
    witness=exists([p], same(told(p), _goal) & below(number(0), staked(p))) & exists([p], below(told(p), _goal)),
    mutants=_FAULTS.refuted(*_FAULTS),
)
"""The theorem about saturation."""
