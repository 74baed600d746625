"""Solver processes: started on first use, restarted after they died, stopped with all their forks."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any, cast

_HUGE = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
"""Large pages where glibc supports them, because each question has a fresh fork that touches its memory anew.

A value in the environment takes precedence.  No answer depends on it.
"""

_GLANCE = 0.25
"""Seconds between two checks that a solver process is alive."""


class Worker:
    """One solver process, started on first use and restarted after it died."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._process: subprocess.Popen[str] | None = None
        self._lines: queue.Queue[str | None] = queue.Queue()

    @property
    def pid(self) -> int | None:
        """The id of its process; None while there is none."""
        return self._process.pid if self._process else None

    def ask(self, question: Mapping[str, Any]) -> None:
        """Send a question; `take` returns the answer."""
        if self._process is None or self._process.poll() is not None:
            self._start()
        process = self._process
        assert process is not None and process.stdin is not None
        try:
            process.stdin.write(json.dumps(question) + "\n")
            process.stdin.flush()
        except OSError:
            pass  # the process died; `take` notices

    def take(self, seconds: float) -> Mapping[str, Any]:
        """Return the answer: `unknown` after `seconds`, `crashed` if the process ended or wrote something else."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, min(_GLANCE, deadline - time.monotonic())))
                break
            except queue.Empty:
                # A fork of a killed process keeps the pipe open, so the end of the process must be polled.
                if self._process is None or self._process.poll() is not None:
                    line = None
                    break
                if time.monotonic() >= deadline:
                    self.stop()
                    return {"status": "unknown", "because": f"no answer within {seconds:g} s of wall clock"}
        if line is None:
            code = self._process.wait() if self._process else None
            self.stop()
            how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
            return {"status": "crashed", "because": f"the solver process ended with {how}"}
        try:
            reply: Any = json.loads(line)
        except ValueError:
            reply = None
        if isinstance(reply, dict):
            return cast("dict[str, Any]", reply)
        self.stop()
        return {"status": "crashed", "because": "the solver process wrote an invalid answer"}

    def _start(self) -> None:
        self._lines = queue.Queue()
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
            env={**_HUGE, **os.environ},
        )
        threading.Thread(target=_pump, args=(self._process, self._lines), daemon=True).start()

    def stop(self) -> None:
        """End the process and its forks."""
        process, self._process = self._process, None
        if process is None:
            return
        try:
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
        except (ProcessLookupError, PermissionError):
            pass  # gone already
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):  # flushing to a dead process fails
                    stream.close()


def _pump(process: subprocess.Popen[str], lines: queue.Queue[str | None]) -> None:
    assert process.stdout is not None
    try:
        for line in process.stdout:
            lines.put(line)
    except ValueError:
        pass  # closed while reading: the process was stopped
    lines.put(None)
