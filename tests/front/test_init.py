"""`evenhand init`: what it writes works, and finds the fault that it proposes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.front.conftest import ROOT, Command


def make(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the project's one command."""
    binary = folder / "bin"
    binary.mkdir(exist_ok=True)
    for name, words in (("evenhand", "-m evenhand"), ("python", "")):
        (binary / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n', "utf-8")
        (binary / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{binary}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    command = ["make", "verify"]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=200, check=False
    )


@pytest.mark.slow
def test_the_project_passes_and_then_finds_the_fault(cli: Command, tmp_path: Path) -> None:
    """The message says what to change; the counterexample of that is kept and fails as a test."""
    answer = cli("init", "--out", str(tmp_path / "mine"))
    assert answer.code == 0
    assert answer.err.splitlines()[-2:] == [
        f"next: make -C {tmp_path / 'mine'} verify",
        "then break it: in lock.py, let `take` return agent whoever holds the lock, and run it again",
    ]
    folder = tmp_path / "mine"
    sound = make(folder)
    assert sound.returncode == 0, sound.stdout + sound.stderr
    assert "2 passed" in sound.stdout and not (folder / ".hypothesis").exists()
    model = (folder / "lock.py").read_text("utf-8")
    broken = model.replace('return agent if holder == "nobody" else holder', "return agent")
    assert broken != model
    (folder / "lock.py").write_text(broken, "utf-8")
    found = make(folder)
    assert found.returncode != 0 and "REFUTED  nobody_is_robbed" in found.stdout
    assert list((folder / "found").rglob("*.json")) and "2 failed" in found.stdout


def test_the_next_command_is_of_the_new_folder(cli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`make verify` where the user stands may belong to another project."""
    monkeypatch.chdir(tmp_path)
    assert "next: make -C 'my lock' verify\n" in cli("init", "--out", "my lock").err
    assert "next: make verify\n" in cli("init").err


def test_nothing_is_overwritten(cli: Command, tmp_path: Path) -> None:
    """One file that is there stops the whole."""
    (tmp_path / "Makefile").write_text("mine", "utf-8")
    answer = cli("init", "--out", str(tmp_path))
    assert answer.code == 2 and f"{tmp_path}/Makefile: it is there already" in answer.err
    assert [path.name for path in tmp_path.iterdir()] == ["Makefile"]


def test_the_workflow_is_yaml(cli: Command, tmp_path: Path) -> None:
    """It runs the project's one command."""
    written = cli("init", "--out", str(tmp_path), "--json").json["written"]
    workflow = yaml.safe_load((tmp_path / ".github/workflows/evenhand.yml").read_text("utf-8"))
    assert workflow["jobs"]["verify"]["steps"][-1] == {"run": "make verify"}
    assert len(written) == 4
