"""The example of the documents prints the output on the page."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

from evenhand.search import explore
from tests.engines.search.oracle import graphs_of, sizes

ROOT = Path(__file__).parents[3]
EXAMPLE = runpy.run_path(str(ROOT / "docs/examples/peterson.py"))


def test_the_page_shows_what_the_example_prints(capsys: pytest.CaptureFixture[str]) -> None:
    EXAMPLE["main"]()
    printed = capsys.readouterr().out
    assert "selfish: 32 states" in printed
    assert f"$ python docs/examples/peterson.py\n{printed}```" in (ROOT / "docs/explanation/exploration.md").read_text(
        "utf-8"
    )


@pytest.mark.parametrize("name", ["PETERSON", "SELFISH"])
def test_all_tiers_and_the_oracle_agree_on_it(name: str) -> None:
    """Sizes by definition."""
    system: Any = EXAMPLE[name]
    found = [explore(system, method=method) for method in ("explicit", "compiled")]
    assert {(one.states, one.transitions, one.edges, one.depth) for one in found} == {sizes(graphs_of(system))}
