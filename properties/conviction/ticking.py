"""The clock: order of phases, laggards, kick-outs, and termination of every Issue."""

from __future__ import annotations

from typing import TypeAlias

from evenhand.core.plan import refuted
from evenhand.core.property import deadlock_free, each_step, leads_to, livelock_free, monitor
from evenhand.model.conviction.vocabulary import (
    CLOSED,
    FINALIZE,
    IDLE,
    PROPOSE,
    READY,
    SCHEDULER,
    STAKE,
    Config,
    Enrol,
    Event,
    Invite,
    Tick,
)
from evenhand.properties.conviction.predicates import (
    OPEN,
    RunStep,
    accepted,
    balance,
    done,
    events,
    finalizes,
    left_out,
    longest_issue,
    on_configs,
    on_values,
    phase_ends,
    phases,
    same_readings,
    seat_of,
    ticking,
    ticks_left,
)

_GATED = refuted(
    "9.1: the tick waits for a full timer, and timers count ticks: one silent agent stops everything",
    clock="gated_by_9_1",
)
_NEVER = refuted("12.4, 9.1: ticks advance, and no sentence ends a phase", phase_end="never_stated")
_WIDE = left_out("section 5 is too wide to be searched, and drawn runs are finite")


def _scheduled(step: RunStep) -> bool:
    """A tick of the scheduler before the end: after it a tick may be submitted too, and is refused for ever."""
    return step.action == Tick(SCHEDULER) and step.before.phase != CLOSED


@each_step(
    "The phases of an Issue come in the order of sections 12 and 16, none skipped, none twice.",
    source="12, 16.1",
    when=lambda step: (step.before.phase, step.before.turn) != (step.after.phase, step.after.turn),
)
def phases_come_in_order(step: RunStep) -> bool:
    """Only a tick changes the phase."""
    if not accepted(step, Tick):
        return False
    config, before, after = step.config, step.before, step.after
    if before.phase == IDLE:
        return after.phase == PROPOSE or after.issue == before.issue + 1
    order = phases(config, config.issues[before.issue])
    if before.phase == FINALIZE:
        last = before.issue + 1 == len(config.issues)
        return after.issue == before.issue + 1 and after.phase == (CLOSED if last else IDLE)
    if (before.phase, before.turn) not in order[:-1]:
        return False
    place = order.index((before.phase, before.turn))
    return (after.phase, after.turn) == order[place + 1] and after.issue == before.issue


@each_step(
    "A phase ends with a tick by which all are done or the timer of one who is not becomes full, and with no other.",
    source="9.1, 12.4, 16.1.1",
    when=ticking,
)
def phases_end_as_9_1_says(step: RunStep) -> bool:
    """The phase ends exactly if `phase_ends` says so."""
    ended = (step.before.phase, step.before.turn) != (step.after.phase, step.after.turn)
    return ended == phase_ends(step.config, step.before)


@each_step(
    "A tick counts for the laggard timer of exactly those who were not done; timers begin anew as read.",
    source="9.1, 5",
    when=ticking,
)
def timers_count_missed_ticks(step: RunStep) -> bool:
    """A timer counts up to MaxThinkTicks."""
    config, most = step.config, step.config.constants.think_ticks
    ended = (step.before.phase, step.before.turn) != (step.after.phase, step.after.turn)
    anew = ended and config.readings.timer_reset == "per_phase"
    for seat in step.before.seats:
        late = seat.assigned and not done(config, step.before, seat)
        due = 0 if anew else min(seat.timer + late, most)
        if seat_of(step.after, seat.agent).timer != due:
            return False
    return True


@each_step(
    "READY is for the tick in which it was signalled, or for the phase, as read.", source="9.1, 9.2", when=ticking
)
def ready_lasts_as_read(step: RunStep) -> bool:
    """No signal remains after a tick; those of a phase remain as long as it goes on."""
    goes_on = (step.before.phase, step.before.turn) == (step.after.phase, step.after.turn)
    if step.config.readings.ready_lasts == "phase" and goes_on:
        return [seat.signal for seat in step.after.seats] == [seat.signal for seat in step.before.seats]
    return all(not seat.signal for seat in step.after.seats)


def _after_ready(step: RunStep) -> bool:
    if isinstance(step.action, Tick | Invite | Enrol):
        return False
    seat = step.before.seat(step.action.agent)
    return seat is not None and seat.signal == READY


@each_step(
    "Whoever has signalled READY does nothing more while that holds, nor signals it again.",
    source="9.2",
    when=_after_ready,
    applies=on_configs(lambda config: config.readings.act_after_ready == "rejected"),
)
def nothing_is_accepted_after_ready(step: RunStep) -> bool:
    """READY confirms completion; a later action is rejected by a name of its own."""
    return bool(step.shown.rejected)


@each_step(
    "Exactly those whose timer is full are kicked out: NoAction in PROPOSE, Abstain elsewhere.",
    source="9.3, 6.2",
    when=ticking,
)
def laggards_alone_are_kicked_out(step: RunStep) -> bool:
    """An agent that was done is not kicked out."""
    config = step.config
    due = {
        seat.agent
        for seat in step.before.seats
        if seat.assigned and not done(config, step.before, seat) and seat.timer + 1 >= config.constants.think_ticks
    }
    found = [event.agent for event in events(step.shown, "KickOut")]
    default = "NoAction" if step.before.phase == PROPOSE else "Abstain"
    return sorted(found) == sorted(due) and all(e.reason == default for e in events(step.shown, "KickOut"))


