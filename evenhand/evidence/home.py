"""Find the system of a record: in the registry, or in a Python file of the project that the record names.

Records are untrusted, and loading a Python file runs it.  So a record may only name a file of the current project (the
working directory, or the root folder of a pytest run), by a path relative to its own; links are resolved before this
check.  Nothing else in a file that evenhand reads leads to code.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path, PurePosixPath

from msgspec import structs

from evenhand.core.bundle import Bundle
from evenhand.core.own_file import GlobalName, file_and_name, names_file, own_bundle
from evenhand.core.registry import registered
from evenhand.evidence.record import AGAIN, BadRecord, Record

PLUGIN = "evenhand.pytest_plugin"


def projects() -> tuple[Path, ...]:
    """Return the folders whose code may be run: the working directory, and the root folders of pytest runs."""
    roots: list[Path] = getattr(sys.modules.get(PLUGIN), "ROOTS", [])
    return tuple(dict.fromkeys(path.resolve() for path in (Path.cwd(), *roots)))


def found_within(name: str) -> Bundle:
    """Return the protocol called `name`, or the system of a `FILE.py:name` of the project: for names in files.

    Raises UnknownName, NotLoaded or NoSuchSystem as `find` does, and ValueError for a file outside the project.
    """
    if not names_file(name):
        return registered(name)
    file, _ = file_and_name(name)
    if not _within(Path(file).resolve()):
        raise ValueError(f"{file} {OUTSIDE}")
    return own_bundle(name)


OUTSIDE = "lies outside the project (the working directory, or the root folder of a pytest run), so it is not run"


def _within(path: Path) -> bool:
    return any(path.is_relative_to(root) for root in projects())


def placed(record: Record, folder: Path, place: GlobalName | None) -> Record:
    """Return `record` as it is written to `folder`, with the place of its system if both are in one project."""
    if not record.own or place is None:
        return record
    file, home = place.file.resolve(), folder.resolve()
    if not any(file.is_relative_to(root) and home.is_relative_to(root) for root in projects()):
        return record
    relative = Path(os.path.relpath(file, home)).as_posix()
    return structs.replace(record, own=structs.replace(record.own, file=relative, name=place.name))


def bundle_of(record: Record, file: Path | None, origin: str) -> Bundle:
    """Return the protocol of a record that was read from `file` (None: from elsewhere).

    Raises UnknownName for an unknown protocol, BadRecord for a user's own system that is not found or must not be
    loaded.
    """
    own = record.own
    if not own:
        return registered(record.protocol)
    if not own.file:
        raise BadRecord(
            origin,
            f"its system {record.protocol!r} is no global of a file in the project",
            "It replays only through the evenhand.verify(..., save=...) that wrote it; make the system and its claim "
            "globals of a Python file, and run that again",
        )
    if file is None:
        raise BadRecord(
            origin, f"its system {record.protocol!r} is found by the record's own place", "Replay it from its file"
        )
    pure = PurePosixPath(own.file)
    if pure.is_absolute() or pure.suffix != ".py":
        raise BadRecord(origin, f"{own.file!r:.200} is no relative path of a Python file", AGAIN)
    path = (file.resolve().parent / pure).resolve()
    if not _within(path):
        raise BadRecord(
            origin,
            f"its system lives in {own.file!r:.200}, which {OUTSIDE}",
            "Replay it from the folder of the project",
        )
    try:
        return own_bundle(f"{_short(path)}:{own.name}")
    except ValueError as error:
        raise BadRecord(origin, str(error), AGAIN) from error


def _short(path: Path) -> str:
    here = Path.cwd().resolve()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
