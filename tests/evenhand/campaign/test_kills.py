"""`kill -9` at any moment, of the leading process and of those that work: the report is what it would have been."""

from __future__ import annotations

import os
import random
import signal
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.evenhand.campaign.suite import command, made_in, started, written
from tests.evenhand.conftest import Command

RUNS = (
    {"protocol": "ring", "engine": "explore", "scope": {"agents": [4, 5], "slow": 300}},
    {"protocol": "ring", "engine": "fuzz", "seeds": 2, "examples": 20, "steps": 8},
    {"protocol": "latch"},
)
"""Safety, goals, comparisons across configurations, lassos, random runs, fixtures."""


def children(pid: int) -> list[int]:
    """The processes that a process started and that still run."""
    found: list[int] = []
    with suppress(OSError):
        found = [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()]
    return found


def kill(pid: int) -> bool:
    """`kill -9`; whether there was something to kill."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def killed(plan: Path, store: Path, chance: random.Random, most: int) -> tuple[int, int]:
    """Run or resume once, and kill until the leading process dies, all is done or `most` were killed.

    How many leading and working processes were killed.
    """
    events = store.with_suffix(".jsonl")
    events.unlink(missing_ok=True)
    words = command("run", str(plan), "--store", str(store), "--jobs", "2", "--events", str(events))
    leaders = workers = 0
    with started(words, TOYRING_ALIVE=str(store.parent)) as run:
        while run.poll() is None and not (events.exists() and events.stat().st_size):
            time.sleep(0.01)
        while run.poll() is None and leaders + workers < most:
            time.sleep(chance.uniform(0.0, 0.5))
            working = children(run.pid)
            if working and chance.random() < 0.4:
                workers += kill(chance.choice(working))
            elif run.poll() is None:
                kill(run.pid)
                leaders += 1
                run.wait(10)
                deadline = time.monotonic() + 10
                while any(_works(pid) for pid in working) and time.monotonic() < deadline:
                    time.sleep(0.02)
                assert not [pid for pid in working if _works(pid)], "a process works on for nobody"
        if leaders + workers >= most and run.poll() is None:
            run.kill()
        run.communicate()
    return leaders, workers


def _works(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(") ")[2][:1] not in "ZX"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="children are found in /proc")
@pytest.mark.timeout(1800)  # most of it asleep
@pytest.mark.parametrize("kills", [3, pytest.param(20, marks=pytest.mark.deep)])
def test_random_kills_change_nothing(cli: Command, tmp_path: Path, kills: int) -> None:
    """Verdicts, counts, lassos and counterexamples are those of an undisturbed run, byte for byte."""
    more = 0 if kills < 10 else 6  # more work for more kills
    runs = [*RUNS, *({**RUNS[0], "scope": {"agents": 4, "slow": 301 + number}} for number in range(more))]
    plan = written(tmp_path, *runs, parts=3)
    whole = written(tmp_path, *runs, name="whole.json")
    undisturbed = cli("campaign", "run", str(whole), "--jobs", "2", "--out", str(tmp_path / "undisturbed"))
    assert undisturbed.code == 0, undisturbed.err
    chance = random.Random(kills)
    store = tmp_path / "killed.store"
    leaders = workers = 0
    for _ in range(4 * kills):
        if leaders + workers >= kills:
            break
        one, other = killed(plan, store, chance, kills - leaders - workers)
        leaders, workers = leaders + one, workers + other
        if one + other == 0:
            break
    print(f"{leaders} leading and {workers} working processes were killed")
    assert leaders + workers == kills, f"all was done after {leaders + workers}"
    answer = cli(
        "campaign", "resume", str(plan), "--store", str(store), "--jobs", "2", "--out", str(tmp_path / "killed")
    )
    assert answer.code == 0, answer.err
    assert made_in(tmp_path / "killed") == made_in(tmp_path / "undisturbed")
