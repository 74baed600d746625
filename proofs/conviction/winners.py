"""Theorems about the winner: the highest score wins, the earliest stake breaks ties; names decide nothing."""

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
from evenhand.proofs.conviction.renamed import names_of, renamed
from evenhand.proofs.conviction.rules import PROPOSAL, age, first, named_before, never, p, ranked, score, top
from evenhand.proofs.conviction.single import configuration, granted, theorem
from evenhand.properties.conviction import winning
from evenhand.properties.conviction.predicates import events, finalizes
from evenhand.smt.arithmetic import at_least, at_most, below, number, times
from evenhand.smt.ends import End, Ends
from evenhand.smt.logic import (
    Formula,
    Function,
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
from evenhand.smt.preludes import Twice, define, first_of_twins, numbers, ordered
from evenhand.smt.structure import Structure
from evenhand.smt.tables import constant, doubled, structure
from evenhand.smt.theorem import Lemma, Theorem
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
    last = {one.uid: one.last for one in step.before.proposals}
    oldest = 1 + max((one for one in last.values() if one is not None), default=0)
    return structure(
        {"Proposal": known},
        {
            "wins": {event.proposal} & {*known},
            "by_tick": event.get("tie") == "earliest LastStakeTick",
            "full_tie": event.get("tie") == "full tie",
            "never": {uid for uid in known if last[uid] is None},
            "named_before": names_of(known),
            "score": scores,
            "root": roots,
            "age": {uid: oldest if one is None else one for uid, one in last.items()},
        },
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

# Who an agent is decides no winner (2.1, 17), under any renaming: the second finalization is the first with every agent
# renamed, so that only the order of names, which a mutant goes by, is another.

NAMED = Theory.of(
    "conviction_named",
    axioms=(
        RANKING.axioms[0],
        Axiom("names_are_ordered", ordered(named_before, p, q, r), "of texts: what a mutant uses"),
    ),
    definitions=RANKING.definitions,
)
_INPUTS, _SHOWN = ("score", "age", "never"), ("wins", "by_tick", "full_tie")
RENAMED = Twice(NAMED, _INPUTS)
_SAME = "it goes by scores and ticks, and these are renamed with the proposals"

NAMES = theorem(
    claim=winning.names_decide_nothing,
    sentence="Rename the agents, and at finalization the same proposal wins, by the same rule, or none as before.",
    source="2.1, 17.2, 17.3",
    theory=RENAMED.extended("conviction_renamed"),
    view=renamed(view, _INPUTS, _SHOWN),
    samples=ties,
    scope="any number of proposals, at finalization",
    variables=(p,),
    goal=conjunction([RENAMED.alike("wins", p), RENAMED.alike("by_tick"), RENAMED.alike("full_tie")]),
    witness=exists([p, q], named_before(p, q) & RENAMED.second("named_before", q, p)),
    mutants=RENAMED.mutants(
        *FAULTS.refuted(play.first_name_wins_a_tie),
        FAULTS.unseen(play.lowest_score_wins, _SAME),
        FAULTS.unseen(play.ties_have_no_winner, _SAME),
    ),
)
"""The theorem about names."""

# For every tie an agent that has no part in it can decide it (17.3): in a second finalization that agent has moved its
# stake to each tied proposal but the chosen one, and back.

chosen, home = (Function(name, (), PROPOSAL) for name in ("chosen", "home"))
"""The tied proposal that is to win; the one that the agent has staked on, which is not tied."""

OUTSIDE = Twice(NAMED, ("named_before",))
_SCORE2, _AGE2 = OUTSIDE.function(score), OUTSIDE.function(age)
MOVED_ABOUT = OUTSIDE.extended(
    "conviction_outsiders",
    Axiom(
        "there_and_back",
        forall([p], differ(p, home()) >> same(_SCORE2(p), score(p))) & at_most(_SCORE2(home()), score(home())),
        "A 16.3, 16.6: each point is where it was, and what was moved counts its rounds anew",
    ),
    Axiom(
        "the_others_are_the_latest",
        forall(
            [p],
            (top(p) & differ(p, chosen())) >> (~OUTSIDE.second("never", p) & below(_AGE2(p), _AGE2(chosen()))),
        )
        & iff(OUTSIDE.second("never", chosen()), never(chosen())),
        "17.3: a move to a proposal is its LastStakeTick",
    ),
    functions=(chosen, home),
)


def view_late(case: tuple[winning.Late, Any, Any]) -> Any:
    """Return both finalizations; None where the two differ in something that the theory does not cover."""
    (wanted, _, staked), step, other = case
    one, two = view(step), None if other is None else view(other)
    if one is None or two is None:
        return None
    decided = two.relations["wins"] == frozenset([(wanted,)]) and two.relations["by_tick"]
    if decided and not winning.an_outsider_can_decide_any_tie.agrees(case[0], step, other):
        return None
    found = doubled(one, two, OUTSIDE.shared)
    return replace(found, functions={**found.functions, "chosen": constant(wanted), "home": constant(staked)})


def _scene(_structure: Structure) -> Scenario[Config, State, Act]:
    """Return a tie of two proposals, staked on one after the other, beside a third that was staked on last."""
    return with_touches((4, 4, 1), (0, 1))


_TIED = conjunction([top(chosen()), ~top(home()), exists([p], top(p) & differ(p, chosen()))])
DECIDED: Theorem = theorem(
    system="trio",
    claim=winning.an_outsider_can_decide_any_tie,
    sentence="Of tied proposals any one wins if all other tied ones have been staked on since, by an agent that moved "
    "its stake to each of them and back to one that is not tied.",
    source="A 16.3, 16.6, 17.2, 17.3",
    theory=MOVED_ABOUT,
    view=view_late,
    realise=first_of_twins(_scene),
    samples=ties,
    scope="any number of agents and proposals",
    assumes=_TIED,
    lemmas=(
        Lemma("still_tied", forall([p], _TIED >> OUTSIDE.alike("top", p))),
        Lemma(
            "chosen_is_the_earliest",
            forall([p], _TIED >> iff(OUTSIDE.second("first", p), same(p, chosen()))),
            ("still_tied",),
            ("top", "top2"),
        ),
    ),
    opaque=("top", "top2", "first", "first2"),
    goal=OUTSIDE.second("wins", chosen()) & OUTSIDE.second("by_tick"),
    needs=("there_and_back", "the_others_are_the_latest"),
    witness=exists([p], conjunction([top(p), differ(p, chosen()), below(_SCORE2(home()), score(home()))])),
    mutants=OUTSIDE.mutants(
        *FAULTS.refuted(
            play.ties_have_no_winner,
            play.latest_stake_wins_a_tie,
            play.lowest_score_wins,
            play.first_name_wins_a_tie,
        )
    ),
)
"""The theorem about outsiders."""
