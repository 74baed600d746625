"""What every command shares: its options, one message for each mistake, one object for `--json`.

Exit codes: 0 all as stated, 1 refuted (or a stated refutation gone), 2 bad use or bad input, 3 undecided,
130 interrupted.  A mistake of the person's (a name, a file, a number) is one line on standard error.
"""

from __future__ import annotations

import functools
import os
import shlex
import signal
import sys
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Annotated, Any, NoReturn, ParamSpec

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from evenhand.cli import completion
from evenhand.counterexamples.store import write_atomically
from evenhand.fixtures import saved
from evenhand.model.canonical import Json, canonical_text
from evenhand.model.system import System
from evenhand.plan import Job, chosen_readings, chosen_scope, claims_for, system_for
from evenhand.properties.registry import Bundle, ProtocolBroken, find, protocols
from evenhand.report.finding import Finding, plain
from evenhand.report.report import INTERRUPTED, Report
from evenhand.report.table import print_report
from evenhand.report.text import inert

__all__ = [
    "SOON",
    "BadUse",
    "Claim",
    "JobsOption",
    "JsonOut",
    "KeepOption",
    "MutantName",
    "ProtocolName",
    "ReadingOption",
    "ScopeOption",
    "SystemOption",
    "Unknown",
    "bundle_named",
    "bundles_named",
    "content_of",
    "cores",
    "counting",
    "emit",
    "finish",
    "guarded",
    "job_for",
    "keep",
    "leave",
    "running",
    "say",
    "terminal",
    "usage",
    "with_files",
    "write_forms",
]

AnySystem = System[Any, Any, Any, Any, Any]
P = ParamSpec("P")

ProtocolName = Annotated[
    str,
    typer.Argument(
        metavar="PROTOCOL", help="A protocol, as `evenhand verify` lists them.", autocompletion=completion.protocols
    ),
]
SystemOption = Annotated[
    str,
    typer.Option("--system", metavar="NAME", help="One of the protocol's systems.", autocompletion=completion.systems),
]
ScopeOption = Annotated[
    list[str] | None, typer.Option("--scope", metavar="a=1,b=2", help="Sizes that differ from the system's own.")
]
ReadingOption = Annotated[
    list[str] | None,
    typer.Option(
        "--reading",
        metavar="NAME=VALUE",
        help="A reading that differs from the default.",
        autocompletion=completion.readings,
    ),
]
MutantName = Annotated[
    str,
    typer.Option(
        "--mutant",
        "--variant",
        metavar="NAME",
        help="Run this mutant instead of the reference.",
        autocompletion=completion.mutants,
    ),
]
Claim = Annotated[
    list[str] | None,
    typer.Option("--claim", metavar="NAME", help="Only this claim (repeatable).", autocompletion=completion.claims),
]
JobsOption = Annotated[
    int | None,
    typer.Option("--jobs", metavar="N", min=1, help="How many processes run at a time.", show_default="one per core"),
]
KeepOption = Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Write new counterexamples there.")]
JsonOut = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output, and nothing else.")]


class BadUse(ValueError):
    """A mistake in what was asked: an option, a name, a file.  Exit code 2."""


class Unknown(Exception):
    """The answer is not known here (no solver installed, say).  Exit code 3."""


def terminal() -> Console:
    """Standard output for people: as wide as the terminal, 160 columns elsewhere; heeds NO_COLOR."""
    return Console(width=None if sys.stdout.isatty() else 160, highlight=False, emoji=False, markup=False)


def say(message: str) -> None:
    """One line on standard error, inert."""
    Console(stderr=True, highlight=False, emoji=False, markup=False).print(Text(inert(message)), soft_wrap=True)


def emit(value: Mapping[str, Json]) -> None:
    """One JSON object on standard output, canonical, and nothing else."""
    sys.stdout.write(canonical_text(dict(value)) + "\n")
    sys.stdout.flush()


@contextmanager
def usage() -> Generator[None]:
    """Where names, sizes and files are made out: what is wrong with them is the person's to mend."""
    try:
        yield
    except (ValueError, OSError) as error:
        raise BadUse(str(error)) from error


def guarded(command: Callable[P, int]) -> Callable[P, None]:
    """A command that returns its exit code, with one message for each mistake instead of a traceback."""

    @functools.wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            with _one_request_to_end():
                code = command(*args, **kwargs)
        except (BadUse, ProtocolBroken) as error:
            leave(str(error), 2)
        except Unknown as error:
            leave(str(error), 3)
        except KeyboardInterrupt:
            leave("interrupted", INTERRUPTED)
        raise typer.Exit(code)

    return wrapped


