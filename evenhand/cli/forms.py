"""A report as files, in every form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evenhand.cli.console import usage
from evenhand.cli.output import folder_for, with_files, write_files
from evenhand.core.canonical import canonical_bytes
from evenhand.report.digest import with_digest
from evenhand.report.forms import forms_of
from evenhand.report.report import Report
from evenhand.report.saving import saved
from evenhand.report.templates import environment


def folder_for_forms(out: Path | None) -> Path | None:
    """`folder_for`, for what needs Jinja2 after a long run: if it is not installed, that is said before the run."""
    folder = folder_for(out)
    if folder is not None:
        environment()
    return folder


def write_forms(folder: Path, report: Report, matrices: Sequence[Mapping[str, Any]] = ()) -> tuple[Path, ...]:
    """Write the report as `report.json` and in every other form, and say where."""
    return write_files(folder, forms_with_json(report, matrices))


def written_report(folder: Path | None, report: Report) -> Report:
    """Write the new counterexamples, then the report that names them; return it with paths from `folder` on.

    The files hold no path of this machine, so that the same run gives the same bytes anywhere.  Without a folder
    nothing is written.  Raises BadUse.
    """
    if folder is None:
        return report
    with usage():
        report = saved(folder, report)
    write_forms(folder, report)
    return with_files(folder, report)


def forms_with_json(report: Report, matrices: Sequence[Mapping[str, Any]] = ()) -> dict[str, bytes]:
    """Return the content of every file of a report, by name."""
    return {"report.json": canonical_bytes(with_digest(report)) + b"\n", **forms_of(report, matrices)}
