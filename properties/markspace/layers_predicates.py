"""The predicates of the claims about the optional layers: a write, an attempt, and the state of a layer."""

from __future__ import annotations

from collections.abc import Callable

from evenhand.model.markspace.layers_vocabulary import Layer, LayersConfig, LayersStep, Op, Watched, World
from evenhand.model.markspace.marks import Kind
from evenhand.properties.markspace.predicates import there

ONLY = ("layers",)


def having(*layers: Layer) -> Callable[[LayersConfig], bool]:
    """A test whether a deployment has these layers."""
    return lambda config: config.has(*layers)


def writes(step: LayersStep) -> bool:
    """Whether an agent calls write_mark."""
    return step.action.op is Op.WRITE


def attempts(step: LayersStep) -> bool:
    """Whether an agent writes a mark or calls a tool."""
    return step.action.op in (Op.WRITE, Op.EXECUTE)


def limited(step: LayersStep) -> bool:
    """Whether this is an authorised write of a mark that goes through the layers."""
    layered = writes(step) and step.action.agent in step.config.agents and step.action.scope in step.config.scopes
    return layered and step.action.kind not in (Kind.INTENT, Kind.ACTION)


def place_of(step: LayersStep) -> int:
    """The index of the acting agent."""
    return step.config.agents.index(step.action.agent)


def watched(step: LayersStep, world: World) -> Watched:
    """The envelope's state of the acting agent."""
    return there(world.envelope).watched[place_of(step)]
