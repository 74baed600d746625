"""The time that a whole command may take, by the clock and in CPU seconds of this process and all that it started."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable

from evenhand.processes.launch import cpu_of, waited_of

FRESH = 0.25
"""Seconds for which the CPU time of running processes is not read again, because reading it takes time."""

APART = 50
"""How many times as long as a reading took it is not read again: on some machines it takes milliseconds."""

PATIENCE = 50
"""Times its limit, by the clock, after which a task ends on the busiest machine."""


class OutOfTime(BaseException):
    """The time is over.  A BaseException, so that no `except Exception` of a kernel or model swallows it."""


class Clock:
    """Seconds spent: by the clock or of CPU, whichever is more; of CPU and of `waited` alone unless `by_clock`.

    `limit` bounds the whole (None: no limit).  `running` gives the id of the watcher of a running command, if any.
    """

    def __init__(
        self, limit: float | None = None, *, by_clock: bool = True, running: Callable[[], int | None] = lambda: None
    ) -> None:
        self.limit = math.inf if limit is None else limit
        self.by_clock, self.running = by_clock, running
        self._live: tuple[int | None, float, float] = (None, -math.inf, 0.0)  # of whom, until when it counts, seconds
        self._own = (-math.inf, 0.0)
        self.restart()

    def restart(self) -> None:
        """Begin again: what was spent so far, such as on the start of the first kernel, does not count."""
        self._began, self._used, self._waited = time.monotonic(), self._cpu(), 0.0

    def waited(self, seconds: float) -> None:
        """Count half of the seconds spent in vain on something that does nothing, which no CPU time tells."""
        self._waited += seconds / 2

    def spent(self) -> float:
        """Return the seconds spent so far."""
        cpu = self._cpu() - self._used
        return max(cpu, time.monotonic() - self._began) if self.by_clock else cpu + self._waited

    def left(self) -> float:
        """Return the seconds that are left of the whole."""
        return self.limit - self.spent()

    def _cpu(self) -> float:
        """The CPU seconds of this process, and of all that it started and that ended or runs.

        When what ran ends, its seconds must not count twice: both parts are read anew.
        """
        pid, now = self.running(), time.monotonic()
        if pid != self._live[0] or now > self._live[1]:
            seconds = 0.0 if pid is None else cpu_of(pid)
            self._live = (pid, now + max(FRESH, APART * (time.monotonic() - now)), seconds)
            self._own = (-math.inf, 0.0)
        if now > self._own[0]:
            now, used = time.monotonic(), os.times()
            seconds = used.user + used.system + used.children_user + used.children_system
            self._own = (now + APART * (time.monotonic() - now), seconds)
        return self._own[1] + self._live[2]


class TimeHad:
    """The time that a process and everything below it had from now on: as by the clock on a machine that is not busy.

    The seconds in which it waited for a processor do not count, so that a limit means the same on any machine.
    """

    def __init__(self, process: int) -> None:
        self._process, self._began = process, time.monotonic()
        self._cpu, self._waited = cpu_of(process), waited_of(process) or 0.0

    def seconds(self) -> float:
        """Return the seconds that it had."""
        clock = time.monotonic() - self._began
        waited = waited_of(self._process)
        had = clock - (waited - self._waited) if waited is not None else cpu_of(self._process) - self._cpu
        return min(clock, max(had, 0.0))

    def idle(self) -> float:
        """Return the seconds in which it neither ran nor waited for a processor."""
        waited, used = waited_of(self._process, over=True) or 0.0, cpu_of(self._process)
        return max(0.0, time.monotonic() - self._began - max(0.0, waited - self._waited) - max(0.0, used - self._cpu))

    def over(self, limit: float) -> float | None:
        """Return the seconds that it had, if they are more than the limit or it takes too long by the clock."""
        clock = time.monotonic() - self._began
        if clock <= limit:
            return None
        had = self.seconds()
        return had if had > limit or clock > PATIENCE * limit else None
