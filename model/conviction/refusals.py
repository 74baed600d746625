"""Reasons to reject an action; the first that applies is logged, the empty text means none."""

from __future__ import annotations

from evenhand.model.conviction.exact import is_amount
from evenhand.model.conviction.points import self_stake, staked
from evenhand.model.conviction.vocabulary import (
    FEEDBACK,
    PROPOSE,
    READY,
    REVISE,
    STAKE,
    AddStake,
    Config,
    Feedback,
    MoveStake,
    Propose,
    Revise,
    Seat,
    SignalReady,
    State,
)


def after_ready(config: Config, _state: State, seat: Seat) -> str:
    """Reject any action after READY, which confirms completion (9.2)."""
    return "AlreadyReady" if seat.signal == READY and config.readings.act_after_ready == "rejected" else ""


def ready(_config: Config, state: State, seat: Seat, _action: SignalReady) -> str:
    """Require READY once in a tick and, in PROPOSE, a proposal before it (9.2)."""
    if state.phase == PROPOSE and not seat.proposal:
        return "PayloadRequired"
    return "AlreadyReady" if seat.signal == READY else ""


def propose(config: Config, state: State, seat: Seat, action: Propose) -> str:
    """Require one proposal (6.1), all mandatory fields (8.1) and, as read, another text and the whole self-stake."""
    if state.phase != PROPOSE:
        return "WrongPhase"
    if seat.proposal:
        return "SecondProposal"
    if action.text is not None and action.text.missing:
        return "MissingField"
    distinct = config.readings.unique_proposal == "distinct_texts" and action.text is not None
    if distinct and any(one.text == action.text for one in state.proposals):
        return "NotUnique"
    refused = config.readings.self_stake != "at_stake_1" and self_stake(config, seat.balance, False) is None
    return "InsufficientCredit" if refused else ""


def feedback(config: Config, state: State, seat: Seat, action: Feedback) -> str:
    """Require another's proposal, a short comment, the limit and the price (11)."""
    if state.phase != FEEDBACK:
        return "WrongPhase"
    target = state.proposal(action.proposal)
    if target is None:
        return "UnknownProposal"
    if target.author == seat.agent:
        return "OwnProposal"
    if target.text is None and config.readings.feedback_on_no_action == "rejected":
        return "CanonicalProposal"
    if len(action.comment) > config.constants.feedback_length:
        return "FeedbackTooLong"
    if seat.feedback >= config.constants.feedback_limit:
        return "FeedbackLimitReached"
    return "InsufficientCredit" if seat.balance < config.constants.feedback_stake else ""


def revise(_config: Config, state: State, seat: Seat, action: Revise) -> str:
    """Require one's own text and all mandatory fields; the cost is checked later, once it is known."""
    if state.phase != REVISE:
        return "WrongPhase"
    own = state.proposal(seat.proposal)
    if own is None:
        return "UnknownProposal"
    if own.text is None:
        return "CanonicalProposal"
    return "MissingField" if action.text.missing else ""


def _staking(config: Config, state: State) -> str:
    if not config.readings.stakes_can_change:
        return "NotOffered"
    return "" if state.phase == STAKE and state.turn > 1 else "WrongPhase"


def add(config: Config, state: State, seat: Seat, action: AddStake) -> str:
    """Require a known proposal, round two or later and liquid balance (A 16.3, 16.5)."""
    if reason := _staking(config, state):
        return reason
    if state.proposal(action.proposal) is None:
        return "UnknownProposal"
    if not is_amount(action.amount):
        return "InvalidAmount"
    return "InsufficientCredit" if seat.balance < action.amount else ""


def move(config: Config, state: State, seat: Seat, action: MoveStake) -> str:
    """Require two different proposals, round two or later and one's own stake (A 16.3)."""
    if reason := _staking(config, state):
        return reason
    if state.proposal(action.source) is None or state.proposal(action.target) is None:
        return "UnknownProposal"
    if action.source == action.target:
        return "SameProposal"
    if not is_amount(action.amount):
        return "InvalidAmount"
    return "InsufficientStake" if staked(state, seat.agent, action.source) < action.amount else ""
