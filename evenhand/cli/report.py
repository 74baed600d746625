"""`evenhand report`: the forms of a report again, from the files that runs wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, cast

import typer

from evenhand.cli.common import BadUse, guarded, usage, write_forms
from evenhand.model.canonical import parse
from evenhand.report.report import FORMAT, Report
from evenhand.report.store import ready_folder

__all__ = ["report"]

MATRIX = "evenhand/mutants"


@guarded
def report(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE", help="One report.json, and what `evenhand mutants P --json` printed."),
    ],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where the forms are written.")],
) -> int:
    """Make every form of a report (HTML, JUnit, SARIF, Markdown) from its report.json, with kill matrices if given.

    Exit codes: 0 written; 2 a file that is neither, is damaged, or there is not exactly one report.
    """
    read = [(file, _read(file)) for file in files]
    reports = [(file, made) for file, made in read if made.get("format") == FORMAT]
    if len(reports) != 1:
        raise BadUse(f"of {len(files)} files {len(reports)} are a report.json; name exactly one")
    file, made = reports[0]
    try:
        found = Report.from_json(made)
    except (KeyError, TypeError, ValueError) as error:
        raise BadUse(
            f"{file}: a damaged report, or another version's ({error}); run `evenhand verify` again"
        ) from error
    matrices = [made for _, made in read if made["format"] == MATRIX]
    with usage():
        folder = ready_folder(out)
        try:
            write_forms(folder, found, matrices)
        except (KeyError, TypeError) as error:
            raise BadUse(f"a damaged kill matrix ({error!r}); run `evenhand mutants` again") from error
    return 0


def _read(file: Path) -> dict[str, Any]:
    with usage():
        try:
            made = parse(file.read_text("utf-8"))
        except ValueError as error:
            raise BadUse(f"{file}: it is no JSON, or was cut short ({error!s:.120})") from error
    found = cast("dict[str, Any]", made) if isinstance(made, dict) else {}
    if found.get("format") not in (FORMAT, MATRIX):
        raise BadUse(f"{file}: its format is {found.get('format')!r}, neither {FORMAT!r} nor {MATRIX!r}")
    return found
