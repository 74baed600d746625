"""Certificates of a protocol's planned searches as files: made, and checked again by walking the graph.

A file is `PROTOCOL/searches/SYSTEM--DIGEST.json`: what `evenhand_certificates.searches` reads, and under `about` what
the search said.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evenhand.core.bundle import Bundle
from evenhand.core.canonical import Json, canonical_bytes, parse
from evenhand.core.ending import of_this
from evenhand.core.files import content_of
from evenhand.core.verdict import Status
from evenhand.core.versions import __version__
from evenhand.evidence.finding import Finding
from evenhand.evidence.store import write_atomically
from evenhand.jobs.engines import prepared_search
from evenhand.jobs.finishable import steps_beyond
from evenhand.jobs.plan import Budget, Job, claims_for, plan, system_for, written_value
from evenhand.search.bounds import Bounds
from evenhand.search.ranks import NoRanks, configuration
from evenhand.smt.portfolio import CHECKER
from evenhand_certificates import Invalid
from evenhand_certificates.errors import MOST_BYTES
from evenhand_certificates.searches import FORMAT, KINDS, Searched, check_search
from evenhand_certificates.searches.check import MOST_STEPS, VERSION


@dataclass(frozen=True)
class CertifiedSearch:
    """One planned search: how many of its claims hold, and how many of these a valid certificate is about."""

    search: str
    holds: int
    certified: int
    states: int
    steps: int
    because: str = ""

    @property
    def valid(self) -> bool:
        """Whether each claim that holds is certified."""
        return self.holds == self.certified and not self.because


def planned_searches(bundle: Bundle) -> tuple[Job, ...]:
    """Return the searches of the standard budget."""
    return tuple(job for job in plan(bundle, Budget.standard) if job.engine == "explore")


def certify_search(bundle: Bundle, job: Job, folder: Path) -> CertifiedSearch:
    """Have a certificate of a search below `folder`: a valid one stays, another is made and checked.

    Raises as `make_search` does.
    """
    kept = recheck_search(bundle, job, folder)
    return kept if kept.valid else make_search(bundle, job, folder) or recheck_search(bundle, job, folder)


def make_search(bundle: Bundle, job: Job, folder: Path) -> CertifiedSearch | None:
    """Search, and write a certificate below `folder`, unchecked; return why there is none if none is written.

    Raises OSError where a file cannot be written, ModelError and NotLicensed as the search does.
    """
    system = system_for(bundle, job)
    if any(one.name in job.quotient.split("+") for one in system.abstractions):
        return _without(job, "no certificate: its graph is one of classes of states")
    size = steps_beyond(system, MOST_STEPS) if job.part else ""
    if size:
        return _without(job, f"no certificate: it is searched in parts, because the whole has {size}")
    prepared = prepared_search(bundle, job, system)
    found = prepared.concluded(prepared.totals())
    held = [verdict.claim for verdict in found.verdicts if verdict.status is Status.HOLDS]
    counts = len(held), found.states, found.transitions
    if held and (not found.complete or found.transitions > MOST_STEPS):
        return _without(job, f"searched, no certificate: its graph is open or has over {MOST_STEPS:,} steps", *counts)
    if not held:
        return _without(job, "", *counts)
    claims = [claim for claim in prepared.claims if claim.name in held and isinstance(claim, KINDS)]
    if not claims:
        return _without(job, "searched, no certificate: there is none for claims of these kinds", *counts)
    try:
        entries = [
            configuration(system, config, number, claims, Bounds()) for number, config in enumerate(prepared.configs)
        ]
    except NoRanks as error:
        return _without(job, f"searched, no certificate: {error}", *counts)
    made = {
        "format": FORMAT,
        "version": VERSION,
        "protocol": bundle.name,
        **place_of(job),
        "claims": [claim.name for claim in claims],
        "configurations": [*entries],
        "about": {
            "asked": asked_in(bundle, job),
            "holds": len(held),
            "states": found.states,
            "steps": found.transitions,
            "evenhand": __version__,
        },
    }
    write_atomically(file_of(folder, job), canonical_bytes(made))
    return None


def recheck_search(bundle: Bundle, job: Job, folder: Path) -> CertifiedSearch:
    """Check the certificate of a search against the model and the claims as they stand."""
    if not file_of(folder, job).exists():
        return _without(job, "there is no certificate of it")
    try:
        made = _read(bundle, job, folder)
        if made["about"]["asked"] != asked_in(bundle, job):
            raise Invalid("the search asks other claims by now, or other versions of them")
        found = _checked(made)
        return CertifiedSearch(_title(job), made["about"]["holds"], len(found.claims), found.states, found.steps)
    except (ValueError, KeyError, TypeError) as error:
        return _without(job, f"its certificate is invalid: {error}")


def asked_in(bundle: Bundle, job: Job) -> dict[str, Json]:
    """Return the names and versions of the claims of a search: what held of others says nothing of these."""
    system = system_for(bundle, job)
    return {claim.name: claim.version for claim in of_this(system, claims_for(bundle, system.name, job.claims))}


def certified_claims(bundle: Bundle, job: Job, folder: Path) -> tuple[str, ...]:
    """Return the claims that hold in a search by a valid certificate; none if there is none."""
    try:
        return _checked(_read(bundle, job, folder)).claims
    except (ValueError, KeyError, TypeError):
        return ()


def _read(bundle: Bundle, job: Job, folder: Path) -> Any:
    """The certificate of a search, unchecked.  Raises ValueError, KeyError and TypeError for one of another."""
    made: Any = parse(content_of(file_of(folder, job), MOST_BYTES))
    if (made["protocol"], {key: made[key] for key in place_of(job)}) != (bundle.name, place_of(job)):
        raise Invalid("it is about another search")
    if not isinstance(made["about"]["holds"], int):
        raise Invalid("the number of claims that hold is no whole number")
    return made


def _checked(made: Any) -> Searched:
    """What a certificate certifies.  Raises ValueError, KeyError and TypeError."""
    found = check_search(made)
    if (made["about"]["states"], made["about"]["steps"]) != (found.states, found.steps):
        raise Invalid("the search counted other states or steps")
    return found


def _title(job: Job) -> str:
    return job.title.removeprefix("explore ")


def _without(job: Job, because: str, holds: int = 0, states: int = 0, steps: int = 0) -> CertifiedSearch:
    return CertifiedSearch(_title(job), holds, 0, states, steps, because)


def place_of(job: Job) -> dict[str, Json]:
    """Return system, scope and readings as a certificate names them."""
    return {
        "system": job.system,
        "scope": dict(job.scope),
        "readings": {name: written_value(value) for name, value in job.readings},
    }


def file_of(folder: Path, job: Job) -> Path:
    """Return the file of a search's certificate; its name is the same as long as the plan is."""
    asked = json.dumps([place_of(job), job.claims, job.part, job.quotient], sort_keys=True)
    digest = hashlib.sha256(asked.encode()).hexdigest()[:8]
    return folder / job.protocol / "searches" / f"{job.system}--{digest}.json"


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
            place = _place_key(job.protocol, job.system, system_for(bundle, job).scope, dict(job.readings))
            walked.setdefault(place, set()).update(certified_claims(bundle, job, folder))

    def rests(one: Finding) -> Finding:
        place = _place_key(one.protocol, one.system, one.sizes, one.readings)
        certified = one.status is Status.HOLDS and one.engine == "explore" and one.variant == "reference"
        if certified and one.claim in walked.get(place, ()):
            return replace(one, trusted_base=("the executable model", CHECKER))
        return one

    return tuple(map(rests, findings))


def _place_key(protocol: str, system: str, sizes: Mapping[str, int], readings: Mapping[str, Any]) -> Any:
    written = sorted((name, written_value(value)) for name, value in readings.items())
    return protocol, system, tuple(sorted(sizes.items())), tuple(written)
