"""Which part of a report is printed: the digest, a group of claims, one claim, or every table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeAlias

import typer
from rich.console import Console

from evenhand.cli import completion
from evenhand.cli.console import BadUse
from evenhand.report.digest import Group, digest
from evenhand.report.glance import print_glance
from evenhand.report.listing import claim_lines, group_lines
from evenhand.report.report import Report
from evenhand.report.table import print_lines, print_report

Shown: TypeAlias = Callable[[Console, Report], None]

AllOption = Annotated[bool, typer.Option("--all", help="Print every table instead of the digest.")]
ShowOption = Annotated[
    Group | None, typer.Option("--show", metavar="GROUP", help=f"Print the claims that are {', '.join(Group)}.")
]
AboutOption = Annotated[
    str,
    typer.Option(
        "--claim", metavar="NAME", help="Print everything about this claim.", autocompletion=completion.claims
    ),
]


def digested(report: Report) -> dict[str, Any]:
    """Return what `--json` prints beside the report."""
    return {"digest": [one.to_json() for one in digest(report)]}


def chosen(every: bool, group: Group | None, claim: str) -> Shown:
    """Return how the report is printed.  Raises BadUse for two ways at once."""
    if sum((every, group is not None, bool(claim))) > 1:
        raise BadUse("--all, --show and --claim each print another part of the report; give one of them")
    if every:
        return print_report
    if group is not None:
        return lambda console, report: print_lines(console, group_lines(report, group))
    if claim:
        return lambda console, report: print_lines(console, claim_lines(report, claim))
    return print_glance
