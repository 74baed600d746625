"""The boundary of the program: every way in which a command can end gets the exit code that tells the truth.

Commands end with codes of their own (0 as expected, 1 refuted, 2 bad use, 3 undecided).  Whatever passes them ends
here: output that cannot be written, a reader that closed the pipe, a full disk, a package that is not installed,
Ctrl-C, and faults of evenhand itself.
No traceback reaches a terminal, and nothing but a refutation gives 1.

Only the standard library is imported here, so that a fault while the rest is loaded is told in the same way.
"""

from __future__ import annotations

import errno
import io
import os
import re
import select
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, requires, version
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

BAD = 2
"""Exit code of bad use, of bad input, and of a machine that refuses what the command needs."""

BUG = 70
"""Exit code of a fault of evenhand: EX_SOFTWARE of sysexits.h."""

INTERRUPTED = 130
"""Exit code of a run that Ctrl-C ended: 128 and SIGINT, as in shells."""

PIPE_CLOSED = 141
"""Exit code after the reader of standard output went away: 128 and SIGPIPE, as in shells."""

_OF_THE_MACHINE = frozenset(
    {
        errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EFBIG, errno.EACCES, errno.EPERM,
        errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN,
    }
)  # fmt: skip
"""Errors that say nothing about evenhand."""

_PACKAGES = {"pysat": "python-sat", "yaml": "pyyaml"}
"""The package that brings a module of another name."""


class OutputLost(BaseException):
    """Standard output takes nothing more.

    No `Exception`, because what guards calls of models would take it for a fault of the model.
    """

    def __init__(self, cause: OSError) -> None:
        super().__init__(cause.strerror or type(cause).__name__)
        self.closed = isinstance(cause, BrokenPipeError)


class _Output(io.FileIO):
    """Standard output; tells its own errors apart from those of other files and pipes."""

    def write(self, data: ReadableBuffer, /) -> int:
        """Write bytes; wait where the reader is slow.  Raises OutputLost."""
        try:
            while (count := super().write(data)) is None:
                select.select([], [self], [])
        except OSError as error:
            raise OutputLost(error) from error
        return count


class _Messages(io.FileIO):
    """Standard error; what it does not take is lost, because there is no place left to say so."""

    def write(self, data: ReadableBuffer, /) -> int:
        """Write bytes, or drop them."""
        with suppress(OSError):
            return super().write(data) or len(memoryview(data).cast("B"))
        return len(memoryview(data).cast("B"))


def ended(run: Callable[[], object]) -> int:
    """Run the program and return its exit code, after at most one line on standard error."""
    try:
        _own_streams()
        with suppress(ValueError):  # in a thread of somebody else
            signal.signal(signal.SIGTERM, signal.default_int_handler)
        code = _code_of(run)
        sys.stdout.flush()
    except OutputLost as lost:
        _drop_output()
        if lost.closed:
            return PIPE_CLOSED
        _say(f"standard output cannot be written to ({lost}); send it elsewhere")
        return BAD
    except KeyboardInterrupt:
        _say("interrupted")
        return INTERRUPTED
    except MemoryError:
        _say("there is not enough memory for this; choose a smaller scope or a bound")
        return BAD
    except BaseException as error:
        if isinstance(error, OSError) and error.errno in _OF_THE_MACHINE:
            where = f"{error.filename}: " if error.filename is not None else ""
            _say(f"{where}{error.strerror}; make room or ask for the rights, and run it again")
            return BAD
        if _is_of_a_model(error):
            _say(str(error))
            return BAD
        if isinstance(error, ModuleNotFoundError) and (needed := _requirement(error.name or "")):
            _say(f"this needs {error.name}, which is not installed; install it with: pip install '{needed}'")
            return BAD
        _say(_told(error))
        return BUG
    return code


def _code_of(run: Callable[[], object]) -> int:
    try:
        run()
    except SystemExit as error:
        if error.code is None or isinstance(error.code, int):
            return error.code or 0
        raise
    return 0


def _own_streams() -> None:
    """Put streams in the place of standard output and error that never raise another error than OutputLost.

    Characters that the encoding lacks are written as escapes.  Where a stream is closed, its number is taken, so that
    no file that is opened later gets it.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_WRONLY if number == 2 else os.O_RDONLY)  # the lowest free number: this one
    for name, number, kind in (("stdout", 1, _Output), ("stderr", 2, _Messages)):
        there: Any = getattr(sys, name)
        if there is not None and (
            not isinstance(there, io.TextIOWrapper) or _number(cast("io.TextIOWrapper", there)) != number
        ):
            continue  # somebody else put it there
        encoding = str(getattr(cast("object", there), "encoding", "utf-8"))
        raw = kind(number, "wb", closefd=False)
        at_once = bool(getattr(cast("object", there), "write_through", False))
        made = io.TextIOWrapper(
            io.BufferedWriter(raw),
            encoding=encoding,
            errors="backslashreplace",
            line_buffering=number == 2 or raw.isatty(),
            write_through=at_once,
        )
        setattr(sys, name, made)


def _number(stream: io.TextIOWrapper) -> int:
    try:
        return stream.fileno()
    except (OSError, ValueError):
        return -1


def _drop_output() -> None:
    """Send what is still buffered nowhere, so that the interpreter can flush it at its end."""
    with suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.close(nowhere)


def _is_of_a_model(error: BaseException) -> bool:
    """Whether a model or mutant broke its contract; then the message names it, and what to correct."""
    answers = sys.modules.get("evenhand.core.answers")
    return answers is not None and isinstance(error, answers.ModelError)


def _told(error: BaseException) -> str:
    """Write a report about a fault of evenhand and return the line that names it."""
    words = f"this is a bug of evenhand: {type(error).__name__}: {error!s:.200}"
    try:
        number, path = tempfile.mkstemp(prefix="evenhand-bug-", suffix=".txt")
        with open(number, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.writelines(_report(error))
    except OSError:
        return f"{words}; no report could be written"
    return f"{words}; please send the report to the maintainers: {path}"


def _requirement(module: str) -> str:
    """Return what pip installs for a module that evenhand uses: a package, or evenhand with an extra; else nothing."""
    top = module.partition(".")[0]
    package = _PACKAGES.get(top, top).lower()
    with suppress(PackageNotFoundError):
        for requirement in requires("evenhand") or ():
            wanted, _, marker = requirement.partition(";")
            extra = re.search(r"extra == ['\"](\w+)", marker)
            if re.split(r"[^\w.-]", wanted, maxsplit=1)[0].lower().replace("_", "-") == package:
                return f"evenhand[{extra[1]}]" if extra else wanted.strip()
    return ""


def _report(error: BaseException) -> list[str]:
    with suppress(Exception):
        return [
            f"evenhand {version('evenhand')}, Python {sys.version}, {sys.platform}\n",
            f"command: {' '.join(_without_password(word) for word in sys.argv)}\n\n",
            *traceback.format_exception(error),
        ]
    return [repr(error)]


def _without_password(word: str) -> str:
    return re.sub(r"://([^:/@]*):[^@]*@", r"://\1:…@", word)


def _say(message: str) -> None:
    """Write one line on standard error, with escapes for what a terminal would obey."""
    line = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in message)
    with suppress(Exception):
        sys.stderr.write(f"evenhand: {line}\n")
        sys.stderr.flush()
