"""Start a command in a process group of its own, and kill the group."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, cast


@dataclass(frozen=True)
class Ended:
    """The end of a task: its answer, or the exit code of the process that died, or `late` if it took too long."""

    answer: Any
    seconds: float
    code: int | None = None
    late: bool = False


def start(
    command: Sequence[str],
    *,
    memory: int = 0,
    cpu: int = 0,
    environment: Mapping[str, str] | None = None,
    errors: int = subprocess.PIPE,
) -> subprocess.Popen[bytes]:
    """Start a command that leads its own group, with pipes and limits (see `launch`), and ends with this process."""
    launcher = [sys.executable, "-I", "-S", str(Path(__file__).with_name("launch.py"))]
    return subprocess.Popen(
        [*launcher, str(os.getpid()), str(memory), str(cpu), *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        start_new_session=True,
        env=environment,
    )


def kill(process: subprocess.Popen[bytes] | BaseProcess) -> None:
    """Kill a process and those that it started: its process group, where the platform has groups."""
    try:
        os.killpg(cast("int", process.pid), signal.SIGKILL)
    except (AttributeError, ProcessLookupError, PermissionError):
        process.kill()


def answered(command: Sequence[str], request: bytes, seconds: float | None) -> Ended:
    """Return how a command ended that reads the request and writes its answer, within `seconds`."""
    began = time.monotonic()
    with start(command, errors=subprocess.DEVNULL) as process:
        try:
            answer, _ = process.communicate(request, timeout=seconds)
        except subprocess.TimeoutExpired:
            return Ended(None, time.monotonic() - began, late=True)
        finally:
            kill(process)
    done = process.returncode == 0 and answer
    return Ended(answer if done else None, time.monotonic() - began, code=process.returncode)


def memory_of(process: int | str = "self") -> int | None:
    """Return the bytes that a process holds in memory; None where the system does not report them."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text("ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")
