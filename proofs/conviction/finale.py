"""Theorems about stakes at finalization: what they weigh, from 1 to the maximum and at the target, and that all burn.

A multiplier is 1 + (Max - 1)(1 - q) with q = theta**r.  The theory uses only 0 < q <= 1, so the theorems hold for
every theta and every number of rounds.  Structures hold rational numbers, so they are compared with the model where
theta is rational.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial

from evenhand.core.system import AnySystem, Step
from evenhand.model.conviction import vocabulary as model
from evenhand.model.conviction.exact import Surd
from evenhand.model.conviction.mutants import money, play
from evenhand.proofs.conviction.single import theorem
from evenhand.proofs.conviction.walks import ends
from evenhand.properties.conviction import points as about_points
from evenhand.properties.conviction import staking
from evenhand.properties.conviction.predicates import events, finalizes, stakes_on, weight
from evenhand.smt.arithmetic import at_least, at_most, below, minus, number, plus, times
from evenhand.smt.ends import End, Ends
from evenhand.smt.logic import FALSE, Function, Sort, conjunction, exists, forall, ite, same, variables
from evenhand.smt.preludes import Faults, define, numbers, relations
from evenhand.smt.structure import Structure
from evenhand.smt.tables import structure
from evenhand.smt.theorem import Lemma, Theorem
from evenhand.smt.theory import Axiom, Theory

LOT, PROPOSAL, PILE = Sort("Lot"), Sort("Proposal"), Sort("Pile")
"""A stake of one age; a proposal; all stakes of one owner on one proposal."""
lot, v = LOT("l"), PILE("v")
p, q = variables(PROPOSAL, "p q")


points, decay, worth = numbers("points decay worth", LOT)
"""Points of a stake; theta**r of its rounds r; its worth in the text: points times multiplier."""
staked, weighed = numbers("staked weighed", PROPOSAL)
"""Sums over the stakes on a proposal: of points, of worth."""
(pile,) = numbers("pile", PILE)
(greatest,) = numbers("greatest")
on_winner, burning, recorded, remains = relations("on_winner burning recorded remains", PILE)
light, heavy = relations("light heavy", PROPOSAL)

_multiplier = plus(number(1), times(minus(greatest(), number(1)), minus(number(1), decay(lot))))
EFFECTIVE = same(worth(lot), times(points(lot), _multiplier))
"""A stake's worth is its points times its multiplier."""
_some = below(number(0), pile(v))


_WORDS = (
    define("light", (p,), below(weighed(p), staked(p)), "16.7, 17.1: the score is the sum of effective stakes"),
    define("heavy", (p,), below(times(greatest(), staked(p)), weighed(p)), "16.7, 17.1: likewise"),
    define("burning", (v,), _some, "18.2: all stakes, on winning and losing proposals"),
    define("recorded", (v,), burning(v), "18.2: a record of each agent, proposal and amount"),
    define("remains", (v,), _some & ~burning(v), "18.2: what is not burned is still there"),
)

_grows = forall([lot], at_least(worth(lot), points(lot)))
_bounded = forall([lot], at_most(worth(lot), times(greatest(), points(lot))))

WEIGHING = Theory.of(
    "conviction_stakes",
    on_winner,
    axioms=(
        Axiom("stakes_are_positive", forall([lot], at_least(points(lot), number(0))), "4.2, A 16.3"),
        Axiom("the_maximum_is_at_least_one", at_least(greatest(), number(1)), "16.7: MaxConvictionMultiplier"),
        Axiom(
            "powers_of_theta",
            forall([lot], below(number(0), decay(lot)) & at_most(decay(lot), number(1))),
            "16.7: 0 < theta < 1, so its powers from the 0th on are above 0 and at most 1",
        ),
        Axiom(
            "stakes_weigh",
            forall([lot], EFFECTIVE),
            "16.6, 16.7: points times multiplier",
        ),
        Axiom(
            "sums_are_monotone",
            (_grows >> forall([p], at_least(weighed(p), staked(p))))
            & (_bounded >> forall([p], at_most(weighed(p), times(greatest(), staked(p))))),
            "of finite sums: where each part is at most another, so is the sum; a factor can be taken out",
        ),
    ),
    definitions=_WORDS,
)


