"""The systems of RSA-PoC v1.0: one compiler with five kinds of input.

`universe`: one step, every APCM, every REVISE artefact.  `repaired`: the same under the repaired rules.  `run`: steps
without end, artefacts free, for precedents, livelock and oscillation.  `agents`: one step, every APCM with every set
of feasible actions, artefacts by the rule-based generators.  `conditions`: the four run conditions of section 10.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy
from functools import lru_cache
from itertools import chain, tee
from typing import Any

from evenhand.core.system import Fairness, Scope, System
from evenhand.model.apcm.compiler import REFERENCE, REPAIRED, SCRAMBLES, Rules
from evenhand.model.apcm.generators import artifact_of
from evenhand.model.apcm.menus import (
    THREE_WAY,
    action_names,
    each_fields,
    every_situation,
    hostile_artifacts,
    hostile_situations,
    preference_names,
    situation,
    typical_situations,
)
from evenhand.model.apcm.readings import Readings
from evenhand.model.apcm.renaming import RENAMING
from evenhand.model.apcm.step import initial, progress, smaller, step, wants
from evenhand.model.apcm.vocabulary import (
    CONDITIONS,
    MAINTAIN,
    REVISE,
    SCRAMBLE,
    TYPES,
    Act,
    Config,
    Fields,
    Select,
    Shown,
    Situation,
    State,
    Submit,
)

ApcmSystem = System[Config, State, Act, Shown, Rules]
_THREE = preference_names(3)


def _selections(state: State) -> Iterator[Act]:
    return (Select(action) for action in state.offered)


def _submissions(
    preferences: tuple[str, ...],
    readings: Readings,
    previous: Fields | None,
    *,
    modes: tuple[str, ...],
    groups: bool,
    hostile: bool,
) -> Iterator[Submit]:
    """Return the artefacts on offer after `previous`, simplest first."""
    return copy(_menu(preferences, readings, previous, modes, groups, hostile))


@lru_cache(maxsize=4_096)
def _menu(
    preferences: tuple[str, ...],
    readings: Readings,
    previous: Fields | None,
    modes: tuple[str, ...],
    groups: bool,
    hostile: bool,
) -> Iterator[Submit]:
    """Artefacts that are made when a copy first reaches them, because a random run asks for the first one only."""
    honest = (
        Submit(artifact_of(fields, previous, mode))
        for mode in modes
        for fields in each_fields(preferences, readings, groups)
    )
    odd = (Submit(artifact) for artifact in (hostile_artifacts(preferences, previous) if hostile else ()))
    return tee(chain(honest, odd), 1)[0]


def _one_step(groups: bool) -> Any:
    def actions(config: Config, scope: Scope, state: State) -> Iterable[Act]:
        if state.over:
            return ()
        if state.offered:
            return _selections(state)
        return _submissions(
            config.preferences,
            config.readings,
            state.previous,
            modes=(REVISE,),
            groups=groups,
            hostile=bool(scope["hostile"]),
        )

    return actions


def _free_actions(config: Config, scope: Scope, state: State) -> Iterable[Act]:
    if state.over:
        return ()
    if state.offered:
        return _selections(state)
    return _submissions(
        config.preferences,
        config.readings,
        state.previous,
        modes=(REVISE, MAINTAIN),
        groups=False,
        hostile=bool(scope["hostile"]),
    )


def _generated_actions(_config: Config, _scope: Scope, state: State) -> Iterable[Act]:
    if state.over:
        return ()
    return _selections(state) if state.offered else (Submit(),)


def _arrives(_config: Config, state: State, action: Act) -> bool:
    """Return whether an action is on offer: any artefact may arrive where one is awaited."""
    if state.over:
        return False
    if isinstance(action, Select):
        return action.action in state.offered
    return not state.offered


def _universe_configs(scope: Scope, readings: Readings) -> Iterator[Config]:
    """Yield one step on every APCM; `hostile` adds improper situations, and the smallest blocked one."""
    actions, preferences = action_names(scope["actions"]), preference_names(scope["preferences"])
    for one in every_situation(actions, preferences):
        yield Config(actions, preferences, (one,), steps=1, readings=readings)
    if scope["hostile"] and actions and preferences:
        for odd in hostile_situations(actions, preferences):
            yield Config(actions, preferences, (odd,), steps=1, readings=readings)
        yield Config(action_names(3), _THREE, (THREE_WAY,), steps=1, readings=readings)


def _run_configs(scope: Scope, readings: Readings) -> Iterator[Config]:
    """Yield typical situations published again and again, and in turn; `every` publishes every APCM instead."""
    actions, preferences = action_names(scope["actions"]), preference_names(scope["preferences"])
    if scope["every"]:
        environments: list[tuple[Situation, ...]] = [(one,) for one in every_situation(actions, preferences)]
    else:
        clean, forced, shared = typical_situations(actions, preferences)
        alone = dict.fromkeys(((clean,), (forced,), (shared,)))
        environments = [*alone, (clean, forced, Situation((), ()))]
    for many in environments:
        yield Config(actions, preferences, many, readings=readings)


def _agent_configs(scope: Scope, readings: Readings) -> Iterator[Config]:
    """Yield every APCM over every set of feasible actions, under each of the two generators of the text's kind."""
    actions, preferences = action_names(scope["actions"]), preference_names(scope["preferences"])
    for generator in ("single_pair", "complete"):
        for one in every_situation(actions, preferences, infeasible=True):
            yield Config(actions, preferences, (one,), generator=generator, steps=1, readings=readings)


