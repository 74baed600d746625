"""Verdicts of searches that rest on certificates: their trusted base is the model and the checker."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from evenhand.core.bundle import Bundle
from evenhand.core.verdict import Status
from evenhand.evidence.finding import Finding
from evenhand.jobs.certifying_searches import certified_claims
from evenhand.jobs.plan import Job, system_for, written_value
from evenhand.smt.portfolio import CHECKER


def resting(
    findings: Iterable[Finding], jobs: Sequence[Job], bundles: Iterable[Bundle], folder: Path
) -> tuple[Finding, ...]:
    """Return the findings of these jobs; where a valid certificate says that a claim holds, the trusted base is short.

    Certificates are checked here; one that is invalid or missing changes nothing.
    """
    named = {bundle.name: bundle for bundle in bundles}
    walked: dict[Any, set[str]] = {}
    for job in jobs:
        bundle = named[job.protocol]
        if job.engine == "explore" and job.variant in ("", "reference"):
            place = _place(job.protocol, job.system, system_for(bundle, job).scope, dict(job.readings))
            walked.setdefault(place, set()).update(certified_claims(bundle, job, folder))

    def rests(one: Finding) -> Finding:
        place = _place(one.protocol, one.system, one.sizes, one.readings)
        certified = one.status is Status.HOLDS and one.engine == "explore" and one.variant == "reference"
        if certified and one.claim in walked.get(place, ()):
            return replace(one, trusted_base=("the executable model", CHECKER))
        return one

    return tuple(map(rests, findings))


def _place(protocol: str, system: str, sizes: Mapping[str, int], readings: Mapping[str, Any]) -> Any:
    written = sorted((name, written_value(value)) for name, value in readings.items())
    return protocol, system, tuple(sorted(sizes.items())), tuple(written)
