"""`evenhand replay` and `evenhand show`: counterexamples that were written to files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from evenhand.cli.common import JsonOut, emit, finish, guarded, terminal, usage
from evenhand.counterexamples.record import Record
from evenhand.counterexamples.replay import Replayed, replay_record
from evenhand.counterexamples.store import load
from evenhand.fixtures import replay_findings
from evenhand.report.finding import plain
from evenhand.report.readable import refutation
from evenhand.report.report import Report
from evenhand.report.text import describe, inert, trace_lines
from evenhand.versions import versions

__all__ = ["replay", "show"]

Files = Annotated[list[Path], typer.Argument(metavar="FILE", help="Counterexamples that evenhand wrote.")]


@guarded
def replay(files: Files, as_json: JsonOut = False) -> int:
    """Replay counterexamples: in the variant they name, and in the reference.

    Exit code 0 if each does what was recorded and the reference is as registered, 1 if not, 2 for a file
    that cannot be used.
    """
    with usage():
        results = [(path, *_replayed(path)) for path in files]
    findings = tuple(found for path, record, result in results for found in replay_findings(str(path), record, result))
    report = Report(findings, {"files": [str(path) for path in files]}, versions())
    replays = [{"file": str(path), "ok": result.ok, "message": result.message} for path, _, result in results]
    if as_json:
        return finish(report, {"replays": replays}, as_json=True)
    console = terminal()
    for (path, _, result), found in zip(
        results, [f for f in findings if f.variant == f.variant][: len(results)], strict=True
    ):
        console.print(Text(f"{'ok' if result.ok else 'FAILED'}  {inert(str(path))}"), soft_wrap=True)
        for line in (*refutation(found), *map(inert, result.message.splitlines())):
            console.print(Text(f"    {line}"), soft_wrap=True)
    return report.exit_code()


def _replayed(path: Path) -> tuple[Record, Replayed]:
    record = load(path)
    return record, replay_record(record, origin=str(path))


@guarded
def show(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A counterexample.")], as_json: JsonOut = False
) -> int:
    """Show a counterexample step by step: the run, what each action showed, and what changed."""
    with usage():
        record, result = _replayed(file)
    lines = trace_lines(result.system, result.evidence)
    if as_json:
        emit({"file": str(file), "record": record.to_json(), "trace": list(lines), "message": result.message})
        return 0
    console = terminal()
    head = [
        f"{record.claim}: {record.sentence}",
        f"{record.outcome.lower()} in {record.protocol} {record.system} at {record.scope}, variant {record.variant}",
        *(f"reading {name} = {describe(plain(value))}" for name, value in sorted(record.readings.items())),
    ]
    for line in (*map(inert, head), *lines, inert(result.message)):
        console.print(Text(line), soft_wrap=True)
    return 0