_REQUESTS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def _one_request_to_end() -> Generator[None]:
    """The first Ctrl-C or SIGTERM (as CI sends it) is a KeyboardInterrupt; more of them do not end the ending.

    People press it twice and `timeout` sends two; what was finished must still be printed and written.  Only the
    main thread may say so; elsewhere requests do what they always do.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, _interrupt) for number in _REQUESTS}
    told = sys.unraisablehook
    waiting: list[threading.Timer] = []
    sys.unraisablehook = functools.partial(_asked_again, told, waiting)
    try:
        yield
    finally:
        sys.unraisablehook = told
        for timer in waiting:
            timer.cancel()
        for number, handler in before.items():
            signal.signal(number, handler)


SOON = 0.05
"""Seconds after which a request to end that went unheard is made again."""


def _asked_again(told: Callable[[Any], object], waiting: list[threading.Timer], lost: Any) -> None:
    """What no code can catch is told as ever; but a request to end is made again, or nobody could end the command.

    It comes here when it is raised while the garbage collector calls somebody, as Hypothesis lets itself be called.
    """
    if lost.exc_type is not KeyboardInterrupt:
        told(lost)
        return
    for number in _REQUESTS:
        signal.signal(number, _interrupt)
    waiting.append(threading.Timer(SOON, os.kill, (os.getpid(), signal.SIGINT)))
    waiting[-1].start()


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    for number in _REQUESTS:
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def leave(message: str, code: int) -> NoReturn:
    """End the command with one line on standard error."""
    say(f"evenhand: {message}")
    sys.exit(code)


def content_of(file: Path) -> bytes:
    """The bytes of a file that the person named.  Raises BadUse, in the words of every command."""
    try:
        return file.read_bytes()
    except FileNotFoundError as error:
        raise BadUse(f"{file}: there is no such file. Check the path.") from error
    except IsADirectoryError as error:
        raise BadUse(f"{file}: it is a folder. Name the files in it.") from error
    except (OSError, ValueError) as error:
        cause = (error.strerror if isinstance(error, OSError) else str(error)) or type(error).__name__
        raise BadUse(f"{file}: it cannot be read ({cause}). Check the path and its permissions.") from error


def bundle_named(name: str) -> Bundle:
    """The protocol called `name`.  Raises BadUse, or ProtocolBroken when any does not import."""
    with usage():
        return find(name)


def bundles_named(names: list[str]) -> tuple[Bundle, ...]:
    """These protocols, each once, or all of them.  Raises BadUse as `bundle_named` does."""
    if names:
        return tuple(bundle_named(name) for name in dict.fromkeys(names))
    found = protocols()
    if not found:
        raise BadUse("there is no protocol; a module of evenhand.model with a PROTOCOL is one")
    return found


def job_for(
    bundle: Bundle,
    job: Job,
    scope: list[str] | None,
    readings: list[str] | None,
    claims: list[str] | None,
) -> tuple[Job, AnySystem]:
    """`job` with what the options chose, and the system it runs.  Raises BadUse for what is not there."""
    with usage():
        base = system_for(bundle, job)
        chosen = replace(
            job,
            system=base.name,
            scope=tuple(sorted(chosen_scope(scope or []).items())),
            readings=chosen_readings(base, readings or []),
            claims=tuple(claims or ()),
        )
        claims_for(bundle, base.name, chosen.claims)
        return chosen, system_for(bundle, chosen)


@contextmanager
def running(total: int, what: str) -> Generator[Callable[[str, int], None]]:
    """A progress bar on standard error, on a terminal only; yields `advance(words, steps)`.

    Nothing refreshes on its own: a thread beside forked children can deadlock them.
    """
    console = Console(stderr=True, highlight=False, emoji=False, markup=False)
    if not console.is_terminal:
        yield lambda _words, _steps: None
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TextColumn("{task.completed:,}"))
    with Progress(*columns, TimeElapsedColumn(), console=console, auto_refresh=False, transient=True) as bar:
        task = bar.add_task(what, total=total or None)

        def advance(words: str, steps: int) -> None:
            bar.update(task, description=inert(words)[:60], advance=steps, refresh=True)

        yield advance


@contextmanager
def counting(what: str) -> Generator[Callable[[int, int], None] | None]:
    """The progress callback of an engine (`done`, `known`), on a terminal only; None elsewhere."""
    console = Console(stderr=True, highlight=False, emoji=False, markup=False)
    if not console.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TextColumn("{task.completed:,}"))
    with Progress(*columns, TimeElapsedColumn(), console=console, auto_refresh=False, transient=True) as bar:
        task = bar.add_task(inert(what), total=None)

        def count(done: int, known: int) -> None:
            bar.update(task, completed=done, total=max(done, known) or None, refresh=True)

        yield count


def cores() -> int:
    """How many processes this one may run side by side."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def with_files(folder: Path, report: Report) -> Report:
    """`report` with the command that replays each counterexample written to `folder`."""
    return replace(report, findings=tuple(_with_file(folder, finding) for finding in report.findings))


def _with_file(folder: Path, finding: Finding) -> Finding:
    if not finding.fixture:
        return finding
    command = shlex.join(["evenhand", "replay", str(folder / finding.fixture)])
    return replace(finding, command=f"{command}\n{finding.command}")


def keep(folder: Path | None, report: Report) -> Report:
    """Write the counterexamples that are no fixtures yet to `folder`, if there is one.  Raises BadUse."""
    if folder is None:
        return report
    with usage():
        return with_files(folder, saved(folder, report))


def write_forms(folder: Path, report: Report, matrices: Sequence[Mapping[str, Any]] = ()) -> tuple[Path, ...]:
    """Write the report as `report.json` and in every other form, and say where."""
    from evenhand.report.forms import forms_of  # the template engine is loaded only where a report is written

    made = {"report.json": report.to_bytes() + b"\n", **forms_of(report, matrices)}
    for name, content in made.items():
        write_atomically(folder / name, content)
        say(f"written: {folder / name}")
    return tuple(folder / name for name in made)


def finish(report: Report, more: Mapping[str, Any], *, as_json: bool, strict: bool = False) -> int:
    """Print a report (as one object with `more` beside it, or as tables) and return its exit code."""
    if as_json:
        emit({**report.to_json(), **{name: plain(value) for name, value in more.items()}})
    else:
        print_report(terminal(), report)
    return report.exit_code(strict=strict)
