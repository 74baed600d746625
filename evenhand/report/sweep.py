"""A sweep as a table for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from evenhand.core.text import inert
from evenhand.report.phrases import Word
from evenhand.report.table import STYLE, titled

if TYPE_CHECKING:
    from evenhand.studies.sweeping import Point, Sweep

_COUNTS = ("configs", "states", "transitions", "edges", "depth")


def point_table(sweep: Sweep, what: str) -> Table:
    """Return a row for each point: what was found, its cost, and the reason if it is undecided."""
    made = titled(f"sweep of {what}")
    claims = list(dict.fromkeys(finding.claim for point in sweep.points for finding in point.findings))
    for name in (*sweep.over, *_COUNTS, "CPU s", "MB", "method"):
        made.add_column(name, justify="right")
    for name in claims:
        made.add_column(inert(name), overflow="fold")
    made.add_column("result", overflow="fold")
    for point in sweep.points:
        counts = (f"{getattr(point, name):,}" if point.complete or name in _TOLD else "" for name in _COUNTS)
        cost = (f"{point.cpu:.2f}", f"{point.memory / 2**20:,.0f}") if point.method is not None else ("", "")
        sizes = (str(point.sizes[name]) for name in sweep.over)
        method = "" if point.method is None else str(point.method)
        ends = [_verdict(point, name) for name in claims]
        result = Text("complete") if point.complete else Text(f"UNDECIDED: {inert(point.because)}", style="yellow")
        made.add_row(*sizes, *counts, *cost, method, *ends, result)
    return made


_TOLD = ("states", "transitions")


def _verdict(point: Point, claim: str) -> Text:
    found = next((one for one in point.findings if one.claim == claim), None)
    return Text("") if found is None else Text(found.status.value, style=STYLE[Word(found.status.value)])
