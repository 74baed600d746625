"""Two workers against one, on a campaign of independent tasks: `python -m benchmarks.campaign`.

The tasks are searches of the free-agent graph of `cud`, the same one under different bounds, so that none has anything
to do with another and all are about equally long.  Each contender runs the whole campaign into a store of its own; they
alternate, and the best round of each counts.  Reports that differ stop the comparison.  Seconds are by the clock: what
is asked is how long a person waits.  The load of the machine is printed beside them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

DEEPEST = 1_000
"""A bound beyond the depth of the graph, so that every task searches all of it."""


def plan(folder: Path, tasks: int, scope: dict[str, int]) -> Path:
    """Write a campaign of this many tasks and return its path."""
    run = {"protocol": "cud", "engine": "explore", "system": "free", "scope": scope}
    runs = [{**run, "depth": DEEPEST + number} for number in range(tasks)]
    path = folder / "plan.json"
    path.write_text(json.dumps({"format": "evenhand/campaign", "version": 1, "runs": runs}), "utf-8")
    return path


def timed(path: Path, store: Path, *words: str) -> tuple[float, str]:
    """Return a campaign's seconds in a process of its own, from its first task to its end, and its report."""
    events = store.with_suffix(".jsonl")
    command = [sys.executable, "-m", "evenhand", "campaign", "run", str(path), "--store", str(store), "--json"]
    done = subprocess.run([*command, "--events", str(events), *words], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1, 3):
        raise SystemExit(f"the campaign failed:\n{done.stderr}")
    last = json.loads(events.read_text("utf-8").splitlines()[-1])
    report = json.loads(done.stdout)
    del report["timing"]
    return float(last["seconds"]), json.dumps(report, sort_keys=True)


@contextmanager
def cluster(folder: Path, workers: int) -> Generator[str]:
    """Yield the address of a Dask scheduler with single-thread workers on loopback."""
    told = folder / "scheduler.json"
    told.unlink(missing_ok=True)  # the file of the previous round names a dead address
    code = "from dask.__main__ import main; main()"
    started: list[subprocess.Popen[bytes]] = []

    def dask(*words: str) -> None:
        made = subprocess.Popen(
            [sys.executable, "-c", code, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        started.append(made)

    try:
        dask("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(told))
        while not told.exists():
            time.sleep(0.1)
        time.sleep(0.2)
        address = json.loads(told.read_text("utf-8"))["address"]
        for number in range(workers):
            place = str(folder / f"worker-{workers}-{number}")
            dask("worker", address, "--nthreads", "1", "--no-dashboard", "--no-nanny", "--local-directory", place)
        from distributed import Client

        with Client(address) as client:
            client.wait_for_workers(workers)
        yield address
    finally:
        for process in reversed(started):
            process.kill()
            process.wait()


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.campaign", description=__doc__)
    parser.add_argument("--tasks", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--scope", default="3,2,2", help="agents,keys,values of each task")
    parser.add_argument("--no-cluster", action="store_true", help="only processes of this machine")
    chosen = parser.parse_args(arguments)
    sizes = dict(zip(("agents", "keys", "values"), map(int, chosen.scope.split(",")), strict=True))
    best: dict[str, float] = {}
    reports: set[str] = set()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        path = plan(folder, chosen.tasks, sizes)
        for number in range(chosen.rounds):
            for workers in (1, 2):
                name = f"{workers} process{'es' if workers > 1 else ''}"
                seconds, report = timed(path, folder / f"here-{workers}-{number}", "--jobs", str(workers))
                best[name] = min(seconds, best.get(name, seconds))
                reports.add(report)
                if not chosen.no_cluster:
                    name = f"{workers} Dask worker{'s' if workers > 1 else ''}"
                    with cluster(folder, workers) as address:
                        seconds, report = timed(path, folder / f"there-{workers}-{number}", "--cluster", address)
                    best[name] = min(seconds, best.get(name, seconds))
                    reports.add(report)
    if len(reports) != 1:
        raise SystemExit("the contenders gave different reports")
    print(f"{chosen.tasks} tasks of {chosen.scope}; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print("| contender | seconds | times one of its kind |\n|---|---|---|")
    for name, seconds in best.items():
        kind = "process" if "process" in name else "Dask worker"
        print(f"| {name} | {seconds:.1f} | {best[f'1 {kind}'] / seconds:.2f} |")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
