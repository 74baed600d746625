"""The refutations of a report as files, without those that are fixtures already."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from evenhand.evidence.finding import Finding
from evenhand.evidence.home import placed
from evenhand.evidence.record import Record
from evenhand.evidence.store import save
from evenhand.jobs.fixtures import REPLAY, fixture_files, place_named
from evenhand.report.report import Report


def saved(folder: Path, report: Report) -> Report:
    """Write every refutation that is no fixture yet to `folder`; return the report with their names, relative to it.

    Raises NotWritten when a file cannot be made.
    """
    return replace(report, findings=tuple(_saved(folder, report.findings)))


def _saved(folder: Path, findings: Iterable[Finding]) -> Iterator[Finding]:
    known: dict[str, set[str]] = {}
    for finding in findings:
        if finding.record is None or finding.engine == REPLAY:
            yield finding
            continue
        record = Record.from_json(finding.record)
        there = known.setdefault(finding.protocol, {path.name for path in fixture_files(finding.protocol)})
        if record.file_name in there:
            yield finding
            continue
        home = folder / record.folder_name
        path = save(placed(record, home, place_named(finding.protocol)), home)
        yield replace(finding, fixture=f"{record.folder_name}/{path.name}")
