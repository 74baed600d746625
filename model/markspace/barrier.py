"""The absorbing barrier (§9.8): permissions are revoked, and only the principal grants them again."""

from __future__ import annotations

from evenhand.core.records import replace
from evenhand.model.markspace.layers_vocabulary import ANYWHERE, Barrier, Dated, LayersConfig
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


def dated(before: Barrier | None, after: Barrier | None, stored: int) -> Barrier | None:
    """Return the barrier after an operation with the number of stored marks beside each need that it newly requires."""
    if before is None or not isinstance(after, Dated):
        return after
    new = frozenset((*one, stored) for one in after.need_first - before.need_first)
    return replace(after, since=frozenset(one for one in after.since if one[:2] in after.need_first) | new)


def required_at(barrier: Barrier | None, agent: str, scope: str) -> int:
    """Return how many marks are older than what requires a need of the agent there; 0 where age does not matter."""
    if not isinstance(barrier, Dated):
        return 0
    return max((at for who, where, at in barrier.since if who == agent and where in (scope, ANYWHERE)), default=0)


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
