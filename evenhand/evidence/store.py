"""Read records from disk as untrusted files, and write them whole or not at all.

A file's size is checked before it is opened, its text is parsed strictly, and every fault ends as one `BadRecord`.
Writing goes through a temporary file in the same folder, synced and then renamed: a reader sees the old bytes or the
new ones, and a full disk leaves nothing half-written.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path

from evenhand.core.canonical import Json, parse
from evenhand.core.files import Unreadable, content_of, head_of
from evenhand.evidence.record import AGAIN, FORMAT, BadRecord, Record

MAX_BYTES = 8 * 1024 * 1024
"""Larger files are refused unread: a shrunk run takes some kilobytes."""

_FIRST = re.compile(rb'\s*\{\s*"format"\s*:\s*"' + FORMAT.encode("ascii") + rb'"')


class NotWritten(OSError):
    """A file that could not be written; its earlier content is unchanged."""


class NotWritable(ValueError):
    """A folder or file that cannot be written; the message says which and why."""


def is_record(path: Path) -> bool:
    """Return whether `path` claims to be a record, by its first bytes (`format` is the first key).

    False for a file that cannot be read.
    """
    return _FIRST.match(head_of(path, 512)) is not None


def load(path: str | os.PathLike[str]) -> Record:
    """Return the record in `path`.

    Raises BadRecord for a file that is missing, not regular, too large, not UTF-8, not JSON, of another format or
    version, not as the schema has it, or changed since it was recorded.
    """
    return Record.from_json(read_json(path), os.fspath(path))


def read_json(path: str | os.PathLike[str]) -> Json:
    """Return the JSON in a file of any format of evenhand's.  Raises BadRecord as `load` does, up to the JSON."""
    culprit = os.fspath(path)
    try:
        return parse(_text(culprit))
    except BadRecord:
        raise
    except ValueError as error:
        raise BadRecord(culprit, f"it is no JSON, or was cut short ({error!s:.120})", AGAIN) from error


def save(record: Record, folder: str | os.PathLike[str]) -> Path:
    """Write `record` to `folder` under its own file name, making the folder if needed; return the path.

    Raises NotWritten if the folder or the file cannot be made.  An earlier record of the same run stays as it is,
    whatever its provenance; it is replaced only if the place of a user's own system changed.
    """
    path = Path(folder) / record.file_name
    with suppress(BadRecord):
        there = load(path)
        if there.identity == record.identity and (there.own == record.own or not (record.own and record.own.file)):
            return path
    write_atomically(path, record.to_bytes())
    return path


def ready_folder(path: Path) -> Path:
    """Return `path` as a folder that can be written to, made where missing.  Raises NotWritable."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path, prefix=".evenhand-"):
            pass
    except OSError as error:
        raise NotWritable(f"cannot write to {path}: {error.strerror or error}; choose another folder") from error
    return path


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Make `path` hold `content`, or leave it as it was; missing folders are made.

    Raises NotWritten with the path, the cause and the next step.
    """
    target = Path(path)
    part = target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
        try:
            with part.open("xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
        _sync_folder(target.parent)
    except OSError as error:
        cause = error.strerror or type(error).__name__
        raise NotWritten(f"{target}: cannot be written ({cause}). Choose a folder that can be written to.") from error


def _text(culprit: str) -> str:
    """The text of a file of at most `MAX_BYTES`."""
    try:
        return content_of(culprit, MAX_BYTES).decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadRecord(culprit, f"it is no UTF-8 text (byte {error.start})", AGAIN) from error
    except Unreadable as error:
        raise BadRecord(error.culprit, error.cause, error.next_step) from error


def _sync_folder(folder: Path) -> None:
    """Make a rename survive a power cut, on systems that can sync folders."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
