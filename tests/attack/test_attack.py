"""A small part of the attack in the slow tests, the whole in `make deep`; nothing is left out of it."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import pytest

from evenhand.cli import COMMANDS
from evenhand.cli.schemas import PUBLISHED
from tests.attack.disks import writers, writing
from tests.attack.kinds import kinds
from tests.attack.parts import PARTS
from tests.attack.running import LINUX, Arena, faults_of
from tests.attack.table import Attack, Row, printed
from tests.attack.uses import RIGHT, uses
from tests.front.conftest import ROOT
from tests.front.parameters import parameters

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not LINUX, reason="the launcher watches by means of Linux")]

WHOLE = 20_000
"""Mutations of files and answers in the whole attack, at least."""

ANSWERED = {"wire": "answers"}
"""Formats that are no file: the part that attacks them."""


@pytest.fixture(scope="module", name="arena")
def _arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    made = Arena(tmp_path_factory.mktemp("attack"))
    yield made
    made.close()


def passed(row: Row) -> None:
    """Check a row, and show its faults."""
    assert row.faults == [] and row.survived == row.tried, "\n".join(printed([row]))


def in_a_thread(attack: Attack, arena: Arena, seed: int, trials: int) -> Row:
    """Run an attack where no browser of another test keeps a loop running."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(attack.run, arena, seed, trials).result()


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.timeout(900)
def test_a_few_of_each(arena: Arena, part: str) -> None:
    """With a seed of the tests' own."""
    for attack in PARTS[part](arena):
        if attack.few:
            passed(in_a_thread(attack, arena, 0, attack.few))


@pytest.mark.deep
@pytest.mark.timeout(14_400)
@pytest.mark.parametrize("part", PARTS)
def test_the_whole(arena: Arena, part: str) -> None:
    """As `make attack` does."""
    for attack in PARTS[part](arena):
        passed(in_a_thread(attack, arena, 1, attack.whole))


def test_there_are_enough(arena: Arena) -> None:
    """Files and answers in the whole, and a hundred moments of each signal."""
    counts = {name: [attack.whole for attack in part(arena)] for name, part in PARTS.items()}
    assert sum(counts["files"]) + sum(counts["answers"]) >= WHOLE
    assert min(counts["signals"]) >= 100


def formats() -> set[str]:
    """Return the names of the formats in the sources, and those with a published schema."""
    found = {one.name for one in PUBLISHED}
    for path in (ROOT / "evenhand").glob("**/*.py"):
        if path.relative_to(ROOT / "evenhand").parts[0] not in ("model", "properties", "proofs", "counterexamples"):
            texts = (
                node.value for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Constant)
            )
            found |= {text.removeprefix("evenhand/") for text in texts if isinstance(text, str) and _is_format(text)}
    return found


def _is_format(text: str) -> bool:
    head, slash, name = text.partition("/")
    return head == "evenhand" and bool(slash) and name.replace("-", "").isalpha()


def attacked_formats(arena: Arena) -> set[str]:
    """Return the formats of the files that are mutated."""
    whole = [one for kind in kinds(arena) for one in kind.originals if not isinstance(one, bytes)]
    heads: list[Any] = [cast("list[Any]", one)[0] if isinstance(one, list) else one for one in whole]
    return {head["format"].removeprefix("evenhand/") for head in heads if "format" in head}


def test_every_kind_of_file_is_attacked_or_read_by_no_command(arena: Arena, tmp_path: Path) -> None:
    """A format in the sources that is not mutated is refused by every command that reads a file."""
    for name in sorted(formats() - attacked_formats(arena) - {*ANSWERED}):
        file = tmp_path / "file.json"
        file.write_text(json.dumps({"format": f"evenhand/{name}", "version": 1}), "utf-8")
        for kind in kinds(arena):
            for command in (one for one in kind.commands if "{file}" in one):
                words = [word.format(file=file, out=tmp_path / "out", folder=tmp_path) for word in command]
                ran = arena.run(words, folder=tmp_path, starts=True, readable=[str(tmp_path)])
                assert [*faults_of(ran.last, (2,))] == [], (name, words, ran.last)


def test_every_command_and_every_path_is_attacked(arena: Arena) -> None:
    """Each command has a right use, from which signals and outputs start; each path is read or written somewhere."""
    assert set(RIGHT) == set(uses(arena).by_command) == set(COMMANDS)
    words = {(one.split()[0] if one else "", word) for one in COMMANDS for word in RIGHT[one]}
    read = {(command[0], word) for kind in kinds(arena) for command in kind.commands for word in command}
    written = {(command.split()[0], option) for command, option in writers(arena)}
    paths = [(c.split()[0], one.names[0]) for c in COMMANDS for one in parameters(c) if one.kind is Path and one.names]
    assert [one for one in paths if one not in read | written | words] == []
    for command, option in writers(arena):
        place = arena.new()
        (place / "disk").mkdir()
        signals = [[2, 1.0]] if command == "serve" else []
        ran = arena.run(writing(arena, command, option, place / "disk"), folder=place, starts=True, signals=signals)
        refused = ran.last.code == 2 and str(place / "disk") in ran.last.err
        assert not refused, f"{command} {option} reads a path: its kind of file is missing in kinds.py"


def test_a_fault_is_found(arena: Arena, tmp_path: Path) -> None:
    """The checks of the checks: what is left running, read outside, written outside, hangs, or ends wrongly."""
    program = """
import os, subprocess, sys, time, evenhand
WHAT = {what!r}
if WHAT == "left":
    if not os.fork():
        os.setsid(); time.sleep(60); os._exit(0)
if WHAT == "read": open({secret!r}).read()
if WHAT == "tell": print(open({secret!r}).read())
if WHAT == "write": open({outside!r} + "/new", "w").close()
if WHAT == "hang": time.sleep(60)
if WHAT == "grow": kept = bytearray(b"x" * (700 << 20)); time.sleep(0.5)
if WHAT == "start": subprocess.run(["true"])
if WHAT == "end": os._exit(1)
light = evenhand.system("light", initial=[0], actions=lambda state: [], step=lambda state, action: 0)
"""
    found: dict[str, list[str]] = {}
    for what in ("nothing", "left", "read", "tell", "write", "hang", "grow", "start", "end"):
        place = arena.new()
        text = program.format(what=what, secret=str(arena.outside / "secret.json"), outside=str(arena.outside))
        (place / "own.py").write_text(text, "utf-8")
        ran = arena.run(["explore", "own.py:light"], folder=place, seconds=4.0 if what == "hang" else 20.0)
        found[what] = [*ran.faults(arena.base), *faults_of(ran.last, (0, 2, 3)), *arena.harmed()]
        (arena.outside / "new").unlink(missing_ok=True)
    assert found.pop("nothing") == []
    assert all(found.values()), found


@pytest.mark.slow
def test_the_table_counts() -> None:
    """Trials, faults, and the seed of each."""
    row = Row("x", "y", 7)
    row.count("good", [], trials=3)
    row.count("bad", ["a", "b"])
    assert (row.tried, row.survived, row.faults) == (4, 3, ["a; b -- bad"])
    assert "| x | y | 7 | 4 | 3 | 0 |" in [*printed([row])]
