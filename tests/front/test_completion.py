"""The shell's offers after Tab: in bash itself, and for every kind of name."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from evenhand.cli import app
from evenhand.core import registry
from evenhand.core.bundle import ProtocolBroken
from tests.front.conftest import PLUGINS, ROOT


def offered(line: str) -> list[str]:
    """Return the offers at the end of a line, in this process."""
    words = line.split(" ")
    env = {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1), "_EVENHAND_COMPLETE": "complete_bash"}
    return CliRunner().invoke(app, [], env=env, prog_name="evenhand").stdout.split()


OFFERS: list[tuple[str, list[str]]] = [
    ("evenhand mut", ["mutants"]),
    ("evenhand verify lat", ["latch"]),
    ("evenhand verify cud lat", ["latch"]),
    ("evenhand explore lat", ["latch"]),
    ("evenhand prove lat", ["latch"]),
    ("evenhand explore latch --system ", ["latch"]),
    ("evenhand explore latch --claim ", ["one_inside", "taken_when_free", "taken", "somebody_enters"]),
    ("evenhand fuzz latch --claim taken_", ["taken_when_free"]),
    ("evenhand explore latch --reach ", ["taken"]),
    ("evenhand explore latch --system latch --mutant s", ["slow_leave", "sticky"]),
    ("evenhand mutants latch --mutant a", ["always_free"]),
    ("evenhand compare latch --mutant a", ["always_free"]),
    ("evenhand explore latch --reading a", ["again=refused", "again=granted"]),
    ("evenhand prove cud --theorem no_w", ["no_winner"]),
    ("evenhand explore markspace --system clock --quotient s", ["shift", "saturation"]),
    ("evenhand explore cud --system free --quotient ", ["renaming"]),
    ("evenhand vectors latch generate --suite b", ["boundary"]),
    ("evenhand verify latch --budget q", ["quick"]),
    ("evenhand check latch --sys", ["--system"]),
    ("evenhand explore latc --claim ", []),
    ("evenhand explore latch --system door --claim ", []),
    ("evenhand explore --claim ", []),
]


@pytest.mark.parametrize(("line", "names"), OFFERS)
def test_each_kind_of_name_is_offered(line: str, names: list[str]) -> None:
    """Names with the typed prefix; none if the line so far is wrong."""
    assert offered(line) == names


def test_a_broken_protocol_offers_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command reports the fault; a shell must not print it in the middle of a line."""

    def broken(_module: str = "") -> Any:
        raise ProtocolBroken("oops")

    monkeypatch.setattr(registry, "_all", broken)
    assert offered("evenhand verify ") == offered("evenhand explore latch --claim ") == []


@pytest.mark.slow
def test_bash_completes_what_was_begun(tmp_path: Path) -> None:
    """The script that `--show-completion` prints, sourced by bash and called like Tab does."""
    bash = shutil.which("bash")
    assert bash is not None
    (tmp_path / "evenhand").write_text(f'#!/bin/sh\nexec {sys.executable} -m evenhand "$@"\n', "utf-8")
    (tmp_path / "evenhand").chmod(0o755)
    script = """
        eval "$(_EVENHAND_COMPLETE=source_bash evenhand)"
        complete -p evenhand
        tab() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _evenhand_completion evenhand; echo "${COMPREPLY[*]}"; }
        tab evenhand expl
        tab evenhand explore latch --claim taken_
    """
    env = {
        **os.environ,
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": f"{ROOT}{os.pathsep}{PLUGINS}",
    }
    done = subprocess.run([bash, "--norc", "-c", script], env=env, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "complete -o default -F _evenhand_completion evenhand",
        "explore",
        "taken_when_free",
    ]
