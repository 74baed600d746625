"""The clock: phases in their order, laggards, kick-outs, and that every Issue comes to its end."""

from __future__ import annotations

from typing import Any, TypeAlias

from evenhand.core.property import (
    AnyStep,
    Property,
    deadlock_free,
    each_step,
    leads_to,
    livelock_free,
    monitor,
)
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
    Invite,
    State,
    Tick,
)
from evenhand.properties.conviction.predicates import (
    accepted,
    balance,
    done,
    events,
    finalizes,
    longest_issue,
    on_configs,
    on_steps,
    on_values,
    phase_ends,
    phases,
    same_readings,
    seat_of,
    ticking,
    ticks_left,
)

__all__ = ["TICKING"]


def _scheduled(step: AnyStep) -> bool:
    return bool(step.action == Tick(SCHEDULER))


def _opens(step: AnyStep) -> bool:
    return bool(step.before.phase == IDLE and step.after.phase == PROPOSE)


@each_step(
    "The phases of an Issue come in the order of sections 12 and 16, none skipped, none twice.",
    source="12, 16.1",
    when=on_steps(lambda step: (step.before.phase, step.before.turn) != (step.after.phase, step.after.turn)),
)
def phases_come_in_order(step: AnyStep) -> bool:
    """And only a tick changes the phase."""
    if not accepted(step, Tick):
        return False
    config, before, after = step.config, step.before, step.after
    if before.phase == IDLE:
        return bool(after.phase == PROPOSE or after.issue == before.issue + 1)
    order = phases(config, config.issues[before.issue])
    if before.phase == FINALIZE:
        last = before.issue + 1 == len(config.issues)
        return bool(after.issue == before.issue + 1 and after.phase == (CLOSED if last else IDLE))
    if (before.phase, before.turn) not in order[:-1]:
        return False
    place = order.index((before.phase, before.turn))
    return (after.phase, after.turn) == order[place + 1] and after.issue == before.issue


@each_step(
    "A phase ends with a tick by which all are done or the timer of one who is not becomes full, and with no other.",
    source="9.1, 12.4, 16.1.1",
    when=ticking,
)
def phases_end_as_9_1_says(step: AnyStep) -> bool:
    """Not before, not after."""
    ended = (step.before.phase, step.before.turn) != (step.after.phase, step.after.turn)
    return ended == phase_ends(step.config, step.before)


@each_step(
    "A tick counts for the laggard timer of exactly those who were not done; timers begin anew as read.",
    source="9.1, 5",
    when=ticking,
)
def timers_count_missed_ticks(step: AnyStep) -> bool:
    """Up to MaxThinkTicks."""
    config, most = step.config, step.config.constants.think_ticks
    ended = (step.before.phase, step.before.turn) != (step.after.phase, step.after.turn)
    anew = ended and config.readings.timer_reset == "per_phase"
    for seat in step.before.seats:
        late = seat.assigned and not done(config, step.before, seat)
        due = 0 if anew else min(seat.timer + late, most)
        if seat_of(step.after, seat.agent).timer != due:
            return False
    return True


@each_step("READY is for the tick in which it was signalled.", source="9.1, 9.2", when=ticking)
def ready_is_for_one_tick(step: AnyStep) -> bool:
    """It does not outlive it."""
    return all(not seat.signal for seat in step.after.seats)


def _after_ready(step: AnyStep) -> bool:
    if isinstance(step.action, Tick | Invite | Enrol):
        return False
    seat = step.before.seat(step.action.agent)
    return seat is not None and seat.signal == READY


@each_step(
    "Whoever has signalled READY does nothing more in that tick, nor signals it again.",
    source="9.2",
    when=_after_ready,
    applies=on_configs(lambda config: config.readings.act_after_ready == "rejected"),
)
def nothing_is_accepted_after_ready(step: AnyStep) -> bool:
    """READY confirms completion; what comes after it is rejected by a name of its own."""
    return bool(step.shown.rejected)


@each_step(
    "Exactly those whose timer is full are kicked out: NoAction in PROPOSE, Abstain elsewhere.",
    source="9.3, 6.2",
    when=ticking,
)
def laggards_alone_are_kicked_out(step: AnyStep) -> bool:
    """Whoever was done is not."""
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
    when=on_steps(lambda step: any(event.kind == "KickOut" for event in step.shown.events)),
)
def penalties_are_as_stated(step: AnyStep) -> bool:
    """After the substitution has staked."""
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


