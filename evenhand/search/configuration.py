"""The search of one configuration, for all claims that apply, by the chosen method or the one below it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING, Any

from evenhand.core.answers import ModelError
from evenhand.core.kinds import Property, Reachable, Safety, every_step
from evenhand.core.relations import DeterminedBy, Paired, TwoRun
from evenhand.core.system import AnySystem
from evenhand.core.temporal import AboutRuns, Temporal
from evenhand.search import tables
from evenhand.search.actions import NOTHING, ActionsWatch
from evenhand.search.bounds import Bounds, held
from evenhand.search.check import HistoryWatch, StateWatch, StepsWatch, StepWatch
from evenhand.search.contract import initial_states
from evenhand.search.graph import Watcher, search
from evenhand.search.pairs import DeterminedWatch, StatePairsWatch, StepPairsWatch, TwoRunWatch
from evenhand.search.steps import Method, joint_choices
from evenhand.search.totals import Finished, Result
from evenhand.search.walk import Walk
from evenhand.search.witness import NotLearned, Progress, Tally

if TYPE_CHECKING:
    from evenhand.search.symmetric.method import Orbits
    from evenhand.search.tables.method import Attempt


class _Tables:
    """Tables, which are imported when they are tried: most searches end before, and they take 0.2 s to import."""

    def __init__(self, only: bool, system: AnySystem, config: Any, *given: Any) -> None:
        self.only, self.given = only, (system, config, *given)
        self.attempt: Attempt | None = None
        self.size, self.steps = min(tables.EARLY, tables.ENOUGH), tables.NEVER
        if system.joint is not None:
            self.size = tables.NEVER
            self.steps = 0 if _widest(system, config) >= tables.WIDE else tables.STEPS
        if only:
            self.size, self.steps = 1, 0

    def __call__(self, walk: Walk) -> None:
        """Begin an attempt, or go on with it.  Raises what it raises."""
        if self.attempt is None:
            self.attempt = _begun(*self.given)
            if self.only:
                self.attempt.at_once()
        self.attempt(walk)
        self.size, self.steps = self.attempt.size, self.attempt.steps

    @property
    def how(self) -> tuple[tuple[str, str], ...]:
        """Explicit search, and what was wrong with the attempt."""
        return () if self.attempt is None else self.attempt.how


def _begun(system: AnySystem, *given: Any) -> Attempt:
    from evenhand.search.tables import joint_method, method

    return (method.Attempt if system.joint is None else joint_method.JointAttempt)(system, *given)


def _whole_runs() -> ModuleType:
    from evenhand.search import liveness  # with numpy, which takes 0.1 s to import

    return liveness


def _widest(system: AnySystem, config: Any) -> int:
    """The joint choices of the initial state that offers the most; 0 where that raises, as the search will say."""
    try:
        return max((joint_choices(system, config, state) for state in initial_states(system, config)), default=0)
    except Exception:
        return 0


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
        while not isinstance(method, Method):
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
    labels = _whole_runs().Labels(method.system, config, [claim for _, claim in runs]) if runs else None
    steps = [watcher for watcher in watchers.values() if isinstance(watcher, StepWatch)]
    others = [watcher for watcher in (*watchers.values(), labels, counting) if isinstance(watcher, Watcher)]
    every: list[Watcher] = [StepsWatch(steps), *others] if steps else others
    attempt = None
    if method.learns:
        attempt = _Tables(method.learns == "only", method.system, config, number, claims, bounds, tick, counting)
    try:
        walk = search(method.system, config, number, every, bounds, tick, attempt=attempt)
    except Finished as done:
        return _with_others(done, method, config, number, claims, bounds, tick)
    tallies = {place: watcher.close(walk) for place, watcher in watchers.items()}
    if labels is not None:
        tallies.update({place: _whole_runs().decided(claim, labels, walk) for place, claim in runs})
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
