"""`evenhand verify`: every claim, by every engine, and every fixture."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli.console import BadUse, guarded, usage
from evenhand.cli.forms import folder_for_forms, written_report
from evenhand.cli.options import (
    BudgetOption,
    JobsOption,
    JsonOut,
    ProtocolNames,
    ReportFolder,
    SeedOption,
    StrictOption,
)
from evenhand.cli.output import finish
from evenhand.cli.progress import PlanProgress, showing
from evenhand.cli.requests import bundles_named, cores
from evenhand.cli.shown import AboutOption, AllOption, ShowOption, chosen, digested
from evenhand.core.bundle import Bundle
from evenhand.core.versions import versions
from evenhand.evidence.finding import Finding
from evenhand.jobs.any_size import any_size_jobs
from evenhand.jobs.certifying_searches import resting
from evenhand.jobs.ending import unmeant_ends
from evenhand.jobs.fixtures import fixtures_of
from evenhand.jobs.one_claim import of_claim, with_claim
from evenhand.jobs.plan import Budget, Job, plan
from evenhand.jobs.pool import Ran, run_jobs
from evenhand.jobs.proving import theorem_names
from evenhand.report.about import about_claims, counted
from evenhand.report.report import Report


@guarded
def verify(
    protocol: ProtocolNames = None,
    budget: BudgetOption = Budget.standard,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
    out: ReportFolder = None,
    certificates: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Check the certificates in this folder; what they show rests on them."),
    ] = None,
    strict: StrictOption = False,
    every: AllOption = False,
    show: ShowOption = None,
    claim: AboutOption = "",
    as_json: JsonOut = False,
) -> int:
    """Check every claim with every engine, and replay every fixture.

    Prints a digest of about a page.  With --claim only that claim is checked, and everything about it is printed.

    Exit codes: 0 all as expected; 1 an unexpected refutation, or an expected one that now holds; 2 bad use; 3
    unexpectedly undecided (with --strict: anything undecided); 130 interrupted by Ctrl-C, after printing (and writing
    to --out) what was finished.
    """
    shown = chosen(every, show, claim)
    bundles = bundles_named(protocol or [])
    with usage():
        if claim:
            bundles = with_claim(bundles, claim)
        for bundle in bundles:
            fixtures_of(bundle.name)  # report an unusable file before the run, not after it
        if certificates is not None and not certificates.is_dir():
            raise BadUse(f"{certificates} is no folder; `evenhand certify --out {certificates}` fills one")
        folder = folder_for_forms(out)
        planned = [job for bundle in bundles for job in _planned(bundle, budget, seed, claim)]
    began = time.monotonic()
    ran = _run(planned, jobs or cores(), certificates)
    findings = tuple(finding for finding in ran.findings if claim in ("", finding.claim))
    if certificates is not None and not ran.interrupted:
        findings = resting(findings, planned, bundles, certificates)
    report = Report(
        findings=findings,
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
        notes=() if ran.interrupted else _ends(bundles),
        claims=tuple(about_claims(bundles)),
        mutants=counted(bundles),
    )
    report = written_report(folder, report)
    return finish(report, digested(report), as_json=as_json, strict=strict, shown=shown)


def _ends(bundles: Sequence[Bundle]) -> tuple[str, ...]:
    """Return what to tell of the ends of the user's own systems; it runs their steps in this process."""
    return unmeant_ends(system for bundle in bundles if bundle.own for system in bundle.model.systems.values())


def _planned(bundle: Bundle, budget: Budget, seed: int, claim: str) -> Iterable[Job]:
    whole = plan(bundle, budget, seed=seed, theorems=theorem_names(bundle.name))
    if bundle.own and budget is not Budget.quick:
        whole = (*whole, *any_size_jobs(bundle))
    return of_claim(bundle, whole, claim) if claim else whole


def _run(planned: list[Job], workers: int, certificates: Path | None) -> Ran:
    progress = PlanProgress(planned, workers)

    def finished(job: Job, _found: tuple[Finding, ...]) -> None:
        progress.finished(job)

    with showing(progress, "verify") as look:
        return run_jobs(
            planned,
            workers=workers,
            started=progress.started,
            finished=finished,
            tick=look,
            certificates=certificates,
        )