def _first(step: AnyStep, staked: Any) -> bool:
    """Whether a self-stake came with the substitution, not with the round that begins."""
    return bool(
        step.before.phase == PROPOSE
        and step.shown.events.index(staked)
        < next((i for i, event in enumerate(step.shown.events) if event.kind == "PhaseBegan"), len(step.shown.events))
    )


# Termination


@each_step(
    "Every tick brings the end closer: the number of ticks that can still be needed falls.",
    source="2.3, 9.4",
    when=on_steps(lambda step: _scheduled(step) and step.before.phase != CLOSED),
    proved=True,
)
def every_tick_comes_closer(step: AnyStep) -> bool:
    """The ranking function: it bounds the ticks that are left, and no tick is refused."""
    return ticks_left(step.config, step.after) < ticks_left(step.config, step.before)


def _untimed(step: AnyStep) -> bool:
    return not isinstance(step.action, Tick)


@each_step(
    "Nothing that an agent does puts the end off.",
    source="9.1",
    when=_untimed,
)
def nothing_puts_the_end_off(step: AnyStep) -> bool:
    """The ranking function never rises."""
    return ticks_left(step.config, step.after) <= ticks_left(step.config, step.before)


@each_step(
    "The scheduler's tick is never refused: silent agents hang no tick.",
    source="9.1, 9.4",
    when=on_steps(lambda step: _scheduled(step) and step.before.phase != CLOSED),
)
def no_tick_is_refused(step: AnyStep) -> bool:
    """Read literally, 9.1 waits for a timer that only the tick it waits for can move."""
    return not step.shown.rejected


_Count: TypeAlias = tuple[int, int]
"""Ticks since the Issue was opened, and its place."""


def _no_ticks(_config: Any) -> _Count:
    return 0, 0


def _counted(value: _Count, step: AnyStep) -> _Count:
    if not accepted(step, Tick):
        return value
    if step.before.phase == IDLE:
        return 1, step.before.issue
    most = longest_issue(step.config, step.config.issues[value[1]])
    return min(value[0] + 1, most + 1), value[1]


@monitor(
    "An Issue takes at most 2 + T + (2c + r)(n(T - 1) + 1) ticks with T = MaxThinkTicks, c cycles, r rounds, n agents.",
    source="9.1, 12, 16.1",
    start=_no_ticks,
    update=_counted,
    when=on_values(lambda _config, value: value[0] > 0),
)
def an_issue_takes_at_most_so_many_ticks(config: Config, value: _Count) -> bool:
    """2 + 1 + 2c + r where the tick waits for everybody."""
    return not config.issues or value[0] <= longest_issue(config, config.issues[value[1]])


@leads_to(
    "Every Issue that is opened is finalized, whatever agents do or leave undone, if ticks go on.",
    source="2.4, 9",
    trigger=_opens,
    fairness=("ticks",),
)
def every_issue_is_finalized(step: AnyStep) -> bool:
    """No agent can prevent it."""
    return finalizes(step)


@livelock_free("Ticks do not go on for ever without another phase.", source="9.1, 12.4", attempts=_scheduled)
def no_phase_goes_on_for_ever(step: AnyStep) -> bool:
    """Under every schedule of agents."""
    return (step.before.issue, step.before.phase, step.before.turn) != (
        (step.after.issue, step.after.phase, step.after.turn)
    )


def _unfinished(_config: Config, state: State) -> bool:
    return state.phase != CLOSED


@deadlock_free(
    "From every state the open Issue, or the next one, can still be finalized.", source="2.4", wants=_unfinished
)
def an_issue_can_be_finalized(step: AnyStep) -> bool:
    """With the help of agents, if need be."""
    return finalizes(step)


TICKING: tuple[Property, ...] = (
    phases_come_in_order,
    phases_end_as_9_1_says,
    timers_count_missed_ticks,
    ready_is_for_one_tick,
    nothing_is_accepted_after_ready,
    laggards_alone_are_kicked_out,
    penalties_are_as_stated,
    every_tick_comes_closer,
    nothing_puts_the_end_off,
    no_tick_is_refused,
    an_issue_takes_at_most_so_many_ticks,
    every_issue_is_finalized,
    no_phase_goes_on_for_ever,
    an_issue_can_be_finalized,
)
"""The claims of this module."""
