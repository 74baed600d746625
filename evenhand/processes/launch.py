"""Run a command, and end everything that it started: `python launch.py LIFELINE MEMORY CPU PROCESSES command …`.

This process is a watcher.  The command runs as its child, in a session of its own, under limits (bytes of memory,
seconds of CPU; 0: none) that hold before any foreign code runs and for each process that it starts.  On Linux the
watcher adopts every descendant that loses its parent (it is a *subreaper*), so it finds also those in sessions of their
own.  It bounds their memory and their number together, and kills all of them when the command ends, when a bound is
passed, or when the socket LIFELINE closes, as it does when whoever asked ends in any way.  It passes SIGINT on to the
command.  Its exit code is the command's.  Elsewhere it kills the command's process group, and the limits of each
process remain.

Unlike `preexec_fn` of `subprocess`, this is safe where threads run.  The file imports nothing of evenhand, so that it
starts in a few milliseconds.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import NoReturn

LOOK = 0.1
"""Seconds between two looks at the memory of the descendants, at least."""

PART = 0.05
"""The largest part of a processor that looking at them may take."""

PATIENCE = 5.0
"""Seconds after which processes that cannot be killed are left."""


def end_with_parent(parent: int) -> None:
    """Have this process killed when `parent`, which started it, ends in any way; does nothing except on Linux."""
    _control(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if sys.platform.startswith("linux") and os.getppid() != parent:  # it ended before the call
        os.kill(os.getpid(), signal.SIGKILL)


def _control(option: int, value: int) -> None:
    """Set an attribute of this process by prctl(2), on Linux."""
    if sys.platform.startswith("linux"):
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(option, value)


def limit(resource_name: str, most: int | None, *, for_good: bool = False) -> None:
    """Limit a resource of this process and its later children: DATA (bytes of memory of its own), CPU (seconds) …

    None: the most that the system allows.  A limit `for_good` cannot be raised again.  Allocating beyond DATA raises
    MemoryError; V8 reserves much of the address space and uses little, so that is not limited.
    """
    try:
        import resource

        kind: int = getattr(resource, f"RLIMIT_{resource_name}")
    except (ImportError, AttributeError):
        return
    _, hard = resource.getrlimit(kind)
    bound = hard if most is None else most if hard == resource.RLIM_INFINITY else min(most, hard)
    with suppress(ValueError, OSError):
        resource.setrlimit(kind, (bound, bound if for_good else hard))


def descendants(ancestor: int) -> dict[int, float]:
    """Return the ids of all processes below this one, and the CPU seconds of each with its ended children.

    Empty where there is no /proc.  Processes that have ended and wait to be noticed are among them.
    """
    children = _children if os.path.exists(f"/proc/self/task/{os.getpid()}/children") else _all_children().get
    found: dict[int, float] = {}
    waiting = [ancestor]
    while waiting:
        for pid in children(waiting.pop()) or ():
            if pid not in found and (fields := _stat(pid)):
                found[pid] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
                waiting.append(pid)
    return found


def _children(process: int) -> list[int]:
    """The children of a process, as Linux lists them for each thread; while one ends, another may be left out."""
    found: list[int] = []
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{process}/task"):
            with suppress(OSError), open(f"/proc/{process}/task/{thread}/children", "rb") as file:
                found += map(int, file.read().split())
    return found


def _all_children() -> dict[int, list[int]]:
    """The children of every process, where Linux lists them not, which takes a hundred times as long."""
    children: dict[int, list[int]] = {}
    with suppress(OSError):
        for pid in filter(str.isdecimal, os.listdir("/proc")):
            if fields := _stat(int(pid)):
                children.setdefault(int(fields[1]), []).append(int(pid))
    return children


def cpu_of(process: int) -> float:
    """Return the CPU seconds of a process and everything below it; 0 where there is no /proc."""
    fields = _stat(process)
    own = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK") if fields else 0.0
    return own + sum(descendants(process).values())


def waited_of(process: int, *, over: bool = False) -> float | None:
    """Return the seconds for which a process could run and got no processor; None if it could run just now.

    With `over` of all waits that are over, whether it can run or not.

    Those of its thread that waited longest; its descendants count as its threads.  The system tells of a wait when
    it is over.  0 where it does not tell at all.
    """
    waited = 0
    for pid in (process, *descendants(process)):
        if not over and (_stat(pid) or [b""])[0] == b"R":
            return None
        with suppress(OSError, ValueError, IndexError):
            for thread in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{thread}/schedstat", "rb") as file:
                    waited = max(waited, int(file.read().split()[1]))
    return waited / 1e9


def _stat(pid: int) -> list[bytes]:
    """The fields of a process from its state on, as proc(5) lists them; none if it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()
    except OSError:
        return []


