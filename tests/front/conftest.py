"""A protocol outside the repository on the path, for this process and for others, and the command line in both."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from evenhand.cli import app
from evenhand.core import registry
from evenhand.core.bundle import Bundle

PLUGINS = Path(__file__).with_name("plugins")
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Answer:
    """The result of a command: its exit code and its output."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Return standard output as one JSON object."""
        return json.loads(self.out)


Command = Callable[..., Answer]


def command_line(process: Path) -> bytes:
    """Return the command line below a folder of /proc; empty if that is no process or its process has just ended."""
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""


SCAN = registry._all  # pyright: ignore[reportPrivateUsage]
"""The function that looks for protocols."""


@cache
def _found(*folders: Path) -> tuple[Bundle, ...]:
    """Return the protocols with these folders on the path; cached, because each look takes long."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [*map(str, folders), *sys.path])
        SCAN.cache_clear()
        found = SCAN()
    SCAN.cache_clear()
    return found


def installed(patch: pytest.MonkeyPatch, *folders: Path) -> None:
    """Install the protocols of these folders for as long as the patch lasts."""
    found = _found(*folders)
    patch.setattr(sys, "path", [*map(str, folders), *sys.path])

    @cache
    def every(_module: str = "") -> tuple[Bundle, ...]:
        return found

    patch.setattr(registry, "_all", every)


@pytest.fixture(autouse=True)
def latch(monkeypatch: pytest.MonkeyPatch) -> None:
    """The protocol `latch` is installed while a test runs."""
    installed(monkeypatch, PLUGINS)


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run `evenhand …` in this process."""
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr("evenhand.cli.console.FIRST_LINE", 600.0)  # a slow machine would write lines of progress

    def run(*words: str) -> Answer:
        result = CliRunner().invoke(app, list(words))
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Answer(result.exit_code, result.stdout, result.stderr)

    return run


@pytest.fixture
def process() -> Command:
    """Run `python -m evenhand …` in a process of its own; keywords are added to its environment."""

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
