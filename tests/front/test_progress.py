"""Progress of a plan: what is done in each protocol, and how long the rest takes if jobs of a kind take alike."""

from __future__ import annotations

from evenhand.cli.progress import PlanProgress, duration
from evenhand.jobs.plan import Job

JOBS = (
    *(Job("one", "explore", scope=(("agents", size),)) for size in (1, 2, 3)),
    Job("two", "explore"),
    Job("two", "prove"),
)


class Clock:
    """A clock that the test moves."""

    now = 0.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now


def test_the_time_left_follows_from_jobs_of_the_same_kind() -> None:
    """Of the same protocol and engine, else of the engine, else of any; what runs is partly done; workers share."""
    clock = Clock()
    progress = PlanProgress(JOBS, 1, clock)
    assert progress.left is None, "nothing is known before a job ended"
    progress.started(JOBS[0])
    clock.now = 10
    progress.finished(JOBS[0])
    assert progress.left == 2 * 10 + 10 + 10
    progress.started(JOBS[1])
    clock.now = 14
    assert progress.left == (10 - 4) + 10 + 10 + 10
    clock.now = 40
    progress.finished(JOBS[1])
    assert progress.left == 20 + 20 + 20, "the mean of 10 and 30 seconds"
    progress.started(JOBS[4])
    clock.now = 42
    progress.finished(JOBS[4])
    assert progress.left == 20 + 20, "of the search of `two`, as of other searches; the proof is done"


def test_what_takes_long_takes_longer_and_what_runs_in_a_row_is_not_shared() -> None:
    """A job beyond the usual time is expected to take half as long again; two workers share searches, not proofs."""
    clock = Clock()
    proofs = tuple(Job("one", "prove", theorem=name) for name in "abc")
    progress = PlanProgress((*JOBS[:3], *proofs), 2, clock)
    for job in (JOBS[0], proofs[0]):
        progress.started(job)
        clock.now += 10
        progress.finished(job)
    assert progress.left == 20, "two searches and two proofs of ten seconds each"
    progress.started(JOBS[1])
    clock.now += 30
    assert progress.left == (30 / 2 + 10 + 2 * 10) / 2
    progress.finished(JOBS[1])
    progress.started(JOBS[2])
    clock.now += 100
    progress.finished(JOBS[2])
    assert progress.left == 20, "one after the other"


def test_the_line_says_what_is_done_what_is_left_and_what_runs() -> None:
    """A finished protocol is named as done; a running job has its title."""
    clock = Clock()
    progress = PlanProgress(JOBS, 1, clock)
    for job in JOBS[:3]:
        progress.started(job)
        clock.now += 60
        progress.finished(job)
    progress.started(JOBS[3])
    assert progress.line() == "3 of 5 jobs after 3 min, about 2 min left: one done, two 0/2; now explore two"


def test_equal_jobs_are_counted_apart() -> None:
    """A plan may hold a job twice."""
    progress = PlanProgress((JOBS[0], JOBS[0]), 2, Clock())
    for _ in range(2):
        progress.started(JOBS[0])
    for _ in range(2):
        progress.finished(JOBS[0])
    assert progress.done.total() == 2 and not progress.running


def test_a_duration_is_as_exact_as_a_guess() -> None:
    """Seconds, then minutes, then hours."""
    assert [duration(seconds) for seconds in (0.4, 89, 90, 3599, 7800)] == [
        "0 s",
        "89 s",
        "2 min",
        "60 min",
        "2 h 10 min",
    ]
