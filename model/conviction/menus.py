"""The actions that searches may try: those of a phase, and hostile ones that no honest client would send."""

from __future__ import annotations

from collections.abc import Iterator

from evenhand.model.conviction.points import staked
from evenhand.model.conviction.texts import Text
from evenhand.model.conviction.vocabulary import (
    ADMINISTRATOR,
    CLOSED,
    FEEDBACK,
    FINALIZE,
    IDLE,
    INVITED,
    PROPOSE,
    READY,
    REVISE,
    STAKE,
    STRANGER,
    Act,
    AddStake,
    Agent,
    Config,
    Enrol,
    Feedback,
    Invite,
    MoveStake,
    Propose,
    Revise,
    SignalReady,
    State,
    Tick,
)

TEXTS = (
    Text("a"),
    Text("a", "b"),
    Text("c", "d"),
    Text(""),
    Text("a", "b", "c d e f g h i j"),
)
"""Texts to choose from: half changed, wholly changed, empty, long."""


def agents_of(count: int, **more: int | str | None) -> tuple[Agent, ...]:
    """Return `count` enrolled agents agent_1, agent_2, … with credentials of their own."""
    return tuple(Agent(f"agent_{n}", f"Agent {n}", f"key {n}", **more) for n in range(1, count + 1))  # type: ignore[arg-type]


def offers(config: Config, state: State, *, ready: bool) -> Iterator[Act]:
    """Yield a tick, then the actions of each agent in this phase; with `ready` also READY."""
    if state.phase == CLOSED:
        return
    yield Tick()
    for agent, seat in zip(config.agents, state.seats, strict=True):
        key = agent.credential
        if seat.standing == STRANGER:
            yield Invite(agent.uid, ADMINISTRATOR)
        elif seat.standing == INVITED:
            yield Enrol(agent.uid, key)
        if not seat.assigned or state.phase in (IDLE, FINALIZE):
            continue
        if ready and seat.signal != READY and (state.phase != PROPOSE or seat.proposal):
            yield SignalReady(agent.uid, key)
        if seat.signal != READY or config.readings.act_after_ready == "allowed":
            yield from _payloads(config, state, agent)


def _payloads(config: Config, state: State, agent: Agent) -> Iterator[Act]:
    seat = state.seat(agent.uid)
    assert seat is not None
    key, targets = agent.credential, tuple(one.uid for one in state.proposals)
    match state.phase:
        case "PROPOSE" if not seat.proposal:
            yield Propose(agent.uid, key, None)
            yield from (Propose(agent.uid, key, text) for text in config.texts)
        case "FEEDBACK":
            yield from (Feedback(agent.uid, key, uid, "x") for uid in targets if uid != seat.proposal)
        case "REVISE":
            yield from (Revise(agent.uid, key, text) for text in config.texts)
        case "STAKE" if state.turn > 1:
            for amount in config.amounts:
                yield from (AddStake(agent.uid, key, uid, amount) for uid in targets)
                for source in targets:
                    if staked(state, agent.uid, source):
                        yield from (MoveStake(agent.uid, key, source, uid, amount) for uid in targets if uid != source)
        case _:
            return


def hostile(config: Config, state: State) -> Iterator[Act]:
    """Yield in every state an action for every reason to reject."""
    yield Tick("key 1")
    yield Invite("agent_1", ADMINISTRATOR)
    yield Invite("agent_1", "key 1")
    yield SignalReady("nobody", "key 1")
    for agent in config.agents:
        uid, key = agent.uid, agent.credential
        yield SignalReady(uid, "key 0")
        yield Enrol(uid, key)
        yield SignalReady(uid, key)
        yield Propose(uid, key, Text(None, "b"))
        yield Propose(uid, key, None)
        seat = state.seat(uid)
        own = seat.proposal if seat is not None else ""
        other = next((one.uid for one in state.proposals if one.uid != own), uid)
        yield Feedback(uid, key, own or uid, "x")
        yield Feedback(uid, key, other, "x" * (config.constants.feedback_length + 1))
        yield Feedback(uid, key, "nothing", "x")
        yield Revise(uid, key, Text(None, "b"))
        if state.phase not in (REVISE, FEEDBACK) and config.texts:
            yield Revise(uid, key, config.texts[-1])
        yield AddStake(uid, key, own, 0)
        yield AddStake(uid, key, own, 1_000_000)
        yield AddStake(uid, key, "nothing", 1)
        yield MoveStake(uid, key, own, own, 1)
        yield MoveStake(uid, key, own, other, 1_000_000)
        if state.phase == STAKE:
            yield MoveStake(uid, key, own, other, -1)
        if state.phase == STAKE and state.turn == 1:
            # Affordable, so that the round is the only reason to reject it.
            yield AddStake(uid, key, own, 1)
            yield MoveStake(uid, key, own, other, 1)
