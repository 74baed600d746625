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


@contextmanager
def until(moment: float) -> Generator[None]:
    """Raise OutOfTime inside the block at this moment of the monotonic clock.

    Only the main thread can be interrupted, and only where nobody else uses the alarm; elsewhere the time is looked at
    between two plays.
    """
    alarm = getattr(signal, "SIGALRM", None)
    free = (
        alarm is not None
        and threading.current_thread() is threading.main_thread()
        and signal.getsignal(alarm) is signal.SIG_DFL
    )
    left = moment - time.monotonic()
    if left <= 0:
        raise OutOfTime
    if not free or left > threading.TIMEOUT_MAX:
        yield
        return

    def over(*_: object) -> NoReturn:
        raise OutOfTime

    assert alarm is not None
    signal.signal(alarm, over)
    signal.setitimer(signal.ITIMER_REAL, left)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(alarm, signal.SIG_DFL)
