"""Share one proof per theorem among the processes of a run.

A quotient search needs the licence of a theorem that a job of the same run proves too.  The first process proves it and
writes the result to a folder private to this run; the others wait and read it.  Results of another run or version are
never used.  What may outlive a run are certificates, which are checked before they are believed.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, cast

from evenhand.core.canonical import Json, canonical_bytes, parse
from evenhand.evidence.store import write_atomically

_FOLDERS: list[tuple[Path, Path | None]] = []
"""The folders of shared proofs and of certificates, those of the innermost context last."""


@contextlib.contextmanager
def share_in(folder: Path, certificates: Path | None = None) -> Generator[None]:
    """Share proofs in `folder`, private to the run, inside this context; check `certificates` before asking solvers."""
    _FOLDERS.append((folder, certificates))
    try:
        yield
    finally:
        _FOLDERS.pop()


def certificates() -> Path | None:
    """Return the folder of certificates that stand in for solvers in this run; None without one."""
    return _FOLDERS[-1][1] if _FOLDERS else None


def once(key: str, make: Callable[[], dict[str, Json]]) -> dict[str, Json]:
    """Return the result of `make`, computed once per run and key, by this process or an earlier one.

    Without a shared folder it is computed anew; without file locks on this platform, processes may compute it twice.
    An exception of `make` is raised, and the next call tries again.
    """
    if not _FOLDERS:
        return make()
    file = _FOLDERS[-1][0] / f"{hashlib.sha256(key.encode()).hexdigest()}.json"
    with _locked(file.with_suffix(".lock")):
        found = _read(file, key)
        if found is None:
            found = make()
            write_atomically(file, canonical_bytes({"key": key, "made": found}))
    return found


def _read(file: Path, key: str) -> dict[str, Json] | None:
    """The result stored in a file for this key; None without one."""
    try:
        stored = cast("dict[str, Any]", parse(file.read_bytes()))
    except FileNotFoundError:
        return None
    return stored["made"] if stored["key"] == key else None


@contextlib.contextmanager
def _locked(file: Path) -> Generator[None]:
    """Hold a lock that the operating system releases when this process ends in any way."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    with file.open("wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
