"""The commands in README, tutorial and guides: each exists, and the first ones print the output on the page."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from evenhand.cli import COMMANDS
from evenhand.core.own_file import names_file
from evenhand.core.registry import protocols
from tests.front.conftest import ROOT, Command
from tests.front.parameters import parameters
from tests.front.test_contributing import commands, pattern
from tests.front.test_docs import blocks

PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *(page for page in sorted((ROOT / "docs").rglob("*.md")) if not {"spikes", "commands.md"} & set(page.parts)),
]
ANY = {"PROTOCOL", "[PROTOCOL]", "[PROTOCOL]…", "NAME", "P", "FILE", "FILE…", "stile"}
"""Placeholders for a protocol or a file on pages about any protocol."""


def told(page: Path) -> Iterator[list[str]]:
    """Return every `evenhand …` on a page, in a console block or between backticks, as words."""
    text = page.read_text("utf-8")
    for line in re.findall(r"(?:^\s*\$ |`)evenhand ([^`\n]*)", text, re.MULTILINE):
        yield shlex.split(line.split("#")[0].replace("\\|", "|"))


def sizes(protocol: str) -> set[str]:
    """Return the sizes of a protocol's scopes as options; for a placeholder the sizes of some protocol."""
    if protocol in ANY:
        return {"--PARAMETER"}
    (bundle,) = (one for one in protocols() if one.name == protocol)
    return {f"--{name}" for system in bundle.model.systems.values() for name in system.scope}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_command_on_a_page_exists(page: Path) -> None:
    """Its options and its protocol exist too."""
    names = ANY | {bundle.name for bundle in protocols()}
    names |= set(re.findall(r'"evenhand.protocols"\]\n(\w+) =', page.read_text("utf-8")))  # of a package that it shows
    for command, *words in told(page):
        if command.startswith("-") or command in ("COMMAND", "…"):
            continue
        if words and f"{command} {words[0]}" in COMMANDS:  # `campaign run`
            command, words = f"{command} {words[0]}", words[1:]
        elif any(name.startswith(f"{command} ") for name in COMMANDS) and not words:  # the group as a whole
            continue
        assert command in COMMANDS, f"evenhand {command}"
        known = {name for one in parameters(command) for name in one.names} | {"--help"}
        known |= sizes(words[0]) if any("--PARAMETER" in one.metavar for one in parameters(command)) else set()
        assert {word for word in words if word.startswith("--")} <= known, f"evenhand {command} {words}"
        first = next(parameters(command))
        if words and "PROTOCOL" in first.metavar and not words[0].startswith("-"):
            assert words[0] in names or names_file(words[0]), f"evenhand {command} {words}"


@pytest.mark.slow
def test_the_two_minutes_of_the_readme(cli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From top to bottom: find the fault, see it, keep it as a test; the reference holds."""
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "README.md").read_text("utf-8")
    console = re.findall(r"```console\n(.*?)```", text.partition("## Your own system")[0], re.DOTALL)
    explore, show, pytest_, *_ = [one for block in console[1:] for one in commands(block) if one[0][:4] != "echo"]
    found = cli(*shlex.split(explore[0])[1:])
    assert found.code == 1
    for line in explore[1].strip().splitlines():
        assert re.search(pattern(line), found.out, re.DOTALL), f"{line}\n{found.out}"
    (file,) = Path("found/cud").iterdir()
    shown_ = cli("show", str(file))
    for line in [line.strip() for line in show[1].splitlines() if line.strip() not in ("", "…")]:
        assert line in shown_.out, line
    kept = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *shlex.split(pytest_[0])[1:]],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert kept.returncode == 0 and "1 passed" in kept.stdout, kept.stdout
    counted = cli("explore", "cud", "--claim", "no_winner", "--json").json
    assert f"visits {counted['states']:,} states and {counted['transitions']:,} joint choices" in " ".join(text.split())
    assert counted["verdicts"][0]["status"] == "HOLDS"


@pytest.mark.slow
def test_the_kernel_of_the_readme_is_found_wrong_as_it_says(process: Command) -> None:
    """The first finding, without pairs of runs: the claim, how serious it is, and what the kernel shows."""
    text = (ROOT / "README.md").read_text("utf-8")
    (block,) = re.findall(r"```console\n(\$ cd docs/examples .*?)```", text, re.DOTALL)
    ((command, printed),) = commands(block)
    words = shlex.split(command.partition("&& ")[2])[1:]
    answer = process(*words, "--pairs=0", PYTHONPATH=str(ROOT / "docs/examples"))
    assert answer.code == 1, answer.err
    first, second = printed.splitlines()[:2]
    differs = re.sub(r"agent_\d", "agent_N", second.partition(";")[0])
    assert first in answer.out and differs in re.sub(r"agent_\d", "agent_N", answer.out)


@pytest.mark.slow
def test_the_tutorial_shows_what_is_shown(tmp_path: Path) -> None:
    """The refutation of the first lock, line by line; the file that `save` writes; the state count."""
    system, claim, test, *_ = blocks("docs/tutorial/first-bug.md")
    text = (ROOT / "docs/tutorial/first-bug.md").read_text("utf-8")
    (tmp_path / "test_lock.py").write_text(system + claim + test, "utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "test_lock.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    (expected,) = re.findall(r"```\n(REFUTED.*?)```", text, re.DOTALL)
    for line in expected.splitlines():
        assert line.strip() in done.stdout, f"{line}\n{done.stdout}"
    saving = test.replace("[mutual_exclusion])", '[mutual_exclusion], save=".evenhand")')
    (tmp_path / "test_lock.py").write_text(system + claim + saving, "utf-8")
    subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert len(list((tmp_path / ".evenhand").rglob("*.json"))) == 1


def test_the_comparison_prints_what_the_page_says(cli: Command) -> None:
    """The first block of the guide."""
    text = (ROOT / "docs/how-to/compare-readings.md").read_text("utf-8")
    ((command, printed),) = commands(re.findall(r"```console\n(.*?)```", text, re.DOTALL)[0])
    answer = cli(*shlex.split(command)[1:])
    assert answer.code == 0
    assert re.match(pattern(printed), answer.out, re.DOTALL), answer.out
