"""The notebook display of values: runs and lassos as pictures, verdicts, reports and kill matrices as tables.

All text is escaped; a name or value cannot add a tag, a style or a script.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from typing import TYPE_CHECKING

from evenhand.core.text import inert
from evenhand.report.phrases import counted, where
from evenhand.report.table import summary_line

if TYPE_CHECKING:
    from evenhand.evidence.finding import Finding
    from evenhand.evidence.story import RunLines, Story
    from evenhand.report.report import Report
    from evenhand.studies.mutants import KillMatrix
    from evenhand.studies.sensitivity import SensitivityTable

_COLOUR = {"HOLDS": "#14632f", "REFUTED": "#a01322", "UNDECIDED": "#7a4a00"}
_INK = "currentColor"
_GAP, _HIGH, _MOST = 84, 96, 14
ROWS = 200
"""Verdicts that a report's table shows; the page has all."""


def _text(value: object) -> str:
    return escape(inert(str(value)))


def story_svg(story: Story) -> str:
    """Return each run as a row of states with its actions between them; the loop of a lasso is an arrow back."""
    shown = [run for run in story.runs if run.steps or run.start]
    longest = max((min(len(run.steps), _MOST) for run in shown), default=0)
    width, height = 40 + _GAP * (longest + 1), _HIGH * len(shown)
    lines = [line for number, run in enumerate(shown) for line in _row(run, _HIGH * number + 56)]
    head = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}" font-family="system-ui, sans-serif"'
    arrow = (
        '<defs><marker id="evenhand-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
        f'orient="auto"><path d="M0 0 8 4 0 8z" fill="{_INK}"/></marker></defs>'
    )
    return f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="Run" {head}>{arrow}{"".join(lines)}</svg>'


def _row(run: RunLines, y: int) -> Iterator[str]:
    """Draw one run; of a long one only the last steps, because the violation is there."""
    skipped = max(0, len(run.steps) - _MOST)
    steps = run.steps[skipped:]
    back = len(steps) - run.loop if run.loop else -1
    states = len(steps) + (0 if run.loop else 1)
    for number in range(states):
        x = 28 + _GAP * number
        looping = 0 <= back <= number
        formatted = (
            "; ".join(run.start) if number + skipped == 0 else "; ".join(steps[number - 1].changed) or "unchanged"
        )
        yield f"<g><title>{_text(formatted)}</title>"
        yield f'<circle cx="{x}" cy="{y}" r="16" fill="none" stroke="{_COLOUR["REFUTED"] if looping else _INK}" '
        yield f'stroke-width="2"/><text x="{x}" y="{y + 5}" font-size="13" text-anchor="middle" fill="{_INK}">'
        yield f"{number + skipped}</text></g>"
    for number, step in enumerate(steps):
        x = 28 + _GAP * number
        action = " ".join(step.action)
        yield f"<g><title>{_text(action)}</title>"
        if run.loop and number == len(steps) - 1:
            end = 28 + _GAP * max(back, 0)
            path = f"M{x - 6} {y - 15} C{x - 6} {y - 60} {end + 6} {y - 60} {end + 6} {y - 17}"
            if end == x:
                path = f"M{x - 8} {y - 14} C{x - 34} {y - 56} {x + 34} {y - 56} {x + 9} {y - 15}"
        else:
            path = f"M{x + 17} {y} L{x + _GAP - 18} {y}"
            label = f'x="{x + _GAP // 2}" y="{y + 32}" font-size="10" text-anchor="middle" fill="{_INK}"'
            yield f"<text {label}>{_text(action[:13] + ('…' if len(action) > 13 else ''))}</text>"
        yield f'<path d="{path}" fill="none" stroke="{_INK}" stroke-width="1.5" marker-end="url(#evenhand-arrow)"/></g>'


def story_html(story: Story) -> str:
    """Return the picture, then each run step by step."""
    parts = [story_svg(story)]
    for number, run in enumerate(story.runs):
        if len(story.runs) > 1:
            parts.append(
                f"<p>{'The first run' if number == 0 else 'The second run'}, related by {_text(story.relation)}</p>"
            )
        parts += [f"<p>{_text(run.note)}</p>"] if run.note else []
        parts.append(_steps(run))
    return "".join(parts)


