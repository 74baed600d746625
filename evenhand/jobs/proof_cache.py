"""One proof per theorem and run, shared by the processes of the run.

A quotient search needs the licence of a theorem that a job of the same run proves as well.  Whoever comes first
proves it, writes what became of it to a folder that belongs to this run alone, and the others wait and read it.
Nothing outlives the run: what another run or another version proved is never believed.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, cast

from evenhand.core.canonical import Json, canonical_bytes, parse
from evenhand.evidence.store import write_atomically

__all__ = ["once", "share_in"]

_FOLDERS: list[Path] = []


@contextlib.contextmanager
def share_in(folder: Path) -> Generator[None]:
    """Share proofs in `folder`, private to the run, as long as this lasts."""
    _FOLDERS.append(folder)
    try:
        yield
    finally:
        _FOLDERS.remove(folder)


def once(key: str, make: Callable[[], dict[str, Json]]) -> dict[str, Json]:
    """What `make` gives, made once per run and key: by this process or by another that came first.

    Without a folder to share, or without file locks on this platform, it is made anew.  What `make` raises is raised,
    and leaves the next to try for itself.
    """
    if not _FOLDERS:
        return make()
    name = hashlib.sha256(key.encode()).hexdigest()
    file = _FOLDERS[-1] / f"{name}.json"
    with _locked(_FOLDERS[-1] / f"{name}.lock"):
        found = _read(file, key)
        if found is None:
            found = make()
            write_atomically(file, canonical_bytes({"key": key, "made": found}))
    return found


def _read(file: Path, key: str) -> dict[str, Json] | None:
    """What stands in a file for this key; None where there is none."""
    try:
        stored = cast("dict[str, Any]", parse(file.read_bytes()))
    except FileNotFoundError:
        return None
    return stored["made"] if stored["key"] == key else None


@contextlib.contextmanager
def _locked(file: Path) -> Generator[None]:
    """Hold a lock that the operating system gives up when this process ends, however it ends."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    with file.open("wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
