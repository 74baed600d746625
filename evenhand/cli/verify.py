"""`evenhand verify`: every claim, by every engine, and every fixture."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli import completion
from evenhand.cli.common import (
    JobsOption,
    JsonOut,
    bundles_named,
    cores,
    finish,
    guarded,
    running,
    usage,
    with_files,
    write_forms,
)
from evenhand.fixtures import fixtures_of, saved
from evenhand.plan import Budget, Job, plan
from evenhand.properties.registry import Bundle
from evenhand.proving import theorem_names
from evenhand.report.about import about_claims
from evenhand.report.finding import Finding
from evenhand.report.report import Report
from evenhand.report.store import ready_folder
from evenhand.running import Ran, run_jobs
from evenhand.versions import versions

__all__ = ["verify"]


@guarded
def verify(
    protocol: Annotated[
        list[str] | None,
        typer.Argument(metavar="PROTOCOL", help="Which; all by default.", autocompletion=completion.protocols),
    ] = None,
    budget: Annotated[Budget, typer.Option(help="How much the run may cost.")] = Budget.standard,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Where the random engines start.")] = 0,
    jobs: JobsOption = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write the report in every form, and new counterexamples, there.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit 3 for any UNDECIDED, stated or not.")] = False,
    as_json: JsonOut = False,
) -> int:
    """Check every claim with every engine, and replay every fixture.

    Exit codes: 0 all as stated; 1 something refuted that nobody stated, or a stated refutation gone; 2 bad use; 3
    something undecided that was not stated (with --strict: anything undecided); 130 interrupted by Ctrl-C, after
    printing (and writing to --out) what was finished.
    """
    bundles = bundles_named(protocol or [])
    with usage():
        for bundle in bundles:
            fixtures_of(bundle.name)  # a file that cannot be used is said now, not after the run
        folder = ready_folder(out) if out is not None else None
        planned = [job for bundle in bundles for job in plan(bundle, budget, seed=seed, theorems=_theorems(bundle))]
    began = time.monotonic()
    ran = _run(planned, jobs or cores())
    report = Report(
        findings=ran.findings,
        settings={
            "budget": budget.value,
            "protocols": [bundle.name for bundle in bundles],
            "seed": seed,
            "strict": strict,
        },
        versions=versions(),
        interrupted=ran.interrupted,
        unfinished=tuple(job.title for job in ran.unfinished),
        timing={"total": time.monotonic() - began, **dict(ran.seconds)},
        claims=tuple(about_claims(bundles)),
    )
    if folder is not None:
        report = _write(folder, report)
    return finish(report, {}, as_json=as_json, strict=strict)


def _theorems(bundle: Bundle) -> tuple[str, ...]:
    return theorem_names(bundle.name)


def _run(planned: list[Job], workers: int) -> Ran:
    with running(len(planned), "verify") as advance:

        def started(job: Job) -> None:
            advance(job.title, 0)

        def finished(job: Job, _found: tuple[Finding, ...]) -> None:
            advance(job.title, 1)

        return run_jobs(planned, workers=workers, started=started, finished=finished)


def _write(folder: Path, report: Report) -> Report:
    """Write the new counterexamples, then the report that names them; printed, their paths begin at `folder`.

    What is written holds no path of this machine, so that the same run is the same bytes anywhere.
    """
    with usage():
        report = saved(folder, report)
        write_forms(folder, report)
    return with_files(folder, report)
