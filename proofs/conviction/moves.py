"""A comment is lawful and paid for (11), for any balance, price, length and limit; moved stake starts at zero rounds
(A 16.3, 16.6), for any stake and any number of ages.

Both concern one agent, so the theories hold only numbers, and ages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

from evenhand.core.system import AnySystem
from evenhand.model.conviction.mutants import money, play
from evenhand.model.conviction.rules import REFERENCE
from evenhand.model.conviction.vocabulary import FEEDBACK, STAKE, Act, Config, Feedback, MoveStake
from evenhand.proofs.conviction.rules import (
    admitted,
    amount,
    commented,
    given,
    have,
    in_feedback,
    length,
    limit,
    most_length,
    moved,
    own_proposal,
    price,
    same_proposal,
    stock,
    there,
)
from evenhand.proofs.conviction.single import theorem
from evenhand.proofs.conviction.walks import ends, tried
from evenhand.properties.conviction import proposing, staking
from evenhand.properties.conviction.predicates import RunStep, accepted, events, owned, seat_of
from evenhand.smt.arithmetic import at_least, at_most, below, number
from evenhand.smt.ends import End, Ends, end_at
from evenhand.smt.logic import Function, Sort, conjunction, differ, same
from evenhand.smt.preludes import define, relations
from evenhand.smt.structure import Structure
from evenhand.smt.tables import structure
from evenhand.smt.theory import Axiom, Theory
from evenhand.source.rules import Faults

counted, burned = relations("counted burned")
COMMENTING = Theory.of(
    "conviction_feedback",
    axioms=(Axiom("fees_are_amounts", at_least(price(), number(0)), "5: FeedbackStake is a number of points"),),
    definitions=(
        *(define(name, (), body, "11.1, 11.2, 11.4, 11.5, 11.6") for name, body in commented(REFERENCE).items()),
        define("counted", (), admitted(), "11.5: and the entry counts"),
        define("burned", (), admitted(), "11.2, 13.2: and burned, which the log says"),
    ),
)
_REASONS = (
    *("", "WrongPhase", "UnknownProposal", "OwnProposal"),
    *("FeedbackTooLong", "FeedbackLimitReached", "InsufficientCredit"),
)
"""Those of section 11, not credentials, READY or NoAction."""


def view_feedback(step: RunStep) -> Structure | None:
    """Return a comment as a structure; None for other actions, and for unknown agents."""
    act, before = step.action, step.before
    seat = before.seat(act.agent) if isinstance(act, Feedback) else None
    if not isinstance(act, Feedback) or seat is None or step.shown.rejected not in _REASONS:
        return None
    c, after = step.config.constants, seat_of(step.after, act.agent)
    target = before.proposal(act.proposal)
    done = accepted(step, Feedback)
    burns = [(one.agent, one.amount, one.reason) for one in events(step.shown, "Burn")]
    return structure(
        {},
        {
            "length": len(act.comment),
            "most_length": c.feedback_length,
            "given": seat.feedback,
            "limit": c.feedback_limit,
            "have": seat.balance,
            "price": c.feedback_stake,
            "there": target is not None,
            "in_feedback": before.phase == FEEDBACK,
            "own_proposal": target is not None and (target.author == act.agent or seat.proposal == target.uid),
            "admitted": done,
            "charged": done and seat.balance - after.balance == c.feedback_stake,
            "counted": done and after.feedback == seat.feedback + 1,
            "burned": done and (not c.feedback_stake or burns == [(act.agent, c.feedback_stake, "FeedbackStake")]),
        },
    )


_FAULTS = Faults(COMMENTING, commented)

_CYCLES = (
    {"cycles": 1, "budget": 4, "texts": 2, "hostile": 1},
    {"cycles": 1, "budget": 3, "texts": 1, "stake": 1, "hostile": 1},
    {"cycles": 2, "budget": 2, "texts": 1, "agents": 3},
)


def _strict(config: Config) -> Config:
    """Return the configuration with one comment for each agent."""
    return replace(config, constants=replace(config.constants, feedback_limit=1))


@Ends
def comments(system: AnySystem) -> Iterator[End]:
    """Yield, after every step of walks into FEEDBACK, every possible comment, and each accepted one again."""
    for end in ends(system, lambda step: step.before.phase == FEEDBACK, _CYCLES, _strict):
        for run, step in tried(system, end, _comments_there(end[1])):
            yield run, step
            if not step.shown.rejected:
                yield end_at(system, run, step.after, step.action)


def _comments_there(step: Any) -> Iterator[Act]:
    for agent in step.config.agents:
        for target in (*(one.uid for one in step.before.proposals), "nothing"):
            for comment in ("x", "xx"):
                yield Feedback(agent.uid, agent.credential, target, comment)


LAWFUL = theorem(
    claim=proposing.feedback_is_lawful_and_paid,
    theory=COMMENTING,
    assumes=admitted(),
    goal=conjunction(
        [
            there() & in_feedback() & ~own_proposal(),
            at_most(length(), most_length()),
            below(given(), limit()),
            at_most(price(), have()),
            COMMENTING.word("charged") & counted() & burned(),
        ]
    ),
    witness=below(number(0), price()),
    view=view_feedback,
    samples=comments,
    scope="any amounts, lengths and limits",
    mutants=_FAULTS.refuted(
        money.feedback_of_any_length,
        money.feedback_without_limit,
        money.feedback_on_credit,
        money.feedback_on_own_proposal,
        money.feedback_free,
    ),
)

# Moves.

AGE = Sort("Age")
h = AGE("h")
young, oldest = Function("young", (), AGE), Function("oldest", (), AGE)
"""No rounds; the rounds of the oldest stake at the source."""
(balanced,) = relations("balanced")
_arrives, untouched = relations("arrives untouched", AGE)


_MOVES = (
    define("moved", (), moved(REFERENCE)["moved"], "A 16.3: what is not rejected"),
    define("balanced", (), at_most(amount(), stock()), "4.3: the source loses as much, for it has as much"),
    define("arrives", (h,), same(h, young()), "A 16.3: all of it arrives as young stake: the multiplier is reset"),
    define("untouched", (h,), ~_arrives(h), "A 16.3: stake of other ages at the target stays as it was"),
)

MOVING = Theory.of("conviction_moves", oldest, definitions=_MOVES)


def view_move(step: RunStep) -> Structure | None:
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

    def told(truth: Callable[[int], bool]) -> set[str]:
        return {f"age:{age}" for age in ages if truth(age)}

    follows = {
        "balanced": have - rest == act.amount,
        "arrives": told(lambda age: new.get(age, 0) == target.get(age, 0) + act.amount),
        "untouched": told(lambda age: new.get(age, 0) == target.get(age, 0)),
    }
    return structure(
        {"Age": [f"age:{age}" for age in ages]},
        {
            **{"same_proposal": not other, "moved": done, **(follows if done and other else {})},
            **{"young": "age:0", "oldest": f"age:{max(source, default=0)}", "amount": act.amount, "stock": have},
        },
    )


_MOVE_FAULTS = Faults(MOVING, moved)
_MOVE_FAULTS[play.move_keeps_multiplier] = (
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
    mutants=_MOVE_FAULTS.refuted(play.move_keeps_multiplier, play.move_to_the_same, money.move_on_credit),
)
