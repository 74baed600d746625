"""Phases, laggard timers and READY (9, 12, 16.1)."""

from __future__ import annotations

from evenhand.core.records import replace
from evenhand.model.conviction.readings import settled
from evenhand.model.conviction.vocabulary import (
    ACTED,
    FEEDBACK,
    FINALIZE,
    PROPOSE,
    READY,
    REVISE,
    STAKE,
    Config,
    Proposal,
    Seat,
    State,
)


def complete(config: Config, state: State, seat: Seat) -> bool:
    """Whether an agent is done for the running tick (9.1): a proposal lasts for its phase."""
    if state.phase == PROPOSE:
        return bool(seat.proposal)
    return seat.signal == READY or (seat.signal == ACTED and acting_completes(config, state))


def acting_completes(config: Config, state: State) -> bool:
    """Whether one optional action of the running phase is enough (9.1, B 16.1.1)."""
    value = settled(config.readings).completes
    return value == "any_payload" or (value == "staking_action" and state.phase == STAKE)


def may_tick(config: Config, _state: State, done: bool) -> bool:
    """Whether the scheduler may emit a tick: always, or as 9.1 says.

    Under 9.1 a full timer suffices too, but timers count ticks, so none gets full.
    """
    full = any(seat.assigned and seat.timer >= config.constants.think_ticks for seat in _state.seats)
    return config.readings.clock == "free_running" or done or full


def lagged(config: Config, seat: Seat, done: bool) -> Seat:
    """The seat with its laggard timer after a tick; the timer stops at MaxThinkTicks."""
    if done or not seat.assigned:
        return seat
    return replace(seat, timer=min(seat.timer + 1, config.constants.think_ticks))


def kicked(config: Config, seat: Seat, done: bool) -> bool:
    """Whether the timer of an inactive agent fires (9.3); `seat` has counted the tick."""
    return seat.assigned and not done and seat.timer >= config.constants.think_ticks


def over(config: Config, _state: State, done: bool, fired: bool) -> bool:
    """Whether the phase ends with this tick: all are done, or some timer fired."""
    return config.readings.phase_end == "all_ready_or_timer" and (done or fired)


def fined(config: Config, state: State) -> bool:
    """Whether a kick-out costs KickOutPenalty in this phase."""
    return state.phase != STAKE or settled(config.readings).silent_penalty == "as_9_3"


def signalled(config: Config, seat: Seat) -> str:
    """The signal that remains after the tick: none, where READY holds for one tick."""
    return seat.signal if config.readings.ready_lasts == "phase" else ""


def fresh(config: Config, seat: Seat) -> Seat:
    """The seat at the beginning of a phase."""
    seat = replace(seat, signal="") if config.readings.ready_lasts == "phase" else seat
    return replace(seat, timer=0) if config.readings.timer_reset == "per_phase" else seat


def following(config: Config, state: State) -> tuple[str, int]:
    """The next phase and its turn (12, 16.1)."""
    cycles = config.issues[state.issue].cycles
    match state.phase:
        case "PROPOSE":
            return (FEEDBACK, 1) if cycles else (STAKE, 1)
        case "FEEDBACK":
            return REVISE, state.turn
        case "REVISE":
            return (FEEDBACK, state.turn + 1) if state.turn < cycles else (STAKE, 1)
        case _:
            return (STAKE, state.turn + 1) if state.turn < config.rounds else (FINALIZE, 0)


def ranked(proposals: tuple[Proposal, ...]) -> tuple[Proposal, ...]:
    """The proposals with the rank of LastStakeTick after a tick: if one has rank 0, all are renumbered from 1."""
    if not any(one.last == 0 for one in proposals):
        return proposals
    order = sorted({one.last for one in proposals if one.last is not None})
    rank = {last: place + 1 for place, last in enumerate(order)}
    return tuple(one if one.last is None else replace(one, last=rank[one.last]) for one in proposals)
