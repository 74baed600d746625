"""Time limits: a kernel that does not return in time is interrupted, where the platform can do that."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import NoReturn


class OutOfTime(BaseException):
    """The time is over.  A BaseException, so that no `except Exception` of a kernel swallows it."""


AGAIN = 0.2
"""Seconds after which a call is interrupted again, should it have swallowed the first."""


class Hung(OutOfTime):
    """The time was over while the kernel did not return."""


@contextmanager
def until(moment: float, grace: float) -> Generator[None]:
    """Raise Hung inside the block `grace` seconds after this moment of the monotonic clock.

    The grace lets what looks at the clock itself end first; the alarm is for a kernel that does not return.  Only the
    main thread can be interrupted, and only where nobody else uses the alarm.
    """
    left = moment - time.monotonic()
    if left <= 0:
        raise OutOfTime
    alarm = getattr(signal, "SIGALRM", None)
    main = threading.current_thread() is threading.main_thread()
    if alarm is None or not main or signal.getsignal(alarm) is not signal.SIG_DFL or left > threading.TIMEOUT_MAX:
        yield
        return

    def over(*_: object) -> NoReturn:
        raise Hung

    signal.signal(alarm, over)
    signal.setitimer(signal.ITIMER_REAL, left + grace, AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(alarm, signal.SIG_DFL)
