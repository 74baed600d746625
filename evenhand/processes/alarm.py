"""Interrupt a computation that does not look at the time itself, where the platform can do that."""

from __future__ import annotations

import gc
import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType

from evenhand.processes.clock import OutOfTime

AGAIN = 0.2
"""Seconds after which a computation is interrupted again, should it have swallowed the first."""

SHORTEST = 0.001
"""Seconds that an alarm waits at least; 0 would switch it off."""

LONGEST = 10.0
"""Seconds after which the time left is asked for again: it may be endless only while an answer is awaited."""


REQUESTS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Signals that ask a command to end: Ctrl-C, what CI sends, a closed terminal, which Windows lacks."""


class Hung(OutOfTime):
    """The time was over while something did not return."""


def is_safe(frame: FrameType | None) -> bool:
    """Return whether a frame may be interrupted.

    A callback of the garbage collector swallows what is raised in it; Hypothesis counts its frames, and would find the
    count wrong when it next draws.
    """
    own = "" if frame is None else str(frame.f_globals.get("__name__", ""))
    return own.partition(".")[0] != "hypothesis" and not in_collector(frame)


def in_collector(frame: FrameType | None) -> bool:
    """Return whether a callback of the garbage collector runs in a frame."""
    codes = [getattr(one, "__code__", None) for one in gc.callbacks]
    while frame is not None and frame.f_code not in codes:
        frame = frame.f_back
    return frame is not None


@contextmanager
def until(left: Callable[[], float], grace: float) -> Generator[None]:
    """Raise Hung inside the block `grace` seconds after `left` says that no time is left.

    The grace lets what looks at the time itself end first.  Only the main thread can be interrupted, and only where
    nobody else uses the alarm.  Raises OutOfTime where there is no time to begin with.
    """
    seconds = left()
    if seconds <= 0:
        raise OutOfTime
    alarm = getattr(signal, "SIGALRM", None)
    main = threading.current_thread() is threading.main_thread()
    if alarm is None or not main or signal.getsignal(alarm) is not signal.SIG_DFL or seconds > threading.TIMEOUT_MAX:
        yield
        return

    standing = True

    def over(_signal: int, frame: FrameType | None) -> None:
        if not standing:
            return  # it was on its way when the block ended
        more = left() + grace  # CPU seconds may pass more slowly than those of the clock
        if more <= 0 and is_safe(frame):
            signal.setitimer(signal.ITIMER_REAL, AGAIN)
            raise Hung
        signal.setitimer(signal.ITIMER_REAL, min(max(more, SHORTEST), LONGEST))

    try:
        signal.signal(alarm, over)
        signal.setitimer(signal.ITIMER_REAL, seconds + grace)
        yield
    finally:
        standing = False  # first, because a signal is heeded at each call
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(alarm, signal.SIG_DFL)
