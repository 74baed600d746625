"""The systems of the guard: one per policy, one with deferred resolution, one with meddling agents.

A policy is a choice of the deployment rather than a reading, so it is part of the configuration. Each policy has its
own system, so that verdicts and expectations can differ by policy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import permutations
from typing import Any

from evenhand.core.records import replace
from evenhand.core.system import Fairness, Quotient, Scope, System
from evenhand.model.markspace.guard import REFERENCE, Rules, initial, step
from evenhand.model.markspace.guard_vocabulary import (
    IDLE,
    TYPES,
    Act,
    Config,
    Decision,
    Doing,
    GuardStep,
    Phase,
    Policy,
    State,
    What,
)
from evenhand.model.markspace.readings import Readings

GuardSystem = System[Config, State, Act, Decision, Rules]


def agent_names(count: int) -> tuple[str, ...]:
    """Return the names of so many agents."""
    return tuple(f"agent_{number}" for number in range(1, count + 1))


def resource_names(count: int) -> tuple[str, ...]:
    """Return the names of so many resources.  Raises ValueError without one."""
    if count < 1:
        raise ValueError(f"resources must be 1 or more, not {count}")
    return tuple(f"room_{number}" for number in range(1, count + 1))


def actions(config: Config, scope: Scope, state: State) -> Iterator[Act]:
    """Yield the acts of each agent, then those of the surroundings, then a tick of the clock."""
    for agent, doing in zip(config.agents, state.doing, strict=True):
        if doing.phase is Phase.IDLE:
            for resource in config.resources:
                yield from _requests(config, scope, state, agent, resource)
            yield Act(What.CALL, agent, config.resources[0])  # out of turn: rejected
        elif doing.phase is Phase.ALLOWED:
            yield Act(What.CALL, agent, doing.resource)
            yield Act(What.ABANDON, agent, doing.resource)
        else:
            yield Act(What.POST, agent, doing.resource)
            yield Act(What.POST, agent, doing.resource, failed=True)
    for resource in config.resources:
        yield from _around(config, state, resource)
    for stranger in config.strangers:
        yield Act(What.PRE, stranger, config.resources[0])
    yield Act(What.TICK)


def _requests(config: Config, scope: Scope, state: State, agent: str, resource: str) -> Iterator[Act]:
    own = sum(1 for intent in state.on(resource) if intent.agent == agent)
    if config.readings.own_intents == "replaced_by_newest" or own < config.own:
        fresh = sum(1 for intent in state.intents if intent.fresh and intent.agent != agent)
        for confidence in range(scope["levels"]):
            for slip in range(fresh + 1):
                yield Act(What.PRE, agent, resource, confidence, slip=slip)
    if config.readings.claim_release != "none" and state.claims[config.resources.index(resource)] == agent:
        yield Act(What.RELEASE, agent, resource)


def _around(config: Config, state: State, resource: str) -> Iterator[Act]:
    busy = any(doing.phase is not Phase.IDLE and doing.resource == resource for doing in state.doing)
    if config.deferred and state.on(resource) and not (busy and config.readings.boundary_while_running == "waits"):
        yield Act(What.BOUNDARY, resource=resource)
    if config.readings.principal_decision != "none":
        asked = sorted(need.agent for need in state.needs if need.resource == resource)
        yield from (Act(What.PRINCIPAL, resource=resource, target=agent) for agent in asked)
    if config.meddling:
        claim = state.claims[config.resources.index(resource)]
        for who in (*config.agents, *config.strangers):
            if claim is not None:
                yield Act(What.WARN_CLAIM, who, resource)
                yield Act(What.SUPERSEDE_CLAIM, who, resource)
            for target in dict.fromkeys(intent.agent for intent in state.on(resource)):
                yield Act(What.WARN_INTENT, who, resource, target=target)
                yield Act(What.SUPERSEDE_INTENT, who, resource, target=target)


def _configs(policy: Policy, *, deferred: bool = False, meddling: bool = False) -> Any:
    def configs(scope: Scope, readings: Readings) -> Iterable[Config]:
        yield Config(
            agent_names(scope["agents"]),
            resource_names(scope["resources"]),
            policy,
            scope["ttl"],
            readings,
            deferred=deferred,
            meddling=meddling,
        )

    return configs


def _wants(_config: Config, state: State) -> bool:
    return any(claim is None for claim in state.claims)


def _progress(taken: GuardStep) -> bool:
    return taken.shown.note == "done"


def _actor(act: Act) -> str:
    """Return the agent that acts, or the principal; seconds and boundaries have no actor."""
    return "principal" if act.what is What.PRINCIPAL else act.agent


def _fair(config: Config) -> dict[str, Fairness[State, Act]]:
    def goes_on(state: State, act: Act) -> bool:
        if act.what not in (What.CALL, What.ABANDON) or act.agent not in config.agents:
            return False
        return state.doing[config.agents.index(act.agent)].phase is Phase.ALLOWED

    return {
        "time passes": Fairness("weak", lambda _state, act: act.what is What.TICK),
        "boundaries fire": Fairness("strong", lambda _state, act: act.what is What.BOUNDARY),
        "allowed agents go on": Fairness("weak", goes_on),
        "running tools end": Fairness("weak", lambda _state, act: act.what is What.POST),
        "the principal answers": Fairness("strong", lambda _state, act: act.what is What.PRINCIPAL),
    }


def _unsaid(config: Config, state: State, action: Act) -> bool:
    """No section says what else there is than these agents, resources and acts, or may be done than is allowed.

    So no kernel is asked for a resource or mark that is not there, what a busy agent asks for, to abandon what was not
    allowed, for what an agent without permission does but ask, call and report (which is refused), for acts that the
    configuration or a reading excludes, for a boundary that allows an agent a second thing beside the one that it does,
    or for a second warning of one mark at one instant: what both are worth a second later (§9.5) is not kept here.
    """
    what, agent = action.what, action.agent
    if what is What.TICK or (what is What.PRE and agent not in config.agents):
        return False
    if action.resource not in config.resources:
        return True
    if what is What.BOUNDARY:
        _, shown = step(REFERENCE, config, state, action)
        doing = IDLE if shown.winner is None else state.doing[config.agents.index(shown.winner.agent)]
        return not config.deferred or doing.resource not in ("", action.resource)
    if what not in (What.PRE, What.CALL, What.ABANDON, What.POST, What.RELEASE):
        twice = _warned(state, action) and not step(REFERENCE, config, state, action)[1].rejected
        return twice or action not in _around(config, state, action.resource)
    if agent not in config.agents:
        return what not in (What.CALL, What.POST)
    doing = state.doing[config.agents.index(agent)]
    if what is What.PRE:
        return doing.phase is not Phase.IDLE
    if what is What.RELEASE:
        claim = state.claims[config.resources.index(action.resource)]
        return config.readings.claim_release == "none" or doing.phase is not Phase.IDLE or claim != agent
    return what is What.ABANDON and doing != Doing(Phase.ALLOWED, action.resource)


def _warned(state: State, action: Act) -> bool:
    """Whether the action warns of what a warning of full strength stands against already."""
    if action.what is What.WARN_CLAIM:
        return action.resource in state.warned
    theirs = (one for one in state.on(action.resource) if one.agent == action.target)
    return action.what is What.WARN_INTENT and any(one.hidden for one in theirs)


def _smaller(config: Config, start: State) -> Iterator[tuple[Config, State]]:
    """Yield configurations with fewer agents, fewer resources or a shorter TTL."""
    if start != initial(config)[0]:
        return

    offers: list[Config] = []
    if len(config.agents) > 1:
        offers.append(replace(config, agents=config.agents[:-1]))
    if len(config.resources) > 1:
        offers.append(replace(config, resources=config.resources[:-1]))
    if config.ttl > 1:
        offers.append(replace(config, ttl=1))
    for offer in offers:
        yield offer, initial(offer)[0]


# Renaming agents: verdicts must not depend on it.

Renaming = tuple[tuple[str, str], ...]


def _elements(config: Config) -> Iterator[Renaming]:
    for image in permutations(config.agents):
        yield tuple(zip(config.agents, image, strict=True))


def renamed_state(w: Renaming, config: Config, state: State) -> State:
    """Return the state with each agent renamed."""
    to = dict(w)
    doing: list[Doing] = [IDLE] * len(config.agents)
    for agent, one in zip(config.agents, state.doing, strict=True):
        doing[config.agents.index(to[agent])] = one
    return replace(
        state,
        intents=tuple(replace(intent, agent=to[intent.agent]) for intent in state.intents),
        doing=tuple(doing),
        claims=tuple(None if one is None else to[one] for one in state.claims),
        named=tuple(None if one is None else to[one] for one in state.named),
        needs=frozenset(replace(need, agent=to[need.agent]) for need in state.needs),
    )


def renamed_act(w: Renaming, _config: Config, act: Act) -> Act:
    """Return the act with its agents renamed."""
    to = dict(w)
    return replace(act, agent=to.get(act.agent, act.agent), target=to.get(act.target, act.target))


RENAMING: Quotient[Config, State, Act, Renaming] = Quotient(
    "renaming", _elements, lambda _w, config: config, renamed_state, renamed_act
)
"""Renamed agents: a claim (equivariance). No theorem licenses it as a quotient."""


def _system(name: str, policy: Policy, scope: Scope, **more: bool) -> GuardSystem:
    return System(
        name=name,
        rules=REFERENCE,
        configs=_configs(policy, **more),
        initial=initial,
        step=step,
        actions=actions,
        scope=scope,
        readings=Readings(),
        fair=_fair,
        wants=_wants,
        progress=_progress,
        smaller=_smaller,
        types=TYPES,
        actor=_actor,
        unsaid=_unsaid,
    )


_SCOPE = Scope(agents=2, resources=1, ttl=1, levels=2)

FIRST_WRITER = _system("first_writer", Policy.FIRST_WRITER, _SCOPE)
"""The guard's phases; the first intent on a resource wins."""

HIGHEST_CONFIDENCE = _system("highest_confidence", Policy.HIGHEST_CONFIDENCE, _SCOPE)
"""The guard's phases; the surest intent wins."""

YIELD_ALL = _system("yield_all", Policy.YIELD_ALL, _SCOPE)
"""The guard's phases; where several want a resource, none wins."""

DEFERRED = _system("deferred", Policy.HIGHEST_CONFIDENCE, _SCOPE, deferred=True)
"""As `highest_confidence`, decided at a boundary only."""

MEDDLED = _system("meddled", Policy.FIRST_WRITER, _SCOPE.updated({"levels": 1}), meddling=True)
"""As `first_writer`, with agents and strangers that warn of or supersede what others wrote."""

GUARDS: dict[str, GuardSystem] = {
    system.name: system for system in (FIRST_WRITER, HIGHEST_CONFIDENCE, YIELD_ALL, DEFERRED, MEDDLED)
}
"""The guard's systems by name."""
