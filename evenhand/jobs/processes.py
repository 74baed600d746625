"""Tasks in processes of their own, several at a time: how a child is started, told, awaited and ended.

A child ignores Ctrl-C and answers each message with bytes; the parent waits, so that it can always be interrupted and
then still holds every answer that was given.  Whatever becomes of a child is its own affair: one that dies, takes too
long or needs too much memory ends its task and no other.  A child whose parent is gone ends as well (where the
kernel offers that), so that no process is left working for nobody.

Tasks with the same affinity are done by one child, one after the other, because what they share is built once in a
process; a second child of an affinity is begun only when nothing else waits.
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

__all__ = ["NO_LIMITS", "ChildTask", "Ended", "ProcessLimits", "end_with_parent", "in_children", "limit_memory"]

GLANCE = 0.5
"""Seconds between two looks at the clock while children work."""


@dataclass(frozen=True)
class ProcessLimits:
    """What one task may take: seconds by the clock, bytes of memory of its own; None: no limit."""

    seconds: float | None = None
    memory: int | None = None


NO_LIMITS = ProcessLimits()


@dataclass(frozen=True)
class ChildTask:
    """What a child is told, with whom it shares one, and what it may take."""

    message: bytes
    affinity: str = ""
    limits: ProcessLimits = NO_LIMITS


@dataclass(frozen=True)
class Ended:
    """What became of an task: its answer, or the exit code of the child that died, or that it took too long."""

    answer: bytes | None
    seconds: float
    code: int | None = None
    late: bool = False


Work = Callable[[bytes], bytes]
Started = Callable[[int], None]
Finished = Callable[[int, Ended], Iterable[ChildTask]]


@dataclass(frozen=True)
class _Child:
    """A process that does what it is told, and this side of the pipe to it."""

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
    """Do every task by `work` in children, `workers` at a time, and those that `finished` gives back after them.

    Tasks are numbered from 0 as they come.  `started` and `finished` are called here, in the parent; so is `tick`,
    now and then while children work.  Whatever is raised here (KeyboardInterrupt, say) ends all children first.
    """
    waiting = dict(enumerate(tasks))
    total = len(waiting)
    running: dict[Connection[Any, Any], _Running] = {}
    alive: list[_Child] = []  # those between two tasks as well
    look = tick or _no_look

    def begin(number: int, child: _Child) -> None:
        child_task = waiting.pop(number)
        started(number)
        running[child.connection] = _Running(number, child_task, child, time.monotonic())
        # A child that is dead already is noticed when its answer is awaited.
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
    """Wait until something happens, or for a moment where the clock matters, and say what came to an end."""
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
    """What a child answered, or how it ended instead."""
    try:
        return Ended(ran.child.connection.recv_bytes(), time.monotonic() - ran.since)
    except (EOFError, ConnectionResetError):
        ran.child.process.join()
        return Ended(None, time.monotonic() - ran.since, code=ran.child.process.exitcode)


def _stop(process: BaseProcess, by: signal.Signals) -> None:
    """End a child and the processes that it started itself: they are a group of their own where there are groups."""
    try:
        os.killpg(cast("int", process.pid), by)
    except (AttributeError, ProcessLookupError, PermissionError):
        process.kill() if by == signal.SIGKILL else process.terminate()


def _next(waiting: Mapping[int, ChildTask], running: Iterable[_Running]) -> int:
    """The task to begin in a new child: the first whose affinity has no child yet, else the first."""
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
    parents.close()  # or the end of the parent would not be noticed
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
    """Let this process be killed when `parent`, which started it, ends in whatever way; on Linux, else nothing."""
    if not sys.platform.startswith("linux"):
        return
    set_death_signal = 1  # PR_SET_PDEATHSIG of prctl(2)
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(set_death_signal, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before that was asked for
        os.kill(os.getpid(), signal.SIGKILL)


def limit_memory(size: int | None) -> None:
    """Let this process have `size` bytes of its own from now on; what asks for more gets a MemoryError.

    Each process that it starts has as much again.  Nothing where the platform has no such limit.
    """
    try:
        import resource
    except ImportError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    soft = hard if size is None else size
    resource.setrlimit(resource.RLIMIT_DATA, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))


def _dismiss(child: _Child) -> None:
    """Let a child end: nothing more is asked of it."""
    with contextlib.suppress(OSError):
        child.connection.send_bytes(b"")
    child.process.join()
    child.connection.close()
