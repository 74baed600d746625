"""The pages of the protocols, which are made from the types."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

from evenhand.cli.pages import FOLDER
from evenhand.conform.adapters.skeleton import EXAMPLES, example_lines
from evenhand.core.bundle import Bundle
from evenhand.core.registry import find
from evenhand.report.vocabulary import example_steps, page, words_of
from tests.deep import rest_slow
from tests.front.conftest import ROOT

PROTOCOLS = ("apcm", "conviction", "cud", "markspace", "sovereign")


@cache
def made(name: str) -> str:
    """Return the page of a protocol, made once."""
    return page(find(name))


@pytest.mark.parametrize("name", rest_slow(PROTOCOLS, 3))
def test_a_page_is_of_today(name: str) -> None:
    """Run `python -m evenhand.cli.pages` if this fails."""
    assert (ROOT / FOLDER / f"{name}.md").read_text("utf-8") == made(name)


@pytest.mark.parametrize("name", rest_slow(PROTOCOLS, 3))
def test_a_page_describes_every_record(name: str) -> None:
    """Each class with each of its fields, each member of an enumeration, and each system."""
    bundle: Bundle = find(name)
    said = made(name)
    for system in bundle.model.systems.values():
        _, _, below = said.partition(f"## System `{system.name}`\n\n")
        assert below and not below.startswith("Configuration"), "a sentence says what it is"
        types: tuple[Any, ...] = system.types
        for kind in types:
            title = f"### {kind.__name__}\n" if hasattr(kind, "__dataclass_fields__") else f"**{kind.__name__}**"
            assert title in said


def test_a_conclusion_is_described_with_its_words() -> None:
    """A kernel may tell it as a fact; no state and no action has it."""
    said = made("cud")
    assert "`conclusion`, which is a `Conclusion`" in said and "### Conclusion\n" in said
    assert "`COLLAPSE`, `ORPHANING`, `STATE_DEADLOCK`" in said and "_RunStep" not in said
    assert "conclusion`" not in made("apcm")


def test_what_is_ours_is_said_to_be() -> None:
    """The free codes of conviction, and those that the text names."""
    said = made("conviction")
    assert "| `rejected` | `str` | ours, not the source's; compared with `--compare codes`, except for" in said


def test_examples_cover_the_kinds_of_actions() -> None:
    """The walks meet staking, which begins after several phases."""
    kinds = {kind.__name__ for kind in words_of(find("conviction").model.systems["issue"]).actions}
    assert kinds >= {"Tick", "Propose", "SignalReady", "AddStake", "MoveStake"}


def listed(line: str) -> list[str]:
    """Return the words that a line of a table says were met."""
    return [word for word in line.partition("met: ")[2].rstrip(" |").split(", ") if word]


def test_the_words_of_an_answer_are_listed_with_examples() -> None:
    """Those that the source logs when an Issue ends; neither names that the configuration brought, nor numbers."""
    said = made("conviction")
    (kinds,) = (line for line in said.splitlines() if line.startswith("| `kind` | `str` |"))
    assert {"`Finalize`", "`StakeBurned`", "`Burn`", "`Tick`"} <= set(
        kinds.partition("met: ")[2].rstrip(" |").split(", ")
    )
    assert '"kind":"StakeBurned"' in said.partition("An example for each `kind`:")[2].partition("```\n\n")[0]
    met = [word for line in said.splitlines() for word in listed(line)]
    assert not [word for word in met if "agent_" in word or any(one.isdigit() for one in word)]


def test_readings_stand_once() -> None:
    """The configurations of the examples leave them out."""
    said = made("markspace")
    assert '"readings":{"$":"Readings",…}' in said and '"id_order":' not in said


def test_the_example_steps_show_many_words() -> None:
    """In ten steps of `run` of cud every fault of a request, and an action that was refused for another's sake."""
    system = find("cud").model.systems["run"]
    lines = [json.loads(line) for line in example_lines("cud", "run", example_steps(system))]
    steps = [one["shown"] for one in lines if one["do"] == "step"]
    assert len(steps) == EXAMPLES
    logged = {entry[field] for shown in steps for entry in shown["log"] for field in ("fault", "outcome")}
    assert logged >= {"INVALID_CAPABILITY_CLAIM", "MALFORMED_REQUEST", "SCOPE_VIOLATION", "JOINT_ADMISSIBILITY_FAILURE"}
