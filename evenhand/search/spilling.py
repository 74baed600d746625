"""The disk on which a search continues when its memory ends: a SQLite database in a file without a name.

The caller of a search passes a `Spill`, which opens a disk when one is needed; the search closes it.
SQLite is in the standard library, keeps its cache within the limit, and answers a query about one state in some
microseconds; `docs/explanation/exploration.md` has the figures beside DuckDB's.  The file loses its name as soon as it
is open, so the system frees it however the process ends.  Nothing is ever committed or synced, because only this search
uses the database.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

CACHE_KIB = 16 << 10
"""KiB of a database that SQLite may hold in memory."""

_SETTINGS = (
    "journal_mode=OFF",
    "synchronous=OFF",
    "locking_mode=EXCLUSIVE",
    "temp_store=MEMORY",
    f"cache_size=-{CACHE_KIB}",
)

_TABLES = """
    create table state (number integer primary key, code integer, body blob, parent integer, action integer);
    create index by_code on state (code);
"""


class SpillFailed(Exception):
    """A disk can no longer be written or read; names the folder, the cause and the next step."""


@dataclass(frozen=True)
class Folder:
    """A folder to spill to: a `Spill` for `explore`.  Each running search has its own file there."""

    path: Path

    def __call__(self) -> SqliteDisk:
        """Return a new, empty disk.  Raises SpillFailed for a folder that is missing or cannot be written to."""
        return SqliteDisk(self.path)

    def ready(self) -> Folder:
        """Return this folder, after a test that it can be written to.  Raises SpillFailed."""
        self().close()
        return self


class SqliteDisk:
    """The states of one search, in a file that has lost its name.  Every method may raise SpillFailed."""

    def __init__(self, folder: Path) -> None:
        import sqlite3  # takes as long to load as all of this package, and few searches need it

        self.folder, self.error = folder, sqlite3.Error
        try:
            handle, name = tempfile.mkstemp(dir=folder, prefix=".evenhand-", suffix=".spill")
        except OSError as error:
            raise self._failed(error.strerror or str(error)) from error
        try:
            os.close(handle)
            self.base = sqlite3.connect(name, isolation_level=None)
            try:
                for setting in _SETTINGS:
                    self.base.execute(f"pragma {setting}")
                self.base.executescript(_TABLES)
                self.base.execute("begin")
            except BaseException:
                self.base.close()
                raise
        except self.error as error:
            raise self._failed(str(error)) from error
        finally:
            # SQLite holds the open file; only the name goes.
            os.unlink(name)

    def put(self, number: int, code: int, body: bytes, parent: int, action: int) -> None:
        """Keep a state under a new number: its hash, its bytes, and how it was reached."""
        self._all("insert into state values (?, ?, ?, ?, ?)", number, code, body, parent, action)

    def alike(self, code: int) -> Sequence[tuple[int, bytes]]:
        """Return number and bytes of every state kept with this hash (64 bits, signed)."""
        return self._all("select number, body from state where code = ?", code)

    def kept(self, what: Literal["body", "parent", "action"], number: int) -> Any:
        """Return the bytes of a state, or how it was reached.  A parent's number is smaller, because paths must end."""
        found = self._all(f"select {what} from state where number = ?", number)[0][0]
        if what == "parent" and found >= number:
            raise self._failed(f"it gave back {found} for the parent of state {number}")
        return found

    def close(self) -> None:
        """Release everything.  Never raises, and may be called again."""
        with suppress(self.error):
            self.base.close()

    def _all(self, question: str, *values: int | bytes) -> list[Any]:
        try:
            return self.base.execute(question, values).fetchall()
        except self.error as error:
            raise self._failed(str(error)) from error

    def _failed(self, why: str) -> SpillFailed:
        return SpillFailed(
            f"cannot spill to {self.folder}: {why}. Nothing is left there; name a folder that is there, that can be "
            "written to and has room, or search a smaller scope"
        )


Spill: TypeAlias = Callable[[], SqliteDisk]
"""Opens a disk.  Raises SpillFailed."""
