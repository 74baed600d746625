"""Jobs in processes of their own, several at a time, results in the order of the plan.

A job runs in a child that ignores Ctrl-C and answers with the canonical JSON of its findings; the parent
waits, so that it can always be interrupted and then still holds every finding that was finished.  A search of
many configurations may use as many processes again, so that the last long job does not run alone.  A child that
dies (out of memory, say) or raises becomes UNDECIDED findings that say so.

Jobs of one company (the theorems of a protocol) are done by one child, one after the other, because what they
share is built once in a process; a second child of a company is begun only when nothing else waits.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
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
class _Child:
    """A process that does the jobs whose places in the plan it is told, and this side of the pipe to it."""

    process: BaseProcess
    connection: Connection[Any, Any]


@dataclass(frozen=True)
class _Running:
    index: int
    job: Job
    child: _Child
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
    waiting = dict(enumerate(jobs))
    running: dict[Connection[Any, Any], _Running] = {}
    alive: list[_Child] = []  # those between two jobs as well
    done: dict[int, tuple[Finding, ...]] = {}
    seconds: dict[int, float] = {}
    interrupted = False
    shared = tempfile.TemporaryDirectory(prefix="evenhand-", ignore_cleanup_errors=True)

    def begin(index: int, child: _Child) -> None:
        job = waiting.pop(index)
        started(job)
        running[child.connection] = _Running(index, job, child, time.monotonic())
        # A child that is dead already is noticed when its answer is awaited.
        with contextlib.suppress(OSError):
            child.connection.send_bytes(str(index).encode())

    try:
        while waiting or running:
            while waiting and len(running) < max(1, workers):
                index = _next(waiting, running.values())
                alive.append(_start(jobs, workers, Path(shared.name)))
                begin(index, alive[-1])
            for ready in wait(list(running)):
                ran = running[cast("Connection[Any, Any]", ready)]
                found, answers = _answer(ran)
                del running[ran.child.connection]
                done[ran.index] = found
                seconds[ran.index] = time.monotonic() - ran.since
                finished(ran.job, found)
                more = [index for index, job in waiting.items() if job.company and job.company == ran.job.company]
                if answers and more:
                    begin(more[0], ran.child)
                else:
                    _dismiss(ran.child)
                    alive.remove(ran.child)
    except KeyboardInterrupt:
        interrupted = True
        for child in alive:
            _stop(child.process)
        for child in alive:
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


def _next(waiting: Mapping[int, Job], running: Iterable[_Running]) -> int:
    """The place of the job to begin in a new child: the first whose company has no child yet, else the first."""
    served = {ran.job.company for ran in running if ran.job.company}
    return next((index for index, job in waiting.items() if job.company not in served), next(iter(waiting)))


def _start(jobs: Sequence[Job], workers: int, shared: Path) -> _Child:
    context = multiprocessing.get_context()
    ours, theirs = context.Pipe()
    process = context.Process(target=_child, args=(ours, theirs, jobs, workers, shared))
    process.start()
    theirs.close()
    return _Child(process, ours)


def _child(
    parents: Connection[Any, Any], connection: Connection[Any, Any], jobs: Sequence[Job], workers: int, shared: Path
) -> None:
    parents.close()  # or the end of the parent would not be noticed
    if hasattr(os, "setpgrp"):
        os.setpgrp()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with share_in(shared), contextlib.suppress(EOFError):
        while told := connection.recv_bytes():
            found = _findings(jobs[int(told)], workers)
            connection.send_bytes(canonical_bytes([finding.to_json() for finding in found]))
    connection.close()


def _findings(job: Job, workers: int) -> tuple[Finding, ...]:
    bundle = find(job.protocol)
    try:
        return run(bundle, job, workers=workers)
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        reason = f"{STOPPED} {job.engine} at {where.name}: {type(error).__name__}: {error}"
        return failed(bundle, job, reason)


def _answer(ran: _Running) -> tuple[tuple[Finding, ...], bool]:
    """What a child found, and whether it can be asked again."""
    try:
        return tuple(Finding.from_json(made) for made in parse(ran.child.connection.recv_bytes())), True
    except EOFError:
        ran.child.process.join()
        code = ran.child.process.exitcode
        return failed(find(ran.job.protocol), ran.job, f"its process ended with exit code {code}"), False


def _dismiss(child: _Child) -> None:
    """Let a child end: nothing more is asked of it."""
    with contextlib.suppress(OSError):
        child.connection.send_bytes(b"")
    child.process.join()
    child.connection.close()