def rational(surd: Surd) -> Fraction | None:
    """Return the number as a fraction; None where it is irrational."""
    return None if any(surd.form[1:]) else surd.form[0]


def view(step: Step[model.Config, model.State, model.Act, model.Shown]) -> Structure | None:
    """Return a finalization as a structure; None for other steps, and where a number it needs is irrational."""
    before, c = step.before, step.config.constants
    if not finalizes(step) or not before.proposals or not before.entries:
        return None
    event = next(events(step.shown, "Finalize"))
    scores = {uid: rational(value) for uid, value in dict(event.get("scores")).items()}
    known, lots = [one.uid for one in before.proposals], {f"lot:{n}": entry for n, entry in enumerate(before.entries)}
    factors, grown = (
        {name: rational(weight(step.config, entry.held + more)) for name, entry in lots.items()} for more in (0, 1)
    )
    if set(scores) != set(known) or None in (*scores.values(), *factors.values(), *grown.values()):
        return None

    def worth_of(weights: Mapping[str, Fraction | None]) -> dict[str, Fraction]:
        return {name: Fraction(entry.amount) * (weights[name] or 0) for name, entry in lots.items()}

    def summed(of: Mapping[str, Fraction]) -> dict[str, Fraction | int]:
        return {uid: sum(of[name] for name, entry in lots.items() if entry.proposal == uid) for uid in known}

    have = {name: Fraction(entry.amount) for name, entry in lots.items()}
    sums = summed(have)
    piles, left = stakes_on(before), stakes_on(step.after)
    said = [((one.agent, one.proposal), one.amount) for one in events(step.shown, "StakeBurned")]
    every = {key: f"{key[0]}/{key[1]}" for key in sorted({*piles, *left, *(key for key, _ in said)})}
    told = {uid: score or 0 for uid, score in scores.items()}
    return structure(
        {"Lot": lots, "Proposal": known, "Pile": every.values()},
        {
            "points": have,
            "worth": worth_of(factors),
            # q from the multiplier 1 + (Max - 1)(1 - q); where Max is 1 any q fits.
            "decay": {
                name: 1 - ((factor or 0) - 1) / (c.greatest - 1) if c.greatest != 1 else 1
                for name, factor in factors.items()
            },
            "staked": sums,
            "weighed": summed(worth_of(factors)),
            "pile": {name: piles.get(key, 0) for key, name in every.items()},
            "greatest": c.greatest,
            "light": {uid for uid in known if told[uid] < sums[uid]},
            "heavy": {uid for uid in known if told[uid] > c.greatest * sums[uid]},
            "recorded": {every[key] for key in every if [n for k, n in said if k == key] == [piles.get(key)]},
            "remains": {every[key] for key in every if left.get(key)},
            "on_winner": {every[key] for key in every if key[1] == event.proposal},
            "old": {name for name, entry in lots.items() if entry.held >= c.saturation},
            "scored": {*known},
            "weighs": {*lots},
            "on": {name: entry.proposal for name, entry in lots.items()},
            "fraction": c.fraction,
            "told": told,
            "ripened": summed(worth_of(grown)),
        },
    )


def _squares(config: model.Config) -> model.Config:
    """Return the configuration with theta = 1/2 and agents that own a square each: 1, 4, 9."""
    agents = tuple(replace(agent, granted=(n % 3 + 1) ** 2) for n, agent in enumerate(config.agents))
    return replace(config, agents=agents, constants=replace(config.constants, fraction=Fraction(3, 4)))


