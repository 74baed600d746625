"""The part of a plan that is about one claim: its searches and random runs, its theorems, its fixtures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from evenhand.core.bundle import Bundle
from evenhand.core.lookup import UnknownName
from evenhand.jobs.plan import ANY_SIZE, Job
from evenhand.jobs.proving import theorem_named


def with_claim(bundles: Iterable[Bundle], claim: str) -> tuple[Bundle, ...]:
    """Return the protocols that have a claim of this name.  Raises UnknownName if none has."""
    given = tuple(bundles)
    found = tuple(bundle for bundle in given if any(one.name == claim for one in bundle.claims))
    if not found:
        raise UnknownName("claim", claim, [one.name for bundle in given for one in bundle.claims])
    return found


def of_claim(bundle: Bundle, jobs: Iterable[Job], claim: str) -> Iterator[Job]:
    """Yield the jobs about a claim, each with this claim alone; the replay of fixtures as it is."""
    for job in jobs:
        if job.engine == "prove" and job.theorem != ANY_SIZE:
            theorem = theorem_named(bundle.name, job.theorem)
            if claim in (theorem.name, theorem.claim.name):
                yield job
        elif job.engine == "replay":
            yield job
        elif claim in (job.claims or [one.name for one in bundle.claims_of(job.system)]):
            yield replace(job, claims=(claim,))
