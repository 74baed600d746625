"""`explore --spill`: the same report with states on a disk, one line for each mistake, and no leftovers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.front.conftest import Command

WAY = ("explore", "cud", "--system", "free", "--scope", "agents=2", "--reach", "livelock", "--method", "explicit")


def test_the_report_is_the_same(cli: Command, tmp_path: Path) -> None:
    """Except for the number of states on the disk, and the trusted base."""
    near = cli(*WAY, "--json").json
    far = cli(*WAY, "--max-memory", "1", "--spill", str(tmp_path), "--json").json
    assert near["spilled"] == 0 and far["spilled"] == near["states"] - 1 == 60
    for name in ("states", "transitions", "edges", "depth", "complete", "reach", "method"):
        assert far[name] == near[name]
    assert [v["status"] for v in far["verdicts"]] == [v["status"] for v in near["verdicts"]] == ["HOLDS"]
    assert "what the disk gave back" in far["verdicts"][0]["trusted_base"]
    assert "60 of the states on disk" in cli(*WAY, "--max-memory", "1", "--spill", str(tmp_path)).out
    assert list(tmp_path.iterdir()) == []


def test_without_a_disk_the_bound_stays_a_bound(cli: Command) -> None:
    """UNDECIDED, exit 3, with the coverage."""
    answer = cli(*WAY, "--max-memory", "1")
    assert answer.code == 3 and "max_memory=1048576 left the search open" in answer.out


def test_mistakes(cli: Command, tmp_path: Path) -> None:
    """Exit 2, one line."""
    for more, words in (
        (("--spill", str(tmp_path)), "give the limit with --max-memory"),
        (("--spill", str(tmp_path), "--max-memory", "1", "--method", "symmetric"), "orbits are searched in memory"),
        (("--spill", str(tmp_path), "--max-memory", "1", "--method", "compiled"), "compiled search runs in memory"),
    ):
        answer = cli(*WAY, *more)
        assert answer.code == 2 and words in answer.err and answer.err.count("\n") == 1


FULL = """
import resource, sys
sys.dont_write_bytecode = True  # half a file of bytecode would be read by others
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
from evenhand.search import spilling
from evenhand.__main__ import main
spilling._SETTINGS = (*spilling._SETTINGS, "cache_size=-100")
main()
"""


@pytest.mark.skipif(os.name != "posix", reason="no limit on the size of files")
def test_a_disk_that_fills_up_on_the_way(tmp_path: Path) -> None:
    """The system really refuses to write, in the middle of a search: exit 2, one line, nothing left."""
    way = ("explore", "cud", "--system", "free", "--scope", "agents=2,keys=6,values=4", "--method", "explicit")
    more = ("--reach", "livelock", "--max-memory", "1", "--spill", str(tmp_path))
    ran = subprocess.run([sys.executable, "-c", FULL, *way, *more], capture_output=True, text=True, check=False)
    assert ran.returncode == 2 and ran.stdout == ""
    assert f"cannot spill to {tmp_path}: " in ran.stderr and ran.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
