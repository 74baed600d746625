"""The notebook display of values: runs and lassos as pictures, verdicts, reports and kill matrices as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.report.drawing import Picture
from evenhand.report.forms.views import heat_of
from evenhand.report.strip import story_picture
from evenhand.report.templates import shown

if TYPE_CHECKING:
    from evenhand.evidence.finding import Finding
    from evenhand.evidence.story import Story
    from evenhand.report.report import Report
    from evenhand.studies.mutants import KillMatrix
    from evenhand.studies.sensitivity import SensitivityTable

ROWS = 200
"""Verdicts that a report's table shows; the page has all."""


def story_svg(story: Story) -> str:
    """Return the picture of each run."""
    return shown("picture", story_picture(story))


def story_html(story: Story) -> str:
    """Return the picture, then each run step by step."""
    return shown("story", story, story_picture(story))


def finding_html(finding: Finding) -> str:
    """Return a verdict with its scope, and the run that refutes or witnesses it."""
    return shown("finding", finding, _drawn(finding))


def _drawn(finding: Finding) -> Picture | None:
    return story_picture(finding.story) if finding.story is not None else None


def report_html(report: Report) -> str:
    """Return the summary, the verdicts, and the unexpected verdicts in full."""
    ranked = sorted(report.findings, key=lambda one: one not in report.unexpected)
    unexpected = [(one, _drawn(one)) for one in report.unexpected[:5] if one.story is not None]
    return shown("report", report, ranked[:ROWS], len(ranked[ROWS:]), unexpected)


def matrix_html(matrix: KillMatrix) -> str:
    """Return a row for each mutant, a column for each claim that kills one; a number is the shortest run."""
    return shown("matrix", heat_of(matrix.to_json()))


def sensitivity_html(table: SensitivityTable) -> str:
    """Return a row for each verdict that another reading changes."""
    return shown("sensitivity", table)
