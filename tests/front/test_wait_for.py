"""`--wait-for` on the command line: text, files, and mistakes."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from pathlib import Path

import networkx as nx
import pytest

from evenhand.report.waits import FORMATS, wait_for_json, wait_lines
from evenhand.search.waiting import circular_waits
from tests.front.conftest import Command
from tests.models.philosophers import philosophers

PLACE = ("explore", "markspace", "--system", "first_writer", "--scope", "resources=2,levels=1", "--depth", "6")


def fixture(protocol: str, start: str) -> str:
    """Return the first shipped counterexample of that name."""
    folder = Path(__file__).parents[2] / "counterexamples" / protocol
    return str(next(iter(sorted(folder.glob(f"{start}*.json")))))


def test_the_circle_is_told_and_written(cli: Command, tmp_path: Path) -> None:
    """JSON is the same on standard output and in the file."""
    file = tmp_path / "waits.json"
    answer = cli(*PLACE, "--claim", "no_circular_wait", "--wait-for", str(file), "--json")
    made = json.loads(file.read_text("utf-8"))
    assert made["cycles"] == [["agent_1", "agent_2"]] and made["format"] == "evenhand/waits"
    assert {**answer.json["wait_for"]["graph"], "format": "evenhand/waits", "version": 1} == made
    assert answer.json["wait_for"]["circular"] > 0 and not answer.json["wait_for"]["complete"]


@pytest.mark.parametrize("suffix", sorted(FORMATS))
def test_every_form_has_the_edges(suffix: str) -> None:
    """A circle of three, in each form, and in text."""
    found = circular_waits(philosophers(3)).first
    assert found is not None
    text = FORMATS[suffix](wait_for_json(found)).decode()
    one, other = '"philosopher_2"', '"philosopher_0"'
    edge = {".dot": f"{one} -> {other}", ".graphml": f"<edge source={one} target={other}", ".json": f'"holder":{other}'}
    assert edge[suffix] in text
    if suffix == ".graphml":
        made = nx.read_graphml(io.BytesIO(text.encode()))  # pyright: ignore[reportUnknownMemberType]
        assert sorted(made.edges) == sorted(found.to_networkx().edges)
    lines = wait_lines(found)
    assert lines[-1] == "  a circular wait: philosopher_0 -> philosopher_1 -> philosopher_2 -> philosopher_0"


def test_hostile_names_stay_inside_their_labels() -> None:
    """Quotes, backslashes and escapes of a terminal."""
    found = circular_waits(philosophers(2)).first
    assert found is not None
    name = 'a"]; evil [x="\\\x1b[31m'
    waits = tuple(replace(wait, waiter=name, holder="b", what=name) for wait in found.waits[:1])
    told = wait_for_json(replace(found, agents=(name, "b"), waits=waits))
    for written in FORMATS.values():
        assert b"\x1b" not in written(told)
    (line,) = (line for line in FORMATS[".dot"](told).decode().splitlines() if "->" in line)
    assert re.fullmatch(r'  "(\\.|[^"\\])*" -> "b" \[label="(\\.|[^"\\])*"\];', line), line


def test_the_end_of_a_lasso_is_shown(cli: Command, tmp_path: Path) -> None:
    """Livelock in cud is no waiting: no agent holds anything that another one needs."""
    answer = cli("show", fixture("cud", "livelock_free--reference"), "--wait-for", str(tmp_path / "w.dot"))
    assert answer.code == 0 and "no agent waits (agent_1, agent_2)" in answer.out
    made = cli("show", fixture("cud", "livelock_free"), "--wait-for", str(tmp_path / "w.json"), "--json").json
    assert made["wait_for"]["graph"]["edges"] == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((*PLACE, "--wait-for", "waits.png"), "the suffix says the format; there is: .dot, .graphml, .json"),
        ((*PLACE, "--part", "1/1", "--wait-for", "w.dot"), "leave --part out"),
        (("explore", "latch", "--wait-for", "{folder}/w.dot"), "does not say whose action is whose"),
        (
            ("show", fixture("cud", "agent_can_tell_the_pass--reference-"), "--wait-for", "{folder}/w.dot"),
            "compares two; leave it out",
        ),
    ],
)
def test_bad_use_is_one_message(cli: Command, tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    """Exit code 2, and no file."""
    answer = cli(*(word.replace("{folder}", str(tmp_path)) for word in words))
    assert answer.code == 2 and message in " ".join(answer.err.split()).replace("│ ", ""), answer.err
    assert not list(tmp_path.iterdir())
