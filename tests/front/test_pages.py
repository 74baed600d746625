"""The pages of the protocols, which are made from the types."""

from __future__ import annotations

from typing import Any

import pytest

from evenhand.cli.pages import FOLDER
from evenhand.core.bundle import Bundle
from evenhand.core.registry import find
from evenhand.report.vocabulary import page, words_of
from tests.deep import rest_slow
from tests.front.conftest import ROOT

PROTOCOLS = ("apcm", "conviction", "cud", "markspace", "sovereign")


@pytest.mark.parametrize("name", rest_slow(PROTOCOLS, 3))
def test_a_page_is_of_today(name: str) -> None:
    """Run `python -m evenhand.cli.pages` if this fails."""
    assert (ROOT / FOLDER / f"{name}.md").read_text("utf-8") == page(find(name))


@pytest.mark.parametrize("name", rest_slow(PROTOCOLS, 3))
def test_a_page_describes_every_record(name: str) -> None:
    """Each class with each of its fields, each member of an enumeration, and each system."""
    bundle: Bundle = find(name)
    said = page(bundle)
    for system in bundle.model.systems.values():
        assert f"## System `{system.name}`" in said
        types: tuple[Any, ...] = system.types
        for kind in types:
            title = f"### {kind.__name__}\n" if hasattr(kind, "__dataclass_fields__") else f"**{kind.__name__}**"
            assert title in said


def test_what_is_ours_is_said_to_be() -> None:
    """The free codes of conviction, and those that the text names."""
    said = page(find("conviction"))
    assert "| `rejected` | `str` | ours, not the source's; compared with `--compare codes`, except for" in said


def test_examples_cover_the_kinds_of_actions() -> None:
    """The walks meet staking, which begins after several phases."""
    kinds = {kind.__name__ for kind in words_of(find("conviction").model.systems["issue"]).actions}
    assert kinds >= {"Tick", "Propose", "SignalReady", "AddStake", "MoveStake"}
