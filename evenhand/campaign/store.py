"""Keep results in SQLite in a file, or in any database that SQLAlchemy reaches.

Rows are added and never changed.  A result stands under its address (the task, its sources and versions) with the
digest of its bytes, which is checked when it is read.  Only the process that schedules a campaign writes, one short
transaction for each result, so that it may be killed at any moment: what was committed stays.

SQLite keeps a write-ahead log beside the file (`…-wal`, `…-shm`), so that readers never block.  A shared file system
does not support this; use a database server there.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar, cast

import sqlalchemy as sql
from sqlalchemy import event, exc
from sqlalchemy.engine import URL, make_url

from evenhand.core.canonical import Json, canonical_bytes, canonical_text, parse

SCHEMA = 1
"""The version of the tables below; a newer store is refused."""

MANY = 400
"""Addresses in one query, fewer than the parameters that any database allows."""

logging.getLogger("sqlalchemy.pool").setLevel(logging.CRITICAL)  # it logs a Ctrl-C while it closes, and raises it too

_tables = sql.MetaData()
_about = sql.Table("evenhand_store", _tables, sql.Column("schema", sql.Integer, primary_key=True))
_campaigns = sql.Table(
    "evenhand_campaigns",
    _tables,
    sql.Column("id", sql.Integer, primary_key=True, autoincrement=True),
    sql.Column("plan", sql.String(80), nullable=False, index=True),
    sql.Column("written", sql.Text, nullable=False),
    sql.Column("at", sql.String(40), nullable=False),
)
_results = sql.Table(
    "evenhand_results",
    _tables,
    sql.Column("id", sql.Integer, primary_key=True, autoincrement=True),
    sql.Column("address", sql.String(80), nullable=False, index=True),
    sql.Column("identity", sql.String(80), nullable=False, index=True),
    sql.Column("outcome", sql.String(16), nullable=False),
    sql.Column("limits", sql.Text, nullable=False),
    sql.Column("content", sql.LargeBinary, nullable=False),
    sql.Column("digest", sql.String(80), nullable=False),
    sql.Column("seconds", sql.Float, nullable=False),
    sql.Column("at", sql.String(40), nullable=False),
)
T = TypeVar("T")


class StoreError(ValueError):
    """A store that cannot be used; the message names it, the cause and the next step, and no password."""


@dataclass(frozen=True)
class Kept:
    """A result in a store: `outcome` is `done`, or why there is none; `made` is the answer."""

    address: str
    identity: str
    outcome: str
    limits: Json
    made: Json
    seconds: float
    at: str = ""


class Store:
    """The results of campaigns.  Every method raises StoreError if the database fails."""

    def __init__(self, engine: sql.Engine, name: str) -> None:
        self.engine = engine
        self.name = name

    def begin(self, plan: str, written: Json) -> None:
        """Record that a campaign began or resumed, as the first write: a store that refuses writes fails now."""
        row = {"plan": plan, "written": canonical_text(written), "at": _now()}
        self._write(lambda connection: connection.execute(_campaigns.insert().values(**row)))

    def begun(self, plan: str) -> int:
        """Return how often a campaign with this plan began or resumed."""
        query = sql.select(sql.func.count()).select_from(_campaigns).where(_campaigns.c.plan == plan)
        return int(self._read(lambda connection: connection.execute(query).scalar_one()))

    def keep(self, result: Kept) -> bool:
        """Add a result; return False if the same one is there already.

        Raises StoreError if the same work has a result with another content: something is not reproducible.
        """
        content = canonical_bytes(result.made)
        about = _digest(content)
        row = {
            "address": result.address,
            "identity": result.identity,
            "outcome": result.outcome,
            "limits": canonical_text(result.limits),
            "content": content,
            "digest": about,
            "seconds": result.seconds,
            "at": _now(),
        }

        def add(connection: sql.Connection) -> bool:
            done = sql.select(_results.c.digest).where(
                _results.c.address == result.address, _results.c.outcome == "done"
            )
            there: set[str] = set()
            if result.outcome == "done":
                there = {str(found) for found in connection.execute(done).scalars()}
            if there - {about}:
                raise StoreError(
                    f"{self.name}: the same work gave two different results ({result.address}): something in the "
                    "model or its machine is not reproducible. Compare runs with `evenhand verify`; the first is kept"
                )
            if not there:
                connection.execute(_results.insert().values(**row))
            return not there

        return self._write(add)

    def results(self, addresses: Iterable[str]) -> dict[str, Kept]:
        """Return the result of each address that has one: a done one before any other, else the latest."""
        wanted = list(dict.fromkeys(addresses))
        found: dict[str, Kept] = {}
        for first in range(0, len(wanted), MANY):
            query = _results.select().where(_results.c.address.in_(wanted[first : first + MANY]))
            for row in self._read(_rows(query.order_by(_results.c.id))):
                known = found.get(row.address)
                if known is None or known.outcome != "done":
                    found[row.address] = self._kept(row)
        return found

    def durations(self, identities: Iterable[str]) -> dict[str, float]:
        """Return the seconds of each piece of work when last done, under any sources and versions."""
        wanted = list(dict.fromkeys(identities))
        found: dict[str, float] = {}
        for first in range(0, len(wanted), MANY):
            query = sql.select(_results.c.identity, _results.c.seconds).where(
                _results.c.identity.in_(wanted[first : first + MANY]), _results.c.outcome == "done"
            )
            for row in self._read(_rows(query.order_by(_results.c.id))):
                found[row.identity] = _seconds(self.name, row)
        return found

    def close(self) -> None:
        """Close the database; a SQLite file then stands alone, its log folded in."""
        self.engine.dispose()

    def _kept(self, row: Any) -> Kept:
        given: Any = row.content
        content = bytes(cast("bytes", given)) if isinstance(given, bytes | memoryview) else b""
        if _digest(content) != row.digest:
            raise StoreError(
                f"{self.name}: row {row.id} of evenhand_results was changed since it was written (its digest differs). "
                "Restore the store from a copy, or begin with another"
            )
        try:
            limits, made = parse(row.limits), parse(content)
            _known_outcome(row.outcome, limits, made)
        except (TypeError, ValueError, AttributeError) as error:
            raise StoreError(
                f"{self.name}: row {row.id} of evenhand_results is damaged ({error!s:.120}). "
                "Restore the store from a copy, or begin with another"
            ) from error
        return Kept(row.address, row.identity, row.outcome, limits, made, _seconds(self.name, row), row.at)

    def _read(self, ask: Callable[[sql.Connection], T]) -> T:
        with _store_errors(self.name, "read"), self.engine.connect() as connection:
            return ask(connection)

    def _write(self, do: Callable[[sql.Connection], T]) -> T:
        writing = self.engine.execution_options(writing=True)
        with _store_errors(self.name, "written to"), writing.begin() as connection:
            return do(connection)


OUTCOMES = ("done", "time", "memory", "died", "error")


def _known_outcome(outcome: Any, limits: Any, made: Any) -> None:
    """Raise ValueError unless a row has one of the outcomes, with what belongs to it."""
    if outcome not in OUTCOMES:
        raise ValueError(f"its outcome is {outcome!r:.40}")
    because = cast("dict[str, Any]", made).get("because") if isinstance(made, dict) else None
    if isinstance(because, str) != (outcome != "done"):
        raise ValueError(f"its content is none of an outcome {outcome!r}")
    known = cast("dict[str, Any]", limits) if isinstance(limits, dict) else {"seconds": "", "memory": ""}
    numbers = (known.get("seconds"), known.get("memory"))
    if not all(number is None or (isinstance(number, int | float) and number >= 0) for number in numbers):
        raise ValueError("its limits are none")


def _seconds(name: str, row: Any) -> float:
    try:
        return float(row.seconds)
    except (TypeError, ValueError) as error:
        raise StoreError(
            f"{name}: a row of evenhand_results is damaged: its seconds are {row.seconds!r:.40}. "
            "Restore the store from a copy, or begin with another"
        ) from error


def _rows(query: Any) -> Callable[[sql.Connection], Sequence[Any]]:
    return lambda connection: connection.execute(query).all()


def store_url(written: str, beside: Path) -> URL:
    """Return the URL of a store given as a database URL or SQLite path; by default a file beside the plan.

    Raises StoreError for a URL that is invalid or names an unknown kind of database.
    """
    if "://" not in written:
        return URL.create("sqlite", database=str(Path(written) if written else beside.with_suffix(".store")))
    try:
        url = make_url(written)
        url.get_dialect()
    except exc.NoSuchModuleError as error:
        raise StoreError(
            f"store {_safe(written)}: no such kind of database; write it as in sqlite:///FILE or "
            "postgresql+pg8000://USER@HOST/NAME"
        ) from error
    except (exc.ArgumentError, ValueError) as error:
        raise StoreError(
            f"store {_safe(written)}: it is no database URL; write it as in postgresql+pg8000://USER@HOST/NAME"
        ) from error
    return url


def opened(url: URL, *, make: bool) -> Store:
    """Return the store at a URL; with `make`, its tables are created if there are none.

    Raises StoreError for a database that cannot be reached, is damaged or none, or holds a newer schema; and without
    `make` if there is no store.
    """
    name = url.database or "" if url.drivername.startswith("sqlite") else url.render_as_string(hide_password=True)
    sqlite = url.get_backend_name() == "sqlite"
    if (
        sqlite
        and not make
        and url.database
        and not url.database.startswith("file:")
        and not Path(url.database).exists()
    ):
        raise StoreError(f"{name}: there is no such store. Run the campaign first, or name its store with --store")
    if sqlite and url.database and Path(url.database).exists() and not Path(url.database).is_file():
        raise StoreError(
            f"store {name} cannot be opened (it is no regular file). Check the path, or name another store"
        )
    try:
        engine = sql.create_engine(url, isolation_level=None) if sqlite else sql.create_engine(url)
    except ImportError as error:
        raise StoreError(f"store {name}: its driver is not installed ({error}). Install it with pip") from error
    except (exc.ArgumentError, TypeError, ValueError) as error:
        raise StoreError(f"store {name}: {_line(error)}. Check the URL") from error
    if sqlite:
        event.listen(engine, "connect", _configured)
        event.listen(engine, "begin", _begun)
    store = Store(engine, name)
    with _store_errors(name, "opened"):
        _ready(store, make)
    return store


def _ready(store: Store, make: bool) -> None:
    """Check the version of the tables, or create them.  A newer store is left unchanged."""
    with store.engine.connect() as connection:
        names = set(sql.inspect(connection).get_table_names())
        latest = sql.select(sql.func.max(_about.c.schema))
        version = connection.execute(latest).scalar() if _about.name in names else None
    if version is not None and not isinstance(version, int):
        raise StoreError(f"{store.name}: its schema is {version!r:.40}, no number. Restore it from a copy")
    if version is not None and version > SCHEMA:
        raise StoreError(
            f"{store.name}: a newer evenhand made this store (schema {version}, known here: {SCHEMA}). "
            "Update evenhand, or name another store"
        )
    if version is None and not make:
        raise StoreError(f"{store.name}: it holds no campaign. Run the campaign first, or name its store with --store")
    if version is None:
        if store.engine.dialect.name == "sqlite":
            raw = store.engine.raw_connection()  # outside of a transaction; the file remembers it
            try:
                raw.cursor().execute("PRAGMA journal_mode=WAL")
            finally:
                raw.close()
        with store.engine.begin() as connection:
            _tables.create_all(connection)
            connection.execute(_about.insert().values(schema=SCHEMA))


def _configured(connection: Any, _record: Any) -> None:
    """Let SQLAlchemy begin transactions, and make commits outlast a power cut."""
    connection.isolation_level = None
    connection.execute("PRAGMA synchronous=FULL")


def _begun(connection: sql.Connection) -> None:
    """Take the lock at once for a write, because a reader that becomes a writer may find it taken."""
    writing = connection.get_execution_options().get("writing", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


@contextmanager
def _store_errors(name: str, what: str) -> Generator[None]:
    """Turn the errors of a database into a StoreError of one line, with the next step."""
    try:
        yield
    except exc.DBAPIError as error:
        cause = _line(error.orig or error)
        raise StoreError(f"store {name} cannot be {what} ({cause}). {_next_step(cause)}") from error
    except (exc.SQLAlchemyError, OSError) as error:
        raise StoreError(f"store {name} cannot be {what} ({_line(error)}). Check the URL, or name another") from error


_STEPS = (
    (("locked",), "Wait for the process that uses it, or name another store"),
    (("readonly", "read-only"), "Name a store that can be written to with --store"),
    (("full", "disk i/o", "no space"), "Make room; what was finished is kept, and `evenhand campaign resume` goes on"),
    (("not a database", "malformed"), "Restore it from a copy, or name another store"),
    (("unable to open",), "Check the folder and its permissions"),
)


def _next_step(cause: str) -> str:
    lower = cause.lower()
    return next(
        (step for words, step in _STEPS if any(word in lower for word in words)), "Check the URL and the server"
    )


def _line(error: Any) -> str:
    """The message of a driver in one line; some drivers give a record."""
    first: Any = error.args[0] if getattr(error, "args", ()) else error
    text = str(cast("dict[str, Any]", first).get("M", "")) if isinstance(first, dict) else str(first)
    return (" ".join(text.split()).rstrip(".") or type(error).__name__)[:200]


def _safe(written: str) -> str:
    """A URL that could not be parsed, without a possible password."""
    head, _, rest = written.partition("://")
    return f"{head}://{rest.rpartition('@')[2]}"[:120]


def _digest(content: bytes) -> str:
    return "sha256:" + hashlib.sha256(content).hexdigest()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
