"""The how-to for one's own project, followed line by line: its files are written, its commands run."""

from __future__ import annotations

import os
import re
import runpy
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import evenhand
from tests.front.conftest import ROOT
from tests.front.own_files import forget
from tests.front.test_contributing import TOOLS, blocks, commands, pattern

PAGE = (ROOT / "docs/how-to/use-in-your-project.md").read_text("utf-8")


@pytest.fixture(name="project")
def _project(tmp_path: Path) -> Path:
    """Write the files of the page, and the metadata that installing the package would write."""
    for kind, text in blocks(PAGE):
        if "." in kind:
            target = tmp_path / kind
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, "utf-8")
    project = tomllib.loads((tmp_path / "pyproject.toml").read_text("utf-8"))["project"]
    info = tmp_path / "src" / f"{project['name']}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n", "utf-8"
    )
    lines = [
        f"[{group}]\n" + "".join(f"{name} = {what}\n" for name, what in entries.items())
        for group, entries in project["entry-points"].items()
    ]
    (info / "entry_points.txt").write_text("\n".join(lines), "utf-8")
    return tmp_path


def run(project: Path, command: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the page in the project."""
    words = [
        found
        for word in shlex.split(command)
        for found in (map(str, sorted(project.glob(word))) if "*" in word else [word])
    ]
    tools = {**TOOLS, "python": TOOLS["evenhand"][:1]}
    return subprocess.run(
        [*tools[words[0]], *words[1:]],
        cwd=project,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(project / "src"))), "COLUMNS": "160"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_the_page_does_what_it_says(project: Path) -> None:
    """Every command ends with exit code 0 and prints what the page shows."""
    ran = 0
    for kind, text in blocks(PAGE):
        for command, printed in commands(text) if kind == "console" else ():
            answer = run(project, command)
            assert answer.returncode == 0, f"{command}\n{answer.stdout[-3000:]}{answer.stderr[-3000:]}"
            assert re.fullmatch(pattern(printed), answer.stdout.strip(), re.DOTALL), f"{command}\n{answer.stdout}"
            ran += 1
    assert ran == 7


@pytest.mark.parametrize(
    ("right", "wrong", "claim"),
    [
        ("if len(held) == TICKETS", "if len(held) > TICKETS", "enough"),
        ('return state, "sold out"', 'return state, "no"', "sold_out"),
        ("held | {agent})", 'held | {"ann"})', "has_waited"),
        ('return (waiting, held - {agent}), "thanks"', 'return (waiting, held - {agent}), "bye"', "balanced"),
        ("if len(held) == TICKETS", 'if len(held) == TICKETS or agent == "ann"', "no_favourite"),
        ("return (waiting | {agent}, held)", "return (waiting or frozenset({agent}), held)", "order_is_free"),
        ('== ("give back", agent))', '== ("ask", agent))', "served"),
    ],
)
def test_each_claim_of_the_page_can_fail(
    project: Path, right: str, wrong: str, claim: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault in the desk is refuted by the claim that is about it."""
    tests = project / "tests"
    text = (tests / "desk.py").read_text("utf-8")
    assert text.count(right) == 1
    (tests / "desk.py").write_text(text.replace(right, wrong), "utf-8")
    monkeypatch.setattr(sys, "path", [str(tests), *sys.path])
    names = runpy.run_path(str(tests / "test_desk.py"))
    forget(tests)
    (verdict,) = evenhand.explore(names["desk"], [names[claim]], max_states=500).verdicts
    assert verdict.status is evenhand.Status.REFUTED, verdict.because


def test_every_word_of_the_table_is_in_the_files() -> None:
    """The page promises it."""
    table = PAGE.partition("## Every word")[2].partition("`wants=`")[0]
    files = "".join(text for kind, text in blocks(PAGE) if "." in kind)
    words = re.findall(r"`(\w+)[=(`.]", "\n".join(row.split("|")[1] for row in table.splitlines() if row[:3] == "| `"))
    assert len(words) > 12
    assert [word for word in words if not re.search(rf"\b{word}\b", files)] == []
