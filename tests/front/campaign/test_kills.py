"""`kill -9` at any moment, of the leading process or of workers, leaves the report unchanged."""

from __future__ import annotations

import os
import random
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.front.campaign.suite import command, made_in, runs, started, written
from tests.front.conftest import Command

SLOW: dict[str, Any] = {"protocol": "ring", "engine": "explore", "scope": {"agents": [4, 5], "slow": 150}}
RUNS: tuple[dict[str, Any], ...] = (
    SLOW,
    {"protocol": "ring", "engine": "fuzz", "seeds": 2, "examples": 20, "steps": 8},
    {"protocol": "latch", "engine": "replay"},
)
"""Safety, goals, comparisons across configurations, lassos, random runs, fixtures."""


def children(pid: int) -> list[int]:
    """Return the running processes that a process started."""
    found: list[int] = []
    with suppress(OSError):
        found = [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()]
    return found


def kill(pid: int) -> bool:
    """Send `kill -9`; return whether the process existed."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def killed(plan: Path, store: Path, chance: random.Random, victims: list[str]) -> int:
    """Run or resume once, and kill the next victims until the leading process dies, all is done or none is left.

    Returns how many were killed, and takes them off the list.
    """
    events = store.with_suffix(".jsonl")
    events.unlink(missing_ok=True)
    words = command("run", str(plan), "--store", str(store), "--jobs", "2", "--events", str(events))
    before = len(victims)
    with started(words) as run:
        while run.poll() is None and not (events.exists() and events.stat().st_size):
            time.sleep(0.01)
        while run.poll() is None and victims:
            time.sleep(chance.uniform(0.0, 0.5))
            working = children(run.pid)
            if victims[0] == "worker" and working and kill(chance.choice(working)):
                victims.pop(0)
            elif victims[0] == "leader" and run.poll() is None:
                kill(run.pid)
                victims.pop(0)
                run.wait(10)
                deadline = time.monotonic() + 10
                while any(runs(pid) for pid in working) and time.monotonic() < deadline:
                    time.sleep(0.02)
                assert not [pid for pid in working if runs(pid)], "a process works on for nobody"
        if not victims and run.poll() is None:
            run.kill()
        run.communicate()
    return before - len(victims)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="children are found in /proc")
@pytest.mark.timeout(1800)  # most of it asleep
@pytest.mark.parametrize("kills", [2, pytest.param(20, marks=pytest.mark.deep)])
def test_random_kills_change_nothing(cli: Command, tmp_path: Path, kills: int) -> None:
    """Verdicts, counts, lassos and counterexamples are those of an undisturbed run, byte for byte."""
    runs: list[dict[str, Any]] = [*RUNS]
    if kills > 9:  # more work for more kills
        runs += [{"protocol": "latch"}, *({**SLOW, "scope": {"agents": 4, "slow": 301 + n}} for n in range(6))]
    plan = written(tmp_path, *runs, parts=3)
    whole = written(tmp_path, *runs, name="whole.json")
    undisturbed = cli("campaign", "run", str(whole), "--jobs", "2", "--out", str(tmp_path / "undisturbed"))
    assert undisturbed.code == 0, undisturbed.err
    chance = random.Random(kills)
    victims = ["worker", "leader"] * (kills // 2)
    chance.shuffle(victims)
    store = tmp_path / "killed.store"
    while victims:
        assert killed(plan, store, chance, victims), f"all was done before {victims} were killed"
    answer = cli(
        "campaign", "resume", str(plan), "--store", str(store), "--jobs", "2", "--out", str(tmp_path / "killed")
    )
    assert answer.code == 0, answer.err
    assert made_in(tmp_path / "killed") == made_in(tmp_path / "undisturbed")
