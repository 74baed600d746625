"""`evenhand profile`: what decides among agents, and whether runs can deadlock or livelock."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli.console import emit, guarded, running, terminal, usage
from evenhand.cli.forms import folder_for_forms
from evenhand.cli.options import BudgetOption, JobsOption, JsonOut, ProtocolNames
from evenhand.cli.output import write_files
from evenhand.cli.requests import bundles_named, cores
from evenhand.core.canonical import Json, canonical_bytes
from evenhand.core.text import inert
from evenhand.core.versions import versions
from evenhand.exits import INTERRUPTED
from evenhand.jobs.plan import Budget, Job
from evenhand.report.engines import engines_page, engines_table
from evenhand.report.profile import profile_page, profile_svg, profile_table, profile_tables
from evenhand.report.table import print_lines
from evenhand.studies.profiling import profiles


@guarded
def profile(
    protocol: ProtocolNames = None,
    budget: BudgetOption = Budget.quick,
    jobs: JobsOption = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="DIR", help="Write profile.json, profile.svg, profile.html and engines.md to this folder."
        ),
    ] = None,
    as_json: JsonOut = False,
) -> int:
    """Show what decides, and whether runs can get stuck.

    Answers whether position, name, time, value, confidence, content or history decides, whether runs can deadlock or
    livelock, whether exclusion can fail, and under which readings.  Each answer is the verdict of a claim that the
    protocol names for the question.  A second table has the verdicts of machine, search and proof on deadlock,
    livelock, arbitration (position, name) and exclusion.
    Exit codes: 0 every question asked has an answer; 2 bad use; 3 a question is undecided; 130 interrupted.
    """
    bundles = bundles_named(protocol or [])
    folder = folder_for_forms(out)
    began = time.monotonic()
    with running(0, "profile") as advance:

        def progress(job: Job) -> None:
            advance(job.title, 1)

        with usage():
            found, interrupted, unfinished = profiles(bundles, budget=budget, jobs=jobs or cores(), progress=progress)
    made: dict[str, Json] = {
        "format": "evenhand/profile",
        "version": 1,
        "budget": budget.value,
        "protocols": [one.to_json() for one in found],
        "interrupted": interrupted,
        "unfinished": list(unfinished),
        "versions": dict(versions()),
    }
    if folder is not None:
        texts = {
            "profile.svg": profile_svg(found),
            "profile.html": profile_page(found),
            "engines.md": engines_page(found),
        }
        write_files(folder, {"profile.json": canonical_bytes(made), **{n: text.encode() for n, text in texts.items()}})
    if as_json:
        emit({**made, "timing": {"total": round(time.monotonic() - began, 3)}})
    else:
        console = terminal()
        for one in found:
            console.print(profile_tables(one))
            console.print(engines_table(one))
        if len(found) > 1:
            console.print(profile_table(found))
        lines = [
            f"{one.protocol}: {cell.aspect.question} yes: {line}"
            for one in found
            for cell in one.cells
            if cell.answer.value == "yes" and cell.best is not None
            for line in cell.best.command.splitlines()
        ]
        lines += ["INTERRUPTED; not finished: " + ", ".join(unfinished[:5])] if interrupted else []
        print_lines(console, map(inert, lines))
    if interrupted:
        return INTERRUPTED
    return 3 if any(cell.answer.value == "open" for one in found for cell in one.cells) else 0
