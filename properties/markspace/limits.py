"""Token budgets and rate limits (P59 to P66)."""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

from evenhand.core.plan import holds, refuted
from evenhand.core.property import each_step, monitor
from evenhand.model.markspace.layers_vocabulary import Health, Layer, LayersConfig, LayersStep, Op, World
from evenhand.model.markspace.marks import Kind
from evenhand.properties.markspace.layers_predicates import (
    ONLY,
    attempts,
    having,
    limited,
    place_of,
    watched,
)
from evenhand.properties.markspace.predicates import there

Warnings: TypeAlias = tuple[tuple[str, str, bool], ...]
"""The budget warnings so far: agent, dimension, whether it blocks."""

Writes: TypeAlias = tuple[tuple[str, str], ...]
"""Pairs (writer, scope), sorted."""

Window: TypeAlias = tuple[int, Writes]
"""The current half of the window (0 or 1), and the writes in the window."""


def _tried(step: LayersStep, world: World) -> int:
    return len(watched(step, world).now)


# Budgets.


def _round(step: LayersStep) -> bool:
    return step.action.op is Op.ROUND and step.action.agent in step.config.agents


def _without_budget(config: LayersConfig) -> bool:
    return not config.has(Layer.BUDGET)


@each_step(
    "Without a budget nothing is enforced and nothing is tracked.",
    source="P59",
    systems=ONLY,
    applies=_without_budget,
    when=_round,
)
def budget_backward_compatibility_p59(step: LayersStep) -> bool:
    """Rounds behave as they did before there were budgets."""
    return step.shown.accepted and step.after == step.before and not step.shown.needs


def _warned(value: Warnings, step: LayersStep) -> Warnings:
    if not _round(step):
        return value
    return tuple(sorted((*value, *((agent, about, blocking) for agent, blocking, about in step.shown.needs))))


def _some_warning(_config: LayersConfig, value: Warnings) -> bool:
    return bool(value)


@monitor(
    "For each dimension exactly one warning is written, not blocking, however usage goes on.",
    source="P60",
    systems=ONLY,
    applies=having(Layer.BUDGET),
    start=lambda _config: (),
    update=_warned,
    when=_some_warning,
)
def budget_warning_threshold_p60(_config: LayersConfig, value: Warnings) -> bool:
    """At most one warning is written; the next claim says that it comes in time."""
    pairs = [(agent, about) for agent, about, _ in value]
    return len(set(pairs)) == len(pairs) and not any(blocking for _, _, blocking in value)


@each_step(
    "The round in which usage crosses the warning fraction writes the warning, even if it reaches the total as well.",
    source="P60, 9.10",
    systems=ONLY,
    applies=having(Layer.BUDGET),
    when=lambda step: _round(step) and step.shown.accepted,
)
def budget_warnings_are_in_time(step: LayersStep) -> bool:
    """Checked per dimension, against the ceiling before the round."""
    place, config = place_of(step), step.config
    old, new = there(step.before.budget), there(step.after.budget)
    told = {about for _, _, about in step.shown.needs}
    for dimension, name in enumerate(("input", "output")):
        ceiling = old.ceiling[place][dimension]
        before, after = old.used[place][dimension], new.used[place][dimension]
        line = None if ceiling is None else Fraction(ceiling) * config.fraction
        crossed = line is not None and before < line <= after
        first = not old.warned[place][dimension]
        if (name in told) != (crossed and first) and line is not None:
            return False
    return True


def _activates(step: LayersStep) -> bool:
    """Whether this is an activation, by the reading: a round, or a write or tool call of an agent too."""
    every = step.config.readings.activation == "every_operation"
    return _round(step) or (every and attempts(step) and step.action.agent in step.config.agents)


def _used_up(step: LayersStep) -> bool:
    budget, place = there(step.before.budget), place_of(step)
    pairs = zip(budget.used[place], budget.ceiling[place], strict=True)
    return any(ceiling is not None and used >= ceiling for used, ceiling in pairs)


