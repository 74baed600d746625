"""Runs of the model for conformance tests: seeded random walks through the menu in many configurations."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from evenhand.core.system import AnyStep, AnySystem
from evenhand.model.conviction.vocabulary import Act, Config, Enrol, Invite, Tick
from evenhand.smt.ends import End, end_at, run_of
from evenhand.smt.transitions.invariant import Steps

PLACES: tuple[Mapping[str, int], ...] = (
    {"cycles": 1, "budget": 3, "texts": 3, "hostile": 1},
    {"cycles": 1, "budget": 2, "texts": 3},
    {"cycles": 1, "rounds": 3, "budget": 4, "stake": 2, "texts": 2, "issues": 2},
    {"agents": 1, "strangers": 1, "budget": 3, "cap": 2, "rounds": 3, "stake": 1},
    {"rounds": 3, "stake": 1, "texts": 0, "hostile": 1},
    {"agents": 3, "cycles": 1, "stake": 3, "budget": 2, "penalty": 2},
)
"""Small configurations in which every kind of event occurs: rejections, taps, several Issues, strangers, moves, poor
proposers."""
LONG, SHORT = 40, 28
_KEPT: dict[tuple[int, str, int], tuple[Any, Sequence[Mapping[str, int]], tuple[Steps, ...]]] = {}


def _as_is(config: Config) -> Config:
    return config


def walks(
    system: AnySystem, places: Sequence[Mapping[str, int]] = PLACES, altered: Callable[[Config], Config] = _as_is
) -> tuple[Steps, ...]:
    """Return walks of any variant, six in each place for the reference, one for the others; cached between theorems.
    `altered` maps each place's configuration to the one that is walked; it must give the same one for the same places.
    """
    key = (id(system.rules), repr(system.readings), id(places))
    if key not in _KEPT:
        # Rules and places are stored, so that no `id` is reused.
        _KEPT[key] = (system.rules, places, tuple(_walks(system, places, altered)))
    return _KEPT[key][2]


def _walks(
    system: AnySystem, places: Sequence[Mapping[str, int]], altered: Callable[[Config], Config]
) -> Iterator[Steps]:
    reference = system.variant == "reference"
    for number, place in enumerate(places):
        small = system.at(**place)
        config = altered(next(iter(small.all_configs())))
        for draw in range(1, 7) if reference else (number % 3 + 1,):
            run = tuple(_walk(small, config, random.Random(f"{place} {draw}"), LONG if reference else SHORT))
            if run:
                yield run


def _walk(system: AnySystem, config: Config, draw: random.Random, length: int) -> Iterator[Any]:
    """Let strangers in; then sometimes tick, else draw a kind of action on offer and one action of that kind."""
    state = next(iter(system.initial(config)))
    for number in range(length):
        acts: dict[type[Act], list[Act]] = {}
        for act in cast("Iterator[Act]", system.enabled(config, state)):
            acts.setdefault(type(act), []).append(act)
        if not acts:
            return
        kinds = [kind for kind in acts if kind is not Tick]
        enters: list[type[Act]] = [kind for kind in (Invite, Enrol) if kind in acts and number < 2]
        if not kinds or (not enters and draw.random() < 0.3):
            kinds = [Tick]
        taken = system.take(config, state, draw.choice(acts[(enters or [draw.choice(kinds)])[0]]))
        yield taken
        state = taken.after


def ends(
    system: AnySystem,
    keep: Callable[[AnyStep], bool],
    places: Sequence[Mapping[str, int]] = PLACES,
    altered: Callable[[Config], Config] = _as_is,
) -> Iterator[End]:
    """Yield the steps of `walks` that are to be kept, each with the run to it."""
    for run in walks(system, places, altered):
        for place, step in enumerate(run, 1):
            if keep(step):
                yield run_of(run[:place]), step


def tried(system: AnySystem, end: End, acts: Iterable[Act]) -> Iterator[End]:
    """Yield other actions in place of the last one of a run."""
    run, step = end
    way = replace(run, actions=run.actions[:-1])
    return (end_at(system, way, step.before, act) for act in acts)
