"""Campaigns whose processes are killed at any moment, also on a busy machine: the report is the undisturbed one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from tests.attack.running import LINUX, Arena
from tests.attack.table import Attack, Row
from tests.front.campaign.suite import command, made_in, runs, started, written

SLOW: dict[str, Any] = {"protocol": "ring", "engine": "explore", "scope": {"agents": [4, 5], "slow": 150}}
RUNS: tuple[dict[str, Any], ...] = (
    SLOW,
    {"protocol": "ring", "engine": "fuzz", "seeds": 2, "examples": 20, "steps": 8},
    {"protocol": "latch", "engine": "replay"},
)
"""Safety, goals, comparisons across configurations, lassos, random runs, fixtures."""

LIMIT = 10.0
"""Seconds of a task, several times what each needs; on the busy machine some take longer by the clock."""

ROUND = 10
"""Kills in one campaign."""


def attacks(arena: Arena) -> Iterator[Attack]:
    """Yield an attack on a quiet machine and one on a busy machine, whose tasks have a limit."""
    del arena
    yield Attack("campaigns", "workers and leaders killed", 20, 1, partial(kills, 0), lacks)
    yield Attack("campaigns", "the same on a busy machine, with a time limit", 10, 0, partial(kills, 6), lacks)


def lacks() -> str:
    """Return why children cannot be found here; empty if they can."""
    return "" if LINUX else "children are found in /proc"


def children(pid: int) -> list[int]:
    """Return the running processes that a process started."""
    with suppress(OSError):
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()]
    return []


def kill(pid: int) -> bool:
    """Send `kill -9`; return whether the process existed."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def killed(plan: Path, store: Path, chance: Random, victims: list[str]) -> Iterator[str]:
    """Run or resume once, and kill the next victims until the leading process dies, all is done or none is left.

    Takes them off the list.  Yields what works on after its leader.
    """
    events = store.with_suffix(".jsonl")
    events.unlink(missing_ok=True)
    words = command("run", str(plan), "--store", str(store), "--jobs", "2", "--events", str(events))
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
                yield from (f"process {pid} works on for nobody" for pid in working if runs(pid))
        if not victims and run.poll() is None:
            run.kill()
        run.communicate()


def finished(plan: Path, out: Path, *more: str) -> dict[str, bytes]:
    """Run or resume a campaign to its end; return the files that it wrote, without clock readings."""
    with started(command("resume" if more else "run", str(plan), "--jobs", "2", "--out", str(out), *more)) as run:
        _, said = run.communicate(timeout=1_200)
    assert run.returncode == 0, said
    return made_in(out)


def kills(burners: int, arena: Arena, row: Row, random: Random, trials: int) -> None:
    """Kill so many processes, in several campaigns; each ends with the report of an undisturbed run."""
    limits: dict[str, Any] = {"seconds": LIMIT} if burners else {}
    for first in range(0, trials, ROUND):
        place = arena.new()
        more = [{**SLOW, "scope": {"agents": 4, "slow": 301 + number}} for number in range(min(6, trials - first - 2))]
        plan = written(place, *RUNS, *more, parts=3, **limits)
        whole = written(place, *RUNS, *more, parts=3, **limits, name="whole.json")
        undisturbed = finished(whole, place / "undisturbed")
        victims = [random.choice(("worker", "leader")) for _ in range(min(ROUND, trials - first))]
        count, faults = len(victims), list[str]()
        with ExitStack() as stack:
            for _ in range(burners * (os.cpu_count() or 1)):
                stack.callback(_ended, subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"]))
            while victims and (left := len(victims)):
                faults += killed(plan, place / "killed.store", random, victims)
                if len(victims) == left:
                    break  # all is done before they were killed
        row.count(f"{count - len(victims)} killed", _differing(plan, place, undisturbed, faults), count - len(victims))


def _differing(plan: Path, place: Path, undisturbed: dict[str, bytes], faults: Sequence[str]) -> Iterator[str]:
    yield from faults
    made = finished(plan, place / "killed", "--store", str(place / "killed.store"))
    if made != undisturbed:
        yield f"the report differs: {sorted(name for name in made if made[name] != undisturbed.get(name))}"


def _ended(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
