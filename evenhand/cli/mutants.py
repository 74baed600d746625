"""`evenhand mutants`: the kill matrix, mutant by claim and engine."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from evenhand.cli import completion
from evenhand.cli.console import BadUse, guarded, running, terminal, usage
from evenhand.cli.options import BudgetOption, JobsOption, JsonOut, ProtocolName, SeedOption
from evenhand.cli.output import emit_run, folder_for
from evenhand.cli.requests import bundle_named, cores
from evenhand.core.bundle import Bundle
from evenhand.core.grouping import grouped
from evenhand.core.text import inert
from evenhand.jobs.plan import Budget, Job
from evenhand.jobs.proving import theorem_names
from evenhand.report.phrases import plural
from evenhand.report.table import print_lines, titled
from evenhand.studies.by_rule import Automatic
from evenhand.studies.mutant_fixtures import mutant_fixture
from evenhand.studies.mutants import Hunt, Kill, KillMatrix, MutantRow, kill_matrix

MADE = 20
"""Mutants made by rule for a system of one's own that brings none."""


@guarded
def mutants(
    protocol: ProtocolName,
    mutant: Annotated[
        list[str] | None,
        typer.Option(
            "--mutant", metavar="NAME", help="Only this mutant (repeatable).", autocompletion=completion.mutants
        ),
    ] = None,
    budget: BudgetOption = Budget.quick,
    automatic: Annotated[
        int, typer.Option(min=0, metavar="N", help="Number of further mutants, made by rule and chosen by --seed.")
    ] = 0,
    proofs: Annotated[
        bool,
        typer.Option("--proofs/--no-proofs", help="Use the theorems too, and try to prove equivalence at any size."),
    ] = True,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
    fixtures: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write one shrunk counterexample of each killed mutant to this folder."),
    ] = None,
    as_json: JsonOut = False,
) -> int:
    """Try every claim and engine on every mutant.

    The table shows what kills each mutant, or why nothing does.  Exit codes: 0 every status is the registered one; 1 a
    mutant survives or has another status; 2 bad use; 130 interrupted.
    """
    bundle = bundle_named(protocol)
    folder = folder_for(fixtures)
    with usage():
        theorems = theorem_names(bundle.name, mutants=mutant or ()) if proofs else ()
    if bundle.own and not bundle.model.mutants and not mutant:
        automatic = automatic or MADE
    began = time.monotonic()
    with running(0, "mutants") as advance:

        def progress(job: Job) -> None:
            advance(f"{job.title} {job.variant}", 1)

        with usage():
            found = kill_matrix(
                bundle,
                mutants=mutant or (),
                theorems=theorems,
                automatic=automatic,
                proofs=proofs,
                hunt=Hunt(budget, seed, jobs or cores()),
                progress=progress,
            )
    if bundle.own and not found.rows and not found.automatic.mutants and not found.interrupted:
        raise BadUse(
            f"{bundle.name} has no mutants, and none can be made by rule: a mutant changes a function of the module of "
            "its step, and no step calls one; name the functions of the step with `def`, or bring mutants"
        )
    written = _write(bundle, found, folder) if folder is not None else {}
    if as_json:
        emit_run({**found.to_json(), "fixtures": written}, began, **found.timing())
    else:
        _print(found, written, every=not mutant)
    return found.exit_code


def _write(bundle: Bundle, found: KillMatrix, folder: Path) -> dict[str, str]:
    """Write one counterexample for each killed mutant; return the file names by mutant."""
    written: dict[str, str] = {}
    for row in found.rows:
        with usage():
            path = mutant_fixture(bundle, row, folder)
        if path is not None:
            written[row.mutant] = path.relative_to(folder).as_posix()
    return written


def _print(found: KillMatrix, written: dict[str, str], *, every: bool) -> None:
    console = terminal()
    table = titled(f"{found.protocol}: mutants by claim and engine", "mutant", "status", "killed by")
    for row in found.rows:
        style = "green" if row.as_expected else "red"
        table.add_row(Text(inert(row.mutant)), Text(row.status, style=style), Text("\n".join(map(inert, _by(row)))))
    console.print(table)
    proved = sum(bool(row.proved) for row in found.rows)
    lines = [
        f"{plural(len(found.rows), 'mutant')}: {len(found.of('killed'))} killed, "
        f"{len(found.of('equivalent'))} shown equivalent ({proved} by proof, for all sizes), "
        f"{len(found.of('open_gap'))} open gaps, {plural(len(found.of('survivor')), 'survivor')}.",
    ]
    if every:  # most claims cannot kill a few chosen mutants
        lines += [
            f"claims that kill nothing: {', '.join(found.idle_claims) or 'none'}",
            f"engines that kill nothing: {', '.join(found.idle_engines) or 'none'}",
        ]
    lines += _by_rule(found.automatic)
    for row in found.rows:
        if row.status == "survivor":
            lines.append(f"a claim is missing: none kills {row.mutant}, {row.sentence} Compare: {row.command}")
            lines += [f"    {line}" for line in row.hint]
    lines.append(f"seconds by engine: {', '.join(f'{name} {s:.0f}' for name, s in found.timing()['engines'].items())}")
    lines += [f"written: {name}" for name in written.values()]
    lines += ["INTERRUPTED; not finished: " + ", ".join(found.unfinished[:5])] if found.interrupted else []
    print_lines(console, map(inert, lines))


def _by_rule(made: Automatic) -> list[str]:
    """The mutants made by rule: counts, the functions that claims should guard, and the others one by one."""
    if not made.mutants:
        return []
    surviving = made.of("surviving")
    equivalent = made.of("equivalent")
    lines = [
        f"made by rule: {len(made.mutants)}, killed {len(made.of('killed'))} by claims, equivalent {len(equivalent)} "
        f"(each in its places), surviving {len(surviving)}, otherwise listed {len(made.listed)}"
    ]
    for function in dict.fromkeys(one.function for one in surviving):
        lines.append(f"a claim is missing that guards {function}:")
        for one in (one for one in surviving if one.function == function):
            lines += [f"  survives: {one.name} ({one.change})", f"    {one.because}", f"    {one.command}"]
    lines += [f"  {one.status}: {one.name} ({one.change}) {one.because}" for one in made.listed]
    return lines + [f"  engine broken: {one.name} ({one.change}) {why}" for one in made.mutants for why in one.broken]


def _by(row: MutantRow) -> list[str]:
    if row.kills:
        return [
            f"{claim}: {', '.join(_kill_texts(kills))}"
            for claim, kills in grouped((kill.claim, kill) for kill in row.kills).items()
        ]
    unproved = f"not known beyond that: {row.unproved}" if row.unproved else ""
    return [part for part in (row.reason, row.because, row.proved, unproved, *row.doubts[:3]) if part]


def _kill_texts(kills: list[Kill]) -> list[str]:
    best: dict[str, int | None] = {}
    for kill in kills:
        if kill.engine not in best or (kill.length or 0) < (best[kill.engine] or 0):
            best[kill.engine] = kill.length
    return [engine if length is None else f"{engine} ({length})" for engine, length in best.items()]
