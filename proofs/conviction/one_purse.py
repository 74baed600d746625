"""When an agent's addition and move of one tick do the same in either order (A 16.4), for any number of points.

Exactly where the move takes none of the points that are added: what is not there yet cannot be moved.
"""

from __future__ import annotations

from dataclasses import replace

from evenhand.model.conviction.mutants import money, play
from evenhand.proofs.conviction.purses import (
    AHEADS,
    AMOUNTS,
    BALANCES,
    FIRST,
    IN_TURN,
    KINDS,
    LOTS,
    OWN_PILES,
    PILES,
    PURSES,
    SAME_BALANCES,
    SAME_LOTS,
    SAME_PILES,
    SECOND,
    a,
    enough,
    if_all_have_as_much,
    moments,
    of_all,
    on_credit,
    part_of,
    taken,
    v,
    view,
    x,
    young,
)
from evenhand.proofs.conviction.single import theorem
from evenhand.properties.conviction import staking
from evenhand.smt.arithmetic import at_most, below, minus, number, plus
from evenhand.smt.logic import Formula, Term, conjunction, differ, exists, forall, same
from evenhand.smt.preludes import Faults
from evenhand.smt.theorem import Theorem
from evenhand.smt.theory import Axiom

_ahead, _lot = AHEADS[""], LOTS[""]
_only = (
    conjunction(~act.is_(kind) for kind in KINDS if kind != name) for act, name in ((FIRST, "adds"), (SECOND, "moves"))
)
ONE_PURSE = replace(
    PURSES,
    name="conviction_one_purse",
    axioms=(
        Axiom("one_agent", same(FIRST.by(), SECOND.by()), "the pairs of the claim"),
        OWN_PILES,
        AMOUNTS,
        Axiom("an_addition_and_a_move", conjunction(_only), "A 16.4"),
        IN_TURN,
        Axiom(
            "sums_of_older_stake",
            forall([x], ~young(x) >> same(LOTS["1"](x), _lot(x))) >> forall([x], same(AHEADS["1"](x), _ahead(x))),
            "a law of finite sums: what is older than a lot is as much as before where no old lot changes",
        ),
        Axiom(
            "young_stake_is_the_rest",
            forall([x], young(x) >> same(PILES[""](part_of(x)), plus(_ahead(x), _lot(x)))),
            "16.6: of a pile all is older than its young stake, or young",
        ),
    ),
)
_, _source, _onto, _added = (function() for function in FIRST.functions)
_, _from, _to, _moved = (function() for function in SECOND.functions)
_there = PILES[""](_from)
_TAKES = conjunction(
    [
        FIRST.is_("adds") & SECOND.is_("moves") & same(_onto, _from),
        at_most(_added, BALANCES[""](FIRST.by())),
        below(_there, _moved) & at_most(_moved, plus(_there, _added)),
    ]
)
"""The addition brings what the move lacks."""


def _youngest_taken(start: str, end: str, wanted: Term) -> Formula:
    behind = minus(PILES[start](part_of(x)), AHEADS[start](x), LOTS[start](x))
    return taken(start, end, behind, wanted)


_FAULTS = Faults(
    (play.move_takes_the_youngest, *of_all(enough, "a move takes the youngest first", _youngest_taken)),
    (money.add_on_credit, *of_all(on_credit, "an addition is never refused for lack of points")),
    (money.credit_of_the_poorest, *of_all(if_all_have_as_much, "every balance must cover an addition")),
)
_PILES_ALONE = ("one_agent", "ones_own_piles", "amounts", "an_addition_and_a_move", "in_turn")
APART: Theorem = theorem(
    claim=staking.funded_add_and_move_commute,
    theory=ONE_PURSE,
    view=view,
    samples=moments,
    scope="any number of agents, proposals and points",
    variables=(a, v, x),
    assumes=~_TAKES,
    goal=conjunction([SAME_BALANCES, SAME_PILES, SAME_LOTS]),
    needs=("in_turn", "sums_of_older_stake", "young_stake_is_the_rest"),
    witness=conjunction(
        [
            same(_onto, _from),
            exists([x], conjunction([young(x), same(part_of(x), _from), below(_lot(x), LOTS["12"](x))])),
            exists([x], conjunction([~young(x), same(part_of(x), _from), below(LOTS["12"](x), _lot(x))])),
        ]
    ),
    mutants=_FAULTS.refuted(play.move_takes_the_youngest, money.add_on_credit),
)
BY_ORDER: Theorem = theorem(
    claim=staking.added_points_can_be_moved_at_once,
    theory=replace(ONE_PURSE, axioms=tuple(one for one in ONE_PURSE.axioms if one.name in _PILES_ALONE)),
    view=view,
    samples=moments,
    scope="any number of agents, proposals and points",
    assumes=conjunction(
        [_TAKES, FIRST.is_("lawful"), SECOND.is_("lawful"), differ(_to, _from), below(number(0), _moved)]
    ),
    goal=differ(PILES["12"](_from), PILES["21"](_from)),
    needs=("in_turn",),
    witness=below(number(0), _there),
    mutants=(
        *_FAULTS.refuted(money.credit_of_the_poorest),
        _FAULTS.unseen(play.move_takes_the_youngest, "it takes as much"),
    ),
)
