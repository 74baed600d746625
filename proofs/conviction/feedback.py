"""Feedback is lawful and paid for (11): theorem for any balance, price, length and limit.

A comment concerns one agent, so the theory holds only numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from evenhand.core.system import AnySystem, Step
from evenhand.model.conviction.mutants import money
from evenhand.model.conviction.rules import REFERENCE
from evenhand.model.conviction.vocabulary import FEEDBACK, Act, Config, Feedback, Shown, State
from evenhand.proofs.conviction.rules import (
    admitted,
    commented,
    given,
    have,
    in_feedback,
    length,
    limit,
    most_length,
    own_proposal,
    price,
    there,
)
from evenhand.proofs.conviction.single import meaning, theorem
from evenhand.proofs.conviction.walks import ends, tried
from evenhand.properties.conviction import proposing
from evenhand.properties.conviction.predicates import accepted, events, seat_of
from evenhand.smt.arithmetic import at_least, at_most, below, number
from evenhand.smt.ends import End, Ends, end_at
from evenhand.smt.logic import conjunction
from evenhand.smt.preludes import relations
from evenhand.smt.structure import Structure
from evenhand.smt.tables import constant, props
from evenhand.smt.theory import Axiom, Theory
from evenhand.source.rules import Faults

counted, burned = relations("counted burned")
_WORDS = (
    *(meaning(name, body, "11.1, 11.2, 11.4, 11.5, 11.6") for name, body in commented(REFERENCE).items()),
    meaning("counted", admitted(), "11.5: and the entry counts"),
    meaning("burned", admitted(), "11.2, 13.2: and burned, which the log says"),
)

COMMENTING = Theory.of(
    "conviction_feedback",
    axioms=(Axiom("fees_are_amounts", at_least(price(), number(0)), "5: FeedbackStake is a number of points"),),
    definitions=_WORDS,
)


def view_feedback(step: Step[Config, State, Act, Shown]) -> Structure | None:
    """Return a comment as a structure; None for other actions, and for unknown agents."""
    act, before = step.action, step.before
    seat = before.seat(act.agent) if isinstance(act, Feedback) else None
    if not isinstance(act, Feedback) or seat is None or (step.shown.rejected and not _of_section_11(step)):
        return None
    c, after = step.config.constants, seat_of(step.after, act.agent)
    target = before.proposal(act.proposal)
    done = accepted(step, Feedback)
    burns = [(one.agent, one.amount, one.reason) for one in events(step.shown, "Burn")]
    values = {
        "length": len(act.comment),
        "most_length": c.feedback_length,
        "given": seat.feedback,
        "limit": c.feedback_limit,
        "have": seat.balance,
        "price": c.feedback_stake,
    }
    truths = {
        "there": target is not None,
        "in_feedback": before.phase == FEEDBACK,
        "own_proposal": target is not None and (target.author == act.agent or seat.proposal == target.uid),
        "admitted": done,
        "charged": done and seat.balance - after.balance == c.feedback_stake,
        "counted": done and after.feedback == seat.feedback + 1,
        "burned": done and (not c.feedback_stake or burns == [(act.agent, c.feedback_stake, "FeedbackStake")]),
    }
    return Structure({}, props(truths), {name: constant(value) for name, value in values.items()})


_REASONS = ("", "WrongPhase", "UnknownProposal", "OwnProposal", "FeedbackTooLong", "FeedbackLimitReached")


def _of_section_11(step: Any) -> bool:
    """Return whether the rejection has a reason of section 11 (not credentials, READY or NoAction)."""
    return step.shown.rejected in (*_REASONS, "InsufficientCredit")


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
