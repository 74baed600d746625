"""Findings on whether a mutant equals the reference for any size, beyond the scope of a comparison.

HOLDS: proved in a theory that expresses the mutant and conforms to its steps.  REFUTED: a run made by a solver
replays, and the two differ on it.  UNDECIDED gives the reason, mostly that no theory expresses the mutant.
"""

from __future__ import annotations

import shlex

from evenhand.core.bundle import Bundle
from evenhand.core.text import inert
from evenhand.core.verdict import Status
from evenhand.evidence.finding import Finding
from evenhand.evidence.story import story_of
from evenhand.jobs.plan import SAME, Job
from evenhand.smt.equality import equality_of


def equal_anywhere(bundle: Bundle, job: Job) -> Finding:
    """Return the finding about the mutant `job.variant`.  Raises NoSolver when no solver is installed."""
    found = equality_of(bundle, job.variant)
    return Finding(
        protocol=bundle.name,
        claim=SAME,
        sentence="What the mutant shows is the same as of the reference, whatever the size.",
        engine="prove",
        system=found.system.name if found.system is not None else job.system,
        variant=job.variant,
        status=found.status,
        expected=Status.HOLDS,
        because=inert(found.because),
        scope={"proved": found.scope} if found.status is Status.HOLDS else {},
        length=None if found.apart is None else len(found.apart.actions),
        story=None
        if found.apart is None or found.system is None
        else story_of(found.system, found.apart, bundle.phases),
        command=shlex.join(("evenhand", "mutants", bundle.name, "--mutant", job.variant)),
    )
