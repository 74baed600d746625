"""Token budgets and rate limits (P59 to P66)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from evenhand.core.property import AnyStep, Property, each_step, monitor
from evenhand.model.markspace.layers_vocabulary import Health, Layer, LayersConfig, Op
from evenhand.model.markspace.marks import Kind

__all__ = ["LIMITS"]

ONLY = ("layers",)


def _with(*layers: Layer) -> Callable[[LayersConfig], bool]:
    def has(config: LayersConfig) -> bool:
        return config.has(*layers)

    return has


def _writes(step: AnyStep) -> bool:
    return step.action.op is Op.WRITE


def _attempts(step: AnyStep) -> bool:
    return step.action.op in (Op.WRITE, Op.EXECUTE)


def _tried(step: AnyStep, world: Any) -> int:
    return len(world.envelope.watched[step.config.agents.index(step.action.agent)].now)


# Budgets.


def _place(step: AnyStep) -> int:
    place: int = step.config.agents.index(step.action.agent)
    return place


def _round(step: AnyStep) -> bool:
    return step.action.op is Op.ROUND and step.action.agent in step.config.agents


def _applies_budget_backward_compatibility_p59(config: Any) -> bool:
    return bool(not config.has(Layer.BUDGET))


@each_step(
    "Without a budget nothing is enforced and nothing is tracked.",
    source="P59",
    systems=ONLY,
    applies=_applies_budget_backward_compatibility_p59,
    when=_round,
)
def budget_backward_compatibility_p59(step: AnyStep) -> bool:
    """As before there were budgets."""
    return bool(step.shown.accepted and step.after == step.before and not step.shown.needs)


def _no_warnings(_config: Any) -> tuple[tuple[str, str, bool], ...]:
    return ()


def _warned(value: tuple[tuple[str, str, bool], ...], step: AnyStep) -> tuple[tuple[str, str, bool], ...]:
    if not _round(step):
        return value
    return tuple(sorted((*value, *((agent, about, blocking) for agent, blocking, about in step.shown.needs))))


def _when_budget_warning_threshold_p60(_config: Any, value: Any) -> bool:
    return bool(bool(value))


@monitor(
    "For each dimension exactly one warning is written, not blocking, however usage goes on.",
    source="P60",
    systems=ONLY,
    applies=_with(Layer.BUDGET),
    start=_no_warnings,
    update=_warned,
    when=_when_budget_warning_threshold_p60,
)
def budget_warning_threshold_p60(_config: Any, value: tuple[tuple[str, str, bool], ...]) -> bool:
    """At most one; that it is written in time is the next claim."""
    pairs = [(agent, about) for agent, about, _ in value]
    return len(set(pairs)) == len(pairs) and not any(blocking for _, _, blocking in value)


def _when_budget_warnings_are_in_time(step: AnyStep) -> bool:
    return bool(_round(step) and step.shown.accepted)


@each_step(
    "The round in which usage crosses the warning fraction writes the warning, even if it reaches the total as well.",
    source="P60, 9.10",
    systems=ONLY,
    applies=_with(Layer.BUDGET),
    when=_when_budget_warnings_are_in_time,
)
def budget_warnings_are_in_time(step: AnyStep) -> bool:
    """Per dimension, against the ceiling of that time."""
    place, config = _place(step), step.config
    told = {about for _, _, about in step.shown.needs}
    for dimension, name in enumerate(("input", "output")):
        ceiling = step.before.budget.ceiling[place][dimension]
        before, after = step.before.budget.used[place][dimension], step.after.budget.used[place][dimension]
        line = None if ceiling is None else Fraction(ceiling) * config.fraction
        crossed = line is not None and before < line <= after
        first = not step.before.budget.warned[place][dimension]
        if (name in told) != (crossed and first) and line is not None:
            return False
    return True


def _used_up(step: AnyStep) -> bool:
    pairs = zip(step.before.budget.used[_place(step)], step.before.budget.ceiling[_place(step)], strict=True)
    return any(ceiling is not None and used >= ceiling for used, ceiling in pairs)


def _when_budget_hard_stop_p61(step: AnyStep) -> bool:
    return bool(_round(step) and _used_up(step))


@each_step(
    "Where usage has reached the total in some dimension, every activation is rejected.",
    source="P61",
    systems=ONLY,
    applies=_with(Layer.BUDGET),
    when=_when_budget_hard_stop_p61,
)
def budget_hard_stop_p61(step: AnyStep) -> bool:
    """Until the principal raises the ceiling."""
    return not step.shown.accepted and step.shown.by is Layer.BUDGET


def _when_budget_resumption_p62(step: AnyStep) -> bool:
    return bool(_round(step) and not _used_up(step))


@each_step(
    "Below every total an agent is activated, so that one whose budget was raised above its usage goes on.",
    source="P62",
    systems=ONLY,
    applies=_with(Layer.BUDGET),
    when=_when_budget_resumption_p62,
)
def budget_resumption_p62(step: AnyStep) -> bool:
    """No stop without a reason."""
    return bool(step.shown.accepted)


@each_step(
    "Usage is never taken back, and a round adds exactly its tokens.",
    source="P63",
    systems=ONLY,
    applies=_with(Layer.BUDGET),
)
def budget_tracking_accuracy_p63(step: AnyStep) -> bool:
    """Raising the ceiling resets nothing."""
    for place, (before, after) in enumerate(zip(step.before.budget.used, step.after.budget.used, strict=True)):
        mine = _round(step) and step.shown.accepted and place == _place(step)
        spent = step.action.tokens if mine else (0, 0)
        if after != (before[0] + spent[0], before[1] + spent[1]):
            return False
    return True


# The detector.


def _spikes(step: AnyStep) -> bool:
    """Every completed window was alike, and this one has more observations already."""
    if step.action.op is not Op.CHECK or step.config.baseline is not None or not step.config.samples:
        return False
    watched = step.before.envelope.watched[_place(step)]
    if len(watched.past) < step.config.samples or len(set(watched.past)) != 1:
        return False
    return bool(sum(kind is Kind.OBSERVATION for _, kind in watched.now) > watched.past[0][0])


@each_step(
    "Whoever tries more observations in a window than in any before, where all before were alike, is RESTRICTED.",
    source="9.7",
    systems=ONLY,
    applies=_with(Layer.ENVELOPE),
    when=_spikes,
)
def spikes_are_restricted(step: AnyStep) -> bool:
    """Without spread any excess is beyond k standard deviations."""
    return step.shown.health is Health.RESTRICTED


# Rate limits.


def _of_window(step: AnyStep) -> list[str]:
    rates = step.before.rates
    return [who for who, where in (*rates.before, *rates.now) if where == step.action.scope]


def _limited(step: AnyStep) -> bool:
    layered = _writes(step) and step.action.agent in step.config.agents and step.action.scope in step.config.scopes
    return layered and step.action.kind not in (Kind.INTENT, Kind.ACTION)


def _applies_rate_limit_enforcement_p64(config: Any) -> bool:
    return bool(config.has(Layer.RATE) and config.rate[0] is not None)


def _when_rate_limit_enforcement_p64(step: AnyStep) -> bool:
    return bool(_limited(step) and _of_window(step).count(step.action.agent) >= step.config.rate[0])


@each_step(
    "An agent that has used up its writes of the window writes nothing more in it, and the envelope sees the attempt.",
    source="P64",
    systems=ONLY,
    applies=_applies_rate_limit_enforcement_p64,
    when=_when_rate_limit_enforcement_p64,
)
def rate_limit_enforcement_p64(step: AnyStep) -> bool:
    """An attempt that no other layer stopped before is counted."""
    seen = step.shown.by is not Layer.RATE or step.after.envelope is None
    return not step.shown.accepted and (seen or _tried(step, step.after) == _tried(step, step.before) + 1)


def _applies_rate_limit_fleet_cap_p65(config: Any) -> bool:
    return bool(config.has(Layer.RATE) and config.rate[1] is not None)


def _when_rate_limit_fleet_cap_p65(step: AnyStep) -> bool:
    return bool(_limited(step) and len(_of_window(step)) >= step.config.rate[1])


@each_step(
    "Where a scope has used up its writes of the window, nobody writes in it.",
    source="P65",
    systems=ONLY,
    applies=_applies_rate_limit_fleet_cap_p65,
    when=_when_rate_limit_fleet_cap_p65,
)
def rate_limit_fleet_cap_p65(step: AnyStep) -> bool:
    """Regardless of what the agent itself wrote."""
    return not step.shown.accepted


def _when_rate_limit_independence_p66(step: AnyStep) -> bool:
    return bool(_attempts(step) and step.shown.by is not None)


@each_step(
    "A write is stopped by each layer for that layer's reasons alone, and by no layer that is absent.",
    source="P66, 16",
    systems=ONLY,
    when=_when_rate_limit_independence_p66,
)
def rate_limit_independence_p66(step: AnyStep) -> bool:
    """Who is within its rate is not stopped by the rate limit, flagged or not; and the other way round."""
    if not step.config.has(step.shown.by):
        return False
    if step.shown.by is Layer.RATE:
        each, every = step.config.rate
        of_window = _of_window(step)
        own = each is not None and of_window.count(step.action.agent) >= each
        return own or (every is not None and len(of_window) >= every)
    return step.shown.by is not Layer.ENVELOPE or step.shown.health is Health.RESTRICTED


def _window_begins(_config: Any) -> tuple[int, tuple[tuple[str, str], ...]]:
    return 0, ()


def _in_window(value: Any, step: AnyStep) -> Any:
    half, written = value
    if not step.config.has(Layer.RATE):
        return value  # nothing to keep books of
    if step.action.op is Op.TICK:
        return (1, written) if half == 0 else (0, ())
    if _limited(step) and step.shown.accepted:
        return half, tuple(sorted((*written, (step.action.agent, step.action.scope))))
    return value


def _when_windows_keep_their_limit(_config: Any, value: Any) -> bool:
    return bool(value[1])


def _applies_windows_keep_their_limit(config: Any) -> bool:
    return bool(config.has(Layer.RATE))


@monitor(
    "From the beginning of a window to its end no agent writes more than its limit, and all together no more than "
    "theirs.",
    source="9.12, P64, P65",
    systems=ONLY,
    applies=_applies_windows_keep_their_limit,
    start=_window_begins,
    update=_in_window,
    when=_when_windows_keep_their_limit,
)
def windows_keep_their_limit(config: LayersConfig, value: Any) -> bool:
    """By the monitor's own books, not by what the limit remembers."""
    each, every = config.rate
    written = value[1]
    scopes = [scope for _, scope in written]
    own = each is None or all(written.count(one) <= each for one in written)
    return own and (every is None or all(scopes.count(scope) <= every for scope in scopes))


