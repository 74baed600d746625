"""A real Dask scheduler and two workers on loopback give the same report, whichever of them is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from evenhand.campaign.cluster import carried_out
from evenhand.campaign.tasks import Task
from evenhand.campaign.worker import message
from evenhand.jobs.plan import Job
from tests.front.campaign.suite import command, made_in, started, written
from tests.front.conftest import Command

pytest.importorskip("distributed")

SMALL = {"protocol": "ring", "engine": "explore", "parts": 2, "claims": ["held", "second_is_quick"]}
RUNS = (
    {"protocol": "ring", "engine": "explore", "parts": 2},
    {"protocol": "ring", "engine": "fuzz", "examples": 10},
)


class Cluster:
    """A scheduler and its workers, each in a process group of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.running: list[subprocess.Popen[str]] = []
        self.port = 0

    def scheduler(self) -> subprocess.Popen[str]:
        """Start a scheduler on the same port as before, and write its address to a file."""
        told = self.folder / "scheduler.json"
        told.unlink(missing_ok=True)
        words = ["scheduler", "--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard", "--no-show"]
        made = self.dask(*words, "--scheduler-file", str(told))
        deadline = time.monotonic() + 60
        while not told.exists():
            assert made.poll() is None and time.monotonic() < deadline, "no scheduler"
            time.sleep(0.05)
        time.sleep(0.1)
        self.port = int(json.loads(told.read_text("utf-8"))["address"].rpartition(":")[2])
        return made

    def worker(self) -> subprocess.Popen[str]:
        """Start a worker with a single thread."""
        where = str(self.folder)
        return self.dask(
            "worker", self.address, "--nthreads", "1", "--no-dashboard", "--no-nanny", "--local-directory", where
        )

    def dask(self, *words: str) -> subprocess.Popen[str]:
        """Run `dask …`."""
        code = "from dask.__main__ import main; main()"
        self.running.append(started([sys.executable, "-c", code, *words], DASK_DISTRIBUTED__ADMIN__LOG_LENGTH="0"))
        return self.running[-1]

    @property
    def address(self) -> str:
        """Return the address of the scheduler."""
        return f"tcp://127.0.0.1:{self.port}"

    def end(self, *processes: subprocess.Popen[str]) -> None:
        """End them with `kill -9`, together with the processes that they started."""
        for process in processes:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


@pytest.fixture(name="cluster")
def _cluster(tmp_path: Path) -> Iterator[Cluster]:
    cluster = Cluster(tmp_path)
    try:
        yield cluster
    finally:
        cluster.end(*cluster.running)


def run(cluster: Cluster, plan: Path, *more: str) -> subprocess.Popen[str]:
    """Run a campaign on the cluster, as another process."""
    return started(command("run", str(plan), "--cluster", cluster.address, *more))


@pytest.mark.slow
def test_two_workers_give_the_report_of_one_process(cluster: Cluster, cli: Command, tmp_path: Path) -> None:
    """The reports are equal byte for byte; both workers worked, on tasks that poison no worker."""
    poisoned = {"protocol": "ring", "engine": "explore", "claims": ["held"], "scope": {"poison": 2}}
    plan = written(tmp_path, SMALL, poisoned)  # each task is a process that loads everything; `RUNS` below are more
    cluster.scheduler()
    first, second = cluster.worker(), cluster.worker()
    with run(cluster, plan, "--out", str(tmp_path / "cluster"), "--store", str(tmp_path / "there")) as there:
        here = cli("campaign", "run", str(plan), "--jobs", "1", "--out", str(tmp_path / "here"))
        _, err = there.communicate(timeout=280)
    assert (there.returncode, here.code) == (3, 3), err  # the poisoned task is UNDECIDED
    assert made_in(tmp_path / "cluster") == made_in(tmp_path / "here")
    assert first.poll() is None and second.poll() is None


@pytest.mark.deep
@pytest.mark.timeout(1200)
def test_a_worker_and_then_the_scheduler_are_killed(cluster: Cluster, cli: Command, tmp_path: Path) -> None:
    """Killing a worker costs nothing; killing the scheduler ends the run with one line, and the next run goes on."""
    slow = {"protocol": "ring", "engine": "explore", "scope": {"agents": [3, 4, 5], "slow": [400, 401]}}
    plan = written(tmp_path, slow, *RUNS)
    undisturbed = cli("campaign", "run", str(plan), "--jobs", "2", "--out", str(tmp_path / "undisturbed"))
    assert undisturbed.code == 0
    store, events = tmp_path / "cluster.store", tmp_path / "events"
    scheduler = cluster.scheduler()
    victim, other = cluster.worker(), cluster.worker()
    with run(cluster, plan, "--store", str(store), "--events", str(events)) as leading:
        _wait(events, '"ended"')
        cluster.end(victim)
        _wait(events, '"ended"', times=3)
        cluster.end(scheduler)
        _, err = leading.communicate(timeout=120)
    assert leading.returncode == 2, err
    assert err.count("\n") == 1 and "the scheduler is gone" in err and "Traceback" not in err
    cluster.end(other)
    cluster.scheduler()
    cluster.worker()
    with run(cluster, plan, "--store", str(store), "--out", str(tmp_path / "killed"), "--json") as leading:
        _, err = leading.communicate(timeout=600)
    assert leading.returncode == 0, err
    assert made_in(tmp_path / "killed") == made_in(tmp_path / "undisturbed")


def _wait(events: Path, what: str, times: int = 1) -> None:
    deadline = time.monotonic() + 300
    while not events.exists() or events.read_text("utf-8").count(what) < times:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_worker_with_other_sources_refuses() -> None:
    """Such a worker checks another model, so its answers are rejected."""
    task = Task(Job("cud", "explore", "free", claims=("no_winner",)))
    ended = carried_out(message(task, address="sha256:0"), None)
    assert (ended.code, ended.late) == (0, False) and ended.seconds > 0 and ended.answer is not None
    told: dict[str, Any] = json.loads(ended.answer)
    assert told["outcome"] == "error" and "other sources or versions" in told["because"]


def test_a_cluster_that_is_not_there(cli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command prints one line and leaves the store unchanged."""
    monkeypatch.setattr("evenhand.campaign.cluster.REACHED", 0.5)
    plan = written(tmp_path, *RUNS)
    answer = cli("campaign", "run", str(plan), "--cluster", "tcp://127.0.0.1:9")
    assert answer.code == 2 and answer.err.count("\n") == 1
    assert "tcp://127.0.0.1:9: no scheduler answers" in answer.err
