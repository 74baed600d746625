"""A report as Markdown, for the summary page of a CI job: the verdict first, then what to look at, then counts."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterable, Iterator

from evenhand.core.text import inert
from evenhand.core.verdict import Status
from evenhand.evidence.finding import Finding
from evenhand.report.digest import digest
from evenhand.report.glance import glance
from evenhand.report.phrases import Word, refutation, where, word
from evenhand.report.report import Report
from evenhand.report.table import next_steps, summary_line

FULL = 10
"""Unexpected verdicts that are shown step by step; a summary page has a size limit."""

_ORDER = (Word.UNDECIDED, Word.REFUTED, Word.KILLED, Word.REPRODUCED, Word.HOLDS)

_WORDS = {
    0: "All as expected",
    1: "Something is refuted unexpectedly, or an expected refutation is gone",
    3: "Something is undecided unexpectedly",
}


def markdown(report: Report) -> bytes:
    """Return the report as GitHub-flavoured Markdown, UTF-8; names and values cannot format, link or hide text."""
    return ("\n".join(_lines(report)) + "\n").encode()


def _lines(report: Report) -> Iterator[str]:
    code = report.exit_code(strict=bool(report.settings.get("strict")))
    yield f"## evenhand: {_WORDS.get(code, 'interrupted')}"
    yield ""
    yield _escaped(summary_line(report))
    if report.unexpected:
        yield from ("", "### To look at", "")
        for finding in report.unexpected[:FULL]:
            yield from _unexpected(finding)
        if len(report.unexpected) > FULL:
            yield f"… and {len(report.unexpected) - FULL} more in `report.html`."
    yield from ("", "### By protocol", "")
    yield from _fenced(glance(digest(report)))
    yield ""
    yield from _table(report.findings)
    following = list(next_steps(report))
    if following:
        yield from ("", "### Next", "", *(f"- {_escaped(step)}" for step in following))


def _unexpected(finding: Finding) -> Iterator[str]:
    yield f"**{word(finding)}** {_escaped(finding.claim)} by {finding.engine}, {_escaped(where(finding))}"
    yield ""
    if finding.status is Status.REFUTED:
        yield from _fenced(refutation(finding))
    else:
        yield _escaped(finding.because or f"was expected {finding.expected.value}")
    yield ""


def _table(findings: Iterable[Finding]) -> Iterator[str]:
    counts: dict[tuple[str, str], Counter[Word]] = {}
    for finding in findings:
        counts.setdefault((finding.protocol, finding.engine), Counter())[word(finding)] += 1
    yield f"| protocol | engine | {' | '.join(_ORDER)} |"
    yield f"|---|---|{'---:|' * len(_ORDER)}"
    for (protocol, engine), count in counts.items():
        numbers = " | ".join(str(count[one]) for one in _ORDER)
        yield f"| {_escaped(protocol)} | {engine} | {numbers} |"


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]()#+!|~@:])", r"\\\1", html.escape(inert(text), quote=False))


def _fenced(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines in a code block whose fence is longer than any run of backticks in them."""
    inside = list(lines)
    longest = max((len(run) for line in inside for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    yield from (f"{fence}text", *inside, fence)
