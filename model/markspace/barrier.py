"""The absorbing barrier (§9.8): permissions are revoked, and only the principal grants them again."""

from __future__ import annotations

from dataclasses import replace

from evenhand.model.markspace.layers_vocabulary import ANYWHERE, Barrier, LayersConfig
from evenhand.model.markspace.marks import Kind


def allows(barrier: Barrier, agent: str, scope: str, kind: Kind) -> bool:
    """Return whether neither this permission nor the wildcard is revoked."""
    return not {(agent, scope, kind), (agent, ANYWHERE, kind)} & barrier.revoked


def needs_first(barrier: Barrier, agent: str, scope: str) -> bool:
    """Return whether a need must be written before an action there."""
    return bool({(agent, scope), (agent, ANYWHERE)} & barrier.need_first)


def narrowed(barrier: Barrier, agent: str, scope: str, kind: Kind) -> Barrier:
    """Return the barrier with one permission revoked."""
    return replace(barrier, revoked=barrier.revoked | {(agent, scope, kind)})


def with_need_first(barrier: Barrier, agent: str, scope: str) -> Barrier:
    """Return the barrier where a need must come first, in a scope or anywhere."""
    return replace(barrier, need_first=barrier.need_first | {(agent, scope)})


def restored(barrier: Barrier, agent: str, scope: str, kind: Kind) -> Barrier:
    """Return the barrier after the principal grants one permission again."""
    return replace(barrier, revoked=barrier.revoked - {(agent, scope, kind)})


def restored_all(barrier: Barrier, agent: str) -> Barrier:
    """Return the barrier after the principal lifts everything from an agent."""
    return replace(
        barrier,
        revoked=frozenset(one for one in barrier.revoked if one[0] != agent),
        need_first=frozenset(one for one in barrier.need_first if one[0] != agent),
    )


def escalated(config: LayersConfig, barrier: Barrier, agent: str, scope: str, kind: Kind) -> Barrier:
    """Return the barrier after a flag of the envelope (P43).

    One permission is revoked; from the threshold on, a need must come first everywhere. Flags are counted up to the
    threshold; the first flag is counted even at threshold 0.
    """
    place = config.agents.index(agent)
    flags = min(barrier.flags[place] + 1, max(config.threshold, 1))
    counted = replace(barrier, flags=(*barrier.flags[:place], flags, *barrier.flags[place + 1 :]))
    after = narrowed(counted, agent, scope, kind)
    return with_need_first(after, agent, ANYWHERE) if flags >= config.threshold else after
