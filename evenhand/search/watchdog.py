"""Detect a model's function that does not return, and name it with file and line.

Every `SECONDS` of CPU time a signal handler checks which call of the model is under way; one that was already under way
the time before ends the search.  CPU time is independent of the load of the machine.  Only the main thread of a process
can be watched, and only where the system has such a timer.
"""

from __future__ import annotations

import inspect
import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from evenhand.core.answers import ModelError
from evenhand.core.system import AnySystem

SECONDS = 30.0
"""CPU seconds that one call of a model's function may always take; after twice as many it is stopped."""

_ENGINE = (
    "evenhand.search",
    "evenhand.evidence.judge",
    "evenhand.evidence.second_runs",
    "networkx",
    "numpy",
    "scipy",
)
"""Modules whose own work has no time limit."""


class _Stuck(BaseException):
    """A call does not return.  A BaseException, so that no `except Exception` on the way swallows it."""


@contextmanager
def within_reason(system: AnySystem) -> Generator[None, None, None]:
    """Watch the calls made inside the block.  Raises ModelError for a call that does not return."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    known: list[FrameType | None] = [None]

    def look(_number: int, frame: FrameType | None) -> None:
        call, place = _call(frame)
        if call is not None and call is known[0]:
            raise _Stuck(place)
        known[0] = call

    before: Any = signal.signal(signal.SIGVTALRM, look)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS, SECONDS)
    try:
        yield
    except _Stuck as error:
        raise ModelError(
            f"{system.label}: {error} does not come back: one call took more than {SECONDS:g} seconds. A step is a "
            "function that ends; bound its loop, or let actions of a run do what it waits for"
        ) from None
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)
        known[0] = None


def _call(frame: FrameType | None) -> tuple[FrameType | None, str]:
    """The outermost call from the search into foreign code, and where that code is.

    Generators do not count, because the same one is resumed again and again.
    """
    call: FrameType | None = None
    place = ""
    while frame is not None and not str(frame.f_globals.get("__name__", "")).startswith(_ENGINE):
        if not frame.f_code.co_flags & inspect.CO_GENERATOR:
            call = frame
            place = place or f"{frame.f_code.co_filename}:{frame.f_lineno} ({frame.f_code.co_name})"
        frame = frame.f_back
    return (None, "") if frame is None else (call, place)
