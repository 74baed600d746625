"""Who gets through: whoever meets every condition of an action; and whoever does not, hears a reason that applies."""

from __future__ import annotations

from fractions import Fraction

from evenhand.core.property import each_step
from evenhand.model.conviction.vocabulary import (
    ADMINISTRATOR,
    CLOSED,
    ENROLLED,
    FEEDBACK,
    FINALIZE,
    INVITED,
    PROPOSE,
    READY,
    REVISE,
    SCHEDULER,
    STAKE,
    STRANGER,
    AddStake,
    Enrol,
    Feedback,
    Invite,
    MoveStake,
    Propose,
    Revise,
    SignalReady,
    Tick,
)
from evenhand.properties.conviction.predicates import (
    OPEN,
    RunStep,
    changed,
    on_configs,
    owned,
    seat_of,
    total,
)


def _may_act(step: RunStep) -> bool:
    """An agent with its credential that is enrolled, assigned, in an open Issue and has not signalled READY."""
    uid = getattr(step.action, "agent", "")
    agent, seat = step.config.agent(uid), step.before.seat(uid)
    if agent is None or seat is None or isinstance(step.action, Tick):
        return False
    lawful = step.action.credential == agent.credential and seat.standing == ENROLLED and seat.assigned
    return lawful and step.before.phase in OPEN and seat.signal != READY


def _lawful(step: RunStep) -> bool:
    """Whether an action of such an agent meets every condition of its section."""
    action, state, c = step.action, step.before, step.config.constants
    seat = seat_of(state, getattr(action, "agent", ""))
    match action:
        case SignalReady():
            return state.phase != PROPOSE or bool(seat.proposal)
        case Propose(_, _, text):
            whole = text is None or not text.missing
            rich = seat.balance >= c.self_stake or step.config.readings.poor_proposer != "reject"
            return state.phase == PROPOSE and not seat.proposal and whole and rich and not _repeats(step)
        case Feedback(_, _, proposal, comment):
            target = state.proposal(proposal)
            fits = len(comment) <= c.feedback_length and seat.feedback < c.feedback_limit
            foreign = target is not None and target.author != seat.agent and target.text is not None
            return state.phase == FEEDBACK and foreign and fits and seat.balance >= c.feedback_stake
        case Revise(_, _, text):
            own = state.proposal(seat.agent)
            means = seat.balance + total(owned(state, seat.agent, seat.agent).values())
            if state.phase != REVISE or own is None or own.text is None or text.missing or means < 0:
                return False
            return means >= c.self_stake * max(changed(step.config, own.text, text), Fraction(1))
        case AddStake(_, _, proposal, amount):
            return _changes(step) and state.proposal(proposal) is not None and 0 < amount <= seat.balance
        case MoveStake(_, _, source, target, amount):
            both = source != target and None not in (state.proposal(source), state.proposal(target))
            return _changes(step) and both and 0 < amount <= total(owned(state, seat.agent, source).values())
        case _:
            return False


def _repeats(step: RunStep) -> bool:
    """Whether somebody has proposed the same text, where proposals must be unique (6.1)."""
    text = getattr(step.action, "text", None)
    distinct = text is not None and step.config.readings.unique_proposal == "distinct_texts"
    return distinct and text in [one.text for one in step.before.proposals]


def _changes(step: RunStep) -> bool:
    """Stakes change from the second round on, where the text offers it (A 16.3)."""
    return step.config.readings.text != "B" and step.before.phase == STAKE and step.before.turn >= 2


@each_step(
    "Whoever meets every condition of an action gets through.",
    source="6.1, 9.2, 11, 14, A 16.3",
    when=lambda step: _may_act(step) and _lawful(step),
)
def lawful_actions_are_accepted(step: RunStep) -> bool:
    """A kernel that rejects everything is no kernel."""
    return not step.shown.rejected


@each_step(
    "An invited agent with its credential enrols, and the administrator's invitation of a stranger is accepted if "
    "there is room for the grant.",
    source="1.1, 7.1",
    when=lambda step: isinstance(step.action, Enrol | Invite),
    applies=on_configs(lambda config: config.readings.max_credit != "reject"),
)
def invitation_and_enrolment_succeed(step: RunStep) -> bool:
    """And nobody else enrols or is invited."""
    action = step.action
    assert isinstance(action, Enrol | Invite)
    agent, seat = step.config.agent(action.agent), step.before.seat(action.agent)
    if agent is None or seat is None:
        return bool(step.shown.rejected)
    if isinstance(action, Enrol):
        due = seat.standing == INVITED and action.credential == agent.credential
    else:
        due = seat.standing == STRANGER and action.credential == ADMINISTRATOR
    return due == (not step.shown.rejected)


