"""The tables of sentences: every sentence has a place, every name in them exists, and no claim is left out."""

from __future__ import annotations

import re
from collections import Counter
from typing import TypedDict, cast

import pytest

from evenhand.core.bundle import Bundle
from evenhand.core.quotes import quoted, sentences
from evenhand.core.registry import find
from evenhand.core.system import reading_values
from tests.front.conftest import ROOT

TABLES = sorted(path.parent.name for path in (ROOT / "properties").glob("*/sentences.json"))


class Place(TypedDict):
    """Where a sentence of a source text stands, and how it begins."""

    section: str
    words: str


class Row(Place, total=False):
    """One sentence of a source text, and what it became."""

    claims: list[str]
    readings: list[str]
    conditions: list[str]
    because: str


def rows_of(protocol: str) -> list[Row]:
    """Return the rows of a table."""
    return [cast("Row", row) for row in sentences(protocol)]


def complaints(bundle: Bundle, rows: list[Row]) -> list[str]:
    """Return whatever is wrong with a table of a protocol."""
    known = {
        "claims": {one.name for one in bundle.claims},
        "readings": set(reading_values(bundle.model.readings)),
        "conditions": _conditions(bundle),
    }
    sections = {row["section"] for row in rows}
    found = [f"twice: {section}, {words}" for (section, words), count in _places(rows).items() if count > 1]
    for row in rows:
        place = f"{row['section']}, {row['words']}"
        cited: dict[str, list[str]] = {
            "claims": row.get("claims", []),
            "readings": row.get("readings", []),
            "conditions": row.get("conditions", []),
        }
        if any(cited.values()) == bool(row.get("because")):
            found.append(f"{place}: either something covers it, or it says why nothing does")
        found += [f"{place}: no {kind} {name}" for kind in cited for name in cited[kind] if name not in known[kind]]
        later = re.match(r"superseded by (.+)", row.get("because", ""))
        if later is not None and later[1] not in sections:
            found.append(f"{place}: {later[1]} is no section of the table")
        if set(row) - {"section", "words", "because", *cited}:
            found.append(f"{place}: a field of another name")
    for claim in bundle.claims:
        named = [row["section"] for row in rows if claim.name in row.get("claims", ())]
        for section in cited_by(claim.source):
            if not any(_within(one, section) for one in named):
                found.append(f"claim {claim.name} cites {section}, and no sentence there names it")
    placed = {name for row in rows for name in row.get("readings", ())}
    found += [f"reading {name} belongs to no sentence" for name in sorted(known["readings"] - placed)]
    return found


_PLACE = re.compile(r"(?:[AB] )?\d+(?:\.\d+)*(?:\.[A-D])?(?: INV-\d+| [AQ]\d+)?|X\.E1|[A-Z]+\d+(?:\.\d+)*")


def cited_by(source: str) -> list[str]:
    """The sections that the source of a claim names: before a colon or semicolon, without steps and remarks."""
    text = re.sub(r" steps? \d+(?: and \d+)*|deltas \d and \d of v[0-9.]+", "", re.split(r"[:;]", source)[0])
    many = re.sub(r"(\d+\.|P)(\d+) to \1(\d+)", _each, text)
    return [place.split(" Q")[0] for place in _PLACE.findall(many)]


def _each(span: re.Match[str]) -> str:
    """Every section from one to another: `P48 to P51`, `9.7 to 9.12`."""
    return ", ".join(f"{span[1]}{number}" for number in range(int(span[2]), int(span[3]) + 1))


def _within(section: str, cited: str) -> bool:
    """Whether a section is the cited one or a part of it; without the letter of its text if none is cited."""
    return any(
        one == cited or one.startswith(f"{cited}.") for one in (section, section.removeprefix("A ").removeprefix("B "))
    )


def _places(rows: list[Row]) -> Counter[tuple[str, str]]:
    return Counter((row["section"], row["words"]) for row in rows)


def _conditions(bundle: Bundle) -> set[str]:
    """The names of the registered runs, and what they begin with where there is one for each reading."""
    names = {one.name for one in bundle.vectors.registered()} if bundle.vectors is not None else set[str]()
    pieces = {name: name.split("-") for name in names}
    return {"-".join(parts[:end]) for parts in pieces.values() for end in range(1, len(parts) + 1)}


def counts(rows: list[Row]) -> tuple[int, ...]:
    """Sentences in all; with a claim; with a reading or a registered run alone; superseded; not formalised."""
    claimed = sum(bool(row.get("claims")) for row in rows)
    other = sum(not row.get("claims") and bool(row.get("readings") or row.get("conditions")) for row in rows)
    superseded = sum(row.get("because", "").startswith("superseded by ") for row in rows)
    return len(rows), claimed, other, superseded, len(rows) - claimed - other - superseded


@pytest.mark.parametrize("protocol", TABLES)
def test_every_name_exists_and_every_claim_has_its_sentence(protocol: str) -> None:
    """Rows name claims, readings and conditions that exist, and each claim stands in every section that it cites."""
    assert complaints(find(protocol), rows_of(protocol)) == []


def test_the_page_counts_what_the_tables_hold() -> None:
    """One line for each table."""
    page = (ROOT / "docs" / "reference" / "sentences.md").read_text("utf-8")
    lines = {f"| `{name}` | {' | '.join(map(str, counts(rows_of(name))))} |" for name in TABLES}
    assert lines == {line for line in page.splitlines() if line.startswith("| `")}


def test_a_table_that_is_wrong_is_found() -> None:
    """A claim that does not exist, one that is dropped, a row with nothing and one with both, a lost section."""
    bundle = find("cud")
    rows = rows_of("cud")
    place = next(number for number, row in enumerate(rows) if row.get("claims") == ["diff_is_true"])
    first = rows[place]

    def found(row: Row) -> str:
        return "\n".join(complaints(bundle, [*rows[:place], row, *rows[place + 1 :]]))

    assert "no claims gone" in found({**first, "claims": ["diff_is_true", "gone"]})
    assert "claim diff_is_true cites C10, and no sentence there names it" in found({**first, "claims": ["no_winner"]})
    assert "either something covers it" in found({"section": "C10", "words": "x"})
    assert "either something covers it" in found({**first, "because": "it is hard"})
    assert "FQ99 is no section" in found({"section": "C10", "words": "x", "because": "superseded by FQ99"})
    assert "twice" in "\n".join(complaints(bundle, [*rows, first]))
    assert "reading message_limit belongs to no sentence" in "\n".join(
        complaints(bundle, [row for row in rows if "message_limit" not in row.get("readings", ())])
    )


def test_a_claim_is_quoted_by_the_sentences_that_say_little_else() -> None:
    """Of the rows that name it, two that name fewest claims; a duty of every kernel and an own protocol have none."""
    found = quoted("cud", "executed_never_interfere")
    named = [row for row in rows_of("cud") if "executed_never_interfere" in row.get("claims", [])]
    least = sorted(len(row.get("claims", [])) for row in named)[:2]
    places = {f"({row['section']}) “{row['words']}”": len(row.get("claims", [])) for row in named}
    assert len(found) == 2 and [places[one] for one in found] == least
    assert quoted("cud", "kernel_answers") == quoted("mine", "executed_never_interfere") == []
