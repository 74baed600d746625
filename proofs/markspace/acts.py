"""The guard as acts of one agent on one resource: what the theories of its single steps share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.model.markspace.guard_vocabulary import Config, Phase, State
from evenhand.smt.logic import Function, Sort, forall, same, variables
from evenhand.smt.preludes import relations
from evenhand.smt.structure import Structure
from evenhand.smt.tables import Rows, structure

AGENT, RESOURCE = Sort("Agent"), Sort("Resource")
a, b = variables(AGENT, "a b")
r, s = variables(RESOURCE, "r s")

allowed, running = relations("allowed running", AGENT, RESOURCE)
"""The guard has allowed an agent its tool call on a resource; the call is in flight."""
by, at = Function("by", (), AGENT), Function("at", (), RESOURCE)
"""Who acts, and on what."""
mine = same(a, by()) & same(r, at())
"""Agent `a` acts on resource `r`."""
idle = forall([r], ~allowed(by(), r) & ~running(by(), r))
"""Whoever acts is allowed nothing and runs nothing."""


def acted(config: Config, who: str | None, what: str | None, told: Mapping[str, Any]) -> Structure:
    """Return the structure of a step; whoever is no agent, or nobody, becomes the first, and so with resources."""
    agent = who if who in config.agents else config.agents[0]
    resource = what if what in config.resources else config.resources[0]
    return structure({"Agent": config.agents, "Resource": config.resources}, {"by": agent, "at": resource, **told})


def phases(config: Config, state: State) -> dict[str, Rows]:
    """Return each agent that is allowed, and each whose tool runs, with its resource."""
    here = list(zip(config.agents, state.doing, strict=True))
    named = {"allowed": Phase.ALLOWED, "running": Phase.RUNNING}
    return {
        name: frozenset((who, one.resource) for who, one in here if one.phase is phase) for name, phase in named.items()
    }
