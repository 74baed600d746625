"""One step of the conviction-staking consensus: one submitted action of one agent, or one tick of the scheduler."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from evenhand.core.records import replace
from evenhand.core.system import Step
from evenhand.model.conviction.clock import acting_completes
from evenhand.model.conviction.exact import exact
from evenhand.model.conviction.points import credit
from evenhand.model.conviction.rules import Rules
from evenhand.model.conviction.ticks import no_action, placed, seated, ticked, with_proposal
from evenhand.model.conviction.vocabulary import (
    ACTED,
    ADMINISTRATOR,
    CLOSED,
    ENROLLED,
    FINALIZE,
    IDLE,
    INVITED,
    READY,
    SCHEDULER,
    STRANGER,
    Act,
    AddStake,
    Config,
    Enrol,
    Event,
    Feedback,
    Invite,
    MoveStake,
    Proposal,
    Propose,
    Revise,
    Seat,
    Shown,
    SignalReady,
    State,
    Tick,
)

ConvictionStep: TypeAlias = Step[Config, State, Act, Shown]
_Done: TypeAlias = tuple[State, list[Event]] | str


def initial(config: Config) -> tuple[State, ...]:
    """The one state before the first tick, in which invited and enrolled agents have their grants."""
    seats: list[Seat] = []
    for agent in config.agents:
        payment = config.constants.invite_payment if agent.granted is None else agent.granted
        granted = credit(config, 0, payment) or 0
        seats.append(Seat(agent.uid, agent.standing, 0 if agent.standing == STRANGER else granted))
    phase = IDLE if config.issues else CLOSED
    return (State(0, phase, 0, tuple(seats), granted=sum(seat.balance for seat in seats)),)


def step(rules: Rules, config: Config, state: State, action: Act) -> tuple[State, Shown]:
    """Take one action; a rejected action logs its named event and changes nothing else."""
    done = _done(rules, config, state, action)
    if not isinstance(done, str):
        return done[0], Shown(rules.logged(tuple(done[1])))
    agent = "" if isinstance(action, Tick) else action.agent
    after = rules.rejected(config, state, agent, done)
    event = Event("Rejected", agent, reason=done, issue=_issue(config, state))
    return after, Shown(rules.logged((event,)), done)


def _issue(config: Config, state: State) -> str:
    return "" if state.phase in (IDLE, CLOSED) else config.issues[state.issue].uid


def _done(rules: Rules, config: Config, state: State, action: Act) -> _Done:
    """The state and events after an action, or the reason why it is rejected."""
    match action:
        case Tick():
            return _tick(rules, config, state, action)
        case Invite():
            return _invite(rules, config, state, action)
        case _:
            pass
    agent, seat = config.agent(action.agent), state.seat(action.agent)
    if agent is None or seat is None:
        return "UnknownAgent"
    if not rules.authenticated(agent, action.credential):
        return "InvalidCredential"
    if isinstance(action, Enrol):
        return _enrol(state, seat)
    if reason := _not_now(state, seat):
        return reason
    if isinstance(action, SignalReady):
        if reason := rules.refuse_ready(config, state, seat, action):
            return reason
        after = seated(state, replace(seat, signal=READY))
        return after, [Event("Ready", seat.agent, issue=_issue(config, state))]
    if reason := rules.refuse_after_ready(config, state, seat):
        return reason
    taken = _payload(rules, config, state, seat, action)
    if isinstance(taken, str):
        return taken
    after, events = taken
    now = after.seat(seat.agent)
    if now is not None and not now.signal and acting_completes(config, state):
        after = seated(after, replace(now, signal=ACTED))
    return after, events


def _enrol(state: State, seat: Seat) -> _Done:
    if seat.standing != INVITED:
        return "AlreadyEnrolled" if seat.standing == ENROLLED else "UnknownAgent"
    return seated(state, replace(seat, standing=ENROLLED)), [Event("Enrolled", seat.agent)]


def _not_now(state: State, seat: Seat) -> str:
    """The reason why this seat may not act in this phase; empty if it may."""
    if seat.standing != ENROLLED:
        return "NotEnrolled"
    if state.phase in (IDLE, CLOSED):
        return "NoOpenIssue"
    if not seat.assigned:
        return "NotAssigned"
    return "WrongPhase" if state.phase == FINALIZE else ""


def _tick(rules: Rules, config: Config, state: State, action: Tick) -> _Done:
    if action.credential != SCHEDULER:
        return "InvalidCredential"
    if state.phase == CLOSED:
        return "NoOpenIssue"
    if state.phase not in (IDLE, FINALIZE):
        done = all(rules.complete(config, state, seat) for seat in state.seats if seat.assigned)
        if not rules.may_tick(config, state, done):
            return "TickRefused"
    return ticked(rules, config, state)


def _invite(rules: Rules, config: Config, state: State, action: Invite) -> _Done:
    if action.credential != ADMINISTRATOR:
        return "InvalidCredential"
    seat = state.seat(action.agent)
    if seat is None:
        return "UnknownAgent"
    if seat.standing != STRANGER:
        return "AlreadyInvited"
    agent = config.agent(action.agent)
    payment = config.constants.invite_payment if agent is None or agent.granted is None else agent.granted
    amount = rules.credit(config, seat.balance, payment)
    if amount is None:
        return "MaximumCreditExceeded"
    after = seated(state, replace(seat, standing=INVITED, balance=exact(seat.balance + amount)))
    after = replace(after, granted=exact(after.granted + amount))
    return after, [Event("Credit", action.agent, amount=amount, reason="Invitation")]


def _payload(
    rules: Rules,
    config: Config,
    state: State,
    seat: Seat,
    action: Propose | Feedback | Revise | AddStake | MoveStake,
) -> _Done:
    match action:
        case Propose():
            return rules.refuse_propose(config, state, seat, action) or _propose(rules, config, state, seat, action)
        case Feedback():
            return rules.refuse_feedback(config, state, seat, action) or _feedback(rules, config, state, seat, action)
        case Revise():
            return rules.refuse_revise(config, state, seat, action) or _revise(rules, config, state, seat, action)
        case AddStake():
            return rules.refuse_add(config, state, seat, action) or _add(rules, config, state, seat, action)
        case MoveStake():
            return rules.refuse_move(config, state, seat, action) or _move(rules, config, state, seat, action)


def _propose(rules: Rules, config: Config, state: State, seat: Seat, action: Propose) -> _Done:
    if action.text is None:
        return no_action(rules, config, state, seat.agent, substituted=False)
    agent = config.agent(seat.agent)
    assert agent is not None
    state = seated(state, replace(seat, proposal=seat.agent))
    state = with_proposal(state, Proposal(seat.agent, seat.agent, action.text))
    data = (("author", rules.author(agent)), ("text", action.text))
    events = [Event("ProposalCreated", seat.agent, seat.agent, issue=_issue(config, state), data=data)]
    if config.readings.self_stake != "at_stake_1":
        state, more = placed(rules, config, state, seat.agent, False)
        events += more
    return state, events


def _feedback(rules: Rules, config: Config, state: State, seat: Seat, action: Feedback) -> _Done:
    price, issue = config.constants.feedback_stake, _issue(config, state)
    after = seated(
        state,
        replace(seat, balance=exact(rules.pays(config, seat.balance, price)), feedback=seat.feedback + 1),
    )
    after = replace(after, burned=exact(state.burned + price))
    given = Event("Feedback", seat.agent, action.proposal, issue=issue, data=(("comment", action.comment),))
    burn = [Event("Burn", seat.agent, "", price, "FeedbackStake", issue)] if price else []
    return after, [given, *burn]


def _revise(rules: Rules, config: Config, state: State, seat: Seat, action: Revise) -> _Done:
    own = state.proposal(seat.proposal)
    assert own is not None and own.text is not None
    change = rules.delta(config, own.text, action.text)
    price = rules.cost(config, change)
    tapped = rules.tapped(config, state, seat, price)
    if tapped is None:
        return "InsufficientCredit"
    entries, withdrawn = tapped
    issue = _issue(config, state)
    burns = config.readings.revision_cost == "burned"
    back = rules.refund(config, own.text, action.text)
    after = with_proposal(state, replace(own, text=action.text))
    after = seated(after, replace(seat, balance=exact(seat.balance + withdrawn - price + back)))
    after = replace(after, entries=entries, burned=exact(state.burned + price) if burns else state.burned)
    data = (("delta", exact(change)), ("cost", price), ("withdrawn", withdrawn), ("text", action.text))
    events = [Event("Revision", seat.agent, own.uid, issue=issue, data=data)]
    if withdrawn:
        events.append(Event("Withdrawn", seat.agent, own.uid, withdrawn, "AutoStakeTap", issue))
    if price:
        kind = "Burn" if burns else "Deducted"
        events.append(Event(kind, seat.agent, "", price, "RevisionCost", issue))
    return after, events


def _add(rules: Rules, config: Config, state: State, seat: Seat, action: AddStake) -> _Done:
    amount = exact(action.amount)
    after = seated(state, replace(seat, balance=exact(seat.balance - amount)))
    after = replace(
        after,
        entries=rules.added(config, state.entries, seat.agent, action.proposal, amount),
        proposals=rules.touched(config, state.proposals, "add", action.proposal),
    )
    return after, [Event("Staked", seat.agent, action.proposal, amount, "AddStake", _issue(config, state))]


def _move(rules: Rules, config: Config, state: State, seat: Seat, action: MoveStake) -> _Done:
    amount = exact(action.amount)
    proposals = rules.touched(config, state.proposals, "out", action.source)
    after = replace(
        state,
        entries=rules.moved(config, state.entries, seat.agent, action.source, action.target, amount),
        proposals=rules.touched(config, proposals, "in", action.target),
    )
    data = (("source", action.source),)
    return after, [Event("Moved", seat.agent, action.target, amount, "MoveStake", _issue(config, state), data)]


def wants(_config: Config, state: State) -> bool:
    """Whether an Issue is open or still to come."""
    return state.phase != CLOSED


def progress(taken: ConvictionStep) -> bool:
    """Whether the step began another phase."""
    return (taken.before.issue, taken.before.phase, taken.before.turn) != (
        (taken.after.issue, taken.after.phase, taken.after.turn)
    )


def smaller(config: Config, _start: State) -> Iterator[tuple[Config, State]]:
    """Yield smaller configurations with their initial states: fewer Issues, cycles, agents, then STAKE rounds."""
    for less in _less(config):
        yield less, initial(less)[0]


def _less(config: Config) -> Iterator[Config]:
    if len(config.issues) > 1:
        yield replace(config, issues=config.issues[:-1])
        yield replace(config, issues=config.issues[1:])
    for place, issue in enumerate(config.issues):
        if issue.cycles:
            fewer = replace(issue, cycles=issue.cycles - 1)
            yield replace(config, issues=(*config.issues[:place], fewer, *config.issues[place + 1 :]))
    if len(config.agents) > 1:
        for gone in reversed(config.agents):
            yield replace(
                config,
                agents=tuple(agent for agent in config.agents if agent != gone),
                issues=tuple(
                    replace(issue, assigned=tuple(uid for uid in issue.assigned if uid != gone.uid))
                    for issue in config.issues
                ),
            )
    if config.rounds > 1:
        yield replace(config, constants=replace(config.constants, stake_rounds=config.rounds - 1))