_PLACES = (
    {"stake": 9, "texts": 0, "rounds": 1, "agents": 3, "ready": 0},
    {"stake": 9, "texts": 0, "rounds": 1, "agents": 2},
    {"stake": 4, "texts": 0, "rounds": 2, "agents": 3, "ready": 0},
    {"stake": 1, "texts": 0, "rounds": 2, "agents": 2, "issues": 2},
    {"stake": 1, "texts": 0, "rounds": 3, "agents": 3, "think": 2, "issues": 2},
    {"stake": 1, "texts": 0, "rounds": 4, "agents": 1, "ready": 0},
)


@Ends
def finalizations(system: AnySystem) -> Iterator[End]:
    """Return the finalizations of walks among agents whose points are squares."""
    return ends(
        system,
        lambda step: step.before.phase == model.FINALIZE and isinstance(step.action, model.Tick),
        _PLACES,
        _squares,
    )


_more = minus(greatest(), number(1))
_UNSAID = WEIGHING.means("recorded", FALSE, "no record")
FAULTS = Faults(
    (money.stake_not_burned, WEIGHING.means("burning", FALSE, "stakes survive the Issue")),
    (money.winning_stake_returned, WEIGHING.means("burning", _some & ~on_winner(v), "only losing stakes are burned")),
    (money.stake_burned_not_logged, _UNSAID),
    (
        play.multiplier_forgets_the_one,
        WEIGHING.means(
            "light", below(minus(weighed(p), staked(p)), staked(p)), "without the 1 a stake weighs a point less"
        ),
        WEIGHING.means("heavy", below(plus(staked(p), times(greatest(), staked(p))), weighed(p)), "a point less"),
    ),
    (
        play.multiplier_exceeds_the_maximum,
        WEIGHING.means("light", FALSE, "more than it should be is not too little"),
        WEIGHING.means(
            "heavy",
            below(
                times(greatest(), staked(p), _more),
                plus(times(staked(p), _more), times(greatest(), minus(weighed(p), staked(p)))),
            ),
            "the maximum is what is added to 1",
        ),
    ),
)


_theorem = partial(
    theorem,
    theory=WEIGHING,
    view=view,
    samples=finalizations,
    scope="any number of agents, proposals, stakes and rounds, any fraction and maximum",
)

BOUNDED = _theorem(
    claim=staking.multipliers_are_bounded,
    variables=(p,),
    goal=~light(p) & ~heavy(p),
    needs=(
        "stakes_are_positive",
        "the_maximum_is_at_least_one",
        "powers_of_theta",
        "stakes_weigh",
        "sums_are_monotone",
    ),
    witness=exists([p], below(staked(p), weighed(p))),
    mutants=(
        *FAULTS.refuted(play.multiplier_forgets_the_one, play.multiplier_exceeds_the_maximum),
        FAULTS.unseen(money.stake_not_burned, "stakes are weighed before"),
    ),
)

BURNED = _theorem(
    claim=about_points.every_stake_is_burned,
    sentence="At the end every stake is burned, on winning and losing proposals, and one record says how much.",
    variables=(v,),
    assumes=_some,
    goal=recorded(v) & ~remains(v),
    witness=exists([v], _some & on_winner(v)),
    mutants=FAULTS.refuted(money.stake_not_burned, money.winning_stake_returned, money.stake_burned_not_logged),
)

# A stake weighs the target after so many rounds, and less before (16.7).  After ConvictionSaturationRounds q is 1 - f,
# f the target fraction; before, it is greater.  The theory uses nothing else of powers.

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
        define("weighs", (lot,), EFFECTIVE, "16.6, 16.7: points times multiplier"),
        define("scored", (p,), same(told(p), weighed(p)), "17.1: the score is the sum of effective stakes"),
    ),
)


def view_saturating(step: Step[model.Config, model.State, model.Act, model.Shown]) -> Structure | None:
    """Return a finalization as a structure where stake can grow; None for other steps."""
    return view(step) if step.config.constants.greatest > 1 else None


SATURATION_FAULTS = Faults(
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
    view=view_saturating,
    samples=finalizations,
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
    mutants=SATURATION_FAULTS.refuted(*SATURATION_FAULTS),
)
"""The theorem about saturation."""
