"""The system of the optional layers: deployments with one of them, some together, or all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenhand.core.system import Scope, System
from evenhand.model.markspace.layers import REFERENCE, Rules, asked, initial, step
from evenhand.model.markspace.layers_vocabulary import (
    DIAGNOSTICS,
    PROBE,
    TOKEN,
    TYPES,
    Layer,
    LayersConfig,
    Op,
    Operation,
    Outcome,
    World,
)
from evenhand.model.markspace.marks import Kind
from evenhand.model.markspace.readings import Readings

_B, _E, _R, _T, _S, _P = Layer.BARRIER, Layer.ENVELOPE, Layer.RATE, Layer.BUDGET, Layer.TELEMETRY, Layer.PROBE


def _configs(scope: Scope, readings: Readings) -> Iterator[LayersConfig]:
    for number, config in enumerate(_deployments(scope, readings), start=1):
        if scope["only"] in (0, number):
            yield config


def _deployments(scope: Scope, readings: Readings) -> Iterator[LayersConfig]:
    one, two, three = ("alice",), ("alice", "bob"), ("alice", "bob", "carol")

    def config(agents: tuple[str, ...], *layers: Layer, capacity: int = 0, **more: Any) -> LayersConfig:
        return LayersConfig(frozenset(layers), agents, readings, capacity=capacity or scope["marks"], **more)

    yield config(one)
    yield config(one, _B)
    yield config(two, _R, scopes=("a",), capacity=3)
    yield config(one, _T)
    yield config(one, _T, budget=(5, 2))
    yield config(one, _B, _P, scopes=("a",))
    yield config(one, _B, _E)
    yield config(one, _B, _E, baseline=1, samples=2, scopes=("a",))
    yield config(three, _E, samples=0, windows=0, scopes=("a",), capacity=3)
    yield config(one, _B, _E, _R, _S, scopes=("a",))
    yield config(one, _R, _T, _S, scopes=("a",), rate=(1, None))
    yield config(two, _R, scopes=("a",), rate=(None, 1))
    yield config(one, _B, _E, scopes=("a",), threshold=0)


def operations(config: LayersConfig, _scope: Scope, world: World) -> Iterator[Operation]:
    """Yield the operations of agents, the principal, the probe and the clock; none of absent layers."""
    stored = len(world.stored) < config.capacity
    refused = len(world.stored) <= config.capacity  # nothing that is to be refused is stored for ever by a faulty guard
    for place, agent in enumerate(config.agents):
        watched = None if world.envelope is None else world.envelope.watched[place]
        room = stored and (watched is None or len(watched.now) < config.capacity)  # attempts are bounded like marks
        for scope in config.scopes:
            if room:
                for kind in (Kind.OBSERVATION, Kind.NEED):
                    yield Operation(Op.WRITE, agent, scope, kind)
                if scope == config.scopes[0] and (config.has(Layer.BARRIER) or not config.has(Layer.ENVELOPE)):
                    yield Operation(Op.EXECUTE, agent, scope)
        if refused:
            yield Operation(Op.WRITE, agent, config.scopes[0], Kind.INTENT)
            if not config.layers:  # the guard alone judges the kind: once is enough
                yield Operation(Op.WRITE, agent, config.scopes[0], Kind.ACTION)
            yield Operation(Op.WRITE, agent, DIAGNOSTICS)
        yield from _about(config, world, agent)
    if stored and config.has(Layer.PROBE):
        yield Operation(Op.WRITE, PROBE, DIAGNOSTICS)
        yield Operation(Op.WRITE, PROBE, config.scopes[0])
        yield Operation(Op.EXECUTE, PROBE, config.scopes[0])
    yield Operation(Op.TICK)


def _about(config: LayersConfig, world: World, agent: str) -> Iterator[Operation]:
    if config.has(Layer.BARRIER):
        alone = not config.has(Layer.ENVELOPE) and not config.has(Layer.PROBE)
        for kind in (Kind.OBSERVATION, Kind.ACTION):
            if alone:
                yield Operation(Op.NARROW, agent, config.scopes[0], kind)
                yield Operation(Op.NARROW_ALL, agent, kind=kind)
            if not config.has(Layer.ENVELOPE):
                for token in (TOKEN, "forged"):
                    yield Operation(Op.RESTORE, agent, config.scopes[0], kind, token)
        if alone:
            yield Operation(Op.REQUIRE_NEED, agent, config.scopes[0])
        yield from (Operation(Op.RESTORE_ALL, agent, token=token) for token in (TOKEN, "forged"))
    if config.has(Layer.ENVELOPE):
        yield Operation(Op.CHECK, agent)
        yield from (Operation(Op.RESET, agent, token=token) for token in (TOKEN, "forged"))
    if config.has(Layer.BUDGET) or not config.layers:
        yield Operation(Op.ROUND, agent, tokens=(2, 1))
        yield Operation(Op.ROUND, agent, tokens=(5, 0))
    if world.budget is not None and world.budget.ceiling == (config.budget,) * len(config.agents):
        yield from (Operation(Op.RAISE, agent, token=token, tokens=(4, 4)) for token in (TOKEN, "forged"))
    if config.has(Layer.PROBE):
        yield Operation(Op.INJECT, agent)
        yield from (Operation(Op.ACKNOWLEDGE, agent, right=right) for right in (True, False))
        yield Operation(Op.END_ROUND, agent)


_OF_A_LAYER = {
    Layer.BARRIER: (Op.NARROW, Op.NARROW_ALL, Op.REQUIRE_NEED, Op.RESTORE, Op.RESTORE_ALL),
    Layer.ENVELOPE: (Op.CHECK, Op.RESET),
    Layer.BUDGET: (Op.RAISE,),
    Layer.PROBE: (Op.INJECT, Op.ACKNOWLEDGE, Op.END_ROUND),
}


def _refusing(config: LayersConfig, world: World, action: Operation) -> Iterator[Layer | None]:
    """Yield what refuses a write or tool call, each check for itself; None: the permissions that are no layer's."""
    agent, scope, writes = action.agent, action.scope, action.op is Op.WRITE
    if not REFERENCE.authorised(config, agent, scope) or (writes and not REFERENCE.writable(action.kind)):
        yield None
    if world.probing is not None and agent in world.probing.pending:
        yield Layer.PROBE
    barrier = world.barrier
    if barrier is not None:
        needed = not writes and REFERENCE.needs_first(barrier, agent, scope) and not asked(config, world, action)
        if needed or not REFERENCE.allows(barrier, agent, scope, action.kind if writes else Kind.ACTION):
            yield Layer.BARRIER
    watched = writes and agent in config.agents
    if watched and world.rates is not None and REFERENCE.exceeded(config, world.rates, agent, scope):
        yield Layer.RATE


def _unsaid(config: LayersConfig, state: World, action: Operation) -> bool:
    """No section says what the operations of a layer do where it is left out, or about an agent that is not there.

    Nor does one say which of several layers is named, if they refuse one operation.
    """
    if action.op in (Op.WRITE, Op.EXECUTE):
        return len(set(_refusing(config, state, action))) > 1
    if action.op is Op.TICK:
        return False
    left_out = any(action.op in ops and not config.has(layer) for layer, ops in _OF_A_LAYER.items())
    return left_out or action.agent not in config.agents


LAYERS: System[LayersConfig, World, Operation, Outcome, Rules] = System(
    name="layers",
    rules=REFERENCE,
    configs=_configs,
    initial=initial,
    step=step,
    actions=operations,
    scope=Scope(marks=2, only=0),
    readings=Readings(),
    allows=lambda _config, _world, _act: True,
    unsaid=_unsaid,
    types=TYPES,
)
"""Deployments with different layers."""
