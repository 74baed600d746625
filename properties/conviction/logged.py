"""What each accepted action does and what its events say: to what, by whom, at what cost; and who must get through.

The amounts of points are claimed in `points`: there the log replays to the state.
"""

from __future__ import annotations

from typing import TypeAlias

from evenhand.core.property import each_step
from evenhand.core.records import replace
from evenhand.model.conviction.vocabulary import (
    CLOSED,
    ENROLLED,
    FINALIZE,
    IDLE,
    INVITED,
    NO_ACTION,
    PROPOSE,
    READY,
    AddStake,
    Enrol,
    Event,
    Feedback,
    Invite,
    MoveStake,
    Propose,
    Revise,
    Seat,
    SignalReady,
    State,
    Tick,
)
from evenhand.properties.conviction.predicates import (
    OPEN,
    RunStep,
    accepted,
    acting_is_enough,
    changed,
    events,
    owned,
    phase_ends,
    phases,
    price,
    seat_of,
    ticking,
    total,
)

Said: TypeAlias = tuple[str, str, str, str, str]
"""An event without amount and data: kind, agent, proposal, reason, Issue."""


def _by_agent(step: RunStep) -> bool:
    return not step.shown.rejected and not isinstance(step.action, Tick)


def _issue(step: RunStep) -> str:
    """The open Issue; empty between Issues and after the last."""
    return step.config.issues[step.before.issue].uid if step.before.phase in (*OPEN, FINALIZE) else ""


def _said(event: Event) -> Said:
    return event.kind, event.agent, event.proposal, event.reason, event.issue


def _own(state: State, agent: str) -> str:
    return seat_of(state, agent).proposal


def _due(step: RunStep) -> list[Said]:
    """The events that an accepted action must log (13.1)."""
    action, issue = step.action, _issue(step)
    config = step.config
    match action:
        case Invite(agent):
            return [("Credit", agent, "", "Invitation", "")]
        case Enrol(agent):
            return [("Enrolled", agent, "", "", "")]
        case SignalReady(agent):
            return [("Ready", agent, "", "", issue)]
        case Propose(agent, _, text):
            uid = _own(step.after, agent)
            made = ("ProposalCreated", agent, uid, "NoAction" if text is None else "", issue)
            staked = total(owned(step.after, agent, uid).values()) != total(owned(step.before, agent, uid).values())
            return [made, ("Staked", agent, uid, "SelfStake", issue)] if staked else [made]
        case Feedback(agent, _, proposal):
            paid = [("Burn", agent, "", "FeedbackStake", issue)] if config.constants.feedback_stake else []
            return [("Feedback", agent, proposal, "", issue), *paid]
        case Revise(agent):
            said = [("Revision", agent, agent, "", issue)]
            if total(owned(step.after, agent, agent).values()) != total(owned(step.before, agent, agent).values()):
                said.append(("Withdrawn", agent, agent, "AutoStakeTap", issue))
            if price(step):
                kind = "Burn" if config.readings.revision_cost == "burned" else "Deducted"
                said.append((kind, agent, "", "RevisionCost", issue))
            return said
        case AddStake(agent, _, proposal):
            return [("Staked", agent, proposal, "AddStake", issue)]
        case MoveStake(agent, _, _, target):
            return [("Moved", agent, target, "MoveStake", issue)]
        case Tick():
            return []


@each_step(
    "The events of an accepted action say what was done, by whom, to which proposal, in which Issue; there is no more.",
    source="13.1, 13.2",
    when=_by_agent,
)
def events_say_what_was_done(step: RunStep) -> bool:
    """Kind, agent, proposal, reason and Issue of every event."""
    return list(map(_said, step.shown.events)) == _due(step)


@each_step(
    "A Feedback event holds the comment, a Revision its delta and text, a ProposalCreated author and text, a Moved its "
    "source, and the amounts are those of the action.",
    source="8.1, 11.3, 14.3, A 16.3",
    when=lambda step: accepted(step, Propose, Feedback, Revise, AddStake, MoveStake),
)
def events_hold_what_was_submitted(step: RunStep) -> bool:
    """The fields that only this kind of event has."""
    event = step.shown.events[0] if step.shown.events else Event("")
    match step.action:
        case Propose(agent, _, text):
            return text is None or (event.get("text"), event.get("author")) == (text, agent)
        case Feedback(_, _, _, comment):
            return bool(event.get("comment") == comment)
        case Revise(agent, _, text):
            own = step.before.proposal(agent)
            share = None if own is None or own.text is None else changed(step.config, own.text, text)
            return (event.get("delta"), event.get("text")) == (share, text)
        case AddStake(_, _, _, amount):
            return event.amount == amount
        case MoveStake(_, _, source, _, amount):
            return (event.get("source"), event.amount) == (source, amount)
        case _:
            return True


