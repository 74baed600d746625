"""The search of one configuration: by the tier that was chosen or one below it, for all claims that apply."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from evenhand.properties.property import (
    Always,
    Commute,
    DeterminedBy,
    EachStep,
    Monitor,
    Property,
    Reachable,
    TwoRun,
)
from evenhand.properties.search.check import AlwaysWatch, MonitorWatch, ReachableWatch, StepsWatch, StepWatch
from evenhand.properties.search.disk import held
from evenhand.properties.search.found import AnySystem, ModelError, Tally
from evenhand.properties.search.graph import Bounds, History, Watcher, Watchers, search
from evenhand.properties.search.liveness import AboutRuns, Labels, decide
from evenhand.properties.search.pairs import CommuteWatch, DeterminedWatch, TwoRunWatch
from evenhand.properties.search.rows.compiler import Unfit
from evenhand.properties.search.rows.tier import Compiled
from evenhand.properties.search.steps import Tier
from evenhand.properties.search.symmetry.tier import Orbits
from evenhand.properties.search.totals import Result

__all__ = ["Progress", "search_one"]

Progress: TypeAlias = Callable[[int, int], None]
"""Told now and then: states and steps so far."""


def search_one(
    system: AnySystem,
    tier: Tier | Compiled | Orbits,
    config: Any,
    number: int,
    claims: Sequence[Property],
    bounds: Bounds,
    tick: Progress | None = None,
) -> Result:
    """Search one configuration for all claims that apply to it."""
    with held(bounds) as within:
        return _searched(system, tier, config, number, claims, within, tick)


def _searched(
    system: AnySystem,
    tier: Tier | Compiled | Orbits,
    config: Any,
    number: int,
    claims: Sequence[Property],
    bounds: Bounds,
    tick: Progress | None,
) -> Result:
    if isinstance(tier, Orbits):
        try:
            return _by_orbits(tier, config, number, bounds, tick)
        except Unfit as error:
            if tier.below is None:
                raise ModelError(f"tier 3 was asked for, but {error}") from error
            tier = tier.below
    if isinstance(tier, Compiled):
        try:
            return _by_rows(tier, config, number, claims, bounds, tick)
        except Unfit as error:
            if tier.below is None:
                raise ModelError(f"tier 2 was asked for, but {error}") from error
            tier = tier.below
    watchers: dict[int, Any] = {}
    runs: list[tuple[int, AboutRuns]] = []
    for place, claim in enumerate(claims):
        if not claim.applies(config):
            continue
        if isinstance(claim, AboutRuns):
            runs.append((place, claim))
        else:
            watchers[place] = _watcher(system, claim, config, bounds)
    labels = Labels(system, config, [claim for _, claim in runs]) if runs else None
    every: list[Watcher] = [*watchers.values(), *([labels] if labels is not None else [])]
    walk = search(system, tier, config, number, _sorted(every), bounds, tick)
    tallies = {place: watcher.close(walk) for place, watcher in watchers.items()}
    if labels is not None:
        tallies.update({place: decide(claim, labels, walk) for place, claim in runs})
    return Result(
        len(walk.states),
        walk.transitions,
        walk.edges,
        max(0, len(walk.levels) - 1),
        walk.open,
        tuple(tallies.get(place, Tally()) for place in range(len(claims))),
        walk.spilled,
    )


def _by_rows(
    tier: Compiled, config: Any, number: int, claims: Sequence[Property], bounds: Bounds, tick: Progress | None
) -> Result:
    walk = tier.search(config, number, bounds, tick)
    depth = max(0, len(walk.levels) - 1)
    tallies = tuple(tier.tallies(walk, claims))
    return Result(walk.count, walk.transitions, walk.edges, depth, walk.open, tallies, walk.spilled)


def _by_orbits(tier: Orbits, config: Any, number: int, bounds: Bounds, tick: Progress | None) -> Result:
    walk, tallies = tier.search(config, number, bounds, tick)
    depth = max(0, len(walk.levels) - 1)
    return Result(walk.states, walk.transitions, walk.edges, depth, walk.open, tuple(tallies))


def _watcher(system: AnySystem, claim: Property, config: Any, bounds: Bounds) -> Watcher:
    match claim:
        case Always():
            return AlwaysWatch(claim, config)
        case EachStep():
            return StepWatch(claim)
        case Reachable():
            return ReachableWatch(claim)
        case Monitor():
            return MonitorWatch(claim, config, bounds.max_states)
        case DeterminedBy():
            return DeterminedWatch(claim)
        case Commute():
            return CommuteWatch(claim, system, config)
        case TwoRun():
            return TwoRunWatch(claim, system, len(dict.fromkeys(system.initial(config))))
        case _:
            raise ValueError(f"claim {claim.name!r} is of kind {claim.kind}, which the search does not know")


def _sorted(every: Sequence[Watcher]) -> Watchers:
    """Who wants to see what, by the methods that each watcher has made its own."""
    steps = [w for w in every if isinstance(w, StepWatch)]
    others = [w for w in every if not isinstance(w, AlwaysWatch | CommuteWatch | History | StepWatch)]
    return Watchers(
        singly=(*([StepsWatch(steps)] if steps else []), *others),
        arrivals=tuple(w for w in every if isinstance(w, AlwaysWatch)),
        visitors=tuple(w for w in every if isinstance(w, CommuteWatch)),
        lookers=tuple(w for w in every if not isinstance(w, AlwaysWatch | CommuteWatch | History)),
        histories=tuple(w for w in every if isinstance(w, History)),
    )
