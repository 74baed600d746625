"""Run tasks in child processes, several at a time: start a child, send it tasks, await and end it.

A child ignores Ctrl-C and answers each message; the parent only waits, so that it can always be interrupted and then
still holds every answer given.  A child that dies, takes too long or needs too much memory ends its own task only.  A
child ends when its parent ends (where the operating system supports this), so that no orphan is left.

Tasks with the same affinity run in one child, one after the other, because they share what the process builds; a second
child of an affinity is started only when no other task waits.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar, cast

from evenhand.processes.clock import TimeHad
from evenhand.processes.group import Ended, kill
from evenhand.processes.launch import end_with_parent

T = TypeVar("T")

GLANCE = 0.5
"""Seconds between two checks of the clock while children work."""


@dataclass(frozen=True)
class ProcessLimits:
    """The limits of one task: seconds (see `TimeHad`), bytes of memory of its own; None: no limit."""

    seconds: float | None = None
    memory: int | None = None


NO_LIMITS = ProcessLimits()


@dataclass(frozen=True)
class ChildTask:
    """A task for a child: its message (not None), its affinity, and its limits."""

    message: Any
    affinity: str = ""
    limits: ProcessLimits = NO_LIMITS


Work = Callable[[Any], Any]
"""From a message to its answer (not None); both are pickled on their way."""
Started = Callable[[int], None]
Finished = Callable[[int, Ended], Iterable[ChildTask]]


@dataclass(frozen=True)
class _Child:
    """A child process, and the parent's end of the pipe to it."""

    process: BaseProcess
    connection: Connection[Any, Any]


@dataclass(frozen=True)
class _Running:
    number: int
    child_task: ChildTask
    child: _Child
    since: float
    had: TimeHad | None

    @property
    def over(self) -> float | None:
        """The seconds that it had, if they are too many."""
        limit = self.child_task.limits.seconds
        return None if limit is None or self.had is None else self.had.over(limit)


def in_children(
    tasks: Iterable[ChildTask],
    work: Work,
    *,
    workers: int = 1,
    finished: Finished,
    started: Started | None = None,
    tick: Callable[[], None] | None = None,
    method: str | None = None,
) -> None:
    """Run every task by `work` in children, `workers` at a time, then those that `finished` returns.

    Tasks are numbered from 0 as they come.  The parent calls `started` and `finished`, and `tick` now and then while
    children work.  An exception in the parent (KeyboardInterrupt, say) ends all children first.  `method` starts a
    child (`fork`: `work` is not pickled); None: the platform's own.
    """
    waiting = dict(enumerate(tasks))
    total = len(waiting)
    running: dict[Connection[Any, Any], _Running] = {}
    alive: list[_Child] = []  # also those between two tasks

    def begin(number: int, child: _Child) -> None:
        child_task = waiting.pop(number)
        if started is not None:
            started(number)
        had = None if child_task.limits.seconds is None else TimeHad(child.process.pid or 0)
        running[child.connection] = _Running(number, child_task, child, time.monotonic(), had)
        # A dead child is noticed when its answer is awaited.
        with contextlib.suppress(OSError):
            child.connection.send(child_task.message)

    try:
        while waiting or running:
            while waiting and len(running) < max(1, workers):
                number = _next(waiting, running.values())
                alive.append(_start(work, method))
                begin(number, alive[-1])
            for ran, ended in _endings(running, tick is not None):
                del running[ran.child.connection]
                for more in finished(ran.number, ended):
                    waiting[total] = more
                    total += 1
                affinity = ran.child_task.affinity
                mates = [
                    number for number, child_task in waiting.items() if affinity and child_task.affinity == affinity
                ]
                if ended.answer is not None and mates:
                    begin(mates[0], ran.child)
                else:
                    _dismiss(ran.child)
                    alive.remove(ran.child)
            if tick is not None:
                tick()
    except BaseException:
        for child in alive:
            kill(child.process)
        for child in alive:
            child.process.join()
        raise


