"""Supervise one process: lines in, lines out, limits, and a stop that ends its whole group."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections import deque
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from evenhand.conform.adapters.limits import KernelLimits
from evenhand.conform.adapters.wire import Fault

LOOK = 0.1
"""Seconds between two memory checks while waiting."""

KEPT = 4_096
"""Last bytes of standard error that are kept."""


class Ended(Exception):
    """The process gives no more lines: `fault` is the reason, the message what was seen."""

    def __init__(self, fault: Fault, why: str) -> None:
        super().__init__(why)
        self.fault = fault


class Child:
    """A process in a group of its own that is written to and read line by line.

    `send` never blocks for long: what the pipe does not take now is sent while waiting for lines.
    """

    def __init__(self, command: list[str], limits: KernelLimits, environment: Mapping[str, str]) -> None:
        self.limits = limits
        self.errors = b""
        self._lines: deque[bytes] = deque()
        self._rest = b""
        self._waiting = b""
        self._answered = False
        self._open = True
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env=dict(environment),
        )
        assert self.process.stdin and self.process.stdout and self.process.stderr
        self._in, self._out, self._err = (
            stream.fileno() for stream in (self.process.stdin, self.process.stdout, self.process.stderr)
        )
        self._selector = selectors.DefaultSelector()
        for stream in (self._in, self._out, self._err):
            os.set_blocking(stream, False)
        self._selector.register(self._out, selectors.EVENT_READ)
        self._selector.register(self._err, selectors.EVENT_READ)
        self._sending = False

    def send(self, lines: Iterable[bytes]) -> None:
        """Queue lines for the process."""
        self._waiting += b"".join(lines)
        self._push()

    def line(self) -> bytes:
        """Return the next line of its output.  Raises Ended if there is none, or none in time."""
        if self._lines:
            return self._lines.popleft()
        allowed = self.limits.seconds if self._answered else self.limits.startup
        deadline = time.monotonic() + allowed
        while not self._lines:
            left = deadline - time.monotonic()
            if left <= 0:
                raise Ended(Fault.HUNG, f"no answer within {allowed:g} s")
            self._pump(min(left, LOOK))
        self._answered = True
        return self._lines.popleft()

    def stop(self) -> None:
        """End the process and everything in its group."""
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            with suppress(OSError):
                if stream is not None:
                    stream.close()
        self._selector.close()
        self._kill()
        self.process.wait()

    def _kill(self) -> None:
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except (AttributeError, ProcessLookupError, PermissionError):
            self.process.kill()

    def _pump(self, seconds: float) -> None:
        ready = self._selector.select(seconds)
        if not ready:
            self._look_at_memory()
        for key, _ in ready:
            if key.fd == self._in:
                self._push()
            elif key.fd == self._err:
                self._drain()
            else:
                self._read()

    def _push(self) -> None:
        try:
            while self._waiting:
                sent = os.write(self._in, self._waiting[: 1 << 16])
                self._waiting = self._waiting[sent:]
        except BlockingIOError:
            pass
        except OSError:  # it reads no more; its output and exit code are read later
            self._waiting = b""
        if bool(self._waiting) != self._sending:
            self._sending = not self._sending
            if self._sending:
                self._selector.register(self._in, selectors.EVENT_WRITE)
            else:
                self._selector.unregister(self._in)

    def _read(self) -> None:
        chunk = os.read(self._out, 1 << 18)
        if not chunk:
            self._ended()
        first, *more = chunk.split(b"\n")
        if more:
            self._lines.append(self._rest + first)
            self._lines.extend(more[:-1])
            self._rest = more[-1]
        else:
            self._rest += first
        if len(self._rest) > self.limits.answer:
            raise Ended(Fault.TOO_LONG, f"a line of more than {self.limits.answer:,} bytes")

    def _drain(self) -> None:
        chunk = os.read(self._err, 1 << 16)
        self.errors = (self.errors + chunk)[-KEPT:]
        if not chunk:
            self._selector.unregister(self._err)

    def _ended(self) -> None:
        """After its output closed: wait briefly for the exit code, and raise Ended."""
        with suppress(OSError, ValueError, KeyError):
            self._drain()
        try:
            code = self.process.wait(0.3)
        except subprocess.TimeoutExpired:
            raise Ended(Fault.EXITED, "it closed its output and runs on") from None
        said = self.said()
        raise Ended(Fault.EXITED, f"{_how(code)}{f', saying {said!r}' if said else ''}")

    def said(self) -> str:
        """Return the last line of its standard error."""
        lines = self.errors.decode("utf-8", "replace").strip().splitlines()
        return lines[-1][:300] if lines else ""

    def _look_at_memory(self) -> None:
        """A second guard, because some systems do not enforce the process's own limit."""
        try:
            pages = int(Path(f"/proc/{self.process.pid}/statm").read_text("ascii").split()[1])
        except (OSError, ValueError, IndexError):
            return
        used = pages * os.sysconf("SC_PAGE_SIZE") // 2**20
        if used > self.limits.mebibytes:
            raise Ended(Fault.MEMORY, f"{used} MiB in use, {self.limits.mebibytes} allowed")


def _how(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    with suppress(ValueError):
        return f"ended by {signal.Signals(-code).name}"
    return f"ended by signal {-code}"
