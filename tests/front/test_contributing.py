"""CONTRIBUTING, followed line by line in a copy of the repository."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.front.conftest import ROOT

PAGE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
BLOCK = re.compile(r"```((?:python|toml) title=\"(?P<file>[^\"]+)\"|(?P<kind>\w+))\n(?P<text>.*?)```", re.DOTALL)
NEEDED = (
    "counterexamples",
    "evenhand",
    "model",
    "properties",
    "proofs",
    "tests/test_layers.py",
    "pyproject.toml",
    "Makefile",
)
TOOLS = {
    "evenhand": [sys.executable, "-m", "evenhand"],
    "pytest": [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"],
}


def blocks(page: str = PAGE) -> Iterator[tuple[str, str]]:
    """Return every block of a page: its file or language, and its text."""
    for found in BLOCK.finditer(page):
        yield found["file"] or found["kind"], found["text"]


def commands(text: str) -> Iterator[tuple[str, str]]:
    """Return each command of a console block with its expected output."""
    for part in text.split("$ ")[1:]:
        command, _, printed = part.partition("\n")
        yield command, printed


def pattern(printed: str) -> str:
    """Return the expected output as a regular expression, in which `…` matches anything."""
    return "".join(".*" if part == "…" else re.escape(part) for part in re.split("(…)", printed.strip()))


@pytest.fixture(name="copy")
def _copy(tmp_path: Path) -> Path:
    """Return a copy of the part of the repository that the page mentions, with links kept as links."""
    for name in NEEDED:
        source, target = ROOT / name, tmp_path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    return tmp_path


@pytest.mark.slow
def test_the_page_does_what_it_says(copy: Path) -> None:
    """Files are written as on the page, commands run in order and print the output on the page."""
    files, ran = 0, 0
    for kind, text in blocks():
        if "/" in kind:
            target = copy / kind
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, "utf-8")
            files += 1
        for command, printed in commands(text) if kind == "console" else ():
            words = [
                found for word in shlex.split(command) for found in (sorted(copy.glob(word)) if "*" in word else [word])
            ]
            told = [str(word.relative_to(copy)) if isinstance(word, Path) else word for word in words]
            answer = subprocess.run(
                [*TOOLS[told[0]], *told[1:]],
                cwd=copy,
                env={**os.environ, "PYTHONPATH": str(copy), "COLUMNS": "160"},
                capture_output=True,
                text=True,
                check=False,
            )
            assert answer.returncode == 0, f"{command}\n{answer.stdout[-3000:]}{answer.stderr[-3000:]}"
            assert re.fullmatch(pattern(printed), answer.stdout.strip(), re.DOTALL), f"{command}\n{answer.stdout}"
            ran += 1
    assert (files, ran) == (3, 5), "the page has files and commands that this test does not know"


def test_what_is_written_there_is_clean(copy: Path) -> None:
    """Style and types of the files on the page, by the project's own settings."""
    names: list[str] = []
    for kind, text in blocks():
        if "/" in kind:
            target = copy / kind
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, "utf-8")
            names.append(kind)
    for tool in (["ruff", "check"], ["ruff", "format", "--check"]):
        answer = subprocess.run(
            [sys.executable, "-m", *tool, *names], cwd=copy, capture_output=True, text=True, check=False
        )
        assert answer.returncode == 0, answer.stdout