@each_step(
    "A kick-out burns KickOutPenalty or what is left of it, as read; in a STAKE round nothing unless 9.3 is read so.",
    source="9.3, B 16.1.2",
    when=lambda step: any(events(step.shown, "KickOut")),
)
def penalties_are_as_stated(step: RunStep) -> bool:
    """The penalty comes after the stake of the substituted proposal."""
    config = step.config
    exempt = step.before.phase == STAKE and same_readings(config, silent_penalty="none_in_stake")
    for event in events(step.shown, "KickOut"):
        staked = sum(e.amount for e in events(step.shown, "Staked") if e.agent == event.agent and _first(step, e))
        have = balance(step.before, event.agent) - staked
        floor = config.readings.penalty_floor == "negative_balance"
        owed = config.constants.penalty if floor else min(config.constants.penalty, max(have, 0))
        paid = sum(e.amount for e in events(step.shown, "Burn") if e.agent == event.agent)
        if paid != (0 if exempt else owed):
            return False
    return True


def _first(step: RunStep, staked: Event) -> bool:
    """Whether a self-stake came with the substitution and not with the round that begins."""
    found = step.shown.events
    began = next((place for place, event in enumerate(found) if event.kind == "PhaseBegan"), len(found))
    return step.before.phase == PROPOSE and found.index(staked) < began


# Termination


@each_step(
    "Every tick brings the end closer: the number of ticks that can still be needed falls.",
    source="2.3, 9.4",
    when=_scheduled,
    expected=(_GATED, _NEVER),
)
def every_tick_comes_closer(step: RunStep) -> bool:
    """The ranking function falls: it bounds the ticks that are left, and no tick is refused."""
    return ticks_left(step.config, step.after) < ticks_left(step.config, step.before)


@each_step(
    "Nothing that an agent does puts the end off.", source="9.1", when=lambda step: not isinstance(step.action, Tick)
)
def nothing_puts_the_end_off(step: RunStep) -> bool:
    """The ranking function never rises."""
    return ticks_left(step.config, step.after) <= ticks_left(step.config, step.before)


@each_step(
    "The scheduler's tick is never refused: silent agents hang no tick.",
    source="9.1, 9.4",
    when=_scheduled,
    expected=(_GATED,),
)
def no_tick_is_refused(step: RunStep) -> bool:
    """Read literally, 9.1 makes a tick wait for a timer that only this tick can move."""
    return not step.shown.rejected


@each_step(
    "Where 9.1 gates the clock, the scheduler's tick inside a phase is accepted if every assigned agent is complete or "
    "the timer of one is full, and refused otherwise.",
    source="9.1",
    systems=("issue",),
    when=lambda step: _scheduled(step) and step.before.phase in OPEN,
    applies=on_configs(lambda config: config.readings.clock == "gated_by_9_1"),
)
def gated_ticks_wait(step: RunStep) -> bool:
    """Timers count ticks, so that none gets full while it is waited for."""
    inside = [seat for seat in step.before.seats if seat.assigned]
    full = any(seat.timer >= step.config.constants.think_ticks for seat in inside)
    free = full or all(done(step.config, step.before, seat) for seat in inside)
    return free == (not step.shown.rejected)


_Count: TypeAlias = tuple[int, int]
"""Ticks since the Issue was opened, and its index."""


def _counted(value: _Count, step: RunStep) -> _Count:
    if not accepted(step, Tick):
        return value
    if step.before.phase == IDLE:
        return 1, step.before.issue
    most = longest_issue(step.config, step.config.issues[value[1]])
    return min(value[0] + 1, most + 1), value[1]


@monitor(
    "An Issue takes at most 2 + T + (2c + r)(n(T - 1) + 1) ticks with T = MaxThinkTicks, c cycles, r rounds, n agents.",
    source="9.1, 12, 16.1",
    start=lambda _config: (0, 0),
    update=_counted,
    when=on_values(lambda _config, value: value[0] > 0),
    expected=(_NEVER,),
)
def an_issue_takes_at_most_so_many_ticks(config: Config, value: _Count) -> bool:
    """The bound is 2 + 1 + 2c + r where a tick waits for every agent."""
    return not config.issues or value[0] <= longest_issue(config, config.issues[value[1]])


@leads_to(
    "Every Issue that is opened is finalized, whatever agents do or leave undone, if ticks go on.",
    source="2.4, 9",
    trigger=lambda step: step.before.phase == IDLE and step.after.phase == PROPOSE,
    fairness=("ticks",),
    expected=(_WIDE, _GATED, _NEVER),
)
def every_issue_is_finalized(step: RunStep) -> bool:
    """The step finalizes the Issue; no agent can prevent it."""
    return finalizes(step)


@livelock_free(
    "Ticks do not go on for ever without another phase.",
    source="9.1, 12.4",
    attempts=_scheduled,
    expected=(_WIDE, _GATED, _NEVER),
)
def no_phase_goes_on_for_ever(step: RunStep) -> bool:
    """The step changes the phase; this comes under every schedule of agents."""
    before, after = step.before, step.after
    return (before.issue, before.phase, before.turn) != (after.issue, after.phase, after.turn)


@deadlock_free(
    "From every state the open Issue, or the next one, can still be finalized.",
    source="2.4",
    wants=on_values(lambda _config, state: state.phase != CLOSED),
    expected=(_WIDE, _NEVER),
)
def an_issue_can_be_finalized(step: RunStep) -> bool:
    """The step finalizes an Issue, if necessary with the help of agents."""
    return finalizes(step)
