"""Helpers for tests of campaigns: the toy ring on the path, plans, the command line, reports without clock readings."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evenhand.campaign.executor import ExecutorEvents, Order
from evenhand.campaign.planfile import Campaign, read_plan
from evenhand.processes.group import Ended
from tests.front.conftest import PLUGINS, ROOT

RING = Path(__file__).with_name("plugins")


def written(folder: Path, *runs: Mapping[str, Any], name: str = "plan.json", **more: Any) -> Path:
    """Write a plan file."""
    plan = {"format": "evenhand/campaign", "version": 1, **more, "runs": list(runs)}
    (folder / name).write_text(json.dumps(plan), "utf-8")
    return folder / name


def campaign(folder: Path, *runs: Mapping[str, Any], **more: Any) -> Campaign:
    """Return the campaign of a plan file with this content."""
    path = written(folder, *runs, **more)
    return read_plan(path, path.read_bytes())


def ask(path: Path) -> Any:
    """Return the JSON in a file."""
    return json.loads(path.read_text("utf-8"))


def without_clock(report: Path | Mapping[str, Any]) -> dict[str, Any]:
    """Return a report without its clock readings."""
    made = dict(ask(report) if isinstance(report, Path) else report)
    assert made.pop("timing")
    return made


def made_in(folder: Path) -> dict[str, bytes]:
    """Return every JSON file that `--out` wrote, with clock readings blanked; equal runs give equal bytes."""
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*.json"))}
    report = files["report.json"]
    timing = report.index(b'"timing":{')
    files["report.json"] = report[:timing] + report[report.index(b"}", timing) :]
    return files


def command(*words: str) -> list[str]:
    """Return the command that starts `evenhand campaign …` as another process."""
    return [sys.executable, "-m", "evenhand", "campaign", *words]


def started(words: Sequence[str], cwd: Path = ROOT, **env: str) -> subprocess.Popen[str]:
    """Start such a process in a group of its own."""
    paths = os.pathsep.join((str(RING), str(PLUGINS), str(ROOT)))
    return subprocess.Popen(
        words,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": paths, **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def runs(pid: int) -> bool:
    """Return whether a process exists and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(") ")[2][:1] not in "ZX"
    except OSError:
        return False


class InThisProcess:
    """An executor without processes, for tests of the order of tasks; it runs `limit` tasks, then acts like Ctrl-C."""

    workers = 1

    def __init__(self, limit: int | None = None) -> None:
        self.limit = limit
        self.done: list[str] = []

    def run(self, orders: Sequence[Order], events: ExecutorEvents) -> None:
        """Run the tasks one after the other."""
        from evenhand.campaign.executor import ending
        from evenhand.campaign.worker import Work, message

        waiting = list(orders)
        while waiting:
            if self.limit is not None and len(self.done) >= self.limit:
                raise KeyboardInterrupt
            order = waiting.pop(0)
            events.started(order)
            answer = Work()(message(order.task, memory=None, pieces=order.pieces))
            self.done.append(order.task.title)
            waiting += events.ended(order, ending(order, Ended(answer, 0.01)))
            events.tick()
