"""Verdicts that rest on certificates: their trusted base is the model (or the theory and its link) and the checker."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from evenhand.core.bundle import Bundle
from evenhand.core.verdict import Status
from evenhand.evidence.finding import Finding
from evenhand.jobs.certifying import recheck
from evenhand.jobs.certifying_searches import certified_claims
from evenhand.jobs.plan import Job, system_for, written_value
from evenhand.jobs.proving import theorem_named

CHECKER = "the checker of certificates"


def resting(
    findings: Iterable[Finding], jobs: Sequence[Job], bundles: Iterable[Bundle], folder: Path
) -> tuple[Finding, ...]:
    """Return the findings of these jobs; where a valid certificate says that a claim holds, the trusted base is short.

    Certificates are checked here; one that is invalid or missing changes nothing.
    """
    named = {bundle.name: bundle for bundle in bundles}
    walked: dict[Any, set[str]] = {}
    proved: dict[tuple[str, str, str], bool] = {}
    for job in jobs:
        bundle = named[job.protocol]
        if job.engine == "explore" and job.variant in ("", "reference"):
            place = _place(job.protocol, job.system, system_for(bundle, job).scope, dict(job.readings))
            walked.setdefault(place, set()).update(certified_claims(bundle, job, folder))
        elif job.engine == "prove" and job.theorem:
            stated = theorem_named(job.protocol, job.theorem)
            about = job.protocol, stated.system, stated.claim.name
            whole = all(one.valid for one in recheck(stated, bundle, folder))
            proved[about] = proved.get(about, True) and whole  # a claim may have several theorems

    def rests(one: Finding) -> Finding:
        if one.status is not Status.HOLDS or one.variant != "reference":
            return one
        place = _place(one.protocol, one.system, one.sizes, one.readings)
        if one.engine == "explore" and one.claim in walked.get(place, ()):
            return replace(one, trusted_base=("the executable model", CHECKER))
        if one.engine == "prove" and proved.get((one.protocol, one.system, one.claim)):
            theory = tuple(part for part in one.trusted_base if part.startswith("theory "))
            return replace(one, trusted_base=("executable model", *theory, "view and realise", CHECKER))
        return one

    return tuple(map(rests, findings))


def _place(protocol: str, system: str, sizes: Mapping[str, int], readings: Mapping[str, Any]) -> Any:
    written = sorted((name, written_value(value)) for name, value in readings.items())
    return protocol, system, tuple(sorted(sizes.items())), tuple(written)
