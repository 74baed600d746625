"""The rules as formulas, read from the functions of `model/conviction` and of its mutants.

Here stands what their arguments are in logic: a proposal is an element, its score a number of which only the order is
looked at.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from evenhand.model.conviction import exact, points, scoring
from evenhand.model.conviction import vocabulary as model
from evenhand.model.conviction.exact import Surd
from evenhand.model.conviction.readings import Readings
from evenhand.model.conviction.rules import Rules
from evenhand.smt.arithmetic import NUMBER, below, minus, number, times
from evenhand.smt.logic import FALSE, TRUE, Formula, Relation, Sort, Term
from evenhand.smt.preludes import numbers, relations
from evenhand.source.comprehensions import places_of
from evenhand.source.constants import known
from evenhand.source.expressions import Given
from evenhand.source.frames import only
from evenhand.source.operators import operated
from evenhand.source.rules import Orders, Reader, each, giving, one_of
from evenhand.source.simplify import all_of, assumed, every, implication, numbered, some
from evenhand.source.values import (
    Cases,
    Const,
    Fixed,
    Group,
    Kept,
    Listing,
    Num,
    Places,
    Record,
    Truth,
    Value,
    element,
    equals,
    leaf,
    merged,
    thing,
    truth,
)
from evenhand.source.world import World

PROPOSAL = Sort("Proposal")
p = PROPOSAL("p")
score, age = numbers("score age", PROPOSAL)
"""The sum of the effective stakes on a proposal; the age of its LastStakeTick: a greater age is an earlier tick, and a
proposal without one is older than any."""
(never,) = relations("never", PROPOSAL)
"""The proposal has no LastStakeTick."""
(named_before,) = relations("named_before", PROPOSAL, PROPOSAL)
"""The first's name comes before the second's."""
top, first = relations("top first", PROPOSAL)
"""The highest score; the earliest LastStakeTick of those."""

_CONFIG = Record(model.Config, {"readings": known(Readings())})


def _number(term: Term) -> Value:
    return leaf(Num(term))


def _numbers(terms: Mapping[str, Term]) -> Mapping[str, Value]:
    return {name: _number(term) for name, term in terms.items()}


def _named(one: Term) -> Value:
    return Record(model.Agent, {"uid": thing(one)})


def _scaled(given: Sequence[Value]) -> Value:
    term, factor = element(given[0]), only(given[1])
    assert term is not None and isinstance(factor, int)
    return leaf(Kept(times(number(factor), term), Surd))


def _listed(there: Callable[[Term], Formula], at: Callable[[Term], Value]) -> Group:
    return each(PROPOSAL, lambda one: (there(one), at(one)), apart=True, places=Places(PROPOSAL, there, at))


def _scored(one: Term) -> Fixed:
    last = Cases(((never(one), Const(None)), (~never(one), Num(age(one)))))
    return Fixed((thing(one), leaf(Kept(score(one), Surd)), last))


@cache
def ranked(rules: Rules) -> Mapping[str, Formula]:
    """Return which proposal wins and why, under these rules, as words over p.  Raises Unreadable."""
    scores = _listed(lambda _: TRUE, _scored)
    said: dict[str, Formula] = {"top": FALSE}

    def settled(formula: Formula) -> Formula:
        """Of finitely many proposals one has the highest score."""
        return assumed(numbered(formula), numbered(some([p], said["top"])))

    def named(word: Relation, function: Any) -> tuple[Any, Given]:
        """The function's list is that of the proposals of which the word is true."""

        def given(arguments: Sequence[Value]) -> Value:
            places = places_of(calling(function, *arguments))
            assert places is not None
            said[word.name] = places.there(p)
            return _listed(word, places.at)

        return function, given

    calling = Reader(Orders({PROPOSAL: named_before, NUMBER: below}), {Surd.times: _scaled}, settled)
    instead = dict((named(top, scoring.highest), named(first, scoring.earliest)))
    shown = calling(rules.winner, _CONFIG, Record(model.State, {}), scores, instead=instead)
    assert isinstance(shown, Fixed)
    who, why = shown.parts
    said["wins"] = equals(who, thing(p))
    for word, reason in (("by_tick", "earliest LastStakeTick"), ("full_tie", "full tie")):
        said[word] = equals(why, known(reason))
    return {word: numbered(formula) for word, formula in said.items()}


AGENT = Sort("Agent")
a = AGENT("a")
timer, timer_then, balance, put, burnt = numbers("timer timer_then balance put burnt", AGENT)
"""The laggard timer, before and after; the balance before; what a tick stakes for an agent, and what it burns."""
most, wanted, penalty = numbers("most wanted penalty")
"""MaxThinkTicks, ProposalSelfStake, KickOutPenalty."""
assigned, done, kicked = relations("assigned done kicked", AGENT)
proposing, staking, ends = relations("proposing staking ends")
(earlier_name,) = relations("named_before", AGENT, AGENT)
"""The first's name comes before the second's."""

