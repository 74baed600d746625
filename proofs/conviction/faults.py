"""The faults of mutant kernels as definitions of the ledger that replace the text's."""

from __future__ import annotations

from evenhand.model.conviction.mutants import money
from evenhand.proofs.conviction.ledger import (
    BOOKS,
    DEFICIT,
    ONTO,
    a,
    affordable,
    amount,
    balance,
    balances,
    burnt,
    by,
    comments,
    credit,
    finalizes,
    gone,
    later,
    lot,
    most,
    moves,
    own,
    paid,
    penalty,
    points,
    revises,
    self_stake,
    staked,
    stakes,
    tapped,
    ticks,
    total,
)
from evenhand.smt.arithmetic import at_least, below, minus, number, plus, zero
from evenhand.smt.logic import TRUE, Formula, ite, same
from evenhand.smt.preludes import Faults

_instead = BOOKS.theory.means


def _usual(name: str) -> Formula:
    return BOOKS.theory.meanings[name].body


_own_after = most(later(points, own(by())), number(0), minus(points(own(by())), tapped(own(by()))))

FAULTS = Faults(
    (money.self_stake_on_credit, _instead("self_staked", same(staked(a), self_stake()), "whatever the balance")),
    (
        money.substituted_stakes_nothing,
        _instead("self_staked", _usual("self_staked") | (ticks() & zero(staked(a))), "or nothing"),
    ),
    (money.feedback_on_credit, _instead("comment_paid", TRUE, "whatever the balance")),
    (money.add_on_credit, _instead("add_paid", TRUE, "whatever the balance")),
    (money.negative_amount_accepted, _instead("positive", ~zero(amount()) | moves(), "less than nothing")),
    (
        money.move_on_credit,
        _instead("arrives", _usual("arrives") | (moves() & below(total("gone"), total("come"))), "more than was there"),
    ),
    (
        money.tap_mints,
        _instead(
            "points_kept", same(later(points, lot), minus(ONTO, gone(lot), burnt(lot))), "the stake stays where it is"
        ),
        _instead(
            "stakes_kept",
            same(later(stakes), minus(plus(stakes(), total("put"), total("come")), total("gone"), total("burnt"))),
            "and in the total",
        ),
    ),
    (
        money.tap_forgives,
        _instead("deficit_tapped", most(tapped(own(by())), number(0), DEFICIT), "a deficit beyond the stake"),
        _instead(
            "points_kept",
            ite(revises() & same(lot, own(by())), _own_after, _usual("points_kept")),
            "is taken as far as there is stake",
        ),
        _instead(
            "stakes_kept",
            ite(
                revises(),
                same(minus(later(stakes), stakes()), minus(later(points, own(by())), points(own(by())))),
                _usual("stakes_kept"),
            ),
            "and in the total",
        ),
    ),
    (
        money.feedback_free,
        _instead(
            "balance_kept",
            ite(comments(), same(later(balance, a), balance(a)), _usual("balance_kept")),
            "burned and not charged",
        ),
        _instead(
            "balances_kept", ite(comments(), same(later(balances), balances()), _usual("balances_kept")), "nor in total"
        ),
    ),
    (
        money.balances_confiscated,
        _instead("balance_kept", ite(finalizes(), zero(later(balance, a)), _usual("balance_kept")), "with the Issue"),
        _instead("balances_kept", ite(finalizes(), zero(later(balances)), _usual("balances_kept")), "and in total"),
    ),
    (
        money.maximum_credit_ignored,
        _instead("credited", same(credit(by()), amount()) & at_least(amount(), number(0)), "the whole payment"),
    ),
    (
        money.penalty_doubled,
        _instead("fined", affordable(paid(a), plus(penalty(), penalty()), minus(balance(a), staked(a))), "twice"),
    ),
    (
        money.stake_not_burned,
        _instead("burns", zero(burnt(lot)), "stakes survive the Issue"),
        _instead("burns_all", zero(total("burnt")), "all of them"),
    ),
)
"""The definitions that each mutant replaces."""