def _steps(run: RunLines) -> str:
    loop = len(run.steps) - run.loop if run.loop else None
    items: list[str] = []
    for number, step in enumerate(run.steps):
        ever = "<b>from here on, for ever:</b><br>" if number == loop else ""
        shown = [f"{name}: {' '.join(lines)}" if name else " ".join(lines) for name, lines in step.phases or step.shown]
        items.append(
            f"<li>{ever}{_code(step.action)}{_code(f'shows {line}' for line in shown)}{_code(step.changed)}</li>"
        )
    return f"<details open><summary>start {_text('; '.join(run.start))}</summary><ol>{''.join(items)}</ol></details>"


def _code(lines: Iterable[str]) -> str:
    return "".join(f"<code>{_text(line)}</code><br>" for line in lines)


def finding_html(finding: Finding) -> str:
    """Return a verdict with its scope, and the run that refutes or witnesses it."""
    head = f"<p>{_badge(finding)} <b>{_text(finding.claim)}</b> by {_text(finding.engine)}, {_text(where(finding))}"
    formatted = f"<br>{_text(finding.sentence)}<br>{_text(counted(finding))} {_text(finding.because)}</p>"
    again = f"<pre>{_text(finding.command)}</pre>" if finding.command else ""
    return head + formatted + (story_html(finding.story) if finding.story is not None else "") + again


def _badge(finding: Finding) -> str:
    colour = _COLOUR[finding.status.value]
    return f'<span style="color:#ffffff;background:{colour};padding:0 .4em">{finding.status.value}</span>'


def report_html(report: Report) -> str:
    """Return the summary, the verdicts, and the unexpected verdicts in full."""
    ranked = sorted(report.findings, key=lambda one: one not in report.unexpected)
    rows = "".join(
        f"<tr><td>{_badge(one)}</td><td>{_text(one.claim)}</td><td>{_text(where(one))}</td><td>{_text(one.engine)}</td>"
        f"<td>{_text(counted(one))}</td><td>{_text(report.standing(one).value)}</td></tr>"
        for one in ranked[:ROWS]
    )
    heads = "".join(f"<th>{word}</th>" for word in ("status", "claim", "where", "engine", "covers", "standing"))
    more = f"<p>and {len(ranked) - ROWS} more</p>" if len(ranked) > ROWS else ""
    shown = "".join(finding_html(one) for one in report.unexpected[:5] if one.story is not None)
    return f"<p>{_text(summary_line(report))}</p><table><tr>{heads}</tr>{rows}</table>{more}{shown}"


def matrix_html(matrix: KillMatrix) -> str:
    """Return a row for each mutant, a column for each claim that kills one; a number is the shortest run."""
    claims = list(dict.fromkeys(kill.claim for row in matrix.rows for kill in row.kills))
    heads = "".join(f'<th style="writing-mode:vertical-rl">{_text(claim)}</th>' for claim in claims)
    rows = "".join(
        f"<tr><th>{_text(row.mutant)}</th><td>{_text(row.status.replace('_', ' '))}</td>"
        + "".join(_cell([k.length for k in row.kills if k.claim == claim]) for claim in claims)
        + "</tr>"
        for row in matrix.rows
    )
    return (
        f"<table><caption>{_text(matrix.protocol)}</caption><tr><th>fault</th><th>status</th>{heads}</tr>{rows}</table>"
    )


def sensitivity_html(table: SensitivityTable) -> str:
    """Return a row for each verdict that another reading changes."""
    heads = "".join(f"<th>{word}</th>" for word in ("reading", "value", "claim", "in", "default", "now", "steps"))
    rows = "".join(
        f"<tr><td>{_text(one.reading)}</td><td>{_text(one.value)}</td><td>{_text(one.claim)}</td><td>{_text(one.system)}"
        f"</td><td>{one.default.value}</td><td>{one.now.value}</td>"
        f"<td>{'' if one.length is None else one.length}</td></tr>"
        for one in table.sensitivity
    )
    idle = ", ".join(f"{name}={value}" for name, value in table.idle)
    return f"<table><tr>{heads}</tr>{rows}</table><p>Values that flip nothing here: {_text(idle or 'none')}</p>"


def _cell(lengths: list[int | None]) -> str:
    if not lengths:
        return "<td></td>"
    known = [length for length in lengths if length is not None]
    return f'<td style="color:#ffffff;background:{_COLOUR["HOLDS"]}">{min(known) if known else "●"}</td>'
