"""The forms of a report beside its JSON, each derived from it: for browsers, for CI, for code scanning."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evenhand.report.forms.junit import junit
from evenhand.report.forms.markdown import markdown
from evenhand.report.forms.page import page
from evenhand.report.forms.sarif import sarif
from evenhand.report.report import Report

__all__ = ["FORMS", "forms_of"]

Matrices = Sequence[Mapping[str, Any]]
"""Kill matrices as `evenhand mutants P --json` prints them."""

FORMS: Mapping[str, Callable[[Report, Matrices], bytes]] = {
    "junit.xml": lambda report, _matrices: junit(report),
    "report.html": page,
    "report.sarif": lambda report, _matrices: sarif(report),
    "summary.md": lambda report, _matrices: markdown(report),
}
"""File name → the function that makes its bytes."""


def forms_of(report: Report, matrices: Matrices = ()) -> dict[str, bytes]:
    """Return every form of a report by file name: the same bytes for the same report."""
    return {name: made(report, matrices) for name, made in FORMS.items()}
