"""Points as a machine: how one action or tick changes every balance, every stake and the four ghost totals.

An agent's balance and a stake (a *lot*: owner, proposal, rounds held) are numbers, for any number of agents and lots.
The amounts that a step moves enter as flows per agent and per lot; the totals are running sums.  First-order logic
cannot say that a total is the sum of its parts, so two laws of sums are assumed (`_adds_up`), and every sampled step
of the model checks that its totals are sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from evenhand.model.conviction.mutants import money
from evenhand.smt.arithmetic import NUMBER, at_least, at_most, below, minus, number, plus, zero
from evenhand.smt.logic import (
    FALSE,
    TRUE,
    Apply,
    Formula,
    Function,
    Relation,
    Sort,
    Term,
    conjunction,
    disjunction,
    forall,
    iff,
    ite,
    same,
    variables,
)
from evenhand.smt.preludes import Faults, define, numbers, relations
from evenhand.smt.theory import Axiom, Theory
from evenhand.smt.transitions.machine import Machine, after

AGENT, LOT = Sort("Agent"), Sort("Lot")
a, b = variables(AGENT, "a b")
lot = LOT("l")


# The state.

(balance,), (points,) = numbers("balance", AGENT), numbers("points", LOT)
TOTALS = balances, stakes, burned, granted = numbers("balances stakes burned granted")
"""The ghost totals: the sum of all balances, of all stakes, of all burned points, of all granted points."""
talking, rounds = relations("talking rounds")
"""FEEDBACK or REVISE; STAKE or FINALIZE; neither: before, or PROPOSE."""
invited, written, kicked = relations("invited written kicked", AGENT)
"""The agents that were granted points; those with a proposal that can be revised."""

# What a step brings.

KINDS = ("invites", "proposes", "comments", "revises", "adds", "moves", "ticks", "finalizes")
"""The kinds of a step; none of them: a rejection, READY, an enrolment, the tick that opens an Issue."""
_KINDS = invites, proposes, comments, revises, adds, moves, ticks, finalizes = relations(" ".join(KINDS))
by, at = Function("by", (), AGENT), Function("at", (), LOT)
own = Function("own", (AGENT,), LOT)
"""An agent's stake on its own proposal before any round has passed."""
(amount,) = numbers("amount")
"""The amount granted, added or moved, or the cost of a revision."""

BY_AGENT = ("credit", "staked", "returned", "paid")
_BY_LOT = ("put", "tapped", "come", "gone", "burnt")
_PARTS = credit, staked, returned, paid = numbers(" ".join(BY_AGENT), AGENT)
_LOT_PARTS = put, tapped, come, gone, burnt = numbers(" ".join(_BY_LOT), LOT)
FLOWS = (*BY_AGENT, *_BY_LOT)
"""Granted, staked, returned by a tap, burned out of a balance; onto a lot, tapped, moved in, moved out, burned."""

self_stake, price, penalty, maximum = numbers("self_stake price penalty maximum")


def total(flow: str) -> Apply:
    """Return the sum of a flow in this step."""
    return Function(f"all_{flow}", (), NUMBER)()


def later(function: Function, *arguments: Term) -> Apply:
    """Return a state function after the step."""
    return Function(f"{function.name}.after", function.domain, function.codomain)(*arguments)


def least(one: Term, *others: Term) -> Formula:
    """Return that `one` is the least of the others."""
    return conjunction([*(at_most(one, other) for other in others), disjunction(same(one, other) for other in others)])


def affordable(one: Term, wanted: Term, have: Term) -> Formula:
    """Return that `one` is the lesser of `wanted` and `have`, or 0 where `have` is negative."""
    return ite(below(have, number(0)), zero(one), least(one, wanted, have))


def most(one: Term, *others: Term) -> Formula:
    """Return that `one` is the greatest of the others."""
    return conjunction([*(at_least(one, other) for other in others), disjunction(same(one, other) for other in others)])


# The definitions: each is a sentence of the text, and a mutant may replace it.


DEFICIT = minus(amount(), balance(by()))
INFLOW = plus(balance(a), credit(a), returned(a))
ONTO = plus(points(lot), put(lot), come(lot))