def memory_of_all(processes: list[int], most: int) -> int:
    """Return the bytes of memory of these processes, without files; memory that they share counts once if above `most`.

    The sum over processes counts shared pages several times; the exact figure is slow, so it is read only if needed.
    """
    used = sum(_kibibytes(pid, "status", (b"RssAnon:", b"RssShmem:")) for pid in processes) << 10
    if used <= most:
        return used
    exact = sum(_kibibytes(pid, "smaps_rollup", (b"Pss_Anon:", b"Pss_Shmem:")) for pid in processes) << 10
    return exact or used


def _kibibytes(pid: int, name: str, keys: tuple[bytes, ...]) -> int:
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return sum(int(line.split()[1]) for line in file if line.startswith(keys))
    except (OSError, ValueError, IndexError):  # it has ended, or is another user's
        return 0


@dataclass
class Watcher:
    """Waits for the end of a command, and kills what is left of it."""

    command: int
    lifeline: int
    memory: int
    processes: int
    code: int | None = None
    _due = _reading = 0.0

    def watch(self, wake: int) -> str:
        """Return when the command has ended, or why it must end: a word and a number, or nothing."""
        pause = LOOK
        while self.code is None:
            ready, _, _ = select.select([self.lifeline, wake], [], [], pause)
            asked = os.read(wake, 4_096) if wake in ready else b""  # the numbers of the signals that came
            if signal.SIGINT in asked:
                os.kill(self.command, signal.SIGINT)
            self.reap()
            if self.lifeline in ready:
                break
            began = time.monotonic()
            if passed := self._passed():
                return passed
            pause = max(LOOK, (time.monotonic() - began - self._reading) / PART)
        return ""

    def _passed(self) -> str:
        """The bound that the descendants pass together, if any."""
        if self.code is not None or not (self.memory or self.processes):
            return ""
        there = list(descendants(os.getpid()))
        if 0 < self.processes < len(there):
            return f"processes {len(there)}"
        began, used = time.monotonic(), 0
        if self.memory and began >= self._due:  # their number is cheap to read, and a storm of them fast
            used = memory_of_all(there, self.memory)
            self._reading = time.monotonic() - began
            self._due = began + self._reading / PART
        else:
            self._reading = 0.0
        return f"memory {used}" if used >> 20 > self.memory >> 20 else ""

    def reap(self) -> bool:
        """Take note of all that ended; return whether any child is left."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self.command:
                self.code = os.waitstatus_to_exitcode(status)

    def kill(self) -> None:
        """Kill everything below this process.  All are stopped first, so that none starts another meanwhile."""
        until = time.monotonic() + PATIENCE
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.command, signal.SIGSTOP if sys.platform.startswith("linux") else signal.SIGKILL)
        stopped = set[int]()
        while self.reap() and time.monotonic() < until:
            there = set(descendants(os.getpid()))
            new = there - stopped
            for pid in new or there:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGSTOP if new else signal.SIGKILL)
            stopped |= there
            if not new:
                time.sleep(0.002)


def _ready_signals() -> Iterator[int]:
    """The signals that would end this process, or that tell of an ended child."""
    for name in ("SIGCHLD", "SIGTERM", "SIGINT", "SIGHUP"):
        yield getattr(signal, name)


def _heed_not(_number: int, _frame: object) -> None:
    """Do nothing at a signal but wake up."""


def _become(command: list[str], memory: int, cpu: int) -> NoReturn:
    """Restrict this process and become the command; exit with 127 if there is no such command."""
    limit("CORE", 0, for_good=True)
    for name, most in (("DATA", memory), ("CPU", cpu)):
        if most:
            limit(name, most, for_good=True)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
        sys.stderr.flush()
        os._exit(127)


def _started(command: list[str], memory: int, cpu: int, lifeline: int) -> int:
    """Start the command in a session of its own, and return its id; it ends if this process does."""
    watcher = os.getpid()
    command_id = os.fork()
    if command_id:
        return command_id
    os.setsid()
    os.close(lifeline)
    end_with_parent(watcher)
    for number in _ready_signals():
        signal.signal(number, signal.SIG_DFL)
    _become(command, memory, cpu)


def main(words: list[str]) -> None:
    """Start the command, watch it, kill what it leaves, and end as it did."""
    lifeline, memory, cpu, processes = map(int, words[:4])
    command = words[4:]
    if not hasattr(os, "fork"):
        _become(command, memory, cpu)
    _control(36, 1)  # PR_SET_CHILD_SUBREAPER
    wake, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker)
    for number in _ready_signals():  # SIGCHLD is heeded, SIGINT passed on: the end of whoever asked closes the lifeline
        signal.signal(number, _heed_not)
    watcher = Watcher(_started(command, memory, cpu, lifeline), lifeline, memory, processes)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):  # so that their other ends see the command close them
        os.dup2(nothing, stream)
    why = watcher.watch(wake)
    watcher.kill()
    with suppress(OSError):
        os.write(lifeline, why.encode())
    code = -signal.SIGKILL if watcher.code is None else watcher.code
    if code >= 0:
        os._exit(code)
    limit("CORE", 0)
    with suppress(OSError, ValueError):
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
    os._exit(128 - code)  # for a signal that does not end it


if __name__ == "__main__":
    main(sys.argv[1:])
