"""The search of one configuration, for all claims that apply, by the chosen method or the one below it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from evenhand.core.answers import ModelError
from evenhand.core.kinds import Property, Reachable, Safety, every_step
from evenhand.core.relations import DeterminedBy, Paired, TwoRun
from evenhand.core.system import AnySystem
from evenhand.core.temporal import Temporal
from evenhand.search.actions import NOTHING, ActionsWatch
from evenhand.search.bounds import Bounds, held
from evenhand.search.check import HistoryWatch, StateWatch, StepsWatch, StepWatch
from evenhand.search.graph import Watcher, search
from evenhand.search.liveness import AboutRuns, Labels, decide
from evenhand.search.pairs import DeterminedWatch, StatePairsWatch, StepPairsWatch, TwoRunWatch
from evenhand.search.steps import Method
from evenhand.search.symmetric.method import Orbits
from evenhand.search.tables.expressions import NotLearned
from evenhand.search.tables.joint_method import JointAttempt
from evenhand.search.tables.method import Attempt, Finished
from evenhand.search.temporal import decide_temporal
from evenhand.search.totals import Result
from evenhand.search.walk import Walk
from evenhand.search.witness import Progress, Tally

CUT = "no run inside the constraint breaks it, and the constraint lets some go on unseen"
"""The doubt about a claim about whole runs, some of which were not followed to their end."""


def search_one(
    method: Method | Orbits,
    config: Any,
    number: int,
    claims: Sequence[Property],
    bounds: Bounds,
    tick: Progress | None = None,
    counting: ActionsWatch | None = None,
) -> Result:
    """Search one configuration for all claims that apply; symmetric search ignores `counting`."""
    with held(bounds) as within:
        why = ""
        while isinstance(method, Orbits):
            try:
                return method.result(config, number, claims, within, tick)
            except NotLearned as error:
                if method.below is None:
                    raise ModelError(f"{method.name} search was asked for, but {error}") from error
                why, method = f"not symmetric search, for {error}", method.below
        result = _step_by_step(method, config, number, claims, within, tick, counting)
        if not why:
            return result
        how = result.how or ((method.name, ""),)
        return replace(result, how=tuple((name, f"{told}; {why}" if told else why) for name, told in how))


def _step_by_step(
    method: Method,
    config: Any,
    number: int,
    claims: Sequence[Property],
    bounds: Bounds,
    tick: Progress | None,
    counting: ActionsWatch | None,
) -> Result:
    watchers: dict[int, Any] = {}
    runs: list[tuple[int, AboutRuns | Temporal]] = []
    for place, claim in enumerate(claims):
        if not claim.applies(config):
            continue
        if isinstance(claim, AboutRuns | Temporal):
            runs.append((place, claim))
        else:
            watchers[place] = _watcher(method.system, claim, config, bounds)
    labels = Labels(method.system, config, [claim for _, claim in runs]) if runs else None
    steps = [watcher for watcher in watchers.values() if isinstance(watcher, StepWatch)]
    others = [watcher for watcher in (*watchers.values(), labels, counting) if isinstance(watcher, Watcher)]
    every: list[Watcher] = [StepsWatch(steps), *others] if steps else others
    attempt = None
    if method.learns:
        kind = Attempt if method.system.joint is None else JointAttempt
        attempt = kind(method.system, config, number, claims, bounds, tick, counting)
        if method.learns == "only":
            attempt.at_once()
    try:
        walk = search(method.system, config, number, every, bounds, tick, attempt=attempt)
    except Finished as done:
        return _with_others(done, method, config, number, claims, bounds, tick)
    tallies = {place: watcher.close(walk) for place, watcher in watchers.items()}
    if labels is not None:
        tallies.update({place: _decided(claim, labels, walk) for place, claim in runs})
    return Result(
        len(walk.states),
        walk.transitions,
        walk.edges,
        max(0, len(walk.levels) - 1),
        walk.open,
        tuple(tallies.get(place, Tally()) for place in range(len(claims))),
        walk.spilled,
        counting.counted(walk) if counting is not None else NOTHING,
        () if attempt is None else attempt.how,
        len(walk.outside),
    )


def _decided(claim: AboutRuns | Temporal, labels: Labels, walk: Walk) -> Tally:
    if isinstance(claim, Temporal):
        tally = decide_temporal(claim, labels.says[claim.name], labels.graph(walk))
    else:
        tally = decide(claim, labels.graph(walk))
    if tally.finding is None and labels.system.constrained and labels.edges(walk).cut:
        return replace(tally, doubts=(CUT, *tally.doubts))
    return tally


def _with_others(
    done: Finished,
    method: Method,
    config: Any,
    number: int,
    claims: Sequence[Property],
    bounds: Bounds,
    tick: Progress | None,
) -> Result:
    """The result from tables; the claims that they leave aside are decided step by step."""
    if not done.aside:
        return done.result
    places = sorted(done.aside)
    rest = _step_by_step(Method(method.system), config, number, [claims[place] for place in places], bounds, tick, None)
    tallies = list(done.result.tallies)
    for place, tally in zip(places, rest.tallies, strict=True):
        tallies[place] = tally
    whole = done.result
    return replace(
        whole, tallies=tuple(tallies), open=whole.open or rest.open, spilled=max(whole.spilled, rest.spilled)
    )


def _watcher(system: AnySystem, claim: Property, config: Any, bounds: Bounds) -> Watcher | StepWatch:
    match claim:
        case Safety(reads="states"):
            return StateWatch(claim, config)
        case Safety(reads="steps"):
            return StepWatch(claim.name, *claim.tests)
        case Reachable():
            return StepWatch(claim.name, every_step, claim.goal, violates=True)
        case Safety():
            return HistoryWatch(claim, config, bounds.max_states)
        case DeterminedBy():
            return DeterminedWatch(claim)
        case Paired(reads="states"):
            return StatePairsWatch(claim, system, config)
        case TwoRun():
            return TwoRunWatch(claim, system, config)
        case Paired():
            return StepPairsWatch(claim, system, config)
        case _:
            raise ValueError(f"claim {claim.name!r} is of kind {claim.kind}, which the search does not support")