_AGENTS = Reader(Orders({AGENT: earlier_name}), settled=numbered)
_CONSTANTS = Record(model.Constants, _numbers({"think_ticks": most(), "self_stake": wanted(), "penalty": penalty()}))
_TICKING = Record(
    model.Config,
    {
        **_CONFIG.fields,
        "constants": _CONSTANTS,
        "agents": each(
            AGENT,
            lambda one: (TRUE, _named(one)),
            places=Places(AGENT, lambda _: TRUE, lambda one: _named(one)),
        ),
    },
)
_PHASE = Record(
    model.State,
    {
        "phase": one_of(
            (proposing(), model.PROPOSE),
            (~proposing() & staking(), model.STAKE),
            (~proposing() & ~staking(), model.FEEDBACK),
        )
    },
)
_SEAT = Record(
    model.Seat,
    {
        "agent": thing(a),
        "assigned": Truth(assigned(a)),
        "timer": _number(timer(a)),
        "balance": _number(minus(balance(a), put(a))),
    },
)


@cache
def ticked(rules: Rules) -> Mapping[str, Formula]:
    """Return what a tick does under these rules, as words, most of them over a.  Raises Unreadable.

    Who is done is given, and that the points which a tick stakes are taken before those that it burns.
    """
    done_ = Truth(done(a))
    lagged = _AGENTS(rules.lagged, _TICKING, _SEAT, done_)
    all_done = Truth(every([a], implication(assigned(a), done(a))))
    anew = _AGENTS(rules.fresh, _TICKING, lagged)
    assert isinstance(lagged, Record) and isinstance(anew, Record)
    stake = _AGENTS(rules.self_stake, _TICKING, _number(balance(a)), known(True))
    fine = _AGENTS(rules.penalty, _TICKING, lagged)
    fined = truth(_AGENTS(rules.fined, _TICKING, _PHASE))
    nothing = known(0)
    said = {
        "kicked": truth(_AGENTS(rules.kicked, _TICKING, lagged, done_)),
        "ends": truth(_AGENTS(rules.over, _TICKING, _PHASE, all_done, Truth(some([a], kicked(a))))),
        "counts": equals(_number(timer_then(a)), merged(ends(), anew.fields["timer"], lagged.fields["timer"])),
        "stakes": equals(_number(put(a)), merged(all_of((kicked(a), proposing())), stake, nothing)),
        "burns": equals(_number(burnt(a)), merged(all_of((kicked(a), fined)), fine, nothing)),
    }
    return {word: numbered(formula) for word, formula in said.items()}


def ending(rules: Rules) -> Mapping[str, Formula]:
    """Return who is kicked out, and whether the phase ends, as words."""
    return {word: ticked(rules)[word] for word in ("kicked", "ends")}


length, most_length, given, limit, have, price = numbers("length most_length given limit have price")
"""Characters of a comment, FeedbackCharLimit; entries so far, MaxFeedbackPerAgent; balance, FeedbackStake."""
there, in_feedback, own_proposal, admitted = relations("there in_feedback own_proposal admitted")

_MINE, _OTHER = "mine", "another's"


def _written(author: Value) -> Value:
    return Record(model.Proposal, {"author": author, "text": known("a text")})


@cache
def commented(rules: Rules) -> Mapping[str, Formula]:
    """Return whether a comment is admitted and paid under these rules, as words.  Raises Unreadable."""
    author = one_of((own_proposal(), _MINE), (~own_proposal(), _OTHER))
    target = merged(there(), _written(author), known(None))
    comment = Group("list", lambda: [], lambda _: FALSE, more=Listing(size=length()))
    constants = {"feedback_length": most_length(), "feedback_limit": limit(), "feedback_stake": price()}
    config = Record(model.Config, {**_CONFIG.fields, "constants": Record(model.Constants, _numbers(constants))})
    phase = one_of((in_feedback(), model.FEEDBACK), (~in_feedback(), model.STAKE))
    seat = Record(model.Seat, {"agent": known(_MINE), **_numbers({"feedback": given(), "balance": have()})})
    act = Record(model.Feedback, {"proposal": known("a proposal"), "comment": comment})
    calling = Reader(World(object, {}, {}), {model.State.proposal: giving(target)}, numbered)
    reason = calling(rules.refuse_feedback, config, Record(model.State, {"phase": phase}), seat, act)
    left = calling(rules.pays, config, _number(have()), _number(price()))
    paid = equals(operated(ast.Sub(), _number(have()), left), _number(price()))
    found = {"admitted": equals(reason, known("")), "charged": all_of((admitted(), paid))}
    return {word: numbered(formula) for word, formula in found.items()}


amount, stock = numbers("amount stock")
"""The amount to move, and all that the agent has at the source."""
(same_proposal,) = relations("same_proposal")


@cache
def moved(rules: Rules) -> Mapping[str, Formula]:
    """Return whether a move is accepted in a STAKE round after the first, as a word.  Raises Unreadable."""
    target = one_of((same_proposal(), _MINE), (~same_proposal(), _OTHER))
    act = Record(model.MoveStake, {"source": known(_MINE), "target": target, "amount": _number(amount())})
    said: Mapping[Any, Given] = {
        model.State.proposal: giving(_written(known(_MINE))),
        exact.is_amount: giving(Truth(below(number(0), amount()))),
        points.staked: giving(_number(stock())),
    }
    state = Record(model.State, {"phase": known(model.STAKE), "turn": known(2)})
    calling = Reader(World(object, {}, {}), said, numbered)
    reason = calling(rules.refuse_move, _CONFIG, state, Record(model.Seat, {"agent": known(_MINE)}), act)
    return {"moved": numbered(equals(reason, known("")))}
