"""The instants that matter to a scheduler with a clock (§14.2): the licence to search one state for many."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from evenhand.core.property import two_run
from evenhand.model.markspace.clocked_vocabulary import (
    ClockConfig,
    ClockState,
    ClockStep,
    counted_from_now,
    no_older_than_the_longest,
)
from evenhand.model.markspace.composing_vocabulary import ComposingAct, Update
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