@each_step(
    "Where usage has reached the total in some dimension, every activation is rejected.",
    source="P61",
    systems=ONLY,
    applies=having(Layer.BUDGET),
    when=lambda step: _activates(step) and _used_up(step),
)
def budget_hard_stop_p61(step: LayersStep) -> bool:
    """This lasts until the principal raises the ceiling; under the reading `activation` writes and tool calls count."""
    return not step.shown.accepted and (step.shown.by is Layer.BUDGET or not _round(step))


@each_step(
    "Below every total an agent is activated, so that one whose budget was raised above its usage goes on.",
    source="P62",
    systems=ONLY,
    applies=having(Layer.BUDGET),
    when=lambda step: _round(step) and not _used_up(step),
)
def budget_resumption_p62(step: LayersStep) -> bool:
    """An activation is rejected only for a reason."""
    return step.shown.accepted


@each_step(
    "Usage is never taken back, and a round adds exactly its tokens.",
    source="P63",
    systems=ONLY,
    applies=having(Layer.BUDGET),
)
def budget_tracking_accuracy_p63(step: LayersStep) -> bool:
    """Raising the ceiling resets no usage."""
    used = zip(there(step.before.budget).used, there(step.after.budget).used, strict=True)
    for place, (before, after) in enumerate(used):
        mine = _round(step) and step.shown.accepted and place == place_of(step)
        spent = step.action.tokens if mine else (0, 0)
        if after != (before[0] + spent[0], before[1] + spent[1]):
            return False
    return True


# The detector.


def _spikes(step: LayersStep) -> bool:
    """Whether all completed windows are alike and this one has more observations already."""
    if step.action.op is not Op.CHECK or step.config.baseline is not None or not step.config.samples:
        return False
    if step.action.agent not in step.config.agents:
        return False
    kept = watched(step, step.before)
    if len(kept.past) < step.config.samples or len(set(kept.past)) != 1:
        return False
    return sum(kind is Kind.OBSERVATION for _, kind in kept.now) > kept.past[0][0]


@each_step(
    "Whoever tries more observations in a window than in any before, where all before were alike, is RESTRICTED.",
    source="9.7",
    systems=ONLY,
    applies=having(Layer.ENVELOPE),
    when=_spikes,
)
def spikes_are_restricted(step: LayersStep) -> bool:
    """Without spread any excess is beyond k standard deviations."""
    return step.shown.health is Health.RESTRICTED


# Rate limits.


def _of_window(step: LayersStep) -> list[str]:
    rates = there(step.before.rates)
    return [who for who, where in (*rates.before, *rates.now) if where == step.action.scope]


def _rate_used_up(step: LayersStep, here: list[str]) -> bool:
    """Whether the writers `here`, in the scope, used up a rate of the acting agent or the scope."""
    each, every = step.config.rate
    own = each is not None and here.count(step.action.agent) >= each
    return own or (every is not None and len(here) >= every)


def _limits_agents(config: LayersConfig) -> bool:
    return config.has(Layer.RATE) and config.rate[0] is not None


def _limits_scopes(config: LayersConfig) -> bool:
    return config.has(Layer.RATE) and config.rate[1] is not None


@each_step(
    "An agent that has used up its writes of the window writes nothing more in it, and the envelope sees the attempt.",
    source="P64",
    systems=ONLY,
    applies=_limits_agents,
    when=lambda step: limited(step) and _of_window(step).count(step.action.agent) >= step.config.rate[0],
)
def rate_limit_enforcement_p64(step: LayersStep) -> bool:
    """An attempt that no other layer stopped before is counted."""
    seen = step.shown.by is not Layer.RATE or step.after.envelope is None
    return not step.shown.accepted and (seen or _tried(step, step.after) == _tried(step, step.before) + 1)


