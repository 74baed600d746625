"""The report of `evenhand check` as text: a list of one line each, each finding with its run, the coverage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Any

from evenhand.conform.adapters.wire import text
from evenhand.core.canonical import Json
from evenhand.core.text import MAX_TEXT, WIDTH, inert
from evenhand.report.forms.checked import notes
from evenhand.report.phrases import gist, plural, short, some

SHOWN = 6
"""Differences of one finding that are printed."""

LINE = 200
"""Characters of a value or a difference that are printed."""


def report_lines(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield the whole report, the most serious finding first."""
    for number, one in enumerate(report["findings"], start=1):
        where = f"in {plural(one['length'], 'step')} of {', '.join(one['systems'])}"
        yield f"FOUND {number:<2} {one['rank']}: {inert(one['claim'])}, {where}"
        yield f"         {inert(gist(one))}"
    yield from _readings(report["findings"])
    if report["findings"]:
        yield ""
    for number, one in enumerate(report["findings"], start=1):
        yield from finding_lines(number, one)
        yield ""
    yield from coverage_lines(report)
    if report["interrupted"] and not report["systems"]:
        yield "INTERRUPTED before any system was checked"
        return
    number = len(report["findings"])
    verdict = plural(number, "distinct finding") if number else "nothing found"
    if report["known"]:
        verdict += f" beside {plural(report['known'], 'known one')}" if number else " that is not known"
    if not number:
        verdict += f" in {plural(sum(sum(one['runs'].values()) for one in report['systems']), 'run')}"
    begun = "INTERRUPTED. " if report["interrupted"] else ""
    sightings = f"; {plural(report['sightings'], 'sighting')}, {report['explained']:,} explained"
    yield f"{begun}{verdict}; judged by the {report['judged_by']}{sightings if report['sightings'] else ''}"
    for one in report["findings"][:1]:
        yield f"next: {_reproduce(one) or '--out DIR writes each finding as a file, with a test that repeats it'}"


def _readings(findings: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the readings under which findings vanish: the text can be read so, and the kernel may read it so."""
    under = Counter(reading for one in findings for reading in one["under"])
    for reading, count in under.most_common():
        yield f"  {count} of {len(findings)} would vanish under --reading {inert(reading)}"


def coverage_lines(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield what was run in each system, and what was not judged."""
    remarks: dict[str, dict[str, None]] = {}  # each with the systems that it is about
    for one in report["systems"]:
        yield from _covered(one)
        for remark in one["notes"]:
            remarks.setdefault(remark, {})[one["system"]] = None
    yield from (f"{', '.join(systems)}: {remark}" for remark, systems in remarks.items())


def brief(value: Json, most: int = LINE) -> str:
    """Return a value on one line, cut to `most` characters."""
    return short(inert(text(value)), most)


def finding_lines(number: int, one: Mapping[str, Any]) -> Iterator[str]:
    """Yield one finding with its run; `trace_config` has what the configuration fixes in words, `trace` the actions."""
    yield f"{number}. {inert(one['claim'])}{' (' + inert(one['source']) + ')' if one['source'] else ''}"
    yield f"   {inert(one['sentence'])}"
    yield f"   in {plural(one['length'], 'step')} of system {one['system']}, seen in {plural(one['seen'], 'run')}"
    yield from (f"   {'with' if not place else '':<6} {line}" for place, line in enumerate(one["trace_config"]))
    yield from _steps(one["trace"], one["expected"], one["got"])
    if one.get("beside"):
        yield "   after this run in the same process" if one["what"] == "remembers" else "   beside"
        yield from _steps(one["trace_beside"], one["beside"]["expected"], one["beside"]["got"])
    yield from (f"   {short(inert(difference), LINE)}" for difference in one["differences"][:SHOWN])
    if len(one["differences"]) > SHOWN:
        yield f"   and {plural(len(one['differences']) - SHOWN, 'more difference')}"
    yield from (f"   {inert(note)}" for note in notes(one))
    yield from (f"   {again}" for again in [_reproduce(one)] if again)


def _reproduce(one: Mapping[str, Any]) -> str:
    """Return how to repeat a finding, where it was written to a file."""
    return f"reproduce: {inert(one['reproduce'])}" if one["fixture"] and "reproduce" in one else ""


def _steps(trace: list[str], expected: list[Json], got: list[Json]) -> Iterator[str]:
    """Yield each step; `*` marks those in which the kernel shows something else, which are not cut."""
    for place, action in enumerate(trace):
        same = place < len(got) and place < len(expected) and text(got[place]) == text(expected[place])
        cut = same and len(action) > MAX_TEXT
        lines = [f"{action[: MAX_TEXT - 1]}…"] if cut else wrap(action, WIDTH, break_long_words=False)
        yield from (
            f"   {' ' if same or row else '*'} {'' if row else place + 1:>3} {line}" for row, line in enumerate(lines)
        )


def _covered(one: Mapping[str, Any]) -> Iterator[str]:
    asked = ", ".join(f"{name} {runs:,}" for name, runs in one["runs"].items() if runs)
    steps = plural(sum(one["steps"].values()), "step")
    yield f"{one['system']}: {plural(sum(one['runs'].values()), 'run')}{f' ({asked})' if asked else ''}, {steps}"
    for scope in one["covered"]:
        sizes = ",".join(f"{name}={size}" for name, size in scope["scope"].items()) or "its own scope"
        whole = "all" if scope["complete"] else "not all"
        hidden = f"; {scope['unreached']:,} behind a step that differs" if scope["unreached"] else ""
        yield f"  exhaustive at {sizes}: {scope['transitions']:,} transitions, {whole} there are{hidden}"
    for why in dict.fromkeys(out["why"] for out in one["left_out"]):
        kinds = [f"{out['count']:,} `{inert(out['kind'])}`" for out in one["left_out"] if out["why"] == why]
        yield f"  left out, as {inert(why)[:LINE]}: {', '.join(kinds)}"
    for why, count in one["unsupported"].items():
        yield f"  not supported in {count:,} runs: {inert(why)}"
    if one["not_judged"]:
        yield f"  {plural(len(one['judged']), 'claim')} judged, {len(one['not_judged'])} not:"
        for why in dict.fromkeys(one["why_not_judged"].values()):
            names = [name for name, reason in one["why_not_judged"].items() if reason == why]
            yield f"    {some(names)}: {inert(why)}"
    if one["left_open"]:
        left = ", ".join(one["left_open"])
        yield f"  left open, because they need a state or a part of an answer that the kernel does not show: {left}"
