"""Files with systems outside any protocol, and a project folder as working directory."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import evenhand
from tests.front.conftest import Answer, Command

ROOT = Path(__file__).parents[2]

LIGHT = """
import evenhand


@evenhand.always("The light is never dark.")
def never_dark(state):
    return state != "dark"


def actions(state):
    return ["next", "break"]


def step(state, action):
    if action == "break":
        return "dark"
    return {"red": "green", "green": "red"}.get(state, state)


light = evenhand.system("light", initial=["red"], actions=actions, step=step)
"""
MENDED = LIGHT.replace('return "dark"', 'return "blinking yellow"')
TWO = LIGHT + 'lamp = evenhand.system("lamp", initial=[0], actions=lambda n: [1], step=lambda n, a: 1 - n)\n'


@pytest.fixture(name="project")
def project_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Work in an empty folder; modules imported from it are forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield tmp_path
    forget(tmp_path)


def forget(folder: Path) -> None:
    """Forget the modules of a folder, so that the next import reads its files anew, like another process."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and Path(file).is_relative_to(folder):
            del sys.modules[name]


def write(folder: Path, text: str = LIGHT, name: str = "light.py") -> Path:
    """Write a file of a project; later imports read the new content."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    forget(folder)
    return path


def in_process(*words: str, module: str = "evenhand") -> Answer:
    """Run a command in a process of its own, in the folder of the test."""
    made = subprocess.run(
        [sys.executable, "-B", "-m", module, *words],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return Answer(made.returncode, made.stdout, made.stderr)


def saved(cli: Command, subject: str = "light.py:light") -> Path:
    """Return the single file that an exploration wrote."""
    assert cli("explore", subject, "--out", "found").code == 1
    (file,) = Path("found").rglob("*.json")
    return file


HERE = evenhand.system("here", initial=[0], actions=lambda _n: [1], step=lambda n, _a: 1 - n)


@evenhand.always("It is zero.", systems=("here",))
def is_zero(n: int) -> bool:
    """A claim that is false after one step."""
    return n == 0
