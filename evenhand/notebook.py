"""Pictures in notebooks: `%load_ext evenhand.notebook`, and a bare verdict, trace, lasso or pair shows itself.

Reports, findings, stories, kill matrices and profiles show themselves without it.  Models and claims know nothing of
notebooks, so what an engine returns is told how to look from here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from evenhand.model.trace import Lasso, Pair, Scenario, Trace
from evenhand.properties.registry import Expectation
from evenhand.properties.verdict import Verdict
from evenhand.report.display import finding_html, story_html
from evenhand.report.finding import finding
from evenhand.report.text import layout
from evenhand.report.trace import Run, Story, Told, story_of_trace

__all__ = ["html_of", "load_ipython_extension"]


def html_of(value: Any) -> str:
    """A verdict, trace, scenario, lasso or pair as HTML.  Raises TypeError for anything else."""
    for kind, how in _SHOWN.items():
        if isinstance(value, kind):
            return how(value)
    raise TypeError(f"a {type(value).__name__} is no verdict, trace, scenario, lasso or pair")


def _verdict(value: Verdict) -> str:
    told = finding("", "", value, Expectation(value.claim, value.status))
    return finding_html(told) + (html_of(value.evidence) if value.evidence is not None else "")


def _trace(value: Trace[Any, Any, Any, Any]) -> str:
    return story_html(story_of_trace(value))


def _scenario(value: Scenario[Any, Any, Any]) -> str:
    return story_html(Story((_actions(value.start, value.actions),)))


def _lasso(value: Lasso[Any, Any, Any]) -> str:
    return story_html(Story((_actions(value.start, (*value.stem, *value.loop), len(value.loop)),)))


def _pair(value: Pair[Any, Any, Any]) -> str:
    runs = tuple(_actions(one.start, one.actions) for one in (value.left, value.right))
    return story_html(Story(runs, value.relation))


def _actions(start: Any, actions: tuple[Any, ...], loop: int = 0) -> Run:
    """A run of which only the actions are known here; `evenhand.replay` tells what they do."""
    return Run((), tuple(layout(start)), tuple(Told(tuple(layout(one)), (), ()) for one in actions), loop)


_SHOWN: Mapping[type, Callable[[Any], str]] = {
    Verdict: _verdict,
    Trace: _trace,
    Scenario: _scenario,
    Lasso: _lasso,
    Pair: _pair,
}


def load_ipython_extension(shell: Any) -> None:
    """Teach IPython to show these types."""
    formatter = shell.display_formatter.formatters["text/html"]
    for kind, how in _SHOWN.items():
        formatter.for_type(kind, how)
