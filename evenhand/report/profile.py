"""A profile as a table for the terminal, as a picture (SVG) and as HTML; names and values stay text in each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from evenhand.core.profile import Aspect
from evenhand.core.text import inert
from evenhand.evidence.finding import readings_of
from evenhand.report.phrases import plural

if TYPE_CHECKING:
    from evenhand.studies.profiling import Cell, Profile, Shown

_STYLE = {"yes": "red", "no": "green", "open": "yellow", "unasked": "dim"}
_COLOUR = {"yes": "#a01322", "no": "#14632f", "open": "#7a4a00", "unasked": "currentColor"}
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
    made = Table(title=Text(f"{inert(profile.protocol)}: what decides"), title_justify="left")
    for column in ("question", "answer", "claim", "where", "under other readings"):
        made.add_column(column, overflow="fold")
    for cell in profile.cells:
        answer = Text(_WORD[cell.answer.value], style=_STYLE[cell.answer.value])
        lines = ["\n".join(map(inert, part)) for part in (_claims(cell), _places(cell), _others(cell))]
        made.add_row(Text(cell.aspect.question), answer, *(Text(line) for line in lines))
    return made


def _claims(cell: Cell) -> list[str]:
    formatted = [f"{one.finding.claim}{f' ({one.note})' if one.note else ''}" for one in cell.shown]
    return list(dict.fromkeys(formatted)) or ["no claim asks"]


def _places(cell: Cell) -> list[str]:
    by = {one.finding.system: one for one in cell.shown if one.answer is cell.answer}
    if len(by) < len({one.finding.system for one in cell.shown}):
        return [f"{system}: {_WORD[one.answer.value]}, {_seen(one)}" for system, one in _each(cell)]
    return [f"{system}: {_seen(one)}" for system, one in _each(cell)]


def _each(cell: Cell) -> Iterator[tuple[str, Shown]]:
    systems: dict[str, list[Shown]] = {}
    for one in cell.shown:
        systems.setdefault(one.finding.system, []).append(one)
    for system, several in systems.items():
        own = type(cell)(cell.aspect, tuple(several))
        best = own.best
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
    width, height = _LEFT + _WIDE * len(Aspect) + 8, _TOP + _HIGH * len(profiles) + 30
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="Arbitration profile" '
            f'viewBox="0 0 {width} {height}" width="{width}" height="{height}" font-family="system-ui, sans-serif">',
            *_heads(),
            *(line for number, profile in enumerate(profiles) for line in _row(number, profile)),
            f'<text x="8" y="{height - 10}" font-size="12" fill="currentColor">* another reading of the text gives '
            "another answer; - no claim asks</text>",
            "</svg>",
        ]
    )


def _heads() -> Iterator[str]:
    for number, aspect in enumerate(Aspect):
        x = _LEFT + _WIDE * number + _WIDE // 2
        yield f'<text x="{x}" y="28" font-size="14" text-anchor="middle" fill="currentColor">{aspect.value}</text>'


def _row(number: int, profile: Profile) -> Iterator[str]:
    y = _TOP + _HIGH * number
    name = escape(inert(profile.protocol))
    yield f'<text x="8" y="{y + 27}" font-size="15" font-weight="600" fill="currentColor">{name}</text>'
    for column, aspect in enumerate(Aspect):
        cell = profile.cell(aspect)
        x, word = _LEFT + _WIDE * column, cell.answer.value
        yield "<g>"
        yield f"<title>{escape(inert(_said(cell)))}</title>"
        shape = f'x="{x + 2}" y="{y + 2}" width="{_WIDE - 4}" height="{_HIGH - 4}" rx="6"'
        if word == "unasked":
            yield f'<rect {shape} fill="none" stroke="{_COLOUR[word]}" stroke-dasharray="3 3"/>'
        else:
            yield f'<rect {shape} fill="{_COLOUR[word]}"/>'
        middle, ink = x + _WIDE // 2, "currentColor" if word == "unasked" else "#ffffff"
        formatted = _WORD[word] + ("*" if cell.other else "")
        for text, size, down in ((formatted, 14, 20), (evidence(cell), 11, 36)):
            at = f'x="{middle}" y="{y + down}" font-size="{size}" text-anchor="middle" fill="{ink}"'
            yield f"<text {at}>{text}</text>"
        yield "</g>"


def _said(cell: Cell) -> str:
    claims = "; ".join(_claims(cell))
    return f"{cell.aspect.question} {_WORD[cell.answer.value]}: {claims}. {'; '.join([*_places(cell), *_others(cell)])}"


def profile_html(profiles: Sequence[Profile]) -> str:
    """Return the picture, then a table for each protocol with claims, places and the commands that show a yes."""
    return profile_svg(profiles) + "".join(_html_table(profile) for profile in profiles)


def _html_table(profile: Profile) -> str:
    heads = "".join(
        f'<th scope="col">{word}</th>' for word in ("question", "answer", "claim", "where", "other readings")
    )
    rows = "".join(_html_row(cell) for cell in profile.cells)
    name = escape(inert(profile.protocol))
    return f"<table><caption>{name}: what decides</caption><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def _html_row(cell: Cell) -> str:
    best = cell.best
    again = f"<br><code>{escape(inert(best.command))}</code>" if best and cell.answer.value == "yes" else ""
    parts = [
        "<br>".join(escape(inert(line)) for line in lines) for lines in (_claims(cell), _places(cell), _others(cell))
    ]
    answer = f"<b>{_WORD[cell.answer.value]}</b>"
    cells = (answer, parts[0], parts[1] + again, parts[2])
    question = f'<th scope="row">{cell.aspect.question}</th>'
    return f"<tr>{question}{''.join(f'<td>{part}</td>' for part in cells)}</tr>"


_CSS = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 1rem; max-width: 80rem; }
svg { max-width: 100%; height: auto; }
table { border-collapse: collapse; width: 100%; margin: 2rem 0; overflow-wrap: anywhere; }
caption { text-align: left; font-weight: 600; padding: .5rem 0; }
th, td { text-align: left; vertical-align: top; padding: .35rem .5rem; border-bottom: 1px solid #8888; }
tbody th { font-weight: 400; }
thead th { overflow-wrap: normal; }
@media (max-width: 46rem) {
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  table, caption, tbody, tr, tbody th, td { display: block; }
  tbody th, td { border: 0; padding: .1rem .35rem; }
  tr { border-bottom: 1px solid #8888; padding: .35rem 0; }
}
"""


def profile_page(profiles: Sequence[Profile]) -> str:
    """Return `profile_html` as a page of its own; it loads nothing and runs nothing."""
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f"<title>evenhand: what decides</title>\n<style>{_CSS}</style>\n</head>\n"
        "<body>\n<main>\n<h1>What decides</h1>\n"
        f"{profile_html(profiles)}\n</main>\n</body>\n</html>\n"
    )
