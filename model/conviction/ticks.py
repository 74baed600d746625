"""The effect of a tick: open an Issue, count laggards, substitute, end a phase, finalize (3, 9, 12, 16.1, 17, 18)."""

from __future__ import annotations

from evenhand.core.records import replace
from evenhand.model.conviction.exact import exact
from evenhand.model.conviction.points import joined
from evenhand.model.conviction.rules import Rules
from evenhand.model.conviction.vocabulary import (
    CLOSED,
    ENROLLED,
    IDLE,
    NO_ACTION,
    PROPOSE,
    STAKE,
    Config,
    Entry,
    Event,
    Proposal,
    Seat,
    State,
)


def seated(state: State, seat: Seat) -> State:
    """The state with one seat replaced."""
    return replace(state, seats=tuple(seat if one.agent == seat.agent else one for one in state.seats))


def with_proposal(state: State, proposal: Proposal) -> State:
    """The state with a proposal added or replaced."""
    kept = [one for one in state.proposals if one.uid != proposal.uid]
    return replace(state, proposals=tuple(sorted([*kept, proposal], key=lambda one: one.uid)))


def placed(rules: Rules, config: Config, state: State, agent: str, substituted: bool) -> tuple[State, list[Event]]:
    """The state and events after an agent's automatic self-stake on its proposal (6.2, A 16.2)."""
    seat = state.seat(agent)
    assert seat is not None
    amount = rules.self_stake(config, seat.balance, substituted) or 0
    if not amount:
        return state, []
    state = seated(state, replace(seat, balance=exact(seat.balance - amount)))
    entries = joined((*state.entries, Entry(agent, seat.proposal, 0, amount)))
    state = replace(state, entries=entries, proposals=rules.touched(config, state.proposals, "self", seat.proposal))
    return state, [Event("Staked", agent, seat.proposal, amount, "SelfStake", config.issues[state.issue].uid)]


def ticked(rules: Rules, config: Config, state: State) -> tuple[State, list[Event]]:
    """The state and events after a tick that the clock permits."""
    match state.phase:
        case "IDLE":
            return _opened(config, state)
        case "FINALIZE":
            return _finalized(rules, config, state)
        case _:
            return _counted(rules, config, state)


def _opened(config: Config, state: State) -> tuple[State, list[Event]]:
    """Open the next Issue, or refuse it if a mandatory field is missing (3.2)."""
    issue = config.issues[state.issue]
    if issue.problem is None or issue.background is None:
        return _awaiting_next(config, state), [Event("IssueRefused", issue=issue.uid, reason="MissingField")]
    seats = tuple(
        replace(seat, assigned=seat.standing == ENROLLED and seat.agent in issue.assigned) for seat in state.seats
    )
    opened = Event("IssueOpened", issue=issue.uid, data=(("problem", issue.problem), ("background", issue.background)))
    begun = Event("PhaseBegan", reason=PROPOSE, issue=issue.uid)
    return replace(state, phase=PROPOSE, turn=0, seats=seats), [opened, begun]


def _awaiting_next(config: Config, state: State) -> State:
    after = state.issue + 1
    return replace(state, issue=after, phase=IDLE if after < len(config.issues) else CLOSED, turn=0)


def _counted(rules: Rules, config: Config, state: State) -> tuple[State, list[Event]]:
    issue = config.issues[state.issue].uid
    done = {seat.agent: rules.complete(config, state, seat) for seat in state.seats}
    seats = tuple(rules.lagged(config, seat, done[seat.agent]) for seat in state.seats)
    fired = [seat.agent for seat in seats if rules.kicked(config, seat, done[seat.agent])]
    ends = rules.over(config, state, all(done[seat.agent] for seat in seats if seat.assigned), bool(fired))
    state = replace(state, seats=seats)
    events = [Event("Tick", issue=issue)]
    for agent in fired:
        state, more = _kicked_out(rules, config, state, agent)
        events += more
    state = replace(
        state,
        seats=tuple(replace(seat, signal=rules.signalled(config, seat)) for seat in state.seats),
        proposals=rules.ranked(state.proposals),
    )
    if not ends:
        return state, events
    state, more = _begun(rules, config, state)
    return state, events + more


