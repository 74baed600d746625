"""`evenhand replay` and `evenhand show`: counterexamples that were written to files."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from evenhand.cli.check_lines import finding_lines
from evenhand.cli.console import BadUse, emit, guarded, say, terminal, usage
from evenhand.cli.options import JsonOut
from evenhand.cli.output import finish
from evenhand.conform.checking.duties import FORMAT
from evenhand.core.canonical import Json, canonical_bytes
from evenhand.core.system import Scope
from evenhand.core.text import describe, inert
from evenhand.core.versions import versions
from evenhand.evidence.itf import ITF, itf_of_run
from evenhand.evidence.record import Record
from evenhand.evidence.replay import Replayed, replay_record
from evenhand.evidence.store import load, read_json, write_atomically
from evenhand.evidence.story import trace_lines
from evenhand.jobs.fixtures import fixture_at, replay_findings
from evenhand.report.phrases import plural, refutation
from evenhand.report.report import Report
from evenhand.report.table import print_lines

Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE", help="Counterexample files, or names of those that come with evenhand; ITF traces are skipped."
    ),
]


@guarded
def replay(
    files: Files,
    as_json: JsonOut = False,
) -> int:
    """Replay counterexamples in their variant and the reference.

    Exit codes: 0 each does what was recorded, and the reference is as registered; 1 one does not; 2 a file that cannot
    be used.
    """
    records = _records(files)
    with usage():
        results = [(path, *_replayed(path)) for path in records]
    findings = tuple(found for path, record, result in results for found in replay_findings(str(path), record, result))
    report = Report(findings, {"files": [str(path) for path in records]}, versions())
    replays: list[dict[str, Json]] = [
        {"file": str(path), "ok": result.ok, "message": result.message, "filled": list(result.filled)}
        for path, _, result in results
    ]
    if as_json:
        return finish(report, {"replays": replays}, as_json=True)
    console = terminal()
    for path, record, result in results:
        print_lines(console, [inert(f"{'ok' if result.ok else 'FAILED'}  {path}: {result.message}")])
        if result.filled:
            print_lines(console, [inert(f"    newer than the file, filled with defaults: {', '.join(result.filled)}")])
        if not result.ok:
            for found in replay_findings(str(path), record, result):
                print_lines(console, [f"    {line}" for line in refutation(found)])
    return report.exit_code()


def _records(files: list[Path]) -> list[Path]:
    """Leave out the ITF traces that a command wrote beside its records, and say so.  Raises BadUse if all are such."""
    records = [file for file in files if not file.name.endswith(ITF)]
    if not records:
        raise BadUse(f"{files[0]} is an ITF trace, which other tools read; give the record beside it, without `.itf`")
    if len(records) < len(files):
        say(f"skipped {plural(len(files) - len(records), 'ITF trace')}: runs of the records, for other tools")
    return records


def _replayed(path: Path) -> tuple[Record, Replayed]:
    file = fixture_at(path)
    if _is_kernel_finding(file):
        raise BadUse(
            f"{path} is a finding about a kernel: the pytest file beside it repeats it, `evenhand show` tells it"
        )
    record = load(file)
    return record, replay_record(record, origin=str(path), file=file)


def _is_kernel_finding(file: Path) -> bool:
    made = read_json(file)
    return isinstance(made, dict) and cast("dict[str, Json]", made).get("format") == FORMAT


def _kernel_finding(file: Path) -> dict[str, Any]:
    from evenhand.conform.checking.finding import finding_in_words  # the checker takes 0.15 s to import

    with usage():
        return finding_in_words(fixture_at(file))


@guarded
def show(
    files: Files,
    full: Annotated[
        bool, typer.Option("--full", help="Show all readings, and everything that each step shows.")
    ] = False,
    wait_for: Annotated[
        Path | None,
        typer.Option(
            "--wait-for", metavar="OUT", help="Write the wait-for graph at the end of the run: .dot, .graphml or .json."
        ),
    ] = None,
    as_itf: Annotated[
        Path | None, typer.Option("--itf", metavar="OUT", help="Write the run as an ITF trace, with every state.")
    ] = None,
    as_json: JsonOut = False,
) -> int:
    """Show counterexamples step by step.

    Prints the run, what each action showed, and what changed; of a finding about a kernel what `check` printed.
    Exit codes: 0 shown; 2 a file that cannot be used.
    """
    records = _records(files)
    if len(records) > 1 and (as_json or as_itf is not None or wait_for is not None):
        raise BadUse(f"--json, --itf and --wait-for are about one counterexample, not {len(records)}; give one file")
    told = [_told(number, file, full, wait_for, as_itf) for number, file in enumerate(records, start=1)]
    if as_json:
        emit(told[0][0])
        return 0
    for number, (_, lines) in enumerate(told):
        print_lines(terminal(), ["", *lines] if number else lines)
    return 0


def _told(
    number: int, file: Path, full: bool, wait_for: Path | None, as_itf: Path | None
) -> tuple[dict[str, Any], list[str]]:
    """Return a counterexample as JSON and as lines.  Writes the files that were asked for."""
    with usage():
        about_kernel = _is_kernel_finding(fixture_at(file))
    if about_kernel:
        if as_itf is not None or wait_for is not None:
            raise BadUse(f"{file} is a finding about a kernel: `check --out` wrote its run as ITF, and it has no graph")
        found = _kernel_finding(file)
        return {"file": str(file), "finding": found}, [*finding_lines(number, found)]
    with usage():
        record, result = _replayed(file)
    lines = _lines(file, result, full)
    if as_itf is not None:
        meta = {"description": record.claim.sentence, "protocol": record.protocol, "claim": record.claim.name}
        with usage():
            made = itf_of_run(result.system, result.evidence, meta)
            write_atomically(as_itf, canonical_bytes(made) + b"\n")
    waited, formatted = ({}, []) if wait_for is None else _waiting(result, wait_for)
    sizes = f" at {Scope(record.scope)}" if record.scope else ""
    head = [
        f"{record.claim.name}: {record.claim.sentence}",
        f"{record.outcome.lower()} in {record.protocol} {record.system}{sizes}, variant {record.variant.name}",
        *_readings(result.system.readings, full),
    ]
    as_object = {"file": str(file), "record": record.to_json(), "trace": list(lines), "message": result.message}
    return {**as_object, **waited}, [*map(inert, head), *lines, inert(result.message), *map(inert, formatted)]


def _waiting(result: Replayed, path: Path) -> tuple[dict[str, Json], list[str]]:
    from evenhand.cli.waits import waiting_after  # networkx takes 0.2 s to import

    return waiting_after(result.system, result.evidence, path)


def _lines(file: Path, result: Replayed, full: bool) -> tuple[str, ...]:
    """Return the run as lines.  Raises BadUse where the user's system raises along a run that it no longer offers."""
    try:
        return trace_lines(result.system, result.evidence, full=full)
    except Exception as error:
        if not result.regression:
            raise
        raise BadUse(
            f"{file}: the run cannot be shown any more, for {result.system.name} raises {type(error).__name__}: "
            f"{error}. {result.message}"
        ) from error


def _readings(chosen: Any, full: bool) -> list[str]:
    """Return the readings of a run, or only those that are not the default, a line each."""
    entries = fields(chosen) if is_dataclass(chosen) else ()
    values = [(entry.name, getattr(chosen, entry.name), entry.default) for entry in entries]
    return [f"reading {name} = {describe(value)}" for name, value, default in values if full or value != default]
