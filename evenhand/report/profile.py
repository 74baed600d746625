"""A profile as a table for the terminal, as a picture (SVG) and as HTML; names and values stay text in each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib import resources
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from evenhand.core.grouping import grouped
from evenhand.core.profile import Aspect
from evenhand.core.text import inert
from evenhand.evidence.finding import readings_of
from evenhand.report.phrases import plural
from evenhand.report.table import titled
from evenhand.report.templates import shown

if TYPE_CHECKING:
    from evenhand.studies.profiling import Cell, Profile, Shown

_STYLE = {"yes": "red", "no": "green", "open": "yellow", "unasked": "dim"}
_WORD = {"yes": "yes", "no": "no", "open": "undecided", "unasked": "-"}


def evidence(cell: Cell) -> str:
    """Return the evidence for the answer: the length of a run, or the size of a search."""
    return _seen(cell.best) if cell.best is not None else ""


def profile_table(profiles: Sequence[Profile]) -> Table:
    """Return all protocols in one table, with a column for each question; `*` where another reading differs."""
    made = Table(title=Text("what decides, and what can become of a run"), title_justify="left")
    made.add_column("protocol")
    for aspect in Aspect:
        made.add_column(aspect.value)
    for profile in profiles:
        cells = (profile.cell(aspect) for aspect in Aspect)
        made.add_row(Text(inert(profile.protocol)), *(_short(cell) for cell in cells))
    return made


def _short(cell: Cell) -> Text:
    word = Text(_WORD[cell.answer.value] + ("*" if cell.other else ""), style=_STYLE[cell.answer.value])
    formatted = evidence(cell)
    return word.append(f"\n{formatted}", style="dim") if formatted else word


def profile_tables(profile: Profile) -> Table:
    """Return one protocol: a row for each question with claim, place, evidence and the readings that change it."""
    columns = ("question", "answer", "claim", "where", "under other readings")
    made = titled(f"{profile.protocol}: what decides", *columns)
    for cell in profile.cells:
        answer = Text(_WORD[cell.answer.value], style=_STYLE[cell.answer.value])
        lines = ["\n".join(map(inert, part)) for part in (_claims(cell), _places(cell), _others(cell))]
        made.add_row(Text(cell.aspect.question), answer, *(Text(line) for line in lines))
    return made


def _claims(cell: Cell) -> list[str]:
    formatted = [f"{one.finding.claim}{f' ({one.note})' if one.note else ''}" for one in cell.shown]
    return list(dict.fromkeys(formatted)) or [cell.reason or "no claim asks"]


def _places(cell: Cell) -> list[str]:
    by = {one.finding.system: one for one in cell.shown if one.answer is cell.answer}
    if len(by) < len({one.finding.system for one in cell.shown}):
        return [f"{system}: {_WORD[one.answer.value]}, {_seen(one)}" for system, one in _each(cell)]
    return [f"{system}: {_seen(one)}" for system, one in _each(cell)]


def _each(cell: Cell) -> Iterator[tuple[str, Shown]]:
    for system, several in grouped((one.finding.system, one) for one in cell.shown).items():
        best = replace(cell, shown=tuple(several)).best
        if best is not None:
            yield system, best


def _seen(one: Shown) -> str:
    """Return the length of the run that shows a yes; else how many cases the claim covered."""
    if one.answer.value == "yes" and one.finding.length is not None:
        return f"in {plural(one.finding.length, 'step')}"
    return plural(one.cases, "case")


def _others(cell: Cell) -> list[str]:
    return [f"{readings_of(one.finding)}: {_WORD[one.answer.value]}" for one in cell.other]


_WIDE, _HIGH, _LEFT, _TOP = 104, 46, 120, 44


def profile_svg(profiles: Sequence[Profile]) -> str:
    """Return every protocol in one picture, for light and dark; words repeat what the colours say."""
    return shown("profile_picture", _picture(profiles))


def profile_html(profiles: Sequence[Profile]) -> str:
    """Return the picture, then a table for each protocol with claims, places and the commands that show a yes."""
    return shown("profile", _picture(profiles))


def profile_page(profiles: Sequence[Profile]) -> str:
    """Return `profile_html` as a page of its own; it loads nothing and runs nothing."""
    style = (resources.files("evenhand.report") / "profile.css").read_text("utf-8")
    return shown("profile_page", _picture(profiles), style) + "\n"


def _picture(profiles: Sequence[Profile]) -> dict[str, Any]:
    middles = (_LEFT + _WIDE * number + _WIDE // 2 for number in range(len(Aspect)))
    return {
        "width": _LEFT + _WIDE * len(Aspect) + 8,
        "height": _TOP + _HIGH * len(profiles) + 30,
        "heads": [{"place": (x, 28), "words": aspect.value} for x, aspect in zip(middles, Aspect, strict=True)],
        "rows": [
            {
                "y": _TOP + _HIGH * number,
                "name": profile.protocol,
                "cells": [_drawn(_LEFT + _WIDE * n, profile.cell(aspect)) for n, aspect in enumerate(Aspect)],
            }
            for number, profile in enumerate(profiles)
        ],
    }


def _drawn(x: int, cell: Cell) -> dict[str, Any]:
    best, answer = cell.best, cell.answer.value
    claims, places, others = _claims(cell), _places(cell), _others(cell)
    return {
        "x": x,
        "answer": answer,
        "word": _WORD[answer] + ("*" if cell.other else ""),
        "evidence": evidence(cell),
        "question": cell.aspect.question,
        "title": f"{cell.aspect.question} {_WORD[answer]}: {'; '.join(claims)}. {'; '.join([*places, *others])}",
        "claims": claims,
        "places": places,
        "others": others,
        "command": best.command if best and answer == "yes" else "",
    }
