"""The table of three engines (`evenhand.studies.three_engines`) for the terminal and as a page of the documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from evenhand.core.grouping import grouped
from evenhand.core.text import inert
from evenhand.report.phrases import Word
from evenhand.report.table import STYLE, titled

if TYPE_CHECKING:
    from evenhand.studies.profiling import Profile
    from evenhand.studies.three_engines import Box

HEAD = """# Three engines on each question

Can a protocol deadlock or livelock, does position or a name decide, can exclusion fail? Each engine answers with the
verdict of a claim; [what a verdict covers](../explanation/what-a-verdict-covers.md) differs: the machine draws runs and
can refute, the search covers its scope, a proof covers every size. Under *proof* stand the theorems of the claim, and
those of claims about single steps from which an answer follows.

`evenhand profile apcm conviction cud markspace sovereign --out out` makes this page (`out/engines.md`) and the profile
that is kept in `notebooks/6-profile.json`. A quick test compares the two, a deep test makes the profile again.
"""


def engines_table(profile: Profile) -> Table:
    """Return one protocol: a row for each question, a column for each engine."""
    made = titled(
        f"{profile.protocol}: three engines", "question", *dict.fromkeys(box.engine for box in profile.engines)
    )
    for question in dict.fromkeys(box.question for box in profile.engines):
        made.add_row(question, *(_cell(box) for box in profile.engines if box.question == question))
    return made


def _cell(box: Box) -> Text:
    made = Text(box.reason, style="dim")
    for status, claim, places in _lines(box):
        made.append("\n" if made else "")
        made.append(status, style=STYLE[Word(status)]).append(f" {claim}: {places}" if places else f" {claim}")
    return made


def _lines(box: Box) -> list[tuple[str, str, str]]:
    """The verdicts of a box: status, claim, and the systems or scope with that verdict."""
    places = grouped(
        ((line.status, line.claim), inert(line.scope if box.engine == "proof" else line.system)) for line in box.lines
    )
    return [
        (status, inert(claim), ", ".join(filter(None, dict.fromkeys(at)))) for (status, claim), at in places.items()
    ]


def engines_page(profiles: Sequence[Profile]) -> str:
    """Return the tables of these protocols as Markdown, each with the scopes of its searches."""
    parts = [HEAD]
    for profile in profiles:
        engines = dict.fromkeys(box.engine for box in profile.engines)
        parts.append(f"\n## {profile.protocol}\n\n| question | {' | '.join(engines)} |\n|---{'|---' * len(engines)}|\n")
        for question in dict.fromkeys(box.question for box in profile.engines):
            cells = (_markdown(box) for box in profile.engines if box.question == question)
            parts.append(f"| {question} | {' | '.join(cells)} |\n")
        sizes = {line.system: line.scope for box in profile.engines if box.engine == "search" for line in box.lines}
        parts.append(
            "\nScopes of the searches: " + "; ".join(f"`{name}` {size}" for name, size in sizes.items()) + ".\n"
        )
    return "".join(parts)


def _markdown(box: Box) -> str:
    lines = (f"{status} `{claim}`{f': {places}' if places else ''}" for status, claim, places in _lines(box))
    return box.reason or "<br>".join(lines)