WORDS = (
    define("credited", (), same(credit(by()), amount()) & at_least(amount(), number(0)), "4.1: the invitation payment"),
    define("self_staked", (a,), affordable(staked(a), self_stake(), balance(a)), "6.2, or what is left"),
    define("comment_paid", (), at_most(price(), balance(by())), "11.4: in full, or InsufficientCredit"),
    define("deficit_returned", (), most(returned(by()), number(0), DEFICIT), "14.2: exactly what the balance lacks"),
    define(
        "deficit_tapped",
        (),
        most(tapped(own(by())), number(0), DEFICIT) & at_most(tapped(own(by())), points(own(by()))),
        "14.2: out of one's own stake, and refused if that is less",
    ),
    define("positive", (), below(number(0), amount()), "A 16.3: an amount of points"),
    define("add_paid", (), at_most(amount(), balance(by())), "A 16.5: or InsufficientCredit"),
    define("arrives", (), same(total("come"), total("gone")), "A 16.3, 16.6: what leaves one lot arrives at another"),
    define("fined", (a,), affordable(paid(a), penalty(), minus(balance(a), staked(a))), "9.3: if there is balance"),
    define("burns", (lot,), same(burnt(lot), points(lot)), "18.2: all stakes, on winning and losing proposals"),
    define("burns_all", (), same(total("burnt"), stakes()), "18.2: so the total of all stakes is burned"),
    define(
        "balance_kept",
        (a,),
        same(later(balance, a), minus(INFLOW, staked(a), paid(a))),
        "4.3: a balance changes by what flows in and out of it; 18.1: it persists",
    ),
    define("points_kept", (lot,), same(later(points, lot), minus(ONTO, tapped(lot), gone(lot), burnt(lot))), "4.3"),
    define(
        "balances_kept",
        (),
        same(
            later(balances), minus(plus(balances(), total("credit"), total("returned")), total("staked"), total("paid"))
        ),
        "the total of all balances",
    ),
    define(
        "stakes_kept",
        (),
        same(
            later(stakes),
            minus(plus(stakes(), total("put"), total("come")), total("tapped"), total("gone"), total("burnt")),
        ),
        "the total of all stakes",
    ),
)
_KNOWN = {word.name: word for word in WORDS}


def _said(name: str, *arguments: Term) -> Formula:
    return _KNOWN[name].relation(*arguments)


# The transitions.


def _only(kinds: Sequence[Relation], flow: Function) -> Formula:
    """Return that only the actor has this flow, in steps of these kinds; in a tick any agent may have it."""
    acts = disjunction(kind() for kind in kinds if kind is not ticks)
    anybody = ticks() if ticks in kinds else FALSE
    return forall([a], zero(flow(a)) | anybody | (same(a, by()) & acts))


_AGENTS = conjunction(
    [
        _only((invites,), credit),
        _only((proposes, adds, ticks), staked),
        _only((revises,), returned),
        _only((comments, revises, ticks), paid),
        invites() >> _said("credited"),
        proposes() >> _said("self_staked", by()),
        adds() >> (same(staked(by()), amount()) & _said("positive") & _said("add_paid")),
        comments() >> (same(paid(by()), price()) & _said("comment_paid")),
        revises()
        >> conjunction(
            [
                _said("deficit_returned"),
                _said("deficit_tapped"),
                same(paid(by()), amount()),
                at_least(amount(), number(0)),
                at_most(amount(), self_stake()),
            ]
        ),
        moves() >> _said("positive"),
        forall(
            [a],
            ticks()
            >> conjunction(
                [
                    ite(kicked(a) & ~talking() & ~rounds(), _said("self_staked", a), zero(staked(a))),
                    ite(kicked(a) & ~rounds(), _said("fined", a), zero(paid(a))),
                ]
            ),
        ),
    ]
)
"""Payments and receipts of each agent (4.1, 6.2, 9.3, 11, 14, 16.3)."""

_LOTS = conjunction(
    [
        forall([lot], zero(put(lot)) | proposes() | adds() | ticks()),
        forall([lot], at_least(put(lot), number(0)) | adds()),
        (proposes() | adds()) >> forall([lot], ite(same(lot, at()), same(put(lot), staked(by())), zero(put(lot)))),
        proposes() >> same(at(), own(by())),
        forall([lot], zero(tapped(lot)) | (revises() & same(lot, own(by())))),
        forall([lot], (zero(come(lot)) & zero(gone(lot))) | moves() | (ticks() & rounds())),
        forall([lot], at_least(come(lot), number(0)) & at_least(gone(lot), number(0))),
        forall([lot], at_most(gone(lot), points(lot))),
        moves() >> same(total("come"), amount()),
        _said("arrives"),
        forall([lot], ite(finalizes(), _said("burns", lot), zero(burnt(lot)))),
        finalizes() >> _said("burns_all"),
        same(total("put"), total("staked")),
    ]
)
"""Changes of stakes (6.2, 14.2, 16.3, 16.6, 18.2); the flow onto lots equals the agents' staked points."""


