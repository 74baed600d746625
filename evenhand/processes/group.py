"""Start a command under a watcher that ends with it everything that it started, and end it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, cast

from evenhand.processes.clock import TimeHad
from evenhand.processes.launch import LOOK


@dataclass(frozen=True)
class Ended:
    """The end of a task: its answer, or the exit code of the process that died, or `late` if it took too long.

    `had` is the time that a late one had (see `TimeHad`).
    """

    answer: Any
    seconds: float
    code: int | None = None
    late: bool = False
    had: float = 0.0


MEBIBYTES, PROCESSES = 1_024, 256
"""Memory and number of processes of a foreign kernel with all that it starts, if nothing else is said."""

ENDING = 10.0
"""Seconds in which a watcher ends what it watches; then the watcher is killed."""


class Supervised(subprocess.Popen[bytes]):
    """A command, seen through its watcher (see `launch`); the exit code is the command's."""

    lifeline: socket.socket | None = None
    _last_words = ""

    def why(self) -> str:
        """Return why the watcher ended the command, once it ended: `memory BYTES`, `processes NUMBER` or nothing."""
        if self.lifeline is not None and not self._last_words:
            with suppress(OSError):
                self._last_words = self.lifeline.recv(64).decode()
        return self._last_words

    def end(self) -> None:
        """Kill the command and everything that it started."""
        if self.lifeline is None:
            self.kill()
            return
        self.lifeline.close()
        try:
            self.wait(ENDING)
        except subprocess.TimeoutExpired:
            self.kill()  # the command ends with it


def start(
    command: Sequence[str],
    *,
    memory: int = 0,
    cpu: int = 0,
    processes: int = 0,
    environment: Mapping[str, str] | None = None,
    errors: int = subprocess.PIPE,
) -> Supervised:
    """Start a command with pipes and limits under a watcher (see `launch`); it ends with this process."""
    launcher = [sys.executable, "-I", "-S", str(Path(__file__).with_name("launch.py"))]
    ours, theirs = socket.socketpair()
    alone = os.name != "posix"  # there no socket is handed over
    try:
        process = Supervised(
            [*launcher, *map(str, (theirs.fileno(), memory, cpu, processes)), *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
            pass_fds=() if alone else (theirs.fileno(),),
            env=environment,
        )
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()
    if alone:
        ours.close()
    else:
        ours.setblocking(False)
        process.lifeline = ours
    return process


def kill(process: Supervised | BaseProcess) -> None:
    """Kill a process and those that it started: all below its watcher, or its process group, where there are groups."""
    if isinstance(process, Supervised):
        process.end()
        return
    try:
        os.killpg(cast("int", process.pid), signal.SIGKILL)
    except (AttributeError, ProcessLookupError, PermissionError):
        process.kill()


def answered(command: Sequence[str], request: bytes, seconds: float | None) -> Ended:
    """Return how a command ended that reads the request and writes its answer, within `seconds` that it had."""
    began = time.monotonic()
    with start(command, errors=subprocess.DEVNULL) as process:
        had, given = TimeHad(process.pid), request
        try:
            while True:
                left = None if seconds is None else max(LOOK, seconds - had.seconds())
                try:
                    answer, _ = process.communicate(given, timeout=left)
                    break
                except subprocess.TimeoutExpired:
                    given = b""
                    if seconds is not None and (over := had.over(seconds)) is not None:
                        return Ended(None, time.monotonic() - began, late=True, had=over)
        finally:
            kill(process)
    done = process.returncode == 0 and answer
    return Ended(answer if done else None, time.monotonic() - began, code=process.returncode)


def memory_of() -> int | None:
    """Return the bytes that this process holds in memory; None where the system does not report them."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")
