"""Files with systems of somebody's own, and a folder to stand in."""

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
    """An empty folder to stand in; what is imported from it is forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield tmp_path
    forget(tmp_path)


def forget(folder: Path) -> None:
    """The next look imports the files of a folder anew, as another process would."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and Path(file).is_relative_to(folder):
            del sys.modules[name]


def write(folder: Path, text: str = LIGHT, name: str = "light.py") -> Path:
    """A file of a project, as it is from now on."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    forget(folder)
    return path


def in_process(*words: str, module: str = "evenhand") -> Answer:
    """A command in a process of its own, in the folder that the test stands in."""
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
    """The one file that an exploration leaves."""
    assert cli("explore", subject, "--out", "found").code == 1
    (file,) = Path("found").rglob("*.json")
    return file


HERE = evenhand.system("here", initial=[0], actions=lambda _n: [1], step=lambda n, _a: 1 - n)


@evenhand.always("It is zero.", systems=("here",))
def is_zero(n: int) -> bool:
    """False after one step."""
    return n == 0
