"""Feedback is lawful and paid for (11): theorem for any balance, price, length and limit.

A comment concerns one agent, so the theory holds only numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenhand.core.system import Step, System
from evenhand.core.trace import Scenario
from evenhand.model.conviction.exact import exact
from evenhand.model.conviction.mutants import money
from evenhand.model.conviction.texts import Text
from evenhand.model.conviction.vocabulary import FEEDBACK, Act, Config, Constants, Feedback, Propose, Shown, State
from evenhand.proofs.conviction.plays import Player
from evenhand.proofs.conviction.single import configuration, granted, meaning, theorem
from evenhand.proofs.conviction.walks import walks
from evenhand.properties.conviction import proposing
from evenhand.properties.conviction.predicates import accepted, events, seat_of
from evenhand.smt.arithmetic import at_least, at_most, below, number, value_of, zero
from evenhand.smt.logic import FALSE, Definition, Formula, conjunction
from evenhand.smt.preludes import Faults, numbers, relations
from evenhand.smt.structure import Structure
from evenhand.smt.tables import constant, props
from evenhand.smt.theory import Axiom, Theory

length, most_length, given, limit, have, price = numbers("length most_length given limit have price")
"""Characters of a comment, FeedbackCharLimit; entries so far, MaxFeedbackPerAgent; balance, FeedbackStake."""
there, in_feedback, own_proposal = relations("there in_feedback own_proposal")
admitted, charged, counted, burned = relations("admitted charged counted burned")
_WORDS = (
    meaning("too_long", below(most_length(), length()), "11.6: FeedbackTooLong"),
    meaning("too_many", at_least(given(), limit()), "11.5: FeedbackLimitReached"),
    meaning("too_dear", below(have(), price()), "11.4: InsufficientCredit"),
    meaning("own", own_proposal(), "11.1: a proposal authored by another agent"),
    meaning(
        "admitted",
        conjunction([there(), in_feedback(), *(~one() for one in relations("too_long too_many too_dear own"))]),
        "11: what is not rejected",
    ),
    meaning("charged", admitted(), "11.2: FeedbackStake is deducted in full"),
    meaning("counted", admitted(), "11.5: and the entry counts"),
    meaning("burned", admitted(), "11.2, 13.2: and burned, which the log says"),
)
_MEANS = {word.name: word for word in _WORDS}

COMMENTING = Theory(
    name="conviction_feedback",
    sorts=(),
    functions=(length, most_length, given, limit, have, price),
    relations=(there, in_feedback, own_proposal),
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


def scene_feedback(structure: Structure) -> Scenario[Config, State, Act] | None:
    """Return a scenario of two agents with proposals, one of which comments; None where that is outside FEEDBACK."""
    said, values = structure.relations, {name: value_of(table[()]) for name, table in structure.functions.items()}
    if not said["in_feedback"] or not said["there"] or values["have"] < 0 or values["price"] < 0:
        return None
    price_: Any = exact(values["price"])
    constants = Constants(
        self_stake=0,
        think_ticks=1,
        feedback_stake=price_,
        feedback_limit=0 if values["given"] >= values["limit"] else 1,
        feedback_length=0 if values["length"] > values["most_length"] else 1,
    )
    player = Player(configuration(granted(values["have"], 0), constants))
    player.until("PROPOSE")
    for agent in player.config.agents:
        player.act(Propose(agent.uid, agent.credential, Text("a")))
    player.until(FEEDBACK)
    player.act(Feedback("agent_1", "key 1", "agent_1" if said["own_proposal"] else "agent_2", "x"))
    return Scenario(player.config, player.start, tuple(player.actions))


_LONG, _MANY, _DEAR = (_MEANS[name].body for name in ("too_long", "too_many", "too_dear"))


def _forgiven(reason: Formula, **later: Formula) -> tuple[Definition, ...]:
    """Return definitions of the `later` reasons to reject that are not checked where `reason` holds."""
    return tuple(meaning(name, body & ~reason, "not looked at") for name, body in later.items())


_COMMENTS = Faults(
    (
        money.feedback_of_any_length,
        meaning("too_long", FALSE, "FeedbackCharLimit is ignored"),
        *_forgiven(_LONG, too_many=_MANY, too_dear=_DEAR),
    ),
    (
        money.feedback_without_limit,
        meaning("too_many", FALSE, "MaxFeedbackPerAgent is ignored"),
        *_forgiven(_MANY, too_dear=_DEAR),
    ),
    (money.feedback_on_credit, meaning("too_dear", FALSE, "whatever the balance")),
    (
        money.feedback_on_own_proposal,
        meaning("own", FALSE, "one may comment on oneself"),
        *_forgiven(own_proposal(), too_long=_LONG, too_many=_MANY, too_dear=_DEAR),
    ),
    (money.feedback_free, meaning("charged", admitted() & zero(price()), "burned and not charged")),
)

_CYCLES = (
    {"cycles": 1, "budget": 4, "texts": 2, "hostile": 1},
    {"cycles": 1, "budget": 3, "texts": 1, "stake": 1, "hostile": 1},
    {"cycles": 2, "budget": 2, "texts": 1, "agents": 3},
)


def comments(system: System[Any, Any, Any, Any, Any]) -> Iterator[Any]:
    """Yield, after every step of walks into FEEDBACK, every possible comment."""
    for run in walks(system, _CYCLES):
        for step in run:
            if step.before.phase == FEEDBACK:
                yield from _tried(system, step)


def _tried(system: Any, step: Any) -> Iterator[Any]:
    for agent in step.config.agents:
        for target in (*(one.uid for one in step.before.proposals), "nothing"):
            for comment in ("x", "xx"):
                act = Feedback(agent.uid, agent.credential, target, comment)
                yield system.take(step.config, step.before, act)


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
            charged() & counted() & burned(),
        ]
    ),
    witness=below(number(0), price()),
    view=view_feedback,
    realise=scene_feedback,
    samples=comments,
    scope="any amounts, lengths and limits",
    mutants=_COMMENTS.refuted(*_COMMENTS),
)