@each_step(
    "A rejection names the agent and the open Issue.",
    source="11.4, 14.2, 16.5",
    when=lambda step: bool(step.shown.rejected) and not isinstance(step.action, Tick),
)
def rejections_name_their_agent(step: RunStep) -> bool:
    """Its reason is claimed in `rejected_actions_change_nothing`."""
    named = [(event.agent, event.issue) for event in step.shown.events]
    return named == [(getattr(step.action, "agent", ""), _issue(step))]


# Effects.


def _seat(step: RunStep) -> Seat:
    """The seat that the actor must have after its action, but for its points."""
    action, before = step.action, seat_of(step.before, getattr(step.action, "agent", ""))
    after = seat_of(step.after, before.agent)
    acted = "acted" if acting_is_enough(step.config, step.before) and not before.signal else before.signal
    match action:
        case Invite():
            return replace(before, standing=INVITED, balance=after.balance)
        case Enrol():
            return replace(before, standing=ENROLLED)
        case SignalReady():
            return replace(before, signal=READY)
        case Propose(_, _, text):
            shared = text is None and step.config.readings.no_action == "shared"
            uid = NO_ACTION if shared else before.agent
            return replace(before, proposal=uid, signal=acted, balance=after.balance)
        case Feedback():
            paid = before.balance - step.config.constants.feedback_stake
            return replace(before, signal=acted, balance=paid, feedback=before.feedback + 1)
        case Revise() | AddStake():
            return replace(before, signal=acted, balance=after.balance)
        case _:
            return replace(before, signal=acted)


@each_step(
    "An accepted action gives its agent the standing, proposal, signal and count that it is about, and leaves every "
    "other agent, the phase and the turn alone.",
    source="1.2, 6.1, 7.1, 9.2, 11.5",
    when=_by_agent,
)
def an_action_concerns_its_agent_alone(step: RunStep) -> bool:
    """READY costs nothing."""
    uid = getattr(step.action, "agent", "")
    others = [(seat, seat_of(step.after, seat.agent)) for seat in step.before.seats if seat.agent != uid]
    before, after = step.before, step.after
    clock = (before.issue, before.phase, before.turn) == (after.issue, after.phase, after.turn)
    return clock and all(one == other for one, other in others) and seat_of(after, uid) == _seat(step)


@each_step(
    "An accepted action creates the proposal, changes the text or the stake that it names, and nothing else of the "
    "kind.",
    source="6.1, 8.1, 14, A 16.3",
    when=_by_agent,
)
def an_action_changes_what_it_names(step: RunStep) -> bool:
    """Proposals by text and author; the agent's own stake by proposal."""
    action, uid = step.action, getattr(step.action, "agent", "")
    texts = {one.uid: (one.author, one.text, one.substituted) for one in step.before.proposals}
    touched: set[str] = set()
    match action:
        case Propose(_, _, text):
            touched = {_own(step.after, uid)}
            shared = text is None and step.config.readings.no_action == "shared"
            texts.setdefault(NO_ACTION if shared else uid, ("" if shared else uid, text, False))
        case Revise(_, _, text):
            touched = {uid}
            author, _, substituted = texts[uid]
            texts[uid] = (author, text, substituted)
        case AddStake(_, _, proposal):
            touched = {proposal}
        case MoveStake(_, _, source, target):
            touched = {source, target}
        case _:
            pass
    now = {one.uid: (one.author, one.text, one.substituted) for one in step.after.proposals}
    elsewhere = [one.uid for one in step.after.proposals if one.uid not in touched]
    stays = all(owned(step.before, uid, one) == owned(step.after, uid, one) for one in elsewhere)
    return now == texts and stays


# Ticks.


@each_step(
    "A tick inside an Issue is logged as such; a new phase or turn is announced with both, and nothing else is.",
    source="9.4, 12, 13.1",
    when=ticking,
)
def phases_are_announced(step: RunStep) -> bool:
    """One PhaseBegan event if the phase or turn changes."""
    found = step.shown.events
    began = [(one.reason, one.get("turn"), one.issue) for one in events(step.shown, "PhaseBegan")]
    before, after = step.before, step.after
    new = (before.phase, before.turn) != (after.phase, after.turn)
    due = [(after.phase, after.turn, _issue(step))] if new else []
    ticks = [_said(one) for one in events(step.shown, "Tick")]
    return bool(found) and began == due and ticks == [("Tick", "", "", "", _issue(step))]


