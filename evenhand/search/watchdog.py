"""A model's function that does not come back: noticed, and named with file and line.

A search calls millions of functions that it did not write.  Every `SECONDS` of CPU time somebody looks which call of
the model's is under way; one that was under way the time before has taken at least as long, and ends the search.  CPU
time is used, so that a busy machine makes no difference.  Only the main thread of a process can be watched so, and only
where the system has such a clock; elsewhere nothing is watched.
"""

from __future__ import annotations

import inspect
import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from evenhand.search.witness import AnySystem, ModelError, named

__all__ = ["SECONDS", "within_reason"]

SECONDS = 30.0
"""CPU seconds that one call of a model's function may take, at least; the double at most."""

_ENGINE = ("evenhand.search", "evenhand.evidence.judge", "networkx", "numba", "numpy", "scipy")
"""Modules whose own work may take as long as it takes."""


class _Stuck(BaseException):
    """A call that does not come back.  No Exception: nothing between here and the search swallows it by habit."""


@contextmanager
def within_reason(system: AnySystem) -> Generator[None, None, None]:
    """Watch what runs inside.  Raises ModelError for a call that does not come back."""
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
            f"{named(system)}: {error} does not come back: one call took more than {SECONDS:g} seconds. A step is a "
            "function that ends; bound its loop, or let actions of a run do what it waits for"
        ) from None
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)
        known[0] = None


def _call(frame: FrameType | None) -> tuple[FrameType | None, str]:
    """The outermost call that the search made into foreign code, and where that code is.

    A generator is no call: the same one is asked again and again.
    """
    call: FrameType | None = None
    place = ""
    while frame is not None and not str(frame.f_globals.get("__name__", "")).startswith(_ENGINE):
        if not frame.f_code.co_flags & inspect.CO_GENERATOR:
            call = frame
            place = place or f"{frame.f_code.co_filename}:{frame.f_lineno} ({frame.f_code.co_name})"
        frame = frame.f_back
    return (None, "") if frame is None else (call, place)
