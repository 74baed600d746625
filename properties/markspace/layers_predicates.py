"""What the claims about the optional layers mean by a write, an attempt, and what a layer remembers."""

from __future__ import annotations

from collections.abc import Callable

from evenhand.model.markspace.layers_vocabulary import Layer, LayersConfig, LayersStep, Op, Watched, World
from evenhand.model.markspace.marks import Kind
from evenhand.properties.markspace.predicates import there

ONLY = ("layers",)


def having(*layers: Layer) -> Callable[[LayersConfig], bool]:
    """Whether a deployment has these layers."""
    return lambda config: config.has(*layers)


def writes(step: LayersStep) -> bool:
    """An agent calls write_mark."""
    return step.action.op is Op.WRITE


def attempts(step: LayersStep) -> bool:
    """An agent writes a mark or calls a tool."""
    return step.action.op in (Op.WRITE, Op.EXECUTE)


def limited(step: LayersStep) -> bool:
    """An authorised write of a mark that goes through the layers."""
    layered = writes(step) and step.action.agent in step.config.agents and step.action.scope in step.config.scopes
    return layered and step.action.kind not in (Kind.INTENT, Kind.ACTION)


def place_of(step: LayersStep) -> int:
    """The place of the agent that acts."""
    return step.config.agents.index(step.action.agent)


def watched(step: LayersStep, world: World) -> Watched:
    """What the envelope keeps of the agent that acts."""
    return there(world.envelope).watched[place_of(step)]