ENVIRONMENT: tuple[Situation, ...] = (
    situation(_THREE, a1="", a2="P1", a3="P2"),
    situation(_THREE, a1="P1", a2="P2"),
    situation(_THREE, a1="P1", a2="P1 P2"),
    THREE_WAY,
)
"""The situations of section 10: no conflict, a forced choice, a shared violation, a three-way one."""


def _condition_configs(scope: Scope, readings: Readings) -> Iterator[Config]:
    """Yield the four conditions under each generator and selector, in one environment."""
    actions = action_names(3)
    for condition in CONDITIONS:
        for generator in ("complete", "single_pair", "lazy"):
            for selector in ("any", "first", "last"):
                for scramble in SCRAMBLES if condition == SCRAMBLE else ("swap",):
                    yield Config(
                        actions,
                        _THREE,
                        ENVIRONMENT,
                        condition=condition,
                        generator=generator,
                        selector=selector,
                        scramble=scramble,
                        steps=scope["steps"],
                        readings=readings,
                    )


def revises(_state: State, action: Act) -> bool:
    """Return whether a step submits a REVISE artefact."""
    return isinstance(action, Submit) and action.artifact is not None and action.artifact.mode == REVISE


def _actor(action: Act) -> str:
    return "author" if isinstance(action, Submit) else "selector"


def _fair(_config: Config) -> dict[str, Fairness[State, Act]]:
    return {"artefacts revise": Fairness("weak", revises)}


def _system(name: str, configs: Any, actions: Any, scope: Scope, **more: Any) -> ApcmSystem:
    """Return a system of this protocol: the same start, step and vocabulary, other configurations and menus."""
    usual: dict[str, Any] = {"rules": REFERENCE, **more}
    return System(
        name=name,
        configs=configs,
        actions=actions,
        scope=scope,
        initial=initial,
        step=step,
        readings=Readings(),
        wants=wants,
        progress=progress,
        smaller=smaller,
        allows=_arrives,
        types=TYPES,
        actor=_actor,
        **usual,
    )


UNIVERSE = _system(
    "universe",
    _universe_configs,
    _one_step(False),
    Scope(actions=2, preferences=2, hostile=1),
    quotients=(RENAMING,),
)
"""One step on every APCM with every REVISE artefact."""

REPAIRED_UNIVERSE = _system(
    "repaired",
    _universe_configs,
    _one_step(True),
    Scope(actions=2, preferences=2, hostile=0),
    rules=REPAIRED,
    quotients=(RENAMING,),
)
"""`universe` under the repaired rules, which are ours: a collision is declared among one preference or more."""

RUN = _system("run", _run_configs, _free_actions, Scope(actions=2, preferences=2, hostile=0, every=0), fair=_fair)
"""Steps without end, artefacts free."""

AGENTS = _system("agents", _agent_configs, _generated_actions, Scope(actions=3, preferences=3))
"""One step on every APCM and every set of feasible actions, artefacts by a generator of ours."""

CONDITIONED = _system("conditions", _condition_configs, _generated_actions, Scope(steps=8))
"""The run conditions of section 10, twice through the environment."""

SYSTEMS = {system.name: system for system in (RUN, UNIVERSE, REPAIRED_UNIVERSE, AGENTS, CONDITIONED)}
"""Every system by name, the main one first."""
