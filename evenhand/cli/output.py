"""Results of a command: counterexamples and reports as files, one object for `--json`, an exit code."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from evenhand.cli.console import emit, say, terminal, usage
from evenhand.core.canonical import Json
from evenhand.core.versions import versions
from evenhand.evidence.finding import Finding, plain
from evenhand.evidence.store import ready_folder, write_atomically
from evenhand.report.report import Report
from evenhand.report.saving import saved
from evenhand.report.table import print_report


def folder_for(out: Path | None) -> Path | None:
    """The folder that `--out` names, ready to be written to; None without it.  Raises BadUse."""
    with usage():
        return None if out is None else ready_folder(out)


def with_files(folder: Path, report: Report) -> Report:
    """`report` with the command that replays each counterexample written to `folder`."""
    return replace(report, findings=tuple(_with_file(folder, finding) for finding in report.findings))


def _with_file(folder: Path, finding: Finding) -> Finding:
    if not finding.fixture:
        return finding
    command = shlex.join(["evenhand", "replay", str(folder / finding.fixture)])
    return replace(finding, command=f"{command}\n{finding.command}")


def keep(folder: Path | None, report: Report) -> Report:
    """Write the counterexamples that are no fixtures yet to `folder`, if there is one.  Raises BadUse."""
    if folder is None:
        return report
    with usage():
        return with_files(folder, saved(folder, report))


def write_files(folder: Path, made: Mapping[str, bytes]) -> tuple[Path, ...]:
    """Write these files, each atomically, and say where.  Raises BadUse where that cannot be done."""
    with usage():
        for name, content in made.items():
            write_atomically(folder / name, content)
            say(f"written: {folder / name}")
    return tuple(folder / name for name in made)


def emit_run(made: Mapping[str, Json], began: float, **timing: Json) -> None:
    """Print what a run made as one JSON object, with the versions and the seconds since it began."""
    spent: dict[str, Json] = {"total": round(time.monotonic() - began, 3), **timing}
    emit({**made, "versions": dict(versions()), "timing": spent})


def finish(
    report: Report,
    more: Mapping[str, Any],
    *,
    as_json: bool,
    strict: bool = False,
    shown: Callable[[Console, Report], None] = print_report,
) -> int:
    """Print a report (as one object with `more` beside it, or by `shown`) and return its exit code."""
    if as_json:
        emit({**report.to_json(), **{name: plain(value) for name, value in more.items()}})
    else:
        shown(terminal(), report)
    return report.exit_code(strict=strict)
