"""`evenhand compare`: the smallest scenario that tells two readings, or a mutant and the reference, apart."""

from __future__ import annotations

import time
from typing import Annotated

import typer
from rich.text import Text

from evenhand.cli import completion
from evenhand.cli.console import BadUse, guarded, running, terminal, usage
from evenhand.cli.options import JobsOption, JsonOut, ProtocolName, ScopeOption, SeedOption, SystemOption
from evenhand.cli.output import emit_run
from evenhand.cli.requests import bundle_named, cores
from evenhand.core.bundle import Bundle
from evenhand.core.system import Scope
from evenhand.core.text import inert
from evenhand.jobs.plan import chosen_scope, inhabited
from evenhand.report.phrases import plural
from evenhand.report.table import print_lines, titled
from evenhand.studies.comparing import Comparison, compare, sides_of, written
from evenhand.studies.sensitivity import SensitivityTable, sensitivity_table

LISTED = 12
"""Open cells that are printed one by one."""


@guarded
def compare_command(
    protocol: ProtocolName,
    reading: Annotated[
        list[str] | None,
        typer.Option(
            "--reading",
            metavar="NAME=VALUE",
            help="The value to compare with the default; given twice: the two values. With --mutant: holds on both "
            "sides. With --table: a name, to try only this reading.",
            autocompletion=completion.readings,
        ),
    ] = None,
    mutant: Annotated[
        str,
        typer.Option(
            "--mutant",
            metavar="NAME",
            help="The mutant to compare with the reference.",
            autocompletion=completion.mutants,
        ),
    ] = "",
    table: Annotated[
        bool,
        typer.Option(
            "--table",
            help="Sensitivity table: the verdicts that change from the default, for every value of every reading.",
        ),
    ] = False,
    system: SystemOption = "",
    scope: ScopeOption = None,
    max_steps: Annotated[
        int, typer.Option(min=1, metavar="N", help="Limit on the steps compared in each system before runs are drawn.")
    ] = 20_000,
    examples: Annotated[
        int, typer.Option(min=0, metavar="N", help="Number of runs drawn where no search separates; 0: none.")
    ] = 200,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
    as_json: JsonOut = False,
) -> int:
    """Look for the smallest scenario that separates variants.

    If there is none, the scopes in which they are equal are reported.  Exit codes: 0 separated, or equal in every scope
    compared; 2 bad use; 3 neither is known (--table: a cell is open).
    """
    bundle = bundle_named(protocol)
    if table and mutant:
        raise BadUse("--table is about readings; leave --mutant out")
    began = time.monotonic()
    found: Comparison | SensitivityTable
    with running(0, "compare") as advance, usage():
        sizes = chosen_scope(scope) if scope else None
        if table:
            found = sensitivity_table(
                bundle,
                readings=reading or [],
                system=system,
                scope=sizes,
                jobs=jobs or cores(),
                progress=lambda words: advance(words, 1),
            )
        else:
            sides = sides_of(bundle, readings=reading or [], mutant=mutant, system=system, scope=sizes)
            for one in sides if sizes else ():
                inhabited(one.left)
            found = compare(bundle, sides, max_steps=max_steps, examples=examples, seed=seed, progress=advance)
    if as_json:
        emit_run(found.to_json(), began)
    elif isinstance(found, SensitivityTable):
        _print(bundle, found)
    else:
        print_lines(terminal(), map(inert, written(found)))
    return found.exit_code


def _where(bundle: Bundle, system: str, scope: Scope) -> str:
    """Return the system with the sizes that differ from its own scope."""
    own = dict(bundle.model.systems[system].scope)
    differs = ",".join(f"{name}={size}" for name, size in scope.items() if own.get(name) != size)
    return f"{system} {differs}".rstrip()


def _print(bundle: Bundle, found: SensitivityTable) -> None:
    console = terminal()
    columns = ("reading", "value", "claim", "in", "default", "now", "steps")
    table = titled(f"{found.protocol}: what each reading changes", *columns)
    for flip in found.sensitivity:
        cells = (flip.reading, flip.value, flip.claim, _where(bundle, flip.system, flip.scope), flip.default.value)
        length = "" if flip.length is None else str(flip.length)
        table.add_row(*(Text(inert(cell)) for cell in (*cells, flip.now.value, length)))
    console.print(table)
    places = "; ".join(_where(bundle, system, scope) for system, scope in found.places)
    counts = (
        f"{plural(len(found.sensitivity), 'verdict')} changed; of the cells without a verdict, {found.silent:,} ask "
        f"about nothing there, {found.stated:,} are undecided as expected, {len(found.open_cells):,} open"
    )
    lines = [
        f"{plural(len(found.values), 'value')} tried in {places} (sizes other than the system's own): {counts}.",
        f"values that change no verdict there: {', '.join(f'{name}={value}' for name, value in found.idle) or 'none'}",
        f"not tried, because their values cannot be listed: {', '.join(found.untried) or 'none'}",
    ]
    for cell in found.open_cells[:LISTED]:
        lines.append(f"open: {cell.claim} in {cell.system} under {cell.reading}={cell.value}: {cell.because}")
    if len(found.open_cells) > LISTED:
        lines.append(f"and {len(found.open_cells) - LISTED:,} more; --json lists all")
    print_lines(console, map(inert, lines))
