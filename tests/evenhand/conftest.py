"""A protocol of somebody else's on the path, for this process and for others, and the command line in both."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from evenhand.cli import app
from evenhand.properties import registry

__all__ = ["Answer", "Command"]

PLUGINS = Path(__file__).with_name("plugins")
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Answer:
    """What a command did: its exit code and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as the one JSON object it must be."""
        return json.loads(self.out)


Command = Callable[..., Answer]


@pytest.fixture(autouse=True)
def latch(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The protocol `latch` is installed while a test runs."""
    monkeypatch.setattr(sys, "path", [str(PLUGINS), *sys.path])
    registry.rescan()
    yield
    registry.rescan()


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch) -> Command:
    """`evenhand …` in this process."""
    monkeypatch.setenv("COLUMNS", "120")

    def run(*words: str) -> Answer:
        result = CliRunner().invoke(app, list(words))
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Answer(result.exit_code, result.stdout, result.stderr)

    return run


@pytest.fixture
def process() -> Command:
    """`python -m evenhand …` in a process of its own; keywords are added to its environment."""

    def run(*words: str, **env: str) -> Answer:
        made = subprocess.run(
            [sys.executable, "-m", "evenhand", *words],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(PLUGINS), **env},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return Answer(made.returncode, made.stdout, made.stderr)

    return run
