"""The result of each slip, as a table in Markdown: `python -m tests.slips.table [CATEGORY …]`, from the root.

Two such tables, of two states of the package, show the effect of a change on the corpus.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence

from tests.slips.judging import Outcome, complaint, judged
from tests.slips.kit import CATEGORIES, Slip, loaded

SHOWN = 120
"""Characters of an answer that a row shows."""


def rows(judgements: Sequence[tuple[Slip, Outcome]]) -> Iterator[str]:
    """Return the lines: counts of each kind of outcome, then a row for each slip."""
    kinds = Counter(("right use" if one.right else "slip", outcome.kind) for one, outcome in judgements)
    wanting = Counter("right use" if one.right else "slip" for one, outcome in judgements if complaint(one, outcome))
    yield from ("| | outcome | count |", "|---|---|---|")
    yield from (f"| {what} | {kind} | {count} |" for (what, kind), count in sorted(kinds.items()))
    yield from (f"| {what} | **not as it should be** | {count} |" for what, count in sorted(wanting.items()))
    for category, sentence in CATEGORIES.items():
        of_it = [(one, outcome) for one, outcome in judgements if one.category == category]
        if of_it:
            yield from ("", f"## {category}", "", _cell(sentence), "")
            yield from (
                "| slip | what the user does | outcome | as it should be | what it says |",
                "|---|---|---|---|---|",
            )
            yield from (_row(one, outcome) for one, outcome in of_it)


def _row(one: Slip, outcome: Outcome) -> str:
    fit = "no" if complaint(one, outcome) else "yes"
    name = f"{one.name} (right use)" if one.right else one.name
    return f"| {name} | {_cell(one.sentence)} | {outcome.kind} | {fit} | {_cell(outcome.said[:SHOWN])} |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def main(wanted: Sequence[str]) -> None:
    """Run the corpus, or some categories of it, and print the table."""
    os.environ.pop("PYTEST_CURRENT_TEST", None)
    every = [one for one in loaded() if not wanted or one.category in wanted]
    for line in rows([(one, judged(one)) for one in every]):
        print(line)


if __name__ == "__main__":
    main(sys.argv[1:])
