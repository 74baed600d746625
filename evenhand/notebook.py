"""Show results in notebooks: after `%load_ext evenhand.notebook` a bare result is displayed as a picture.

Covers verdicts, traces, lassos, pairs, reports, findings, kill matrices, sensitivity tables and profiles.  The values
do not depend on notebooks: this module registers their formatters with IPython.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from evenhand.core.plan import Expectation
from evenhand.core.text import layout
from evenhand.core.trace import Lasso, Pair, Scenario, Trace
from evenhand.core.verdict import Verdict
from evenhand.evidence.finding import Finding, finding
from evenhand.evidence.story import RunLines, StepLines, Story, story_of_trace
from evenhand.report.display import finding_html, matrix_html, report_html, sensitivity_html, story_html, story_svg
from evenhand.report.profile import profile_html
from evenhand.report.report import Report
from evenhand.studies.mutants import KillMatrix
from evenhand.studies.profiling import Profile
from evenhand.studies.sensitivity import SensitivityTable


def html_of(value: Any) -> str:
    """Return a result as HTML.  Raises TypeError for anything else."""
    for kind, how in _SHOWN.items():
        if isinstance(value, kind):
            return how(value)
    raise TypeError(f"a {type(value).__name__} is nothing that evenhand shows in a notebook")


def _verdict(value: Verdict) -> str:
    formatted = finding("", "", value, Expectation(value.claim, value.status))
    return finding_html(formatted) + (html_of(value.evidence) if value.evidence is not None else "")


def _trace(value: Trace[Any, Any, Any, Any]) -> str:
    return story_html(story_of_trace(value))


def _scenario(value: Scenario[Any, Any, Any]) -> str:
    return story_html(Story((_actions(value.start, value.actions),)))


def _lasso(value: Lasso[Any, Any, Any]) -> str:
    return story_html(Story((_actions(value.start, (*value.stem, *value.loop), len(value.loop)),)))


def _pair(value: Pair[Any, Any, Any]) -> str:
    runs = tuple(_actions(one.start, one.actions) for one in (value.left, value.right))
    return story_html(Story(runs, value.relation))


def _actions(start: Any, actions: tuple[Any, ...], loop: int = 0) -> RunLines:
    """A run of which only the actions are known; `evenhand.replay` computes their effects."""
    return RunLines((), tuple(layout(start)), tuple(StepLines(tuple(layout(one)), (), ()) for one in actions), loop)


_SHOWN: Mapping[type, Callable[[Any], str]] = {
    Verdict: _verdict,
    Trace: _trace,
    Scenario: _scenario,
    Lasso: _lasso,
    Pair: _pair,
    Story: story_html,
    Finding: finding_html,
    Report: report_html,
    KillMatrix: matrix_html,
    SensitivityTable: sensitivity_html,
    Profile: lambda value: profile_html([value]),
}


def load_ipython_extension(shell: Any) -> None:
    """Register the formatters of these types with IPython."""
    formatter = shell.display_formatter.formatters["text/html"]
    for kind, how in _SHOWN.items():
        formatter.for_type(kind, how)
    shell.display_formatter.formatters["image/svg+xml"].for_type(Story, story_svg)
