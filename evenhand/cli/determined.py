"""`evenhand explore --determined`: do the claims fix what a step shows and where it leads?"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, cast

from evenhand.cli.console import BadUse, running, terminal
from evenhand.cli.output import emit_run
from evenhand.cli.requests import settings_of
from evenhand.core.answers import short
from evenhand.core.bundle import Bundle
from evenhand.core.canonical import Json
from evenhand.core.system import AnyStep, AnySystem
from evenhand.core.text import inert
from evenhand.core.verdict import Status
from evenhand.jobs.plan import Job
from evenhand.report.phrases import plural
from evenhand.report.table import print_lines
from evenhand.studies.determining import Looked, claims_that_hold, looked_at

EXITS = {Status.HOLDS: 0, Status.REFUTED: 1, Status.UNDECIDED: 3}


def alone(others: Mapping[str, object]) -> None:
    """Raise BadUse if an option is given that speaks of a search: `--determined` looks at single steps."""
    if given := [name for name, value in others.items() if value not in (None, "", False, [])]:
        raise BadUse(f"--determined searches nothing, it looks at single steps; leave {', '.join(given)} out")


def say_determined(
    bundle: Bundle, job: Job, system: AnySystem, some: int, portion: tuple[int, int] | None, *, as_json: bool
) -> int:
    """Say whether the claims determine about `some` steps of each configuration of a system; return the exit code.

    With claims that were named, those that cannot be left out are said as well.
    """
    claims = claims_that_hold(bundle, system.name, dict(job.readings), job.claims)
    if missing := sorted(set(job.claims) - {one.name for one in claims}):
        raise BadUse(f"{', '.join(missing)}: not expected to hold of {system.name}, so it fixes no step; leave it out")
    first, parts = portion or (1, 1)
    began = time.monotonic()
    with running(0, "determined") as advance:

        def configs() -> Iterator[Any]:
            for config in islice(system.all_configs(), first - 1, None, parts):
                yield config
                advance(system.name, 1)

        found = looked_at(system, claims, configs(), some, needs=bool(job.claims))
    if as_json:
        head: dict[str, Json] = {"format": "evenhand/determined", "version": 1, "settings": settings_of(job, system)}
        emit_run({**head, **_json(found, len(claims), named=bool(job.claims))}, began)
    else:
        print_lines(terminal(), map(inert, _lines(found, system, len(claims), named=bool(job.claims))))
    return EXITS[found.status]


def _json(found: Looked, claims: int, *, named: bool) -> dict[str, Json]:
    return {
        "status": found.status.value,
        "claims": claims,
        "configs": found.configs,
        "walked": found.walked,
        "steps": found.steps,
        "complete": found.complete,
        "left_open": list(found.left_open),
        "needed": list(found.needed) if named else None,
        "rival": None if found.rival is None else cast("Json", _told(*found.rival)),
        "because": found.because,
    }


def _told(own: AnyStep, rival: AnyStep) -> dict[str, str | dict[str, str]]:
    differing = [part for part in ("shown", "after") if getattr(own, part) != getattr(rival, part)]
    return {
        "action": short(own.action, 400),
        "before": short(own.before, 400),
        **{
            part: {"reference": short(getattr(own, part), 2_000), "rival": short(getattr(rival, part), 2_000)}
            for part in differing
        },
    }


def _lines(found: Looked, system: AnySystem, claims: int, *, named: bool) -> Iterator[str]:
    yield (
        f"{system.label}: {plural(found.steps, 'step')} of {plural(found.configs, 'configuration')} looked at"
        f"{', all there are' if found.complete else f', of {found.walked} walked'}; every other observation and state "
        f"after, of the values in the walked steps, is shown to {plural(claims, 'claim')}"
    )
    if found.status is Status.HOLDS:
        yield "HOLDS: some claim is false of each, so the claims determine these steps"
    else:
        yield f"{found.status.name}: left open: {', '.join(found.left_open) or 'no step was there to look at'}"
    if found.rival is not None:
        for name, value in _told(*found.rival).items():
            yield f"  {name}: {value}" if isinstance(value, str) else f"  {name} is"
            if isinstance(value, dict):
                yield from (f"    {which}: {text}" for which, text in value.items())
        yield "  no claim is false of the rival"
    elif found.because:
        yield f"  {found.because}"
    if named:
        yield f"cannot be left out: {', '.join(found.needed) or 'none'}"
