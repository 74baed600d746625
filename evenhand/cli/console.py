"""How every command speaks: one message for each mistake, progress on a terminal, Ctrl-C heard once.

Exit codes: 0 as expected, 1 refuted (or an expected refutation is gone), 2 bad use or bad input, 3 undecided,
130 interrupted; `evenhand.exits` has those of other ends.  A mistake in the input (a name, a file, a number) is one
line on standard error.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from functools import partial, wraps
from math import inf
from types import FrameType
from typing import Any, NoReturn, ParamSpec

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from evenhand.core.answers import ModelError
from evenhand.core.bundle import ProtocolBroken
from evenhand.core.canonical import Json, canonical_bytes
from evenhand.core.lookup import Refused
from evenhand.core.text import inert
from evenhand.exits import INTERRUPTED
from evenhand.processes.alarm import REQUESTS
from evenhand.processes.clock import OutOfTime
from evenhand.report.phrases import plural

P = ParamSpec("P")


class BadUse(Refused, ValueError):
    """A mistake in what was asked: an option, a name, a file.  Exit code 2."""


class Unknown(Exception):
    """The answer is not known here (a process died, say).  Exit code 3."""


def terminal() -> Console:
    """Standard output for people: as wide as the terminal, 160 columns elsewhere; heeds NO_COLOR."""
    return Console(width=None if sys.stdout.isatty() else 160, highlight=False, emoji=False, markup=False)


def say(message: str) -> None:
    """One line on standard error, inert."""
    Console(stderr=True, highlight=False, emoji=False, markup=False).print(Text(inert(message)), soft_wrap=True)


def emit(value: Mapping[str, Json]) -> None:
    """One JSON object on standard output, canonical, and nothing else."""
    content = canonical_bytes(dict(value)) + b"\n"  # UTF-8 whatever the locale
    sys.stdout.flush()
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


@contextmanager
def usage() -> Generator[None]:
    """Report errors about names, sizes and files as bad use, which the user can mend."""
    try:
        yield
    except (ValueError, OSError) as error:
        raise BadUse(str(error)) from error


def guarded(command: Callable[P, int]) -> Callable[P, None]:
    """A command that returns its exit code, with one message for each mistake instead of a traceback."""

    @wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            with _one_request_to_end():
                code = command(*args, **kwargs)
        except (Refused, ModelError, ProtocolBroken) as error:
            leave(str(error), 2)
        except Unknown as error:
            leave(str(error), 3)
        except KeyboardInterrupt as stop:
            leave(" ".join(["interrupted", *map(str, stop.args)]), INTERRUPTED)
        raise typer.Exit(code)

    return wrapped


@contextmanager
def _one_request_to_end() -> Generator[None]:
    """Raise KeyboardInterrupt at the first Ctrl-C, SIGTERM (as CI sends it) or SIGHUP (a closed terminal).

    Later ones are ignored, and so is a SIGHUP that was ignored before, as under `nohup`.

    People press Ctrl-C twice and `timeout` sends two signals, but finished results must still be printed and written.
    Python allows this in the main thread only; in other threads the signals keep their meaning.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {
        number: signal.signal(number, _interrupt)
        for number in REQUESTS
        if number in REQUESTS[:2] or signal.getsignal(number) is not signal.SIG_IGN
    }
    hook = sys.unraisablehook
    waiting: list[threading.Timer] = []
    sys.unraisablehook = partial(_repeat_interrupt, hook, waiting, tuple(before))
    try:
        yield
    finally:
        sys.unraisablehook = hook
        for timer in waiting:
            timer.cancel()
        for number, handler in before.items():
            signal.signal(number, handler)


SOON = 0.05
"""Seconds after which a request to end that went unheard is made again."""


