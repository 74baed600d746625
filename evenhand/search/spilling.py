"""A disk to continue a search on: a SQLite database in a file without a name.

SQLite is in the standard library, keeps its cache within the limit, and answers a query about one state in some
microseconds; `docs/explanation/exploration.md` has the figures beside DuckDB's.  The file loses its name as soon as it
is open, so the system frees it however the process ends.  Nothing is ever committed or synced, because only this search
uses the database.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from evenhand.search.disk import SpillFailed

T = TypeVar("T")

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
    create table block (first integer primary key, words blob, parents blob);
    create table seen_number (key integer primary key);
    create table seen_bytes (key blob primary key) without rowid;
    create temp table fresh (place integer primary key, key);
    create temp trigger new_number after insert on seen_number begin insert into fresh (key) values (new.key); end;
    create temp trigger new_bytes after insert on seen_bytes begin insert into fresh (key) values (new.key); end;
"""


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
    """A `Disk` in a file that has lost its name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
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
        except sqlite3.Error as error:
            raise self._failed(str(error)) from error
        finally:
            # SQLite holds the open file; only the name goes.
            os.unlink(name)

    def put(self, number: int, code: int, body: bytes, parent: int, action: int) -> None:
        """See `Disk`."""
        self._do(
            lambda: self.base.execute("insert into state values (?, ?, ?, ?, ?)", (number, code, body, parent, action))
        )

    def alike(self, code: int) -> Sequence[tuple[int, bytes]]:
        """See `Disk`."""
        return self._all("select number, body from state where code = ?", code)

    def body(self, number: int) -> bytes:
        """See `Disk`."""
        found: bytes = self._all("select body from state where number = ?", number)[0][0]
        return found

    def link(self, number: int) -> tuple[int, int]:
        """See `Disk`."""
        parent, action = self._all("select parent, action from state where number = ?", number)[0]
        return parent, action

    def unseen(self, keys: Sequence[int] | Sequence[bytes]) -> Sequence[int]:
        """See `Disk`."""
        if not keys:
            return ()
        table = _table_of(keys)
        self._do(
            lambda: self.base.executemany(f"insert or ignore into {table} values (?)", ((key,) for key in keys)),
        )
        fresh = [key for (key,) in self._all("select key from fresh order by place")]
        self._do(lambda: self.base.execute("delete from fresh"))
        return list(_positions(keys, fresh))

    def forget(self, keys: Sequence[int] | Sequence[bytes]) -> None:
        """See `Disk`."""
        if keys:
            table = _table_of(keys)
            self._do(lambda: self.base.executemany(f"delete from {table} where key = ?", ((key,) for key in keys)))

    def append(self, first: int, words: bytes, parents: bytes) -> None:
        """See `Disk`."""
        self._do(lambda: self.base.execute("insert into block values (?, ?, ?)", (first, words, parents)))

    def block(self, number: int) -> tuple[int, bytes, bytes]:
        """See `Disk`."""
        question = "select first, words, parents from block where first <= ? order by first desc limit 1"
        first, words, parents = self._all(question, number)[0]
        return first, words, parents

    def close(self) -> None:
        """See `Disk`."""
        with suppress(sqlite3.Error):
            self.base.close()

    def _all(self, question: str, *values: int) -> list[Any]:
        return self._do(lambda: self.base.execute(question, values).fetchall())

    def _do(self, asked: Callable[[], T]) -> T:
        try:
            return asked()
        except sqlite3.Error as error:
            raise self._failed(str(error)) from error

    def _failed(self, why: str) -> SpillFailed:
        return SpillFailed(
            f"cannot spill to {self.folder}: {why}. Nothing is left there; name a folder that is there, that can be "
            "written to and has room, or search a smaller scope"
        )


def _table_of(keys: Sequence[int] | Sequence[bytes]) -> str:
    return "seen_number" if isinstance(keys[0], int) else "seen_bytes"


def _positions(keys: Iterable[int | bytes], some: Iterable[int | bytes]) -> Iterable[int]:
    """The positions in `keys` of `some` of them, which come in the same order."""
    wanted = iter(some)
    key = next(wanted, None)
    for place, one in enumerate(keys):
        if one == key:
            yield place
            key = next(wanted, None)
