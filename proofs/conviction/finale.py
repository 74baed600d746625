"""Theorems about stakes at finalization: each multiplier is between 1 and the maximum, and all stakes are burned.

A multiplier is 1 + (Max - 1)(1 - q) with q = theta**r.  The theory uses only 0 < q <= 1, so the theorems hold for
every theta and every number of rounds.  Structures hold rational numbers, so they are compared with the model where
theta is rational.
"""

from __future__ import annotations

from collections.abc import Iterator
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
from evenhand.smt.arithmetic import at_least, at_most, below, element, minus, number, plus, times
from evenhand.smt.ends import End, Ends
from evenhand.smt.logic import FALSE, Sort, exists, forall, same, variables
from evenhand.smt.preludes import Faults, define, numbers, relations
from evenhand.smt.structure import Structure
from evenhand.smt.tables import constant, ones
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
    weights = [rational(weight(step.config, entry.held)) for entry in before.entries]
    known = [one.uid for one in before.proposals]
    if None in weights or set(scores) != set(known) or None in scores.values():
        return None
    sums = {uid: (Fraction(0), Fraction(0)) for uid in known}
    table: dict[str, dict[tuple[str, ...], str]] = {"points": {}, "worth": {}, "decay": {}}
    for number_, (entry, factor) in enumerate(zip(before.entries, weights, strict=True)):
        have, key = Fraction(entry.amount), (f"lot:{number_}",)
        assert factor is not None
        table["points"][key], table["worth"][key] = element(have), element(have * factor)
        # q from the multiplier 1 + (Max - 1)(1 - q); where Max is 1 any q fits.
        table["decay"][key] = element(1 - (factor - 1) / (c.greatest - 1) if c.greatest != 1 else 1)
        one, other = sums.get(entry.proposal, (Fraction(0), Fraction(0)))
        sums[entry.proposal] = (one + have, other + have * factor)
    for place, name in enumerate(("staked", "weighed")):
        table[name] = {(f"proposal:{uid}",): element(sums[uid][place]) for uid in known}
    piles, left = stakes_on(before), stakes_on(step.after)
    said = [((one.agent, one.proposal), one.amount) for one in events(step.shown, "StakeBurned")]
    every = sorted({*piles, *left, *(key for key, _ in said)})
    table["pile"] = {(_pile(key),): element(piles.get(key, 0)) for key in every}
    table["greatest"] = constant(element(c.greatest))
    most = {uid: c.greatest * sums[uid][0] for uid in known}
    relations = {
        "light": ones(f"proposal:{uid}" for uid in known if (scores[uid] or 0) < sums[uid][0]),
        "heavy": ones(f"proposal:{uid}" for uid in known if (scores[uid] or 0) > most[uid]),
        "recorded": ones(_pile(key) for key in every if [n for k, n in said if k == key] == [piles.get(key)]),
        "remains": ones(_pile(key) for key in every if left.get(key)),
        "on_winner": ones(_pile(key) for key in every if key[1] == event.proposal),
    }
    universe = {
        "Lot": tuple(row[0] for row in table["points"]),
        "Proposal": tuple(f"proposal:{uid}" for uid in known),
        "Pile": tuple(map(_pile, every)),
    }
    return Structure(universe, relations, table)


def _pile(key: tuple[str, str]) -> str:
    return f"pile:{key[0]}/{key[1]}"


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
