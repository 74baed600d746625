"""The words of winners, ticks, comments and moves are read from the functions: what is read is what they say.

Compared in every situation of up to three proposals, and of agents, amounts and limits from a small set.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from evenhand.core.system import Mutant
from evenhand.model.conviction import vocabulary as model
from evenhand.model.conviction.exact import Surd
from evenhand.model.conviction.mutants import money, play
from evenhand.model.conviction.rules import REFERENCE, Rules
from evenhand.model.conviction.texts import Text
from evenhand.proofs.conviction import rules as read
from evenhand.smt.arithmetic import element
from evenhand.smt.logic import Formula
from evenhand.smt.preludes import define
from evenhand.smt.structure import Reader, Structure
from evenhand.smt.tables import Rows, Table, constant, ones, props

Case = tuple[Structure, Mapping[str, bool]]
"""A situation, with the words that are true in it, of the proposal or agent "x" where they are of one."""
AGENTS = (model.Agent("x", "x", "key x"), model.Agent("y", "y", "key y"))
CONFIG = model.Config(AGENTS, (model.Issue("issue", ("x", "y")),), texts=())


def finalizations(rules: Rules) -> Iterator[Case]:
    """Every list of up to three proposals, each of two scores and three LastStakeTicks."""
    for many in (1, 2, 3):
        for rows in itertools.product(itertools.product((0, 1), (None, 1, 2)), repeat=many):
            uids = tuple("xwy"[:many])
            scores = tuple(
                (uid, Surd(Fraction(1), (Fraction(total),)), last)
                for uid, (total, last) in zip(uids, rows, strict=True)
            )
            won, because = rules.winner(CONFIG, model.State(0, model.FINALIZE, 0, ()), scores)
            tables: dict[str, Table] = {
                "score": {(uid,): element(total) for uid, (total, _) in zip(uids, rows, strict=True)},
                "age": {(uid,): element(last or 0) for uid, (_, last) in zip(uids, rows, strict=True)},
            }
            relations = {
                "never": ones(uid for uid, (_, last) in zip(uids, rows, strict=True) if last is None),
                "named_before": frozenset((one, two) for one in uids for two in uids if one < two),
            }
            shown = {"by_tick": because == "earliest LastStakeTick", "full_tie": because == "full tie"}
            yield Structure({"Proposal": uids}, relations, tables), {**shown, "wins": won == "x"}


def ticks(rules: Rules) -> Iterator[Case]:
    """Ticks of two agents, with small timers and balances; what they take is the true amount, or one more."""
    for most, phase, penalty in itertools.product((1, 2), (model.PROPOSE, model.FEEDBACK, model.STAKE), (0, 1)):
        config = replace(CONFIG, constants=model.Constants(think_ticks=most, self_stake=2, penalty=penalty))
        state = model.State(0, phase, 1, ())
        for mine, other in itertools.product(itertools.product((True, False), (True, False), (0, 1, 2)), repeat=2):
            for balance, more in itertools.product((-1, 0, 1, 3), (0, 1)):
                seats = [
                    model.Seat(uid, model.ENROLLED, balance, assigned, timer)
                    for uid, (assigned, _, timer) in zip("xy", (mine, other), strict=True)
                ]
                done = {"x": mine[1], "y": other[1]}
                lagged = {one.agent: rules.lagged(config, one, done[one.agent]) for one in seats}
                kicked = {uid: rules.kicked(config, one, done[uid]) for uid, one in lagged.items()}
                all_done = all(done[one.agent] for one in seats if one.assigned)
                ends = rules.over(config, state, all_done, any(kicked.values()))
                anew = rules.fresh(config, lagged["x"]) if ends else lagged["x"]
                stakes = kicked["x"] and phase == model.PROPOSE
                put = (rules.self_stake(config, balance, True) or 0) if stakes else 0
                paid = replace(lagged["x"], balance=balance - put)
                burnt = rules.penalty(config, paid) if kicked["x"] and rules.fined(config, state) else 0
                values: dict[str, Mapping[str, Any]] = {
                    "timer": {one.agent: one.timer for one in seats},
                    "timer_then": dict.fromkeys("xy", anew.timer + more),
                    "balance": dict.fromkeys("xy", balance),
                    "put": dict.fromkeys("xy", put),
                    "burnt": dict.fromkeys("xy", burnt + more),
                }
                tables: dict[str, Table] = {
                    name: {(uid,): element(n) for uid, n in row.items()} for name, row in values.items()
                }
                known = {"most": most, "wanted": 2, "penalty": penalty}
                relations: dict[str, Rows] = {
                    "assigned": ones(one.agent for one in seats if one.assigned),
                    "done": ones(uid for uid, one in done.items() if one),
                    "named_before": frozenset({("x", "y")}),
                    **props({"proposing": phase == model.PROPOSE, "staking": phase == model.STAKE}),
                }
                said = {"kicked": kicked["x"], "ends": ends, "counts": not more, "stakes": True, "burns": not more}
                functions = {**tables, **{name: constant(n) for name, n in known.items()}}
                yield Structure({"Agent": ("x", "y")}, relations, functions), said


def comments(rules: Rules) -> Iterator[Case]:
    """Every comment: in FEEDBACK or not, on one's own proposal, another's or none, at and beside each limit."""
    numbers = itertools.product((0, 1, 2), (1,), (0, 1, 2), (1,), (-1, 0, 1, 2), (0, 1))
    for (length, most, given, limit, have, price), phase, author in itertools.product(
        numbers, (model.FEEDBACK, model.STAKE), ("x", "y", "")
    ):
        constants = model.Constants(feedback_length=most, feedback_limit=limit, feedback_stake=price)
        config = replace(CONFIG, constants=constants)
        seat = model.Seat("x", model.ENROLLED, have, True, feedback=given)
        proposals = (model.Proposal("target", author, Text("a")),) if author else ()
        state = model.State(0, phase, 1, (seat,), proposals)
        act = model.Feedback("x", "key x", "target", "c" * length)
        admitted = not rules.refuse_feedback(config, state, seat, act)
        values = (length, most, given, limit, have, price)
        names = ("length", "most_length", "given", "limit", "have", "price")
        truths = {"in_feedback": phase == model.FEEDBACK, "there": bool(author), "own_proposal": author == "x"}
        functions = {name: constant(element(n)) for name, n in zip(names, values, strict=True)}
        charged = admitted and have - rules.pays(config, have, price) == price
        yield Structure({}, props(truths), functions), {"admitted": admitted, "charged": charged}


def moves(rules: Rules) -> Iterator[Case]:
    """Every move of points from a stake of two, to another proposal or to the same."""
    for amount, target in itertools.product((-1, 0, 1, 2, 3), ("x", "y")):
        proposals = tuple(model.Proposal(uid, uid, Text(uid)) for uid in "xy")
        seat = model.Seat("x", model.ENROLLED, 0, True)
        state = model.State(0, model.STAKE, 2, (seat,), proposals, (model.Entry("x", "x", 0, 2),))
        moved = not rules.refuse_move(CONFIG, state, seat, model.MoveStake("x", "key x", "x", target, amount))
        functions = {"amount": constant(element(amount)), "stock": constant(element(2))}
        yield Structure({}, props({"same_proposal": target == "x"}), functions), {"moved": moved}


def differing(words: Mapping[str, Formula], cases: Iterator[Case]) -> set[str]:
    """Return the words that mean something else than the functions say."""
    over = next(((one,) for word, one in (("wins", read.p), ("kicked", read.a)) if word in words), ())
    closed = ("by_tick", "full_tie", "ends")
    meanings = {name: define(name, () if name in closed else over, body, "") for name, body in words.items()}
    reader, found, compared = Reader(meanings), set[str](), 0
    for structure, said in cases:
        compared += 1
        for name, true in said.items():
            row = ("x",) if meanings[name].variables else ()
            if (row in reader.extension(meanings[name].relation, structure)) != true:
                found.add(name)
    assert compared >= 10
    return found


Kind = tuple[Callable[[Rules], Mapping[str, Formula]], Callable[[Rules], Iterator[Case]], tuple[Mutant[Rules], ...]]

KINDS: dict[str, Kind] = {
    "winner": (
        read.ranked,
        finalizations,
        (
            *(play.lowest_score_wins, play.latest_stake_wins_a_tie),
            *(play.ties_have_no_winner, play.first_name_wins_a_tie),
        ),
    ),
    "tick": (
        read.ticked,
        lambda rules: itertools.islice(ticks(rules), 0, None, 13),
        (
            *(play.silent_agents_hang_a_phase, play.every_tick_ends_a_phase, play.no_tick_ends_a_phase),
            *(play.first_name_is_not_kicked_out, play.timer_fires_late, play.timer_counts_the_ready),
            *(play.timer_not_reset, play.kicks_out_the_ready, money.penalty_doubled, money.penalty_in_stake_rounds),
            *(money.self_stake_on_credit, money.substituted_stakes_nothing),
        ),
    ),
    "comment": (
        read.commented,
        comments,
        (
            *(money.feedback_of_any_length, money.feedback_without_limit, money.feedback_on_credit),
            *(money.feedback_on_own_proposal, money.feedback_free),
        ),
    ),
    "move": (read.moved, moves, (play.move_to_the_same, money.move_on_credit)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_words_are_what_the_functions_say(kind: str) -> None:
    """Of the reference and of each mutant, of which every one changes a word."""
    reading, cases, mutants = KINDS[kind]
    assert not differing(reading(REFERENCE), cases(REFERENCE))
    for mutant in mutants:
        assert not differing(reading(mutant.rules), cases(mutant.rules)), mutant.name
        assert differing(reading(REFERENCE), cases(mutant.rules)), mutant.name
