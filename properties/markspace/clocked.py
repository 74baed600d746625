"""The instants that matter to a scheduler with a clock (§14.2): the licence to search one state for many."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from evenhand.core.property import each_step, two_run
from evenhand.core.records import replace
from evenhand.model.markspace.clocked_vocabulary import (
    ClockConfig,
    ClockState,
    ClockStep,
    counted_from_now,
    no_older_than_the_longest,
)
from evenhand.model.markspace.composing_vocabulary import Activate, ComposingAct, Update, Wait
from evenhand.properties.markspace.predicates import same_action, same_config


def _other_times(config: ClockConfig, _state: ClockState, _act: ComposingAct) -> Iterator[str]:
    if not config.horizon:
        yield "counted from now"


def _other_ages(config: ClockConfig, state: ClockState, act: ComposingAct) -> Iterator[str]:
    """Only where no interval exceeds the longest, because a longer one would look farther back."""
    asked = act.interval if isinstance(act, Update) else None
    if all(one is None or one <= config.longest for one in (asked, *state.intervals)):
        yield "no older than the longest interval"


def _from_now(_w: str, config: ClockConfig, state: ClockState) -> ClockState:
    return counted_from_now(config, state)


def _no_older(_w: str, config: ClockConfig, state: ClockState) -> ClockState:
    return no_older_than_the_longest(config, state)


@two_run(
    "Counted from now, instants say who is activated as they did, and lead to the same counted from now.",
    source="14.2",
    systems=("clock",),
    twins=_other_times,
    config=same_config,
    state=_from_now,
    other=same_action,
)
def only_ages_matter(_w: str, step: ClockStep, other: ClockStep | None) -> bool:
    """The shift in time is a functional bisimulation."""
    return other is not None and _alike(step, other, counted_from_now)


@two_run(
    "An activation farther back than the longest interval may lie as far back as that: the same are activated.",
    source="14.2",
    systems=("clock",),
    twins=_other_ages,
    config=same_config,
    state=_no_older,
    other=same_action,
)
def old_activations_are_alike(_w: str, step: ClockStep, other: ClockStep | None) -> bool:
    """The saturation of ages is a functional bisimulation."""
    return other is not None and _alike(step, other, no_older_than_the_longest)


def _alike(step: ClockStep, other: ClockStep, image: Callable[[ClockConfig, ClockState], ClockState]) -> bool:
    return step.shown == other.shown and image(step.config, step.after) == image(step.config, other.after)


@each_step(
    "A second passes by waiting alone; whoever is due is activated and keeps the instant, and nobody else does; an "
    "update sets the interval that it names, and is refused, with a reason, exactly if its agent or interval is none.",
    source="14.1, 14.2",
    systems=("clock",),
)
def instants_change_as_asked(step: ClockStep) -> bool:
    """The like of `schedules_change_as_asked`, of instants in place of seconds since."""
    act, before, names = step.action, step.before, step.config.names
    due, activated, refused = before, tuple[str, ...](), False
    match act:
        case Wait():
            due = replace(before, now=before.now + 1)
        case Activate():
            each = list(zip(names, before.last, before.intervals, strict=True))
            activated = tuple(
                name for name, last, every in each if every is not None and (last is None or before.now - last >= every)
            )
            due = replace(before, last=tuple(before.now if name in activated else last for name, last, _ in each))
        case Update(agent, interval):
            refused = agent not in names or (interval is not None and interval < 1)
            asked = dict(zip(names, before.intervals, strict=True)) | ({} if refused else {agent: interval})
            due = replace(before, intervals=tuple(asked[name] for name in names))
        case _:
            refused = True
    return (step.after, step.shown.activated, bool(step.shown.refused)) == (due, activated, refused)
