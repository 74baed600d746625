"""Moved stake starts at zero rounds (A 16.3, 16.6): theorem for any stake and any number of ages.

A move concerns one agent, so the theory holds only numbers and ages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

from evenhand.core.system import AnySystem, Step
from evenhand.model.conviction.mutants import money, play
from evenhand.model.conviction.rules import REFERENCE
from evenhand.model.conviction.vocabulary import STAKE, Act, Config, MoveStake, Shown, State
from evenhand.proofs.conviction.rules import amount, moved, same_proposal, stock
from evenhand.proofs.conviction.single import meaning, theorem
from evenhand.proofs.conviction.walks import ends, tried
from evenhand.properties.conviction import staking
from evenhand.properties.conviction.predicates import owned
from evenhand.smt.arithmetic import at_most, below, element, number
from evenhand.smt.ends import End, Ends
from evenhand.smt.logic import Function, Sort, conjunction, differ, same
from evenhand.smt.preludes import define, relations
from evenhand.smt.structure import Structure
from evenhand.smt.tables import Rows, constant, ones, props
from evenhand.smt.theory import Theory
from evenhand.source.rules import Faults

AGE = Sort("Age")
h = AGE("h")
young, oldest = Function("young", (), AGE), Function("oldest", (), AGE)
"""No rounds; the rounds of the oldest stake at the source."""
(balanced,) = relations("balanced")
_arrives, untouched = relations("arrives untouched", AGE)


_MOVES = (
    meaning("moved", moved(REFERENCE)["moved"], "A 16.3: what is not rejected"),
    meaning("balanced", at_most(amount(), stock()), "4.3: the source loses as much, for it has as much"),
    define("arrives", (h,), same(h, young()), "A 16.3: all of it arrives as young stake: the multiplier is reset"),
    define("untouched", (h,), ~_arrives(h), "A 16.3: stake of other ages at the target stays as it was"),
)

MOVING = Theory.of("conviction_moves", oldest, definitions=_MOVES)


def view_move(step: Step[Config, State, Act, Shown]) -> Structure | None:
    """Return a move as a structure; None for other actions, and for rejections that the theory does not cover."""
    act = step.action
    usual = ("", "InvalidAmount", "SameProposal", "InsufficientStake")
    if not isinstance(act, MoveStake) or step.shown.rejected not in usual or step.before.seat(act.agent) is None:
        return None
    if step.before.proposal(act.source) is None or step.before.proposal(act.target) is None:
        return None
    source, left = owned(step.before, act.agent, act.source), owned(step.after, act.agent, act.source)
    target, new = owned(step.before, act.agent, act.target), owned(step.after, act.agent, act.target)
    ages = sorted({0, *source, *left, *target, *new})
    have, rest = (sum(map(Fraction, one.values()), Fraction(0)) for one in (source, left))

    done, other = not step.shown.rejected, act.source != act.target
    truths = {"same_proposal": not other, "moved": done}
    relations_ = props({**truths, "balanced": have - rest == act.amount} if done and other else truths)
    if done and other:
        relations_["arrives"] = _ages(age for age in ages if new.get(age, 0) == target.get(age, 0) + act.amount)
        relations_["untouched"] = _ages(age for age in ages if new.get(age, 0) == target.get(age, 0))
    functions = {
        "young": constant("age:0"),
        "oldest": constant(f"age:{max(source, default=0)}"),
        "amount": constant(element(act.amount)),
        "stock": constant(have),
    }
    return Structure({"Age": tuple(f"age:{age}" for age in ages)}, relations_, functions)


def _ages(ages: Iterable[int]) -> Rows:
    return ones(f"age:{age}" for age in ages)


_FAULTS = Faults(MOVING, moved)
_FAULTS[play.move_keeps_multiplier] = (
    MOVING.means("arrives", same(h, oldest()), "what is moved keeps the rounds of the oldest"),
)

_ROUNDS = (
    {"rounds": 3, "texts": 0, "stake": 2, "budget": 3, "hostile": 1},
    {"rounds": 2, "texts": 0, "stake": 1, "budget": 2},
    {"rounds": 4, "texts": 0, "stake": 2, "budget": 2, "agents": 3, "ready": 0},
)


@Ends
def moves(system: AnySystem) -> Iterator[End]:
    """Yield, before each step of walks into the rounds, every possible move of one or three points."""
    for end in ends(system, lambda step: step.before.phase == STAKE and step.before.turn > 1, _ROUNDS):
        yield from tried(system, end, _moves_there(end[1]))


def _moves_there(step: Any) -> Iterator[Act]:
    agent = step.config.agents[0]
    uids = [one.uid for one in step.before.proposals]
    for source in uids:
        for target in uids:
            for points in (1, 3):
                yield MoveStake(agent.uid, agent.credential, source, target, points)


MOVED = theorem(
    claim=staking.moved_stake_begins_at_zero,
    sentence="Moved stake begins at zero, the source loses what arrives, and nothing else at the target changes.",
    source="A 16.3, 16.6",
    theory=MOVING,
    variables=(h,),
    assumes=MOVING.word("moved"),
    goal=conjunction(
        [
            below(number(0), amount()) & ~same_proposal() & balanced(),
            _arrives(young()) & (differ(h, young()) >> untouched(h)),
        ]
    ),
    witness=differ(young(), oldest()),
    view=view_move,
    samples=moves,
    scope="any number of ages, any amounts",
    mutants=_FAULTS.refuted(play.move_keeps_multiplier, play.move_to_the_same, money.move_on_credit),
)
