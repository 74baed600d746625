"""Read files that somebody else may have written: regular files only, and no more than a limit.

A FIFO would block for ever and a device would fill the memory, so both are refused before a byte is read.  Every limit
can be raised with the variable `EVENHAND_MAX_FILE`, in MiB.
"""

from __future__ import annotations

import os
import stat
from contextlib import ExitStack
from pathlib import Path

MIB = 2**20
MOST_BYTES = 16 * MIB
"""The limit for files without one of their own; parsed JSON takes some twenty times its size."""

VARIABLE = "EVENHAND_MAX_FILE"


class Unreadable(ValueError):
    """A file that cannot be read: `culprit` (its path), `cause`, and the `next_step` that mends it."""

    def __init__(self, culprit: str, cause: str, next_step: str) -> None:
        super().__init__(f"{culprit}: {cause}. {next_step}.")
        self.culprit, self.cause, self.next_step = culprit, cause, next_step


def content_of(path: str | os.PathLike[str], most: int = MOST_BYTES) -> bytes:
    """Return the bytes of a regular file of at most `most` bytes, or of as many as `EVENHAND_MAX_FILE` allows.

    Raises Unreadable for any other file.
    """
    culprit = os.fspath(path)
    most = _raised(most)
    try:
        number = os.open(culprit, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with ExitStack() as stack:
            stack.callback(os.close, number)
            about = os.fstat(number)
            if stat.S_ISDIR(about.st_mode):
                raise IsADirectoryError
            if not stat.S_ISREG(about.st_mode):
                raise Unreadable(culprit, "it is no regular file", "Name a file on a disk")
            content = b""
            if about.st_size <= most:
                with open(number, "rb", closefd=False) as file:
                    content = file.read(most + 1)
            size = max(about.st_size, len(content))  # it may have grown since
    except FileNotFoundError as error:
        raise Unreadable(culprit, "there is no such file", "Check the path") from error
    except IsADirectoryError as error:
        raise Unreadable(culprit, "it is a folder", "Name a file in it") from error
    except Unreadable:
        raise
    except (OSError, ValueError) as error:
        cause = (error.strerror if isinstance(error, OSError) else str(error)) or type(error).__name__
        raise Unreadable(culprit, f"it cannot be read ({cause})", "Check the path and its permissions") from error
    if size > most:
        limit = f"{most // MIB} MiB" if most % MIB == 0 else f"{most:,}"
        raise Unreadable(
            culprit,
            f"it has {size:,} bytes, more than the {limit} that are read at most",
            f"Give a smaller file, or raise the limit with the variable {VARIABLE} (in MiB)",
        )
    return content


def head_of(path: str | os.PathLike[str], most: int) -> bytes:
    """Return the first bytes of a regular file; none of one that cannot be read."""
    try:
        number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with open(number, "rb") as file:
            return file.read(most) if stat.S_ISREG(os.fstat(number).st_mode) else b""
    except (OSError, ValueError):
        return b""


def _raised(most: int) -> int:
    """The limit, or the larger one that the variable sets.  Raises Unreadable for a value that is no number."""
    written = os.environ.get(VARIABLE, "")
    if written and not (written.isascii() and written.isdecimal() and len(written) < 10):
        raise Unreadable(VARIABLE, f"{written!r:.40} is no number of MiB", "Set it to a whole number, or unset it")
    return max(most, int(written or 0) * MIB)


def text_of(path: Path, most: int = MOST_BYTES) -> str:
    """Return the text of a file as `content_of` reads it.  Raises Unreadable for what is not UTF-8, too."""
    try:
        return content_of(path, most).decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unreadable(str(path), f"it is no UTF-8 text (byte {error.start})", "Save it as UTF-8") from error