def _adds_up(flow: str) -> Formula:
    """Return the assumed laws of a sum: it equals its only part that is not 0; it bounds parts if none is below 0."""
    by_agent = flow in BY_AGENT
    x, chosen = (a, by()) if by_agent else (lot, own(by()) if flow == "tapped" else at())
    (part,) = numbers(flow, x.sort)
    alone = forall([x], zero(part(x)) | same(x, chosen)) >> same(total(flow), part(chosen))
    positive = forall([x], at_least(part(x), number(0))) >> forall([x], at_most(part(x), total(flow)))
    return alone & positive


_CLERK = conjunction(
    [
        *(_adds_up(flow) for flow in FLOWS),
        forall([a], _said("balance_kept", a)),
        forall([lot], _said("points_kept", lot)),
        _said("balances_kept"),
        _said("stakes_kept"),
        same(later(burned), plus(burned(), total("paid"), total("burnt"))),
        same(later(granted), plus(granted(), total("credit"))),
    ]
)

_PHASES = conjunction(
    [
        (~ticks() & ~finalizes()) >> (iff(after(talking)(), talking()) & iff(after(rounds)(), rounds())),
        after(talking)() >> ~after(rounds)(),
        (ticks() & rounds()) >> after(rounds)(),
        (ticks() & talking()) >> (after(talking)() | after(rounds)()),
        finalizes() >> (rounds() & ~after(rounds)() & ~after(talking)()),
        proposes() >> (~talking() & ~rounds()),
        (comments() | revises()) >> talking(),
        (adds() | moves()) >> rounds(),
        revises() >> written(by()),
        forall([a], iff(after(invited)(a), invited(a) | (invites() & same(a, by())))),
        invites() >> ~invited(by()),
        (proposes() | comments() | revises() | adds() | moves()) >> invited(by()),
        forall([a], after(written)(a) >> (written(a) | (proposes() & same(a, by())))),
        forall([a], finalizes() >> ~after(written)(a)),
        forall([a], (ticks() & kicked(a)) >> (invited(a) & (talking() | rounds() | ~written(a)))),
        forall([a], (ticks() & kicked(a) & ~talking() & ~rounds()) >> (after(talking)() | after(rounds)())),
        conjunction(~(one() & other()) for place, one in enumerate(_KINDS) for other in _KINDS[:place]),
    ]
)
"""The order of phases (12), as far as it affects points."""

_INIT = conjunction(
    [
        same(balances(), granted()),
        zero(stakes()),
        zero(burned()),
        forall([lot], zero(points(lot))),
        forall([a], at_least(balance(a), number(0)) & (invited(a) | zero(balance(a)))),
        forall([a], ~written(a)),
        ~talking(),
        ~rounds(),
        at_least(granted(), number(0)),
    ]
)

BOOKS = Machine(
    theory=Theory(
        name="conviction_books",
        sorts=(AGENT, LOT),
        functions=(
            *(self_stake, price, penalty, maximum, own, balance, points),
            *(*TOTALS, by, at, amount, *_PARTS, *_LOT_PARTS),
            *(total(flow).function for flow in FLOWS),
        ),
        relations=(invited, written, talking, rounds, kicked, *_KINDS),
        axioms=(
            Axiom(
                "constants_are_amounts",
                conjunction(at_least(one(), number(0)) for one in (self_stake, price, penalty, maximum)),
                "5: numbers of points",
            ),
        ),
        definitions=WORDS,
    ),
    state=("balance", "points", *(one.name for one in TOTALS), "invited", "written", "talking", "rounds"),
    inputs=("by", "at", "amount", "kicked", *KINDS, *FLOWS, *(f"all_{flow}" for flow in FLOWS)),
    init=_INIT,
    step=conjunction([_AGENTS, _LOTS, _CLERK, _PHASES]),
)
"""All changes of points, for any number of agents and lots."""


_room = minus(maximum(), balance(by()))
_CLIPPED = ite(at_most(_room, number(0)), zero(credit(by())), least(credit(by()), amount(), _room)) & at_least(
    amount(), number(0)
)

CAPPED = replace(
    BOOKS.redefined(
        (define("credited", (), _CLIPPED, "4.4, read as `clip`: no balance is granted beyond the maximum"),)
    ),
    init=_INIT & forall([a], at_most(balance(a), maximum())),
)
"""BOOKS where MaximumCredit caps the granted points (4.4)."""


# The faults of mutant kernels: definitions that replace the text's.

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
