"""`action.yml`, as far as it runs without GitHub: its own step, in a shell, with the variables that a runner sets."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.front.conftest import PLUGINS, ROOT


def action() -> dict[str, Any]:
    """Return the file."""
    read: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    return read


def run(tmp_path: Path, command: str, budget: str = "") -> tuple[int, str, str]:
    """Run the step; return its exit code, the summary of the job and the outputs."""
    (step,) = (one for one in action()["runs"]["steps"] if one.get("id") == "run")
    assert step["env"] == {"COMMAND": "${{ inputs.command }}", "BUDGET": "${{ inputs.budget }}"}, (
        "no input in the script"
    )
    binary = tmp_path / "bin"
    binary.mkdir()
    (binary / "evenhand").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m evenhand "$@"\n', "utf-8")
    (binary / "evenhand").chmod(0o755)
    summary, outputs = tmp_path / "summary", tmp_path / "outputs"
    summary.touch()
    environment = {
        **os.environ,
        "PATH": f"{binary}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join([str(PLUGINS), str(ROOT)]),
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_OUTPUT": str(outputs),
        "GITHUB_STEP_SUMMARY": str(summary),
        "COMMAND": command,
        "BUDGET": budget,
    }
    shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    done = subprocess.run(shell, env=environment, cwd=ROOT, capture_output=True, timeout=300, check=False)
    return done.returncode, summary.read_text("utf-8"), outputs.read_text("utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("budget", ["", "quick"])
def test_the_step_puts_the_digest_on_the_page_of_the_job(tmp_path: Path, budget: str) -> None:
    """And tells where the report is."""
    code, summary, outputs = run(tmp_path, "verify latch", budget)
    assert code == 0
    assert "latch: 4 claims" in summary
    assert outputs.splitlines() == [f"report={tmp_path}/evenhand", "sarif=true"]
    assert (tmp_path / "evenhand" / "report.sarif").is_file()


def test_the_step_fails_as_the_command_does(tmp_path: Path) -> None:
    """Words of the input are words, and no shell reads them."""
    code, summary, outputs = run(tmp_path, "verify $(touch${IFS}hacked);touch hacked")
    assert code == 2 and summary == "" and "sarif" not in outputs
    assert not (ROOT / "hacked").exists()


def test_every_input_is_used() -> None:
    """And no step names one that there is not."""
    text = (ROOT / "action.yml").read_text("utf-8")
    for name in action()["inputs"]:
        assert f"inputs.{name}" in text
    assert set(action()["inputs"]) == {"command", "budget", "install", "python", "sarif"}
