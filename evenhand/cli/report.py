"""`evenhand report`: the forms of a report again, from the files that runs wrote."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from evenhand.cli.console import BadUse, emit, guarded, usage
from evenhand.cli.forms import forms_with_json
from evenhand.cli.options import JsonOut
from evenhand.cli.output import finish, write_files
from evenhand.cli.requests import content_of
from evenhand.cli.shown import AboutOption, AllOption, ShowOption, chosen, digested
from evenhand.core.canonical import parse
from evenhand.core.lookup import UnknownName
from evenhand.evidence.store import ready_folder
from evenhand.report.phrases import plural
from evenhand.report.report import FORMAT, Report

MATRIX = "evenhand/mutants"


@guarded
def report(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE",
            help="One report.json, and outputs of `evenhand mutants P --json` for its page.",
        ),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Folder for the forms; without it, print.")
    ] = None,
    every: AllOption = False,
    show: ShowOption = None,
    claim: AboutOption = "",
    as_json: JsonOut = False,
) -> int:
    """Print a report from its report.json, or make every form of it.

    With --out it writes HTML, with the kill matrices given, JUnit, SARIF and Markdown.  Exit codes: 0 printed or
    written; 2 a file that is neither or is damaged, or not exactly one report.
    """
    shown = chosen(every, show, claim)
    if out is not None and (every or show is not None or claim):
        raise BadUse("--out writes every form of the report, --all, --show and --claim print a part; give one of them")
    read = [(file, _read(file)) for file in files]
    reports = [_report(file, made) for file, made in read if made["format"] == FORMAT]
    matrices = [made for _, made in read if made["format"] == MATRIX]
    about = [str(made.get("protocol")) for made in matrices]
    if len(reports) != 1:
        count = f"{len(reports)} are" if reports else "none is"
        raise BadUse(
            f"of {plural(len(files), 'file')} {count} a report.json; name one that `evenhand verify --out` wrote"
        )
    if twice := [name for name in about if about.count(name) > 1]:
        raise BadUse(f"two kill matrices are about {twice[0]}; name one of them")
    (found,) = reports
    if claim and claim not in (told := {finding.claim for finding in found.findings}):
        raise UnknownName("claim", claim, told)
    for file, made in read:
        _show(file, made)
    if out is None:
        finish(found, digested(found), as_json=as_json, shown=shown)
        return 0
    with usage():
        written = write_files(ready_folder(out), forms_with_json(found, matrices))
    if as_json:
        emit({"format": "evenhand/written", "version": 1, "written": [str(path) for path in written]})
    return 0


def _show(file: Path, made: Mapping[str, Any]) -> None:
    """Make the forms of one file, so that the file at fault is named.  Raises BadUse."""
    one, matrices = (Report.from_json(made), []) if made["format"] == FORMAT else (Report(()), [made])
    again = "verify" if not matrices else "mutants"
    try:
        forms_with_json(one, matrices)
    except Exception as error:  # well-typed values may still be none that a run writes
        raise BadUse(
            f"{file}: a damaged {'kill matrix' if matrices else 'report'} ({type(error).__name__}: {error!s:.120}); "
            f"run `evenhand {again}` again"
        ) from error


def _report(file: Path, made: Mapping[str, Any]) -> Report:
    try:
        return Report.from_json(made)
    except ValueError as error:
        raise BadUse(
            f"{file}: a damaged report, or another version's ({error}); run `evenhand verify` again"
        ) from error


def _read(file: Path) -> dict[str, Any]:
    try:
        made = parse(content_of(file).decode("utf-8"))
    except BadUse:
        raise
    except ValueError as error:
        raise BadUse(f"{file}: it is no JSON, or was cut short ({error!s:.120}). Run the command again.") from error
    found = cast("dict[str, Any]", made) if isinstance(made, dict) else {}
    if found.get("format") not in (FORMAT, MATRIX):
        cause = f"its format is {found.get('format')!r}, neither {FORMAT!r} nor {MATRIX!r}"
        raise BadUse(f"{file}: {cause}. Name what `evenhand verify --out` or `evenhand mutants --json` wrote.")
    return found