def _endings(running: Mapping[Connection[Any, Any], _Running], glance: bool) -> Iterator[tuple[_Running, Ended]]:
    """Wait for an answer, or at most `GLANCE` seconds where the clock matters; yield the tasks that ended."""
    timed = glance or any(ran.child_task.limits.seconds is not None for ran in running.values())
    ready = wait(list(running), GLANCE if timed else None)
    for connection in ready:
        ran = running[cast("Connection[Any, Any]", connection)]
        yield ran, _answer(ran)
    for connection, ran in list(running.items()):
        if connection not in ready and (over := ran.over) is not None:
            kill(ran.child.process)
            ran.child.process.join()
            yield ran, Ended(None, time.monotonic() - ran.since, late=True, had=over)


def _answer(ran: _Running) -> Ended:
    """The answer of a child, or how it ended instead."""
    try:
        return Ended(ran.child.connection.recv(), time.monotonic() - ran.since)
    except (EOFError, ConnectionResetError):
        ran.child.process.join()
        return Ended(None, time.monotonic() - ran.since, code=ran.child.process.exitcode)


def _next(waiting: Mapping[int, ChildTask], running: Iterable[_Running]) -> int:
    """The task for a new child: the first whose affinity has no child yet, else the first."""
    served = {ran.child_task.affinity for ran in running if ran.child_task.affinity}
    return next(
        (number for number, child_task in waiting.items() if child_task.affinity not in served), next(iter(waiting))
    )


def _start(work: Work, method: str | None) -> _Child:
    context = cast("Any", multiprocessing.get_context(method))  # the base class of contexts does not declare Process
    ours, theirs = context.Pipe()
    leads = multiprocessing.parent_process() is None  # a child's children are in its group
    process: BaseProcess = context.Process(target=_child, args=(ours, theirs, work, os.getpid(), leads))
    process.start()
    theirs.close()
    return _Child(process, ours)


def _child(
    parents: Connection[Any, Any], connection: Connection[Any, Any], work: Work, parent: int, leads: bool
) -> None:
    parents.close()  # otherwise the child would not notice the end of the parent
    if leads and hasattr(os, "setpgrp"):
        os.setpgrp()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    end_with_parent(parent)
    gone = (EOFError, ConnectionError)  # the parent ended, maybe with an answer unread
    message: Any = None
    with contextlib.suppress(*gone):
        message = connection.recv()
    while message is not None:
        answer, message = work(message), None
        with contextlib.suppress(*gone):
            connection.send(answer)
            message = connection.recv()
    connection.close()


def _dismiss(child: _Child) -> None:
    """End a child that has no further task."""
    with contextlib.suppress(OSError):
        child.connection.send(None)
    child.process.join()
    child.connection.close()


class WorkerDied(RuntimeError):
    """A process of `in_order` ended before it answered."""


def in_order(work: Callable[[int], T], count: int, *, workers: int, each: Callable[[T], None]) -> None:
    """Call `each` with `work(0)`, `work(1)` … in this order; forked children do the work.

    Raises what `work` raised first in this order, and WorkerDied.  Needs a platform that can fork.
    """
    waiting: dict[int, tuple[T, None] | tuple[None, BaseException]] = {}
    done = 0

    def ended(number: int, what: Ended) -> tuple[ChildTask, ...]:
        nonlocal done
        died = WorkerDied(f"a process of the search ended with exit code {what.code}")
        waiting[number] = what.answer or (None, died)
        while done in waiting:
            made, error = waiting.pop(done)
            if error is not None:
                raise error
            each(cast("T", made))
            done += 1
        return ()

    def attempt(number: int) -> tuple[T, None] | tuple[None, BaseException]:
        try:
            return work(number), None
        except BaseException as error:
            error.add_note("".join(traceback.format_exception(error)))  # pickling loses the traceback
            return None, error

    tasks = [ChildTask(number, affinity="one search") for number in range(count)]
    in_children(tasks, attempt, workers=workers, finished=ended, method="fork")
