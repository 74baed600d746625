"""Progress of a plan: per protocol how many jobs are done, and about how long the others take.

The time left is estimated from the jobs that ended: a job takes as long as those of its protocol and engine did on
average, else of its engine, else of all; one that takes longer takes half as long again.  Jobs of one affinity do not
run side by side.  It is a guess (the last scope of a search is the largest) and says so.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, TaskID, TextColumn

from evenhand.cli.console import LogTimes, on_terminal, say
from evenhand.core.text import inert
from evenhand.jobs.plan import Job
from evenhand.report.phrases import short

NOW = 48
"""Characters of the title of a running job."""


class PlanProgress:
    """Which jobs of a plan are done, which run, and since when."""

    def __init__(self, jobs: Sequence[Job], workers: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.workers, self.clock = workers, clock
        self.began = clock()
        self.total = Counter(job.protocol for job in jobs)
        self.done = Counter[str]()
        self._waiting = Counter((job.protocol, job.engine) for job in jobs)
        self._in_a_row = {(job.protocol, job.engine) for job in jobs if job.affinity}
        self.running: list[tuple[Job, float]] = []
        self._taken: dict[tuple[str, str], list[float]] = {}

    def started(self, job: Job) -> None:
        """Note that a job runs."""
        self._waiting[job.protocol, job.engine] -= 1
        self.running.append((job, self.clock()))

    def finished(self, job: Job) -> None:
        """Note that a job ended."""
        number = next(number for number, (one, _) in enumerate(self.running) if one == job)
        _, since = self.running.pop(number)
        self.done[job.protocol] += 1
        self._taken.setdefault((job.protocol, job.engine), []).append(self.clock() - since)

    def now(self, protocol: str = "") -> str:
        """Return the titles of the jobs that run, of one protocol or of all, the oldest first."""
        return "; ".join(short(inert(job.title), NOW) for job, _ in self.running if protocol in ("", job.protocol))

    @property
    def left(self) -> float | None:
        """About how many seconds the rest takes; None before any job ended."""
        if not self._taken:
            return None
        seconds: dict[tuple[str, str], float] = defaultdict(float)
        for kind, count in self._waiting.items():
            seconds[kind] += count * self._usual(*kind)
        for job, since in self.running:
            usual, passed = self._usual(job.protocol, job.engine), self.clock() - since
            seconds[job.protocol, job.engine] += usual - passed if passed < usual else passed / 2
        alone = max((seconds[kind] for kind in self._in_a_row), default=0.0)
        return max(alone, sum(seconds.values()) / max(1, self.workers))

    def _usual(self, protocol: str, engine: str) -> float:
        same = self._taken.get((protocol, engine)) or _every(
            taken for kind, taken in self._taken.items() if kind[1] == engine
        )
        taken = same or _every(self._taken.values())
        return sum(taken) / len(taken)

    @property
    def headline(self) -> str:
        """`28 of 212 jobs after 38 s, about 5 min left`."""
        passed = duration(self.clock() - self.began)
        left = f", about {duration(self.left)} left" if self.left is not None else ""
        return f"{self.done.total()} of {self.total.total()} jobs after {passed}{left}"

    def line(self) -> str:
        """Return all of it in one line, for a log."""
        parts = (
            f"{protocol} {'done' if self.done[protocol] == total else f'{self.done[protocol]}/{total}'}"
            for protocol, total in self.total.items()
        )
        now = f"; now {self.now()}" if self.running else ""
        return f"{self.headline}: {', '.join(parts)}{now}"


def _every(lists: Iterable[list[float]]) -> list[float]:
    return [seconds for one in lists for seconds in one]


def duration(seconds: float) -> str:
    """Return `40 s`, `6 min`, `2 h 10 min`: no more exact than a guess is."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


@contextmanager
def showing(progress: PlanProgress, what: str) -> Generator[Callable[[], None]]:
    """Show it on standard error; yields what looks again, to be called now and then.

    On a terminal a bar for each protocol; elsewhere a line after a few seconds and then every minute.
    """
    console = on_terminal()
    if console is None:
        times = LogTimes()

        def log() -> None:
            if times.due():
                say(f"{what}: {progress.line()}")

        yield log
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(24),
        TextColumn("{task.fields[words]}", markup=False),
    )
    with Progress(*columns, console=console, auto_refresh=False, transient=True) as bars:
        head = bars.add_task(what, total=progress.total.total(), words="")
        rows = {
            name: bars.add_task(f"  {inert(name)}", total=total, words="") for name, total in progress.total.items()
        }

        def draw() -> None:
            _draw(bars, head, rows, progress)

        draw()
        yield draw


def _draw(bars: Progress, head: TaskID, rows: dict[str, TaskID], progress: PlanProgress) -> None:
    bars.update(head, completed=progress.done.total(), words=progress.headline)
    for name, row in rows.items():
        done, total = progress.done[name], progress.total[name]
        bars.update(row, completed=done, words=f"{done}/{total} {progress.now(name)}")
    bars.refresh()
