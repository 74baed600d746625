"""Resolve options to protocols, systems, jobs and files."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from evenhand.cli.console import BadUse, usage
from evenhand.core import files
from evenhand.core.bundle import Bundle
from evenhand.core.registry import find, protocols
from evenhand.core.system import AnySystem
from evenhand.evidence.finding import plain
from evenhand.jobs.plan import Job, chosen_readings, chosen_scope, claims_for, inhabited, system_for


def content_of(file: Path) -> bytes:
    """The bytes of a file that the person named.  Raises BadUse, in the words of every command."""
    with usage():
        return files.content_of(file)


def bundle_named(name: str) -> Bundle:
    """The protocol called `name`.  Raises BadUse, or ProtocolBroken when any does not import."""
    with usage():
        return find(name)


def bundles_named(names: list[str]) -> tuple[Bundle, ...]:
    """These protocols, each once, or all of them.  Raises BadUse as `bundle_named` does."""
    if names:
        return tuple(bundle_named(name) for name in dict.fromkeys(names))
    found = protocols()
    if not found:
        raise BadUse("no protocol is installed; a protocol is a module of evenhand.model with a PROTOCOL")
    return found


def job_for(
    bundle: Bundle,
    job: Job,
    scope: list[str] | None,
    readings: list[str] | None,
    claims: list[str] | None,
) -> tuple[Job, AnySystem]:
    """`job` with what the options chose, and the system it runs.  Raises BadUse for what is not there."""
    with usage():
        base = system_for(bundle, job)
        chosen = replace(
            job,
            system=base.name,
            scope=tuple(sorted(chosen_scope(scope or []).items())),
            readings=chosen_readings(base, readings or []),
            claims=tuple(claims or ()),
        )
        claims_for(bundle, base.name, chosen.claims)
        made = system_for(bundle, chosen)
        return chosen, inhabited(made) if scope else made


def settings_of(job: Job, system: AnySystem) -> dict[str, Any]:
    """The settings of a run, for its report."""
    return {
        "command": job.command,
        "protocol": job.protocol,
        "system": system.name,
        "scope": plain(system.scope),
        "readings": {name: plain(value) for name, value in job.readings},
        "variant": system.variant,
    }


def cores() -> int:
    """How many processes this one may run side by side."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
