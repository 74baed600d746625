"""Theorems about the winner: the highest score wins, the earliest stake breaks ties; and roots rank as sums do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import isqrt
from typing import Any

from evenhand.core.system import AnySystem, Step
from evenhand.core.trace import Scenario, replay
from evenhand.model.conviction.mutants import play
from evenhand.model.conviction.rules import REFERENCE
from evenhand.model.conviction.step import initial
from evenhand.model.conviction.vocabulary import (
    Act,
    Config,
    Constants,
    MoveStake,
    Propose,
    Shown,
    SignalReady,
    State,
    Tick,
)
from evenhand.proofs.conviction.finale import finalizations, rational
from evenhand.proofs.conviction.rules import PROPOSAL, age, first, never, p, ranked, score, top
from evenhand.proofs.conviction.single import configuration, granted, theorem
from evenhand.properties.conviction import winning
from evenhand.properties.conviction.predicates import events, finalizes
from evenhand.smt.arithmetic import at_least, at_most, below, element, number, times
from evenhand.smt.ends import End, Ends
from evenhand.smt.logic import (
    Formula,
    Relation,
    Var,
    conjunction,
    differ,
    exists,
    forall,
    iff,
    ite,
    same,
    variables,
)
from evenhand.smt.preludes import define, numbers
from evenhand.smt.structure import Structure
from evenhand.smt.tables import prop
from evenhand.smt.theorem import Lemma
from evenhand.smt.theory import Axiom, Theory
from evenhand.source.rules import Faults

q, r = variables(PROPOSAL, "q r")
(root,) = numbers("root", PROPOSAL)
"""The root of a score."""

_READ = ranked(REFERENCE)
_BOUND: Mapping[str, tuple[Var, ...]] = {"by_tick": (), "full_tie": ()}
_WORDS = tuple(define(name, _BOUND.get(name, (p,)), body, "17.2, 17.3, as read") for name, body in _READ.items())
_BEST = define("best", (p,), forall([q], at_most(score(q), score(p))), "17.2: the highest score, whoever wins")
best = _BEST.relation
_LATER = forall([q], (best(q) & differ(p, q)) >> below(age(q), age(p)))
_OLDEST = define("oldest", (p,), best(p) & _LATER, "17.3: of those alone the earliest LastStakeTick, whoever wins")
oldest = _OLDEST.relation
_MEANS = {word.name: word.relation for word in _WORDS}
wins, by_tick, full_tie = (_MEANS[name] for name in ("wins", "by_tick", "full_tie"))
"""The proposal wins; the event says that LastStakeTick decided, or that nothing did."""

RANKING = Theory.of(
    "conviction_winners",
    axioms=(
        Axiom(
            "no_tick_is_the_earliest",
            forall([p, q], never(p) >> ite(never(q), same(age(p), age(q)), below(age(q), age(p)))),
            "17.3: what nobody has staked on since comes first",
        ),
        Axiom(
            "roots",
            forall([p], at_least(root(p), number(0)) & same(times(root(p), root(p)), score(p))),
            "17.1: the root of the sum",
        ),
    ),
    definitions=(*_WORDS, _BEST, _OLDEST),
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
        {
            "wins": frozenset([named[event.proposal]] if event.proposal in named else []),
            "by_tick": prop(event.get("tie") == "earliest LastStakeTick"),
            "full_tie": prop(event.get("tie") == "full tie"),
            "never": frozenset(named[one.uid] for one in step.before.proposals if one.last is None),
        },
        {name: {named[uid]: element(table[uid]) for uid in known} for name, table in tables.items()},
    )


FAULTS = Faults(RANKING, ranked)


def _alone(word: Relation) -> Formula:
    return word(p) & forall([q], word(q) >> same(p, q))


_ABOVE_ALL = forall([q], differ(p, q) >> below(score(q), score(p)))
_SHARED = exists([q, r], conjunction([differ(q, r), top(q), top(r)]))
_TOP = Lemma("top", forall([p, q], top(p) >> at_most(score(q), score(p))))
_OF_TOP = (
    _TOP,
    Lemma("first_of_top", forall([p], first(p) >> top(p)), opaque=("top",)),
    Lemma("winner_of_top", forall([p], wins(p) >> top(p)), ("first_of_top",), ("top", "first")),
)
_theorem = partial(theorem, view=view, samples=finalizations, scope="any number of proposals, stakes and rounds")

RANKED = _theorem(
    claim=winning.roots_rank_as_sums_do,
    sentence="Whoever wins by the sum of effective stakes has the highest root of it, and roots rank as sums do.",
    source="17.1, 17.2",
    theory=RANKING,
    variables=(p, q),
    assumes=wins(p),
    goal=conjunction([at_most(root(q), root(p)), iff(below(score(q), score(p)), below(root(q), root(p)))]),
    needs=("roots",),
    lemmas=_OF_TOP,
    opaque=("top", "first", "wins"),
    witness=exists([p, q, r], wins(p) & below(score(q), score(r))),
    mutants=FAULTS.refuted(play.lowest_score_wins),
)

HIGHEST = _theorem(
    claim=winning.the_highest_score_wins,
    theory=replace(RANKING, axioms=()),
    variables=(p,),
    lemmas=(Lemma("first_of_top", forall([p], first(p) >> top(p)), opaque=("top",)),),
    opaque=("first",),
    goal=(wins(p) >> best(p)) & (_ABOVE_ALL >> wins(p)),
    witness=exists([p, q], wins(p) & differ(p, q) & same(score(p), score(q))),
    mutants=(
        *FAULTS.refuted(play.lowest_score_wins),
        FAULTS.unseen(play.ties_have_no_winner, "who has the highest score alone wins all the same"),
        FAULTS.unseen(play.latest_stake_wins_a_tie, "it has the highest score as well"),
    ),
)


def with_touches(amounts: tuple[int, ...], touched: tuple[int, ...]) -> Scenario[Config, State, Act]:
    """Return a run in which agents stake these amounts on their own proposals, and the last touches others' in turn.

    In a round of its own for each it moves a point there and back: nothing but that LastStakeTick is another.
    """
    agents = granted(*amounts)
    # theta is 1/2, so stakes of no round and of two weigh 1 and 4: scores are squares.
    constants = Constants(
        self_stake=max(amounts),
        think_ticks=1,
        stake_rounds=3,
        greatest=Fraction(5),
        fraction=Fraction(3, 4),
        saturation=2,
    )
    last = agents[-1]
    acts: list[Act] = [Tick(), *(Propose(agent.uid, agent.credential, None) for agent in agents), Tick()]
    for turn in (-1, 0, 1):
        if 0 <= turn < len(touched):
            ends = last.uid, agents[touched[turn]].uid
            acts += [MoveStake(last.uid, last.credential, one, two, 1) for one, two in (ends, ends[::-1])]
        acts += [*(SignalReady(agent.uid, agent.credential) for agent in agents), Tick()]
    config = configuration(agents, constants, cycles=0)
    return Scenario(config, initial(config)[0], (*acts, Tick()))


_TIES = (
    ((4, 4, 1), ()),
    ((4, 4, 1), (0, 1)),
    ((4, 4, 1), (1, 0)),
    ((4, 4, 4, 1), (2, 0)),
    ((4, 4, 4), ()),
    ((1, 1), ()),
    ((9, 4, 4, 1), (1, 2)),
)


@Ends
def ties(system: AnySystem) -> Iterator[End]:
    """Yield finalizations of walks, and of ties that somebody else has touched or nobody, by any variant."""
    yield from finalizations.runs(system)
    for amounts, touched in _TIES:
        run = with_touches(amounts, touched)
        yield run, replay(system, run).steps[-1]


_TIE = exists([q, r], conjunction([differ(q, r), best(q), best(r)]))
TIED = _theorem(
    claim=winning.ties_go_to_the_earliest_stake,
    sentence="Of tied proposals the one with the earliest LastStakeTick wins; where that ties too, nobody does: so if "
    "nobody acts, and all proposals have the same stakes, there is a full tie.",
    theory=replace(RANKING, axioms=RANKING.axioms[:1]),
    samples=ties,
    variables=(p,),
    assumes=_TIE,
    goal=conjunction(
        [
            iff(wins(p), oldest(p)),
            iff(by_tick(), exists([q], wins(q))),
            iff(full_tie(), forall([q], ~wins(q))),
        ]
    ),
    lemmas=(
        Lemma("best", forall([p], iff(best(p), top(p)))),
        _OF_TOP[1],
        Lemma(
            "others_are_later",
            forall([p, q], conjunction([_alone(first), top(q), differ(p, q)]) >> below(age(q), age(p))),
            opaque=("top",),
        ),
        Lemma("is_oldest", forall([p], oldest(p) >> _alone(first)), ("best",), ("best", "top")),
        Lemma(
            "oldest",
            forall([p], _alone(first) >> oldest(p)),
            ("best", "first_of_top", "others_are_later"),
            ("best", "top", "first"),
        ),
        Lemma("winner", _SHARED >> forall([p], iff(wins(p), _alone(first))), opaque=("top", "first")),
        Lemma(
            "told",
            _SHARED >> (iff(by_tick(), exists([p], wins(p))) & iff(full_tie(), forall([p], ~wins(p)))),
            opaque=("top", "first"),
        ),
    ),
    opaque=("best", "oldest", "top", "first", "wins", "by_tick", "full_tie"),
    witness=forall([p, q], same(score(p), score(q)) & same(age(p), age(q))) & forall([p], ~wins(p)),
    mutants=FAULTS.refuted(play.lowest_score_wins, play.latest_stake_wins_a_tie, play.ties_have_no_winner),
)
