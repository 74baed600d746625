"""Jobs in processes of their own, several at a time, results in the order of the plan.

A job runs in a child that ignores Ctrl-C and answers with the canonical JSON of its findings; the parent
waits, so that it can always be interrupted and then still holds every finding that was finished.  A search of
many configurations may use as many processes again, so that the last long job does not run alone.  A child that
dies (out of memory, say) or raises becomes UNDECIDED findings that say so.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, cast

from evenhand.engines import failed, run
from evenhand.model.canonical import canonical_bytes, parse
from evenhand.plan import Job
from evenhand.properties.registry import find
from evenhand.report.finding import Finding
from evenhand.sharing import share_in

__all__ = ["STOPPED", "Ran", "run_jobs"]

STOPPED = "an error stopped"
"""How the reason begins where an engine or a model raised."""


@dataclass(frozen=True)
class Ran:
    """What became of a plan: the findings of the finished jobs in the plan's order, and the rest.

    `seconds` is the wall time of each finished job by its title; `interrupted` says that Ctrl-C ended it.
    """

    findings: tuple[Finding, ...]
    unfinished: tuple[Job, ...] = ()
    interrupted: bool = False
    seconds: tuple[tuple[str, float], ...] = ()


Started = Callable[[Job], None]
Finished = Callable[[Job, tuple[Finding, ...]], None]


def _nothing_started(_job: Job) -> None:
    pass


def _nothing_finished(_job: Job, _found: tuple[Finding, ...]) -> None:
    pass


@dataclass(frozen=True)
class _Running:
    job: Job
    process: BaseProcess
    since: float


def run_jobs(
    jobs: Sequence[Job],
    *,
    workers: int = 1,
    started: Started = _nothing_started,
    finished: Finished = _nothing_finished,
) -> Ran:
    """Run every job, `workers` at a time.

    KeyboardInterrupt ends it and goes no further: the result says `interrupted` and holds what was finished.
    """
    waiting = list(enumerate(jobs))
    running: dict[Connection[Any, Any], tuple[int, _Running]] = {}
    done: dict[int, tuple[Finding, ...]] = {}
    seconds: dict[int, float] = {}
    interrupted = False
    shared = tempfile.TemporaryDirectory(prefix="evenhand-", ignore_cleanup_errors=True)
    try:
        while waiting or running:
            while waiting and len(running) < max(1, workers):
                index, job = waiting.pop(0)
                started(job)
                connection, process = _start(job, workers, Path(shared.name))
                running[connection] = (index, _Running(job, process, time.monotonic()))
            for ready in wait(list(running)):
                index, child = running.pop(cast("Connection[Any, Any]", ready))
                done[index] = _answer(child, cast("Connection[Any, Any]", ready))
                seconds[index] = time.monotonic() - child.since
                finished(child.job, done[index])
    except KeyboardInterrupt:
        interrupted = True
        for _, child in running.values():
            _stop(child.process)
        for _, child in running.values():
            child.process.join()
    findings = tuple(found for index in sorted(done) for found in done[index])
    unfinished = tuple(job for index, job in enumerate(jobs) if index not in done)
    return Ran(findings, unfinished, interrupted, tuple((jobs[i].title, seconds[i]) for i in sorted(seconds)))


def _stop(process: BaseProcess) -> None:
    """End a child and the processes that it started itself: they are a group of their own where there are groups."""
    try:
        os.killpg(cast("int", process.pid), signal.SIGTERM)
    except (AttributeError, ProcessLookupError, PermissionError):
        process.terminate()


def _start(job: Job, workers: int, shared: Path) -> tuple[Connection[Any, Any], BaseProcess]:
    context = multiprocessing.get_context()
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(theirs, job, workers, shared))
    process.start()
    theirs.close()
    return ours, process


def _child(connection: Connection[Any, Any], job: Job, workers: int, shared: Path) -> None:
    if hasattr(os, "setpgrp"):
        os.setpgrp()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    bundle = find(job.protocol)
    try:
        with share_in(shared):
            found = run(bundle, job, workers=workers)
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        reason = f"{STOPPED} {job.engine} at {where.name}: {type(error).__name__}: {error}"
        found = failed(bundle, job, reason)
    connection.send_bytes(canonical_bytes([finding.to_json() for finding in found]))
    connection.close()


def _answer(child: _Running, connection: Connection[Any, Any]) -> tuple[Finding, ...]:
    try:
        found = tuple(Finding.from_json(made) for made in parse(connection.recv_bytes()))
    except EOFError:
        child.process.join()
        code = child.process.exitcode
        found = failed(find(child.job.protocol), child.job, f"its process ended with exit code {code}")
    child.process.join()
    connection.close()
    return found
