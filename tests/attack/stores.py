"""Stores of campaigns that are damaged or locked, in SQLite and in PostgreSQL."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import sqlalchemy as sql

from evenhand.campaign.store import opened, store_url
from tests.attack.mutation import ODD
from tests.attack.running import ANSWERS, Arena, faults_of
from tests.attack.table import Attack, Row
from tests.attack.uses import PLAN

VERBS = ("status", "report", "run", "resume")
TABLES = {
    "evenhand_results": ("address", "identity", "outcome", "limits", "content", "digest", "seconds", "at"),
    "evenhand_campaigns": ("plan", "written", "at"),
    "evenhand_store": ("schema",),
}
CODES = (*ANSWERS, 130)
"""130: a report of a campaign that is not finished."""


def attacks(arena: Arena) -> Iterator[Attack]:
    """Yield an attack for each kind of harm to each kind of store."""
    del arena
    yield Attack("stores", "SQLite, bytes changed", 800, 3, damaged)
    yield Attack("stores", "SQLite, values changed", 800, 3, partial(changed, False))
    yield Attack("stores", "SQLite, locked", 40, 1, locked)
    yield Attack("stores", "PostgreSQL, values changed", 200, 0, partial(changed, True), lacks)
    yield Attack("stores", "PostgreSQL, locked or ended", 20, 0, ended, lacks)


def kept(arena: Arena) -> tuple[Path, bytes]:
    """Return a plan and the store of its finished campaign."""
    return arena.once("store", lambda: _kept(arena))


def _kept(arena: Arena) -> tuple[Path, bytes]:
    place = arena.new()
    plan = place / "plan.json"
    plan.write_text(json.dumps(PLAN), "utf-8")
    made = arena.run(["campaign", "run", str(plan), "--jobs", "1"], folder=place, seconds=120)
    assert made.last.code == 0, made
    return plan, (place / "plan.store").read_bytes()


def verbs(arena: Arena, place: Path, store: str, random: Random) -> Iterator[str]:
    """Run one reading and one writing command on a store; yield what is wrong."""
    plan = place / "plan.json"
    shutil.copy(kept(arena)[0], plan)
    for verb in (random.choice(VERBS[:2]), random.choice(VERBS[2:])):
        more = ["--jobs", "1"] if verb in VERBS[2:] else []
        ran = arena.run(["campaign", verb, str(plan), "--store", store, *more], folder=place, seconds=40)
        yield from (*ran.faults(arena.base), *faults_of(ran.last, CODES, one_line=verb not in VERBS[2:]))
        if ran.last.code == 1:
            yield f"campaign {verb} says that something is refuted"


def damaged(arena: Arena, row: Row, random: Random, trials: int) -> None:
    """Change, cut off and insert bytes."""
    _, content = kept(arena)
    for _ in range(trials):
        place, data = arena.new(), bytearray(content)
        for _ in range(random.choice((1, 1, 3, 30, 3_000))):
            at = random.randrange(len(data))
            data[at : at + random.choice((0, 1, 1, 8))] = random.randbytes(random.choice((0, 1, 1, 8)))
        if random.random() < 0.2:
            del data[random.randrange(len(data)) :]
        (place / "store").write_bytes(data)
        row.count(f"a store of {len(data)} bytes in {place}", verbs(arena, place, str(place / "store"), random))


def changed(server: bool, arena: Arena, row: Row, random: Random, trials: int) -> None:
    """Put odd values into columns, or take rows and tables away."""
    with postgresql(arena) if server else _files(arena) as store:
        for _ in range(trials):
            place = arena.new()
            url = store(place)
            said = _changed(url, random, server)
            row.count(said, verbs(arena, place, url, random))


@contextmanager
def _files(arena: Arena) -> Generator[Any]:
    def make(place: Path) -> str:
        (place / "store").write_bytes(kept(arena)[1])
        return f"sqlite:///{place / 'store'}"

    yield make


def _changed(url: str, random: Random, server: bool) -> str:
    table = random.choice([*TABLES, "evenhand_results", "evenhand_results"])
    column = random.choice(TABLES[table])
    values = [one for one in ODD if isinstance(one, int | float | str | type(None)) and one != "\0"]
    value: Any = random.choice([*values, b"\xff", b"", "{}", "[]", '"\\ud800"', "done", "time", "9" * 400])
    statement = random.choice(
        [f"UPDATE {table} SET {column} = :value"] * 5 + [f"DELETE FROM {table}", f"DROP TABLE {table}"]
    )
    engine = sql.create_engine(url)
    with suppress(Exception), engine.begin() as there:  # what the database refuses is not in it
        if server and random.random() < 0.5:
            there.execute(sql.text(f"ALTER TABLE {table} ALTER COLUMN {column} TYPE text"))
        there.execute(sql.text(statement), {"value": value} if ":value" in statement else {})
    engine.dispose()
    return f"{statement} with {value!r:.60}"


def locked(arena: Arena, row: Row, random: Random, trials: int) -> None:
    """Hold the store while commands want it."""
    for _ in range(trials):
        place = arena.new()
        (place / "store").write_bytes(kept(arena)[1])
        holder = sqlite3.connect(place / "store", isolation_level=None)
        how = random.choice(("BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"))
        holder.execute(how)
        row.count(how, verbs(arena, place, f"sqlite:///{place / 'store'}?timeout=0.3", random))
        holder.close()


def lacks() -> str:
    """Return why there is no PostgreSQL here; empty if there is one."""
    return "" if _programs() is not None and (os.getuid() or shutil.which("runuser")) else "PostgreSQL is not installed"


def _programs() -> Path | None:
    found = shutil.which("initdb")
    folders = [Path(found).resolve().parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in folders if (folder / "pg_ctl").exists()), None)


class Server:
    """A PostgreSQL server of our own, on a socket in a folder of its own."""

    def __init__(self) -> None:
        programs = _programs()
        assert programs is not None
        self.programs = programs
        self.data = Path(tempfile.mkdtemp(prefix="evenhand-pg-"))  # another user may enter it
        self.words = [] if os.getuid() else ["runuser", "-u", "nobody", "--"]
        if self.words:
            shutil.chown(self.data, "nobody")
        self.run("initdb", "-D", f"{self.data}/db", "-A", "trust", "-U", "tester", "--no-sync")
        self.start()

    def run(self, program: str, *more: str) -> None:
        """Run one of its programs."""
        words = [*self.words, str(self.programs / program), *more]
        done = subprocess.run(words, cwd="/", capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    def start(self) -> None:
        """Start it."""
        options = f"-k {self.data} -c listen_addresses= -c fsync=off"
        self.run("pg_ctl", "-D", f"{self.data}/db", "-w", "-o", options, "-l", f"{self.data}/log", "start")

    def stop(self) -> None:
        """End it at once, as a power cut does."""
        self.run("pg_ctl", "-D", f"{self.data}/db", "-m", "immediate", "stop")

    def url(self, name: str = "postgres") -> str:
        """Return the URL of one of its databases."""
        return f"postgresql+pg8000://tester:secret@/{name}?unix_sock={self.data}/.s.PGSQL.5432"


@contextmanager
def served() -> Generator[Server]:
    """Run a server; it and its data are gone afterwards."""
    server = Server()
    try:
        yield server
    finally:
        with suppress(AssertionError):
            server.stop()
        shutil.rmtree(server.data, ignore_errors=True)


@contextmanager
def postgresql(arena: Arena) -> Generator[Any]:
    """Yield a function that makes a database with a finished campaign, copied from a template."""
    with served() as server:
        engine = sql.create_engine(server.url(), isolation_level="AUTOCOMMIT")
        with engine.connect() as there:
            there.execute(sql.text("CREATE DATABASE finished"))
        place = arena.new()
        shutil.copy(kept(arena)[0], place)
        words = ["campaign", "run", str(place / "plan.json"), "--jobs", "1", "--store", server.url("finished")]
        made = arena.run(words, folder=place, seconds=120)
        assert made.last.code == 0, made
        numbers = iter(range(10**9))

        def make(_place: Path) -> str:
            name = f"copy{next(numbers)}"
            with engine.connect() as there:
                there.execute(sql.text(f"CREATE DATABASE {name} TEMPLATE finished"))
            return server.url(name)

        yield make
        engine.dispose()


def ended(arena: Arena, row: Row, random: Random, trials: int) -> None:
    """Lock the tables, or end the server while a campaign runs; afterwards the campaign goes on to its report."""
    with served() as server:
        for _ in range(trials):
            place = arena.new()
            shutil.copy(kept(arena)[0], place)
            words = ["campaign", "run", str(place / "plan.json"), "--jobs", "1", "--store", server.url()]
            how = random.choice(("locked", "ended"))
            if how == "locked":
                faults = [*_while_locked(arena, server, words, place)]
            else:
                server.stop()
                ran = arena.run(words, folder=place)
                faults = [*ran.faults(arena.base), *faults_of(ran.last, (2,))]
                server.start()
            ran = arena.run(words, folder=place, seconds=60)
            row.count(f"PostgreSQL {how}", [*faults, *ran.faults(arena.base), *faults_of(ran.last, (0,))])


def _while_locked(arena: Arena, server: Server, words: list[str], place: Path) -> Iterator[str]:
    """Yield what is wrong with a command whose tables another session holds, until Ctrl-C."""
    opened(store_url(server.url(), place), make=True).close()
    engine = sql.create_engine(server.url())
    with engine.begin() as there:
        there.execute(sql.text("LOCK TABLE evenhand_results, evenhand_campaigns IN ACCESS EXCLUSIVE MODE"))
        ran = arena.run(words, folder=place, signals=[[2, 2.0]])
        yield from (*ran.faults(arena.base), *faults_of(ran.last, (2, 130), one_line=False))
    engine.dispose()
