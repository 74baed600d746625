"""Claims of a user's own system for any number of agents, as jobs: which systems ask for it, and their findings."""

from __future__ import annotations

from collections.abc import Iterator

from evenhand.core.bundle import Bundle
from evenhand.core.kinds import Always, EachStep, Liveness
from evenhand.core.relations import DeterminedBy, TwoRun
from evenhand.core.system import AnySystem
from evenhand.jobs.plan import ANY_SIZE, Job
from evenhand.source.refusal import Unreadable
from evenhand.source.world import world_of

PROVABLE = (Always, EachStep, DeterminedBy, TwoRun, Liveness)
"""The kinds of claims that are proved for any number of agents."""


def any_size_jobs(bundle: Bundle) -> Iterator[Job]:
    """Yield a job for each system whose configuration lists agents of a type of their own, with its claims."""
    for name, system in bundle.model.systems.items():
        claims = tuple(one.name for one in bundle.claims_of(name) if isinstance(one, PROVABLE))
        if claims and lists_agents(system):
            yield Job(bundle.name, "prove", name, theorem=ANY_SIZE, claims=claims)


def lists_agents(system: AnySystem) -> bool:
    """Return whether a system says of what there may be any number."""
    try:
        config = next(iter(system.all_configs()), None)
    except Exception:  # what is wrong with the configurations the search says
        return False
    try:
        world_of(config)
    except Unreadable:
        return False
    return True
