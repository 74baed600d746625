"""Run jobs in parallel processes, with results in the order of the plan.

A job runs in a child process (see `evenhand.processes`) that returns the canonical JSON of its findings.  A search of
many configurations may use as many processes again, so that the last long job is parallel too.  A child that dies (out
of memory, say) or raises gives UNDECIDED findings with the reason.
"""

from __future__ import annotations

import tempfile
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from evenhand.core.canonical import canonical_bytes, parse
from evenhand.core.registry import find
from evenhand.evidence.finding import STOPPED, Finding
from evenhand.jobs.engines import run
from evenhand.jobs.findings import failed
from evenhand.jobs.plan import Job
from evenhand.jobs.proof_cache import share_in
from evenhand.processes.group import Ended
from evenhand.processes.pool import ChildTask, in_children


@dataclass(frozen=True)
class Ran:
    """The result of a plan: the findings of the finished jobs in the plan's order, and the unfinished jobs.

    `seconds` is the wall time of each finished job by its title; `interrupted` says that Ctrl-C ended it.
    """

    findings: tuple[Finding, ...]
    unfinished: tuple[Job, ...] = ()
    interrupted: bool = False
    seconds: tuple[tuple[str, float], ...] = ()


Started = Callable[[Job], None]
Finished = Callable[[Job, tuple[Finding, ...]], None]


def run_jobs(
    jobs: Sequence[Job],
    *,
    workers: int = 1,
    started: Started = lambda _job: None,
    finished: Finished = lambda _job, _found: None,
    tick: Callable[[], None] | None = None,
    certificates: Path | None = None,
) -> Ran:
    """Run every job, `workers` at a time, and return what was found; `tick` is called now and then meanwhile.

    Valid `certificates` in a folder answer the queries of proofs in place of the solvers.
    KeyboardInterrupt ends the run and is not raised: the result says `interrupted` and holds the finished jobs.
    """
    done: dict[int, tuple[Finding, ...]] = {}
    seconds: dict[int, float] = {}
    interrupted = False
    shared = tempfile.TemporaryDirectory(prefix="evenhand-", ignore_cleanup_errors=True)

    def ended(number: int, what: Ended) -> tuple[ChildTask, ...]:
        done[number] = _found(jobs[number], what)
        seconds[number] = what.seconds
        finished(jobs[number], done[number])
        return ()

    try:
        in_children(
            [ChildTask(number, job.affinity) for number, job in enumerate(jobs)],
            _Jobs(jobs, workers, Path(shared.name), certificates),
            workers=workers,
            started=lambda number: started(jobs[number]),
            finished=ended,
            tick=tick,
        )
    except KeyboardInterrupt:
        interrupted = True
    findings = tuple(found for number in sorted(done) for found in done[number])
    unfinished = tuple(job for number, job in enumerate(jobs) if number not in done)
    return Ran(findings, unfinished, interrupted, tuple((jobs[i].title, seconds[i]) for i in sorted(seconds)))


@dataclass(frozen=True)
class _Jobs:
    """The work of a child: a request is the place of a job in the plan, the response its findings."""

    jobs: Sequence[Job]
    workers: int
    shared: Path
    certificates: Path | None

    def __call__(self, request: int) -> bytes:
        with share_in(self.shared, self.certificates):
            found = _findings(self.jobs[request], self.workers)
        return canonical_bytes([finding.to_json() for finding in found])


def _findings(job: Job, workers: int) -> tuple[Finding, ...]:
    bundle = find(job.protocol)
    try:
        return run(bundle, job, workers=workers)
    except Exception as error:
        return failed(bundle, job, stopped(job, error))


def stopped(job: Job, error: Exception) -> str:
    """Return the reason why a job that raised is undecided, in one line."""
    where = traceback.extract_tb(error.__traceback__)[-1]
    return f"{STOPPED} {job.engine} at {where.name}: {type(error).__name__}: {error}"


def _found(job: Job, what: Ended) -> tuple[Finding, ...]:
    """The findings of a child, or UNDECIDED ones if it died."""
    if what.answer is None:
        return failed(find(job.protocol), job, f"its process ended with exit code {what.code}")
    return tuple(Finding.from_json(made) for made in parse(what.answer))