def _refused_books(config: Any) -> tuple[Any, bool]:
    return _window_begins(config), True


def _by_the_books(value: Any, step: AnyStep) -> Any:
    """The books of the window, and whether a refusal for its rate was due by them."""
    books, _ = value
    due = True
    if step.shown.by is Layer.RATE:
        each, every = step.config.rate
        here = [who for who, where in books[1] if where == step.action.scope]
        own = each is not None and here.count(step.action.agent) >= each
        due = own or (every is not None and len(here) >= every)
    return _in_window(books, step), due


@monitor(
    "The rate limit refuses only where as many writes were stored in this window as it allows.",
    source="9.12, P66",
    systems=ONLY,
    applies=_applies_windows_keep_their_limit,
    start=_refused_books,
    update=_by_the_books,
)
def only_stored_writes_fill_the_window(config: LayersConfig, value: Any) -> bool:
    """Attempts that another layer refused are no writes; where windows slide, the last one's writes count too."""
    return bool(value[1]) or config.readings.rate_window == "sliding"


def _no_writes(_config: Any) -> tuple[tuple[tuple[str, str], ...], ...]:
    return ((), ())


def _moving(value: Any, step: AnyStep) -> Any:
    if step.action.op is Op.TICK:
        return (value[1], ())
    if _limited(step) and step.shown.accepted:
        return (value[0], tuple(sorted((*value[1], (step.action.agent, step.action.scope)))))
    return value


def _applies_no_burst_across_windows(config: Any) -> bool:
    return bool(config.has(Layer.RATE) and config.rate[0] is not None)


@monitor(
    "In no stretch of one window's length does an agent write more than its limit.",
    source="9.12",
    systems=ONLY,
    applies=_applies_no_burst_across_windows,
    start=_no_writes,
    update=_moving,
)
def no_burst_across_windows(config: LayersConfig, value: Any) -> bool:
    """Two halves in a row, wherever windows begin: false where they tumble."""
    both = (*value[0], *value[1])
    limit = config.rate[0]
    assert limit is not None
    return all(both.count(one) <= limit for one in both)


LIMITS: tuple[Property, ...] = (
    budget_backward_compatibility_p59,
    budget_warning_threshold_p60,
    budget_warnings_are_in_time,
    budget_hard_stop_p61,
    budget_resumption_p62,
    budget_tracking_accuracy_p63,
    spikes_are_restricted,
    rate_limit_enforcement_p64,
    rate_limit_fleet_cap_p65,
    rate_limit_independence_p66,
    windows_keep_their_limit,
    only_stored_writes_fill_the_window,
    no_burst_across_windows,
)
"""The claims of this module."""
