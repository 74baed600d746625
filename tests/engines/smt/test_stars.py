"""The tables of starred claims in the documents name existing theorems, and mark refuted ones as REFUTED."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from evenhand.core.verdict import Status
from evenhand.smt.registry import stated

DOCS = Path(__file__).parents[3] / "docs" / "explanation"
LEAST = {"apcm": 10, "cud": 18}
"""The number of rows, counted in the requested claims of each protocol."""


def rows(text: str) -> list[tuple[str, str]]:
    """Return the claim and theorems of each row of the table under `Star by star`."""
    part = text.partition("## Star by star")[2].partition("\n## ")[0]
    found = [line.split("|")[1:3] for line in part.splitlines() if line.startswith("| ")]
    return [(claim.strip(), theorems.strip()) for claim, theorems in found[1:]]


def complaints(protocol: str, text: str) -> list[str]:
    """Return the faults of the table of a document."""
    known = {one.name: one for one in stated(protocol)}
    wrong: list[str] = []
    for claim, theorems in rows(text):
        for name, refuted in re.findall(r"`(…?\w+)`( \(REFUTED\))?", theorems):
            ending = name.removeprefix("…")
            meant = [
                one for one in known.values() if one.name == name or (ending != name and one.name.endswith(ending))
            ]
            if not meant:
                wrong.append(f"{claim}: no theorem {name}")
            if any((one.expected is Status.REFUTED) != bool(refuted) for one in meant):
                wrong.append(f"{claim}: {name} is stated otherwise")
    return wrong


@pytest.mark.parametrize("protocol", LEAST)
def test_each_star_has_its_theorem(protocol: str) -> None:
    """No row names a missing theorem."""
    text = (DOCS / f"{protocol}.md").read_text()
    assert len(rows(text)) >= LEAST[protocol]
    assert complaints(protocol, text) == []


def test_a_table_that_names_what_is_not_there_is_noticed() -> None:
    """Planted: a missing theorem, and a refuted one shown as proved."""
    text = (DOCS / "cud.md").read_text()
    assert complaints("cud", text.replace("`no_winner`", "`no_loser`"))
    assert complaints("cud", text.replace(" (REFUTED) |", " |"))
