"""Wrong readings are caught by comparison, and what cannot be read is refused with its place."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from evenhand.core.loading import module_at
from evenhand.core.property import Always
from evenhand.smt.portfolio import Portfolio
from evenhand.source import calls
from evenhand.source.family import Family, family_of
from evenhand.source.reading import Source, source_of
from evenhand.source.validation import Comparison, Mistranslated
from tests.deep import rest_slow
from tests.engines.source.planted import HEAD, PLANTED, REFUSED

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def portfolio() -> Iterator[Portfolio]:
    with Portfolio() as made:
        yield made


def module_of(folder: Path, **bodies: str) -> ModuleType:
    """A module with the system and one function for each body."""
    functions = [f"def {name}(config, state):\n{textwrap.indent(body, '    ')}\n" for name, body in bodies.items()]
    file = folder / f"planted_{abs(hash(folder))}.py"
    file.write_text(HEAD + "\n".join(functions))
    return module_at(file)


def family(module: ModuleType) -> Family:
    """The system with `rule` as its claim."""
    return family_of(module.system, (Always(name="rule", sentence="The rule.", check=module.rule),))


@pytest.mark.parametrize(
    ("right", "wrong"), rest_slow([row[1:] for row in PLANTED], 40), ids=[row[0] for row in PLANTED]
)
def test_wrong_readings_are_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, portfolio: Portfolio, right: str, wrong: str
) -> None:
    """The function agrees with its own formula, and not with the formula of the wrong reading."""
    module = module_of(tmp_path, rule=right, misread=wrong)
    read = family(module)
    assert not read.unread
    done = Comparison(read).all(portfolio, [])
    assert done.claims >= done.listed > 100

    def misread(function: Any) -> Source:
        found = source_of(function)
        return replace(found, tree=source_of(module.misread).tree) if function is module.rule else found

    monkeypatch.setattr(calls, "source_of", misread)
    read = family(module)
    assert not read.unread
    with pytest.raises(Mistranslated, match="claim rule"):
        Comparison(read).all(portfolio, [])


@pytest.mark.parametrize(("body", "why"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_the_unreadable_is_refused_with_its_place(tmp_path: Path, body: str, why: str) -> None:
    """The refusal names file, line and construct, the reason, and what to write instead."""
    module = module_of(tmp_path, rule=body)
    (said,) = family(module).unread.values()
    assert re.match(r"planted_\d+\.py, line \d+: `.+` is not readable: .+; .+", said)
    assert re.search("|".join(map(re.escape, why.split("|"))), said), said


def test_there_are_enough() -> None:
    """At least forty wrong readings, each with a name of its own."""
    names = [row[0] for row in (*PLANTED, *REFUSED)]
    assert len(set(names)) == len(names)
    assert len(PLANTED) >= 40


def test_the_page_counts_both() -> None:
    """The numbers in the explanation of what is read are those of the lists."""
    page = " ".join((ROOT / "docs/explanation/readable.md").read_text("utf-8").split())
    assert f"{len(PLANTED)} planted mistranslations" in page
    assert f"{len(REFUSED)} constructs are shown to be refused" in page