def _kicked_out(rules: Rules, config: Config, state: State, agent: str) -> tuple[State, list[Event]]:
    """Apply the canonical default in place of a missing move, then the penalty (9.3)."""
    issue = config.issues[state.issue].uid
    seat = state.seat(agent)
    assert seat is not None
    events: list[Event] = []
    default = "NoAction" if state.phase == PROPOSE else "Abstain"
    events.append(Event("KickOut", agent, reason=default, issue=issue))
    if state.phase == PROPOSE:
        state, more = no_action(rules, config, state, agent, substituted=True)
        events += more
    seat = state.seat(agent)
    assert seat is not None
    owed = rules.penalty(config, seat) if rules.fined(config, state) else 0
    if owed:
        state = seated(state, replace(seat, balance=exact(seat.balance - owed)))
        state = replace(state, burned=exact(state.burned + owed))
        events.append(Event("Burn", agent, "", owed, "KickOutPenalty", issue))
    return state, events


def no_action(
    rules: Rules, config: Config, state: State, agent: str, *, substituted: bool
) -> tuple[State, list[Event]]:
    """Give an agent the canonical NoAction (6.1), chosen by itself or assigned by the protocol."""
    shared = config.readings.no_action == "shared"
    uid = NO_ACTION if shared else agent
    seat = state.seat(agent)
    assert seat is not None
    state = seated(state, replace(seat, proposal=uid))
    if state.proposal(uid) is None:
        state = with_proposal(state, Proposal(uid, "" if shared else agent, None, substituted and not shared))
    issue = config.issues[state.issue].uid
    events = [Event("ProposalCreated", agent, uid, reason="NoAction", issue=issue)]
    if config.readings.self_stake != "at_stake_1":
        state, more = placed(rules, config, state, agent, substituted)
        events += more
    return state, events


def _begun(rules: Rules, config: Config, state: State) -> tuple[State, list[Event]]:
    """Begin the next phase; between two STAKE rounds every stake ages by one round (16.6)."""
    phase, turn = rules.following(config, state)
    entries = rules.aged(config, state.entries) if state.phase == phase == STAKE else state.entries
    seats = tuple(rules.fresh(config, seat) for seat in state.seats)
    state = replace(state, phase=phase, turn=turn, seats=seats, entries=entries)
    issue = config.issues[state.issue].uid
    events = [Event("PhaseBegan", reason=phase, issue=issue, data=(("turn", turn),))]
    if (phase, turn) == (STAKE, 1) and config.readings.self_stake != "at_submission":
        for seat in seats:
            own = state.proposal(seat.proposal)
            if own is not None:
                state, more = placed(rules, config, state, seat.agent, own.substituted)
                events += more
    return state, events


def _finalized(rules: Rules, config: Config, state: State) -> tuple[State, list[Event]]:
    issue = config.issues[state.issue].uid
    weighed = tuple((entry, rules.weight(config, entry.held)) for entry in state.entries)
    scores = tuple((one.uid, rules.score(config, one.uid, weighed), one.last) for one in state.proposals)
    chosen, because = rules.winner(config, state, scores)
    totals = {uid: total for uid, total, _ in scores}
    data = (("score", totals.get(chosen)), ("tie", because), ("scores", tuple(totals.items())))
    events = [Event("Finalize", proposal=chosen, reason=because, issue=issue, data=data)]
    burning = rules.burning(config, state, chosen)
    owed: dict[tuple[str, str], Entry] = {}
    for entry in burning:
        key = (entry.owner, entry.proposal)
        have = owed[key].amount if key in owed else 0
        owed[key] = Entry(*key, 0, exact(have + entry.amount))
    for entry in owed.values():
        events.append(Event("StakeBurned", entry.owner, entry.proposal, entry.amount, "", issue))
        if config.readings.stake_burn == "is_burn_event":
            events.append(Event("Burn", entry.owner, entry.proposal, entry.amount, "Stake", issue))
    burned = exact(state.burned + sum(entry.amount for entry in owed.values()))
    kept = tuple(entry for entry in state.entries if entry not in burning)
    events.append(Event("Published", issue=issue))
    seats = tuple(rules.closed(config, seat) for seat in state.seats)
    ended = replace(state, seats=seats, proposals=(), entries=kept, burned=burned)
    return _awaiting_next(config, ended), events
