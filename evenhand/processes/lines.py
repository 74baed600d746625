"""Talk to one command: lines in, lines out, limits, and a stop that ends everything that it started."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from enum import Enum

from evenhand.processes.group import kill, start

LOOK = 0.1
"""Seconds between two checks of the process while waiting."""

KEPT = 4_096
"""Last bytes of standard error that are kept."""


class Failure(Enum):
    """Why a process gives no more lines."""

    HUNG = "it did not answer in time"
    EXITED = "it ended or closed its output"
    TOO_LONG = "its line is too long"
    MEMORY = "it uses too much memory"
    PROCESSES = "it starts too many processes"


class NoLine(Exception):
    """The process gives no more lines: `failure` is the kind of reason, the message what was seen.

    `code` is its exit code, None if it runs on.
    """

    def __init__(self, failure: Failure, why: str, code: int | None = None) -> None:
        super().__init__(why)
        self.failure, self.code = failure, code


class LineProcess:
    """A command that is written to and read line by line.

    `memory` limits the bytes and `processes` the number of all that it starts together, itself included, `cpu` the
    seconds of CPU of each, `longest` the bytes of one line; 0: no limit.  `send` never
    blocks: what the pipe does not take now is sent while waiting for lines.  `answered`: it gave a line already.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        memory: int = 0,
        cpu: int = 0,
        processes: int = 0,
        longest: int = 0,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.answered = False
        self._memory, self._processes, self._longest = memory, processes, longest
        self._errors = b""
        self._lines: deque[bytes] = deque()
        self._rest = bytearray()
        self._waiting = b""
        self._sending = False
        self._process = start(command, memory=memory, cpu=cpu, processes=processes, environment=environment)
        assert self._process.stdin and self._process.stdout and self._process.stderr
        self._streams = (self._process.stdin, self._process.stdout, self._process.stderr)
        self._in, self._out, self._err = (stream.fileno() for stream in self._streams)
        self._selector = selectors.DefaultSelector()
        for stream in self._streams:
            os.set_blocking(stream.fileno(), False)
        self._selector.register(self._out, selectors.EVENT_READ)
        self._selector.register(self._err, selectors.EVENT_READ)

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    @property
    def code(self) -> int | None:
        """The exit code; None while it runs."""
        return self._process.poll()

    def send(self, lines: Iterable[bytes]) -> None:
        """Queue lines for the process."""
        self._waiting += b"".join(lines)
        self._push()

    def line(self, seconds: float) -> bytes:
        """Return the next line of its output.  Raises NoLine if there is none, or none in time."""
        deadline = time.monotonic() + seconds
        while not self._lines:
            left = deadline - time.monotonic()
            if left <= 0:
                raise NoLine(Failure.HUNG, f"no answer within {seconds:g} s")
            # Its descendants may keep the pipe open after its end, so the end must be polled, before the last look.
            ended = self.code is not None
            if not self._pump(min(left, 0.0 if ended else LOOK)) and ended:
                self._ended()
        self.answered = True
        return self._lines.popleft()

    def stop(self) -> None:
        """End the process and everything that it started, also where a signal interrupts this."""
        try:
            for stream in self._streams:
                with suppress(OSError):
                    stream.close()
            self._selector.close()
        finally:
            kill(self._process)
            self._process.wait()

    def _pump(self, seconds: float) -> bool:
        """Read and write what is ready within `seconds`; return whether anything was."""
        ready = self._selector.select(seconds)
        for key, _ in ready:
            if key.fd == self._in:
                self._push()
            elif key.fd == self._err:
                self._drain()
            else:
                self._read()
        return bool(ready)

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
        self._rest += first
        if more:
            self._lines.append(bytes(self._rest))
            self._lines.extend(more[:-1])
            self._rest = bytearray(more[-1])
        if 0 < self._longest < len(self._rest):
            raise NoLine(Failure.TOO_LONG, f"a line of more than {self._longest:,} bytes")

    def _drain(self) -> None:
        chunk = os.read(self._err, 1 << 16)
        self._errors = (self._errors + chunk)[-KEPT:]
        if not chunk:
            self._selector.unregister(self._err)

    def _ended(self) -> None:
        """After its end or that of its output: wait briefly for the exit code, and raise NoLine."""
        with suppress(OSError, ValueError, KeyError):
            self._drain()
        try:
            code = self._process.wait(0.3)
        except subprocess.TimeoutExpired:
            raise NoLine(Failure.EXITED, "it closed its output and runs on") from None
        kind, _, number = self._process.why().partition(" ")
        if kind == "memory":
            raise NoLine(Failure.MEMORY, f"{int(number) >> 20} MiB in use, {self._memory >> 20} allowed", code)
        if kind == "processes":
            raise NoLine(Failure.PROCESSES, f"it started more than {self._processes} processes", code)
        said = self.said()
        raise NoLine(Failure.EXITED, f"{_how(code)}{f', saying {said!r}' if said else ''}", code)

    def said(self) -> str:
        """Return the last line of its standard error."""
        lines = self._errors.decode("utf-8", "replace").strip().splitlines()
        return lines[-1][:300] if lines else ""


def _how(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    with suppress(ValueError):
        return f"ended by {signal.Signals(-code).name}"
    return f"ended by signal {-code}"
