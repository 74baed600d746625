"""`evenhand sweep`: the growth of a search with the sizes of its scope, beside theorems for any size."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from rich.table import Table
from rich.text import Text

from evenhand.cli import options
from evenhand.cli.console import BadUse, emit, guarded, running, terminal, usage
from evenhand.cli.output import folder_for, write_files
from evenhand.cli.requests import bundle_named, cores, job_for
from evenhand.core.bundle import Bundle
from evenhand.core.canonical import Json, canonical_bytes
from evenhand.core.lookup import UnknownName
from evenhand.core.text import inert
from evenhand.core.versions import versions
from evenhand.evidence.finding import Finding, plain
from evenhand.exits import INTERRUPTED
from evenhand.jobs.plan import Job, claims_for, inhabited, system_for
from evenhand.jobs.pool import run_jobs
from evenhand.report.report import Report
from evenhand.report.sweep import point_table
from evenhand.report.table import print_lines, titled
from evenhand.smt.registry import stated
from evenhand.studies.sweeping import MOST, PointBounds, covering, default_system, points_of
from evenhand.studies.sweeping import sweep as measure

if TYPE_CHECKING:
    from evenhand.studies.sweeping import Sweep


@guarded
def sweep(
    protocol: options.ProtocolName,
    size: Annotated[
        list[str] | None,
        typer.Argument(metavar="--PARAMETER A..B", help="Short form of --over, with the parameter's own name."),
    ] = None,
    over: Annotated[
        list[str] | None,
        typer.Option("--over", metavar="PARAMETER=A..B", help="Search every size from A to B (repeatable: a grid)."),
    ] = None,
    system: options.SystemOption = "",
    scope: options.ScopeOption = None,
    reading: options.ReadingOption = None,
    mutant: options.MutantName = "",
    claim: options.Claim = None,
    proofs: Annotated[
        bool, typer.Option("--proofs/--no-proofs", help="Prove the theorems that hold for any number of what is swept.")
    ] = True,
    max_states: options.MaxStates = None,
    max_memory: Annotated[
        int,
        typer.Option(
            metavar="MB", min=1, help="Limit on the memory that a point adds; beyond it the point is UNDECIDED."
        ),
    ] = 2_000,
    timeout: Annotated[
        float,
        typer.Option(
            metavar="S", min=0.1, help="Time limit of each point in seconds; beyond it the point is UNDECIDED."
        ),
    ] = 300,
    method: options.MethodOption = None,
    jobs: options.JobsOption = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Write sweep.json to this folder."),
    ] = None,
    as_json: options.JsonOut = False,
) -> int:
    """Measure how a search grows with the sizes of its scope.

    Measures states, steps, CPU time and memory at every size, each in a process of its own, and proves the theorems
    that hold for any size.  Without --claim no claim is decided by search.  Exit codes: 0 every point complete and all
    as expected; 1 an unexpected refutation, or an expected one that now holds; 2 bad use; 3 a point reached a bound, or
    something is unexpectedly undecided; 130 interrupted, after printing the finished points.
    """
    bundle = bundle_named(protocol)
    with usage():
        sizes = _sizes([*(f"{name}={formatted}" for name, formatted in _pairs(size or [])), *(over or [])])
        _known(bundle, sizes, system)
    job, planned = _planned(bundle, Job(bundle.name, "explore", system, variant=mutant), sizes, scope, reading, claim)
    folder = folder_for(out)
    workers, began = jobs or cores(), time.monotonic()
    bounds = PointBounds(max_states, max_memory << 20, timeout)
    with running(len(planned), "sweep") as advance:
        found = measure(
            planned, sizes, bounds, method=method, workers=workers, finished=lambda one: advance(one.title, 1)
        )
    proved, interrupted = _proved(bundle, job, sizes, workers) if proofs and not found.interrupted else ((), False)
    interrupted = interrupted or found.interrupted
    findings = (*(one for point in found.points for one in point.findings), *(one.finding for one in proved))
    report = Report(findings, {}, versions())
    made: dict[str, Json] = {
        "format": "evenhand/sweep",
        "version": 1,
        "protocol": bundle.name,
        "system": job.system,
        "over": {name: list(values) for name, values in found.over.items()},
        "points": [point.to_json() for point in found.points],
        "theorems": [one.to_json() for one in proved],
        "unfinished": [dict(one) for one in found.unfinished],
        "interrupted": interrupted,
        "versions": dict(versions()),
        "timing": {
            "total": round(time.monotonic() - began, 3),
            "points": [point.costs() for point in found.points],
            "proofs": {one.name: round(one.seconds, 3) for one in proved},
        },
    }
    what = f"{bundle.name} {job.system}"
    if folder is not None:
        write_files(folder, {"sweep.json": canonical_bytes(made)})
    if as_json:
        emit(made)
    else:
        console = terminal()
        for table in (point_table(found, what), _proof_table(proved)):
            if table.row_count:
                console.print(table)
        print_lines(console, map(inert, _said(found, list(sizes), proved if proofs else None)))
    if interrupted:
        return INTERRUPTED
    undecided = any(not point.complete for point in found.points)
    return report.exit_code(strict=False) or (3 if undecided else 0)


def _pairs(words: Sequence[str]) -> list[tuple[str, str]]:
    """Parse `--agents 2..6` and `--agents=2..6`, which typer passes on as unknown options."""
    found: list[tuple[str, str]] = []
    left = list(words)
    while left:
        word = left.pop(0)
        name, equals, value = word.removeprefix("--").partition("=")
        if not word.startswith("--") or not name:
            raise BadUse(f"{word!r} is no option; sizes are written as in --agents 2..6 or --over agents=2..6")
        if not equals and not left:
            raise BadUse(f"{word} has no sizes; write it as in {word} 2..6 (see `evenhand sweep --help` for options)")
        found.append((name, value if equals else left.pop(0)))
    return found


def _sizes(written: Sequence[str]) -> dict[str, range]:
    """Parse `PARAMETER=A..B`.  Raises BadUse."""
    found: dict[str, range] = {}
    for text in written:
        name, _, formatted = text.partition("=")
        match = re.fullmatch(r"(\d{1,6})(?:\.\.(\d{1,6}))?", formatted)
        if not name or match is None:
            raise BadUse(f"{text!r} is not of the form PARAMETER=A..B, as in agents=2..6")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            raise BadUse(f"{text!r} is empty: {last} comes before {first}; write the smaller size first")
        if name in found:
            raise BadUse(f"{name!r} is swept twice; give one range for each parameter")
        found[name] = range(first, last + 1)
    if not found:
        raise BadUse("nothing to sweep; name a parameter and its sizes, as in --over agents=2..6")
    count = 1
    for values in found.values():
        count *= len(values)
    if count > MOST:
        raise BadUse(f"{count:,} points are more than one sweep takes ({MOST}); choose smaller ranges")
    return found


def _known(bundle: Bundle, sizes: Mapping[str, Any], system: str) -> None:
    """Raise UnknownName for a parameter that the named system, or every system, lacks."""
    known = bundle.model.systems
    if system and system not in known:
        raise UnknownName(f"system of {bundle.name}:", system, known)
    scopes = [one.scope for name, one in known.items() if system in ("", name)]
    there = sorted({name for one in scopes for name in one})
    for name in sizes:
        if name not in there:
            raise UnknownName(f"size of {bundle.name}{' ' + system if system else ''}:", name, there)


def _planned(
    bundle: Bundle,
    job: Job,
    sizes: Mapping[str, range],
    scope: list[str] | None,
    reading: list[str] | None,
    claim: list[str] | None,
) -> tuple[Job, tuple[Job, ...]]:
    """Return the job without a size, and one for each size; every system is built before any search runs."""
    if not job.system and not job.variant:
        with usage():
            job = replace(job, system=default_system(bundle, list(sizes)))
    job, _ = job_for(bundle, job, scope, reading, claim)
    if both := sorted(set(sizes) & {name for name, _ in job.scope}):
        raise BadUse(f"{both[0]!r} is both fixed by --scope and swept; leave one of them out")
    planned = points_of(job, sizes)
    with usage():
        for one in planned:
            inhabited(system_for(bundle, one))
    return job, planned


def _proved(bundle: Bundle, job: Job, sizes: Mapping[str, range], workers: int) -> tuple[tuple[Theorem, ...], bool]:
    """Prove the theorems that cover any number of every swept size; return them, and whether it was interrupted."""
    if job.variant:
        return (), False
    claims = [one.name for one in claims_for(bundle, job.system, job.claims)]
    names = covering(stated(bundle.name), job.system, claims, list(sizes), dict(job.readings))
    with running(len(names), "proofs") as advance:
        ran = run_jobs(
            [Job(bundle.name, "prove", theorem=name) for name in names],
            workers=workers,
            finished=lambda one, _found: advance(one.title, 1),
        )
    left = {one.theorem for one in ran.unfinished}
    done = [name for name in names if name not in left]
    spent = (seconds for _, seconds in ran.seconds)
    return tuple(Theorem(*row) for row in zip(done, ran.findings, spent, strict=True)), ran.interrupted


class Theorem(NamedTuple):
    """The result of one theorem, and the seconds of wall-clock time that its proof took, with witnesses and mutants."""

    name: str
    finding: Finding
    seconds: float

    def to_json(self) -> dict[str, Json]:
        """All but the seconds."""
        found = self.finding
        return {
            "name": self.name,
            "claim": found.claim,
            "system": found.system,
            "verdict": found.status.value,
            "covers": plain(found.scope.get("proved", "")),
            "because": found.because,
        }


def _proof_table(proved: Sequence[Theorem]) -> Table:
    made = titled("proved of any size, in this run", "theorem", "claim", "system", "verdict", "covers")
    made.add_column("s", justify="right")
    for one in proved:
        formatted = one.to_json()
        words = (Text(inert(str(formatted[name]))) for name in ("name", "claim", "system", "verdict", "covers"))
        made.add_row(*words, f"{one.seconds:.1f}")
    return made


def _said(found: Sweep, names: Sequence[str], proved: Sequence[Theorem] | None) -> Iterator[str]:
    """Yield notes on the tables."""
    swept = " and ".join(names)
    if proved is not None and not proved:
        yield f"no theorem about these claims says that it holds for any number of {swept}"
    if any(not point.complete for point in found.points):
        yield "points that met a bound are UNDECIDED; their counts cover the part before the bound"
    if found.unfinished:
        formatted = "; ".join(",".join(f"{name}={one[name]}" for name in found.over) for one in found.unfinished)
        yield f"INTERRUPTED; not finished: {formatted}"
