"""The quick budget of each shipped protocol: a first look must not raise a false alarm."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from evenhand.core.registry import protocols

ROOT = Path(__file__).parents[2]


@pytest.mark.deep
@pytest.mark.parametrize("protocol", [bundle.name for bundle in protocols()])
def test_a_quick_run_brings_nothing_unexpected(protocol: str) -> None:
    """A scope that is cut for speed must be asked only about claims that it can decide.

    Once, a goal out of reach of one mark was REFUTED here, and claims whose antecedent such marks never meet were
    UNDECIDED.
    """
    made = subprocess.run(
        [sys.executable, "-m", "evenhand", "verify", protocol, "--budget", "quick"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    assert made.returncode == 0, made.stdout[-3000:] + made.stderr[-1000:]
