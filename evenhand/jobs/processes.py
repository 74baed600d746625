"""Run tasks in child processes, several at a time: start a child, send it tasks, await and end it.

A child ignores Ctrl-C and answers each message with bytes; the parent only waits, so that it can always be interrupted
and then still holds every answer given.  A child that dies, takes too long or needs too much memory ends its own task
only.  A child ends when its parent ends (where the operating system supports this), so that no orphan is left.

Tasks with the same affinity run in one child, one after the other, because they share what the process builds; a second
child of an affinity is started only when no other task waits.
"""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, cast

GLANCE = 0.5
"""Seconds between two checks of the clock while children work."""


@dataclass(frozen=True)
class ProcessLimits:
    """The limits of one task: wall-clock seconds, bytes of memory of its own; None: no limit."""

    seconds: float | None = None
    memory: int | None = None


NO_LIMITS = ProcessLimits()


@dataclass(frozen=True)
class ChildTask:
    """A task for a child: its message, its affinity, and its limits."""

    message: bytes
    affinity: str = ""
    limits: ProcessLimits = NO_LIMITS


@dataclass(frozen=True)
class Ended:
    """The end of a task: its answer, or the exit code of the child that died, or `late` if it took too long."""

    answer: bytes | None
    seconds: float
    code: int | None = None
    late: bool = False


Work = Callable[[bytes], bytes]
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

    @property
    def late(self) -> bool:
        limit = self.child_task.limits.seconds
        return limit is not None and time.monotonic() - self.since > limit


def _no_look() -> None:
    pass


def in_children(
    tasks: Iterable[ChildTask],
    work: Work,
    *,
    workers: int = 1,
    started: Started,
    finished: Finished,
    tick: Callable[[], None] | None = None,
) -> None:
    """Run every task by `work` in children, `workers` at a time, then those that `finished` returns.

    Tasks are numbered from 0 as they come.  The parent calls `started` and `finished`, and `tick` now and then while
    children work.  An exception in the parent (KeyboardInterrupt, say) ends all children first.
    """
    waiting = dict(enumerate(tasks))
    total = len(waiting)
    running: dict[Connection[Any, Any], _Running] = {}
    alive: list[_Child] = []  # also those between two tasks
    look = tick or _no_look

    def begin(number: int, child: _Child) -> None:
        child_task = waiting.pop(number)
        started(number)
        running[child.connection] = _Running(number, child_task, child, time.monotonic())
        # A dead child is noticed when its answer is awaited.
        with contextlib.suppress(OSError):
            child.connection.send_bytes(child_task.message)

    try:
        while waiting or running:
            while waiting and len(running) < max(1, workers):
                number = _next(waiting, running.values())
                alive.append(_start(work))
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
            look()
    except BaseException:
        for child in alive:
            _stop(child.process, signal.SIGTERM)
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
        if connection not in ready and ran.late:
            _stop(ran.child.process, signal.SIGKILL)
            ran.child.process.join()
            yield ran, Ended(None, time.monotonic() - ran.since, late=True)


def _answer(ran: _Running) -> Ended:
    """The answer of a child, or how it ended instead."""
    try:
        return Ended(ran.child.connection.recv_bytes(), time.monotonic() - ran.since)
    except (EOFError, ConnectionResetError):
        ran.child.process.join()
        return Ended(None, time.monotonic() - ran.since, code=ran.child.process.exitcode)


def _stop(process: BaseProcess, by: signal.Signals) -> None:
    """End a child and the processes that it started: its process group, where the platform has groups."""
    try:
        os.killpg(cast("int", process.pid), by)
    except (AttributeError, ProcessLookupError, PermissionError):
        process.kill() if by == signal.SIGKILL else process.terminate()


def _next(waiting: Mapping[int, ChildTask], running: Iterable[_Running]) -> int:
    """The task for a new child: the first whose affinity has no child yet, else the first."""
    served = {ran.child_task.affinity for ran in running if ran.child_task.affinity}
    return next(
        (number for number, child_task in waiting.items() if child_task.affinity not in served), next(iter(waiting))
    )


def _start(work: Work) -> _Child:
    context = multiprocessing.get_context()
    ours, theirs = context.Pipe()
    process = context.Process(target=_child, args=(ours, theirs, work, os.getpid()))
    process.start()
    theirs.close()
    return _Child(process, ours)


def _child(parents: Connection[Any, Any], connection: Connection[Any, Any], work: Work, parent: int) -> None:
    parents.close()  # otherwise the child would not notice the end of the parent
    if hasattr(os, "setpgrp"):
        os.setpgrp()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    end_with_parent(parent)
    with contextlib.suppress(EOFError):
        while request := connection.recv_bytes():
            connection.send_bytes(work(request))
    connection.close()


def end_with_parent(parent: int) -> None:
    """Have this process killed when `parent`, which started it, ends in any way; does nothing except on Linux."""
    if not sys.platform.startswith("linux"):
        return
    set_death_signal = 1  # PR_SET_PDEATHSIG of prctl(2)
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(set_death_signal, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before the call
        os.kill(os.getpid(), signal.SIGKILL)


def limit_memory(size: int | None) -> None:
    """Limit this process to `size` bytes of its own (None: no limit); allocating more raises MemoryError.

    Each process that it starts has the same limit of its own.  Does nothing where the platform has no such limit.
    """
    try:
        import resource
    except ImportError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    soft = hard if size is None else size
    resource.setrlimit(resource.RLIMIT_DATA, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))


def _dismiss(child: _Child) -> None:
    """End a child that has no further task."""
    with contextlib.suppress(OSError):
        child.connection.send_bytes(b"")
    child.process.join()
    child.connection.close()