@each_step(
    "The tick that opens an Issue publishes its fields and seats exactly its enrolled agents; one without a mandatory "
    "field is refused.",
    source="3.2, 7.2, 13.1",
    when=lambda step: accepted(step, Tick) and step.before.phase == IDLE,
)
def issues_are_opened_whole(step: RunStep) -> bool:
    """PROPOSE begins at once."""
    issue = step.config.issues[step.before.issue]
    said = list(map(_said, step.shown.events))
    if issue.problem is None or issue.background is None:
        return said == [("IssueRefused", "", "", "MissingField", issue.uid)] and step.after.issue > step.before.issue
    opened = step.shown.events[0] if step.shown.events else Event("")
    whole = (opened.get("problem"), opened.get("background")) == (issue.problem, issue.background)
    inside = {seat.agent for seat in step.after.seats if seat.assigned}
    due = {seat.agent for seat in step.before.seats if seat.standing == ENROLLED and seat.agent in issue.assigned}
    told = said == [("IssueOpened", "", "", "", issue.uid), ("PhaseBegan", "", "", PROPOSE, issue.uid)]
    return whole and told and inside == due and step.after.phase == PROPOSE


@each_step(
    "Every event of a tick inside an Issue, and of the tick that finalizes it, names that Issue.",
    source="13.2, 17.4, 18.2",
    when=lambda step: accepted(step, Tick) and step.before.phase in (*OPEN, FINALIZE),
)
def events_of_a_tick_name_the_issue(step: RunStep) -> bool:
    """The next Issue is opened by a tick of its own."""
    return all(event.issue == _issue(step) for event in step.shown.events)


@each_step(
    "A tick inside an Issue keeps standings, seats, texts and counts of feedback; it gives a proposal only to those "
    "who are kicked out in PROPOSE.",
    source="6.2, 9.3, 9.4",
    when=ticking,
)
def ticks_keep_what_agents_did(step: RunStep) -> bool:
    """Points, timers and signals are claimed elsewhere."""
    late = {event.agent for event in events(step.shown, "KickOut")} if step.before.phase == PROPOSE else set[str]()
    for seat in step.before.seats:
        now = seat_of(step.after, seat.agent)
        kept = (seat.standing, seat.assigned, seat.feedback) == (now.standing, now.assigned, now.feedback)
        if not kept or (now.proposal != seat.proposal and seat.agent not in late):
            return False
    known = {one.uid: (one.author, one.text, one.substituted) for one in step.before.proposals}
    staked = step.config.readings.last_stake_tick == "self_stake_too"
    shared = step.config.readings.no_action == "shared"
    made = {event.proposal for event in events(step.shown, "ProposalCreated")}
    for one in step.after.proposals:
        default = ("" if shared else one.uid, None, not shared)
        if (one.author, one.text, one.substituted) != known.pop(one.uid, default if one.uid in made else None):
            return False
        if one.uid in made and step.before.proposal(one.uid) is None and one.last is not None and not staked:
            return False
    return not known


def _clock(step: RunStep) -> tuple[int, str, int]:
    """Issue, phase and turn after a step (12, 16.1)."""
    before, config = step.before, step.config
    now = (before.issue, before.phase, before.turn)
    if not accepted(step, Tick):
        return now
    issue = config.issues[before.issue]
    awaiting = (before.issue + 1, IDLE if before.issue + 1 < len(config.issues) else CLOSED, 0)
    if before.phase == IDLE:
        return awaiting if issue.problem is None or issue.background is None else (before.issue, PROPOSE, 0)
    if before.phase == FINALIZE:
        return awaiting
    order = phases(config, issue)
    place = order.index((before.phase, before.turn))
    return (before.issue, *order[place + 1]) if phase_ends(config, before) else now


@each_step(
    "Issue, phase and turn after every step are those that the clock wants: an Issue opens in PROPOSE, a phase that "
    "ends is followed by the next, and a finalized Issue by the next Issue.",
    source="9.1, 12, 16.1, 18.1",
)
def the_clock_moves_as_stated(step: RunStep) -> bool:
    """Nothing but an accepted tick moves it."""
    after = step.after
    return (after.issue, after.phase, after.turn) == _clock(step)


@each_step(
    "Between Issues a seat holds standing and balance alone, and no proposal or stake is left.",
    source="18.1, 18.2",
    when=lambda step: step.after.phase in (IDLE, CLOSED),
)
def nothing_is_left_between_issues(step: RunStep) -> bool:
    """Balances persist, as claimed in `points`."""
    bare = all(seat == Seat(seat.agent, seat.standing, seat.balance) for seat in step.after.seats)
    return bare and not step.after.proposals and not step.after.entries


@each_step(
    "Only an addition, a move or a self-stake touches a LastStakeTick before the tick.",
    source="17.3",
    when=lambda step: not isinstance(step.action, Tick),
)
def other_actions_touch_no_stake_tick(step: RunStep) -> bool:
    """Which of them do, and how, is claimed in `winning`."""
    if accepted(step, AddStake, MoveStake, Propose):
        return True
    last = {one.uid: one.last for one in step.before.proposals}
    return all(one.last == last.get(one.uid) for one in step.after.proposals)


LOGGED = (
    events_say_what_was_done,
    rejections_name_their_agent,
    an_action_concerns_its_agent_alone,
    an_action_changes_what_it_names,
)
"""The claims that hostile actions may refute."""
