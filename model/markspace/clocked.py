"""Scheduling with a clock (§14.2): time has no end, and states hold instants.

`scheduling` is the same scheduler in another form: its steps saturate seconds, whereas the states here keep the instant
of each activation. That one state may stand for many is a theorem (`proofs.markspace.clocked`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from evenhand.core.records import dataclass, replace
from evenhand.core.system import Abstraction, Scope, System
from evenhand.model.markspace.clocked_vocabulary import (
    TYPES,
    ClockConfig,
    ClockState,
    counted_from_now,
    earlier,
    later,
    no_older_than_the_longest,
)
from evenhand.model.markspace.composing import SCHEDULING
from evenhand.model.markspace.composing_vocabulary import LONGEST, Activate, Composed, ComposingAct, Update, Wait
from evenhand.model.markspace.readings import Readings


@dataclass(frozen=True)
class ClockRules:
    """The function that a mutant may change: `due` §14.2, of the time, the last activation and the interval."""

    due: Callable[[int, int | None, int | None], bool]


def _due(now: int, last: int | None, interval: int | None) -> bool:
    return interval is not None and (last is None or last + interval <= now)


REFERENCE = ClockRules(due=_due)
"""The scheduler of the text."""


def initial(config: ClockConfig) -> tuple[ClockState, ...]:
    """Return the initial state: second 0, no agent activated yet."""
    intervals = tuple(None if manifest is None else manifest.interval for _, manifest in config.agents)
    return (ClockState(0, intervals, (None,) * len(intervals)),)


def step(rules: ClockRules, config: ClockConfig, state: ClockState, act: ComposingAct) -> tuple[ClockState, Composed]:
    """Let one second pass, activate the agents that are due, or change an interval."""
    match act:
        case Wait():
            return replace(state, now=state.now + 1), Composed()
        case Activate():
            due = [rules.due(state.now, *one) for one in zip(state.last, state.intervals, strict=True)]
            last = tuple(state.now if now else old for now, old in zip(due, state.last, strict=True))
            names = tuple(name for name, now in zip(config.names, due, strict=True) if now)
            return replace(state, last=last), Composed(activated=names)
        case Update() if act.agent not in config.names:
            return state, Composed(refused="no such agent")
        case Update():
            if act.interval is not None and act.interval <= 0:
                return state, Composed(refused="an interval must be positive")
            place = config.names.index(act.agent)
            intervals = (*state.intervals[:place], act.interval, *state.intervals[place + 1 :])
            return replace(state, intervals=intervals), Composed()
        case _:
            return state, Composed(refused="nothing to do with time")


def _configs(scope: Scope, readings: Readings) -> Iterator[ClockConfig]:
    for one in SCHEDULING.configs(SCHEDULING.scope, readings):
        yield ClockConfig(one.agents, one.readings, longest=LONGEST, horizon=scope["horizon"])


def _actions(config: ClockConfig, _scope: Scope, state: ClockState) -> Iterator[ComposingAct]:
    yield Activate()
    if not config.horizon or state.now < config.horizon:
        yield Wait()
    yield from (Update(agent, interval) for agent in config.names for interval in (None, 0, 1, config.longest))


CLOCK: System[ClockConfig, ClockState, ComposingAct, Composed, ClockRules] = System(
    name="clock",
    rules=REFERENCE,
    configs=_configs,
    initial=initial,
    step=step,
    actions=_actions,
    scope=Scope(horizon=2),
    readings=Readings(),
    types=TYPES,
    abstractions=(
        Abstraction("shift", counted_from_now, later),
        Abstraction("saturation", no_older_than_the_longest, earlier),
    ),
)
"""The scheduler with a clock, up to a horizon; `horizon=0` means no end."""
