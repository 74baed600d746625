"""`evenhand fuzz`: the state machine on one system."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from evenhand.cli import options
from evenhand.cli.console import counting, guarded, terminal
from evenhand.cli.output import finish, folder_for, keep
from evenhand.cli.requests import bundle_named, job_for, settings_of
from evenhand.core.ending import of_this
from evenhand.core.versions import versions
from evenhand.jobs.findings import findings_of
from evenhand.jobs.plan import Job, claims_for
from evenhand.machine import fuzz as drive
from evenhand.report.phrases import plural
from evenhand.report.report import Report
from evenhand.report.table import print_lines


@guarded
def fuzz(
    protocol: options.ProtocolName,
    system: options.SystemOption = "",
    scope: options.ScopeOption = None,
    reading: options.ReadingOption = None,
    mutant: options.MutantName = "",
    claim: options.Claim = None,
    examples: Annotated[int, typer.Option(metavar="N", min=1, help="Number of runs.")] = 200,
    steps: Annotated[int, typer.Option(metavar="N", min=1, help="Largest number of actions in a run.")] = 20,
    seed: options.SeedOption = 0,
    out: options.KeepOption = None,
    as_json: options.JsonOut = False,
) -> int:
    """Drive a system with a Hypothesis state machine.

    Draws hostile and constructive runs and shrinks those that fail.  Exit codes: 0 no unexpected refutation; 1 an
    unexpected refutation; 2 bad use; 3 unexpectedly undecided; 130 interrupted, after printing what was found.
    """
    bundle = bundle_named(protocol)
    asked = Job(bundle.name, "fuzz", system, variant=mutant, examples=examples, steps=steps, seed=seed)
    job, chosen = job_for(bundle, asked, scope, reading, claim)
    folder = folder_for(out)
    generator = next((g for g in bundle.generators if g.system == chosen.name), None)
    began = time.monotonic()
    with counting(job.title, "run") as progress:
        found = drive(
            chosen,
            of_this(chosen, claims_for(bundle, chosen.name, job.claims)),
            generator,
            examples=examples,
            steps=steps,
            seed=seed,
            progress=progress,
        )
    findings = findings_of(bundle, job, chosen, found.verdicts)
    report = Report(
        findings,
        settings_of(job, chosen),
        versions(),
        notes=found.findings,
        interrupted=found.interrupted,
        timing={"total": time.monotonic() - began},
    )
    more = {"examples": found.examples, "steps": found.steps, "coverage": dict(found.coverage), "seed": seed}
    if not as_json:
        print_lines(terminal(), [f"{plural(found.examples, 'run')}, {plural(found.steps, 'step')}, seed {seed}"])
    return finish(keep(folder, report), more, as_json=as_json)
