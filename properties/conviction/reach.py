"""Reachability: a model that refuses everything satisfies every safety claim, so each event must be seen to occur."""

from __future__ import annotations

import re

from evenhand.core.plan import undecided
from evenhand.core.property import Reachable, reachable
from evenhand.model.conviction.vocabulary import REJECTIONS, MoveStake, Revise, Tick
from evenhand.properties.conviction.predicates import RunStep, accepted, actor, events, finalizes, ticking
from evenhand.properties.conviction.winning import contested

_UNDER_A_READING = ("MaximumCreditExceeded", "NotOffered", "NotUnique", "TickRefused")
"""Rejections that only occur under other readings; `run` is sampled under the default."""


_SOURCES = {
    "InvalidCredential": "1.2",
    "UnknownAgent": "1.1",
    "AlreadyInvited": "1.1",
    "MaximumCreditExceeded": "4.4",
    "AlreadyEnrolled": "7.1",
    "NotEnrolled": "7.1",
    "NoOpenIssue": "7.2",
    "NotAssigned": "7.2",
    "WrongPhase": "12",
    "AlreadyReady": "9.2",
    "PayloadRequired": "9.2",
    "SecondProposal": "6.1",
    "MissingField": "8.1",
    "NotUnique": "6.1",
    "UnknownProposal": "11.1",
    "OwnProposal": "11.1",
    "CanonicalProposal": "11.1",
    "FeedbackTooLong": "11.6",
    "FeedbackLimitReached": "11.5",
    "InsufficientCredit": "11.4, 14.2, A 16.5",
    "NotOffered": "A 16.3",
    "InvalidAmount": "A 16.3",
    "SameProposal": "A 16.3",
    "InsufficientStake": "A 16.3",
    "TickRefused": "9.1",
}
"""The sentence that each rejection enforces."""


def _rejection(name: str) -> Reachable:
    return Reachable(
        name=re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower() + "_occurs",
        sentence=f"An action can be rejected as {name}.",
        source=_SOURCES[name],
        systems=("issue",) if name in _UNDER_A_READING else ("run", "issue"),
        goal=lambda step: step.shown.rejected == name,
    )


REJECTED = tuple(_rejection(name) for name in REJECTIONS)
"""One reachability claim for each rejection."""


def _tie(step: RunStep) -> str:
    return next(events(step.shown, "Finalize")).reason if finalizes(step) else ""


@reachable("A proposal can win.", source="17.2")
def an_issue_is_decided(step: RunStep) -> bool:
    """The score alone decides."""
    return _tie(step) == "highest score"


@reachable(
    "A tie can be decided by LastStakeTick.",
    source="17.3",
    expected=(undecided("a hundred drawn runs meet such a tie under every second seed", system="run", engine="fuzz"),),
)
def time_decides(step: RunStep) -> bool:
    """The Finalize event names LastStakeTick as the reason."""
    return _tie(step) == "earliest LastStakeTick"


@reachable("A full tie can leave no winner.", source="17.3")
def nobody_wins(step: RunStep) -> bool:
    """This is the default reading of a full tie."""
    return _tie(step) == "full tie"


@reachable("Two proposals can share the top score.", source="17.3")
def proposals_tie(step: RunStep) -> bool:
    """The reading decides the winner."""
    return contested(step)


@reachable("A revision can be paid out of one's own stake.", source="14.2")
def a_revision_taps(step: RunStep) -> bool:
    """The tap pays at least a part."""
    return accepted(step, Revise) and any(events(step.shown, "Withdrawn"))


@reachable("Stake that has aged can be moved.", source="A 16.3")
def a_move_resets(step: RunStep) -> bool:
    """The mover owns some stake that has aged."""
    who = actor(step.action)
    return accepted(step, MoveStake) and any(e.held and e.owner == who for e in step.before.entries)


@reachable("An agent can be kicked out.", source="9.3")
def an_agent_is_kicked_out(step: RunStep) -> bool:
    """A tick kicks an agent out."""
    return accepted(step, Tick) and any(events(step.shown, "KickOut"))


@reachable("A tick can leave a phase as it is.", source="9.1")
def a_phase_goes_on(step: RunStep) -> bool:
    """The turn stays the same, too."""
    return ticking(step) and (step.before.phase, step.before.turn) == (step.after.phase, step.after.turn)
