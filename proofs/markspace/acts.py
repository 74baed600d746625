"""The guard as acts of one agent on one resource: what the theories of its single steps share."""

from __future__ import annotations

from collections.abc import Mapping

from evenhand.model.markspace.guard_vocabulary import Config
from evenhand.smt.logic import Function, Sort, forall, same, variables
from evenhand.smt.preludes import relations
from evenhand.smt.structure import Structure
from evenhand.smt.tables import Rows, constant, props

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


def acted(
    config: Config, who: str | None, what: str | None, truths: Mapping[str, bool], extents: Mapping[str, Rows]
) -> Structure:
    """Return the structure of a step; whoever is no agent, or nobody, becomes the first, and so with resources."""
    agent = who if who in config.agents else config.agents[0]
    resource = what if what in config.resources else config.resources[0]
    functions = {"by": constant(agent), "at": constant(resource)}
    return Structure({"Agent": config.agents, "Resource": config.resources}, {**props(truths), **extents}, functions)