def _repeat_interrupt(
    hook: Callable[[Any], object], waiting: list[threading.Timer], heeded: tuple[signal.Signals, ...], lost: Any
) -> None:
    """Send a lost KeyboardInterrupt again, and pass any other unraisable exception to `hook`.

    Python loses it when it is raised in a callback of the garbage collector, such as the one of Hypothesis.
    """
    if issubclass(lost.exc_type, OutOfTime):
        return  # its alarm repeats itself
    if lost.exc_type is not KeyboardInterrupt:
        hook(lost)
        return
    waiting.append(threading.Timer(SOON, os.kill, (os.getpid(), signal.SIGINT)))
    waiting[-1].start()
    for number in heeded:  # last, because a request that arrives in this hook ends in a traceback
        signal.signal(number, _interrupt)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    finishing()
    raise KeyboardInterrupt


def finishing() -> None:
    """Ignore requests to end until the command has ended: all that is left is to tell what was found."""
    if threading.current_thread() is threading.main_thread():
        for number in REQUESTS:
            signal.signal(number, signal.SIG_IGN)


def leave(message: str, code: int) -> NoReturn:
    """End the command with one line on standard error."""
    say(f"evenhand: {message}")
    sys.exit(code)


@contextmanager
def running(total: int, what: str) -> Generator[Callable[[str, int], None]]:
    """Progress on standard error: a bar on a terminal, else a line now and then; yields `advance(words, steps)`."""
    with _bar(what, total or None) as update:
        if update is None:
            yield _lines(total, what)
            return

        def advance(words: str, steps: int) -> None:
            update(description=inert(words)[:60], advance=steps)

        yield advance


REDRAWN = 0.1
"""Seconds between two pictures of a bar."""

FIRST_LINE, LINES = 4.0, 60.0
"""Seconds before the first line of progress off a terminal, and between later ones."""


class LogTimes:
    """When a log wants a line of progress: short runs write none."""

    def __init__(self) -> None:
        self.began, self._due = time.monotonic(), FIRST_LINE

    def due(self) -> bool:
        """Whether a line is due now; the next one is due later."""
        passed = time.monotonic() - self.began
        if passed < self._due:
            return False
        self._due = passed + LINES
        return True


def _lines(total: int, what: str, thing: str = "") -> Callable[[str, int], None]:
    """Return what writes progress to a log."""
    times, done = LogTimes(), 0

    def advance(words: str, steps: int) -> None:
        nonlocal done
        done += steps
        if times.due():
            passed = time.monotonic() - times.began
            about = f", {inert(words)[:60]}" if words else ""
            counted = plural(done, thing) if thing else str(done)
            say(f"{what}: {counted}{f' of {total}' if total else ''} after {passed:.0f} s{about}")

    return advance


@contextmanager
def counting(what: str, thing: str) -> Generator[Callable[[int, int], None]]:
    """The progress callback of an engine (things `done` and `known`): a bar on a terminal, else a line now and then."""
    shown, before, tell = -inf, 0, _lines(0, inert(what), thing)

    def count(done: int, known: int) -> None:
        nonlocal shown, before
        now = time.monotonic()
        if update is None:
            tell("", done - before)
            before = done
        elif now - shown >= REDRAWN:
            shown = now
            update(completed=done, total=max(done, known) or None)

    with _bar(inert(what), None, thing) as update:
        yield count


def on_terminal() -> Console | None:
    """Return standard error for bars, None if it is no terminal."""
    console = Console(stderr=True, highlight=False, emoji=False, markup=False)
    return console if console.is_terminal else None


@contextmanager
def _bar(what: str, total: int | None, thing: str = "") -> Generator[Callable[..., None] | None]:
    """Yield what redraws a bar on standard error; None if that is no terminal.

    Nothing refreshes on its own: a thread beside forked children can deadlock them.
    """
    console = on_terminal()
    if console is None:
        yield None
        return
    things = f" {thing}s" if thing else ""
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TextColumn("{task.completed:,}" + things))
    with Progress(*columns, TimeElapsedColumn(), console=console, auto_refresh=False, transient=True) as bar:
        yield partial(bar.update, bar.add_task(what, total=total), refresh=True)
