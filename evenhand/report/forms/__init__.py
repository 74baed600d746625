"""The forms of a report beside its JSON, each derived from it: for browsers, for CI, for code scanning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.report.forms.junit import junit
from evenhand.report.forms.markdown import markdown
from evenhand.report.forms.page import page
from evenhand.report.forms.sarif import sarif
from evenhand.report.report import Report


def forms_of(report: Report, matrices: Sequence[Mapping[str, Any]] = ()) -> dict[str, bytes]:
    """Return every form of a report by file name: the same bytes for the same report.

    `matrices` are kill matrices as `evenhand mutants P --json` prints them.
    """
    return {
        "junit.xml": junit(report),
        "report.html": page(report, matrices),
        "report.sarif": sarif(report),
        "summary.md": markdown(report),
    }