def _cause(step: RunStep) -> bool:
    """Whether what the reason of a rejection says is so."""
    action, state, config = step.action, step.before, step.config
    uid, credential = getattr(action, "agent", ""), action.credential
    agent, seat = config.agent(uid), state.seat(uid)
    reason = step.shown.rejected
    if reason == "InvalidCredential":
        key = "" if agent is None else agent.credential
        return credential != (
            SCHEDULER if isinstance(action, Tick) else ADMINISTRATOR if isinstance(action, Invite) else key
        )
    if isinstance(action, Tick):
        return {"NoOpenIssue": state.phase == CLOSED, "TickRefused": config.readings.clock != "free_running"}[reason]
    if seat is None:
        return reason == "UnknownAgent"
    named = [getattr(action, name) for name in ("proposal", "source", "target") if hasattr(action, name)]
    text = getattr(action, "text", None)
    own = state.proposal(seat.proposal)
    about = state.proposal(named[0]) if isinstance(action, Feedback) else own
    stake = total(owned(state, uid, getattr(action, "source", "")).values())
    due = {
        "UnknownAgent": agent is None or seat.standing == STRANGER,
        "NotEnrolled": seat.standing != ENROLLED,
        "AlreadyEnrolled": seat.standing == ENROLLED,
        "AlreadyInvited": seat.standing != STRANGER,
        "NoOpenIssue": state.phase not in (*OPEN, FINALIZE),
        "NotAssigned": not seat.assigned,
        "WrongPhase": state.phase != _PHASE.get(type(action), "") or (state.phase == STAKE and state.turn < 2),
        "AlreadyReady": seat.signal == READY,
        "PayloadRequired": state.phase == PROPOSE and not seat.proposal,
        "SecondProposal": bool(seat.proposal),
        "MissingField": text is not None and bool(text.missing),
        "NotUnique": _repeats(step),
        "UnknownProposal": any(state.proposal(one) is None for one in named) or (not named and own is None),
        "OwnProposal": about is not None and about.author == uid,
        "CanonicalProposal": about is not None and about.text is None,
        "FeedbackTooLong": len(getattr(action, "comment", "")) > config.constants.feedback_length,
        "FeedbackLimitReached": seat.feedback >= config.constants.feedback_limit,
        "NotOffered": config.readings.text == "B",
        "SameProposal": len(named) == 2 and named[0] == named[1],
        "InsufficientStake": stake < getattr(action, "amount", 0),
        "InvalidAmount": not getattr(action, "amount", 0) > 0,
    }
    return due.get(reason, True)


_PHASE: dict[type, str] = {
    Propose: PROPOSE,
    Feedback: FEEDBACK,
    Revise: REVISE,
    AddStake: STAKE,
    MoveStake: STAKE,
}


@each_step(
    "A rejection gives a reason that applies.",
    source="1.2, 6.1, 7, 8.1, 9.2, 11, 14, A 16.3",
    when=lambda step: bool(step.shown.rejected),
)
def rejections_have_their_cause(step: RunStep) -> bool:
    """Where credit is short, `points`, `proposing` and `lawful_actions_are_accepted` say so."""
    return _cause(step)


@each_step(
    "Whoever gets through is enrolled and assigned in an open Issue, and meets the conditions of its action: its first "
    "proposal in PROPOSE, with every mandatory field; READY in PROPOSE after a proposal; a revision in REVISE, of a "
    "text of its own, with every mandatory field; a change of stakes in STAKE, from and to proposals that exist.",
    source="6.1, 7.1, 7.2, 8.1, 9.2, 14, A 16.3",
    when=lambda step: not step.shown.rejected and not isinstance(step.action, Tick | Invite | Enrol),
)
def accepted_actions_are_lawful(step: RunStep) -> bool:
    """Who may not act after READY, what feedback must be, and who can pay is claimed elsewhere."""
    action, state = step.action, step.before
    seat = state.seat(getattr(action, "agent", ""))
    if seat is None or seat.standing != ENROLLED or not seat.assigned or state.phase not in OPEN:
        return False
    match action:
        case SignalReady():
            return state.phase != PROPOSE or bool(seat.proposal)
        case Propose(_, _, text):
            return state.phase == PROPOSE and not seat.proposal and (text is None or not text.missing)
        case Revise(_, _, text):
            own = state.proposal(seat.proposal)
            return state.phase == REVISE and own is not None and own.text is not None and not text.missing
        case AddStake(_, _, proposal):
            return _changes(step) and state.proposal(proposal) is not None
        case MoveStake(_, _, source, target):
            return _changes(step) and None not in (state.proposal(source), state.proposal(target))
        case _:
            return True


ADMITTED = (
    rejections_have_their_cause,
    lawful_actions_are_accepted,
    accepted_actions_are_lawful,
    invitation_and_enrolment_succeed,
)
"""The claims that hostile actions may refute."""