@each_step(
    "Where a scope has used up its writes of the window, nobody writes in it.",
    source="P65",
    systems=ONLY,
    applies=_limits_scopes,
    when=lambda step: limited(step) and len(_of_window(step)) >= step.config.rate[1],
)
def rate_limit_fleet_cap_p65(step: LayersStep) -> bool:
    """The limit applies whatever the agent itself wrote."""
    return not step.shown.accepted


@each_step(
    "A write is stopped by each layer for that layer's reasons alone, and by no layer that is absent.",
    source="P66, 16",
    systems=ONLY,
    when=lambda step: attempts(step) and step.shown.by is not None,
)
def rate_limit_independence_p66(step: LayersStep) -> bool:
    """The rate limit stops only agents beyond their rate, the envelope only restricted ones."""
    by = there(step.shown.by)
    if not step.config.has(by):
        return False
    if by is Layer.RATE:
        return _rate_used_up(step, _of_window(step))
    return by is not Layer.ENVELOPE or step.shown.health is Health.RESTRICTED


def _and_this(written: Writes, step: LayersStep) -> Writes:
    """The writes so far, with this step's write if it was stored."""
    if not limited(step) or not step.shown.accepted:
        return written
    return tuple(sorted((*written, (step.action.agent, step.action.scope))))


def _in_window(value: Window, step: LayersStep) -> Window:
    half, written = value
    if not step.config.has(Layer.RATE):
        return value  # no window to count
    if step.action.op is Op.TICK:
        return (1, written) if half == 0 else (0, ())
    return half, _and_this(written, step)


def _some_write(_config: LayersConfig, value: Window) -> bool:
    return bool(value[1])


@monitor(
    "From the beginning of a window to its end no agent writes more than its limit, and all together no more than "
    "theirs.",
    source="9.12, P64, P65",
    systems=ONLY,
    applies=having(Layer.RATE),
    start=lambda _config: (0, ()),
    update=_in_window,
    when=_some_write,
)
def windows_keep_their_limit(config: LayersConfig, value: Window) -> bool:
    """Counted by the monitor, not by the state of the rate limit."""
    each, every = config.rate
    written = value[1]
    scopes = [scope for _, scope in written]
    own = each is None or all(written.count(one) <= each for one in written)
    return own and (every is None or all(scopes.count(scope) <= every for scope in scopes))


def _by_the_books(value: tuple[Window, bool], step: LayersStep) -> tuple[Window, bool]:
    """The monitor's window, and whether a refusal for the rate was due by its count."""
    books, _ = value
    here = [who for who, where in books[1] if where == step.action.scope]
    return _in_window(books, step), step.shown.by is not Layer.RATE or _rate_used_up(step, here)


@monitor(
    "The rate limit refuses only where as many writes were stored in this window as it allows.",
    source="9.12, P66",
    systems=ONLY,
    applies=having(Layer.RATE),
    start=lambda _config: ((0, ()), True),
    update=_by_the_books,
)
def only_stored_writes_fill_the_window(config: LayersConfig, value: tuple[Window, bool]) -> bool:
    """Attempts that another layer refused do not count; sliding windows count the last window's writes, too."""
    return value[1] or config.readings.rate_window == "sliding"


def _moving(value: tuple[Writes, Writes], step: LayersStep) -> tuple[Writes, Writes]:
    """The writes of the last half window and of this one."""
    before, now = value
    return (now, ()) if step.action.op is Op.TICK else (before, _and_this(now, step))


@monitor(
    "In no stretch of one window's length does an agent write more than its limit.",
    source="9.12",
    systems=ONLY,
    applies=_limits_agents,
    start=lambda _config: ((), ()),
    update=_moving,
    expected=(
        refuted("9.12: two tumbling windows in a row, each with its own limit", system="layers"),
        holds("every stretch is a window", system="layers", rate_window="sliding"),
    ),
)
def no_burst_across_windows(config: LayersConfig, value: tuple[Writes, Writes]) -> bool:
    """Two halves in a row, wherever windows begin: false where they tumble."""
    both = (*value[0], *value[1])
    limit = config.rate[0]
    assert limit is not None
    return all(both.count(one) <= limit for one in both)
