"""The store changes no row, checks everything, and reports any damage in one line."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import event

from evenhand.campaign.store import SCHEMA, Kept, Store, StoreError, opened, store_url
from tests.front.campaign.suite import RING, command, started, written
from tests.front.conftest import PLUGINS, ROOT, Command

RUN = {"protocol": "ring", "engine": "explore", "claims": ["held"]}
NONE = {"seconds": None, "memory": None}


def kept(address: str = "a", made: object = 1, outcome: str = "done", seconds: float = 1.0) -> Kept:
    """Return a result."""
    return Kept(address, f"what {address}", outcome, NONE, made, seconds)


def behaves(store: Store) -> None:
    """Check the behaviour that every database must have."""
    assert store.begun("p") == 0
    store.begin("p", {"a": 1})
    assert (store.begun("p"), store.begun("q")) == (1, 0)
    assert store.keep(kept(outcome="died", made={"because": "x"}))
    assert store.results(["a", "b"])["a"].outcome == "died"
    assert store.keep(kept()) and not store.keep(kept())
    store.keep(kept(outcome="time", made={"because": "late"}))
    assert store.results(["a"])["a"].made == 1, "what is done stays done"
    with pytest.raises(StoreError, match="the same work gave two different results"):
        store.keep(kept(made=2))
    assert store.results(["a"])["a"].made == 1
    assert store.durations(["what a", "what b"]) == {"what a": 1.0}
    many = [f"x{number}" for number in range(900)]
    store.keep(kept("x899", made={"large": 2**40}))
    assert store.results(many).keys() == {"x899"}


def test_sqlite(tmp_path: Path) -> None:
    """One file once it is closed; a write-ahead log until then."""
    store = opened(store_url("", tmp_path / "plan.yaml"), make=True)
    behaves(store)
    assert (tmp_path / "plan.store-wal").exists()
    store.close()
    assert [path.name for path in tmp_path.iterdir()] == ["plan.store"]
    again = opened(store_url(str(tmp_path / "plan.store"), tmp_path), make=False)
    assert again.results(["a"])["a"].made == 1
    again.close()


@pytest.fixture(name="server", scope="module")
def _server() -> Iterator[str]:
    """Return the URL of a PostgreSQL server of our own, on a socket in a folder of its own."""
    found = shutil.which("initdb")
    folders = [Path(found).resolve().parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    programs = next((folder for folder in folders if (folder / "pg_ctl").exists()), None)
    if programs is None:
        pytest.skip("PostgreSQL is not installed: no initdb on the path nor in /usr/lib/postgresql")
    data = Path(tempfile.mkdtemp(prefix="evenhand-pg-"))  # another user may enter it, unlike the folders of pytest
    words: list[str] = []
    if os.getuid() == 0:  # PostgreSQL refuses to run as root
        user = next((name for name in ("postgres", "nobody") if _is_user(name)), "")
        if not user or shutil.which("runuser") is None:
            pytest.skip("PostgreSQL refuses to be run by root, and there is no other user to run it")
        words = ["runuser", "-u", user, "--"]
        shutil.chown(data, user)

    def run(*more: str) -> None:
        done = subprocess.run([*words, *more], cwd="/", capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr

    run(str(programs / "initdb"), "-D", str(data / "db"), "-A", "trust", "-U", "tester", "--no-sync")
    options = f"-k {data} -c listen_addresses= -c fsync=off"
    run(str(programs / "pg_ctl"), "-D", str(data / "db"), "-w", "-o", options, "-l", str(data / "log"), "start")
    try:
        yield f"postgresql+pg8000://tester:secret@/postgres?unix_sock={data}/.s.PGSQL.5432"
    finally:
        run(str(programs / "pg_ctl"), "-D", str(data / "db"), "-m", "immediate", "stop")
        shutil.rmtree(data, ignore_errors=True)


def _is_user(name: str) -> bool:
    import pwd

    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True


def test_postgresql(server: str, cli: Command, tmp_path: Path) -> None:
    """The same checks, and a whole campaign; the password is never printed."""
    store = opened(store_url(server, tmp_path), make=True)
    behaves(store)
    store.close()
    plan = written(tmp_path, RUN)
    assert cli("campaign", "run", str(plan), "--store", server, "--jobs", "1", "--json").code == 0
    status = cli("campaign", "status", str(plan), "--store", server, "--json").json
    assert (status["done"], status["unfinished"]) == (1, [])
    other = server.replace("tester", "nobody_here")
    answer = cli("campaign", "status", str(plan), "--store", other)
    assert answer.code == 2 and answer.err.count("\n") == 1 and "secret" not in answer.err
    assert "cannot be opened" in answer.err


def damaged(folder: Path) -> Iterator[tuple[str, Path, str]]:
    """Damaged stores by their message."""
    newer = folder / "newer"
    opened(store_url(str(newer), folder), make=True).close()
    with sqlite3.connect(newer) as connection:
        connection.execute("UPDATE evenhand_store SET schema = ?", (SCHEMA + 1,))
    connection.close()
    yield "newer", newer, f"a newer evenhand made this store (schema {SCHEMA + 1}, known here: {SCHEMA})"
    junk = folder / "junk"
    junk.write_bytes(b"this is no database " * 100)
    yield "junk", junk, "file is not a database"


def test_stores_that_cannot_be_used(cli: Command, tmp_path: Path) -> None:
    """One line for each verb; the file stays unchanged."""
    plan = written(tmp_path, RUN)
    for _, path, said in damaged(tmp_path):
        before = path.read_bytes()
        for verb in ("run", "resume", "status", "report"):
            answer = cli("campaign", verb, str(plan), "--store", str(path))
            assert (answer.code, answer.out) == (2, ""), said
            assert said in answer.err and answer.err.count("\n") == 1
        assert path.read_bytes() == before
    for verb in ("resume", "status", "report"):
        answer = cli("campaign", verb, str(plan))
        assert answer.code == 2 and "there is no such store" in answer.err
    assert not (tmp_path / "plan.store").exists()
    sqlite3.connect(tmp_path / "other").execute("CREATE TABLE theirs (x)").connection.close()
    answer = cli("campaign", "status", str(plan), "--store", str(tmp_path / "other"))
    assert answer.code == 2 and "it holds no campaign" in answer.err


def test_what_was_changed_in_a_store_is_noticed(cli: Command, tmp_path: Path) -> None:
    """An edited verdict is rejected."""
    plan = written(tmp_path, RUN)
    assert cli("campaign", "run", str(plan), "--jobs", "1").code == 0
    with sqlite3.connect(tmp_path / "plan.store") as connection:
        (content,) = connection.execute("SELECT content FROM evenhand_results").fetchone()
        forged = content.replace(b'"status":"HOLDS"', b'"status":"XOLDS"')
        assert forged != content
        connection.execute("UPDATE evenhand_results SET content = ?", (forged,))
    connection.close()
    answer = cli("campaign", "report", str(plan))
    assert answer.code == 2 and "was changed since it was written (its digest differs)" in answer.err


def test_a_locked_store(cli: Command, tmp_path: Path) -> None:
    """Readers do not block; a writer that holds the store is reported after the URL's timeout."""
    plan = written(tmp_path, RUN)
    assert cli("campaign", "run", str(plan), "--jobs", "1").code == 0
    holder = sqlite3.connect(tmp_path / "plan.store", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    url = f"sqlite:///{tmp_path / 'plan.store'}?timeout=0.2"
    answer = cli("campaign", "run", str(plan), "--store", url)
    assert answer.code == 2 and "database is locked" in answer.err and answer.err.count("\n") == 1
    assert cli("campaign", "report", str(plan), "--store", url).code == 0
    holder.close()
    assert cli("campaign", "resume", str(plan), "--store", url).code == 0


def test_a_read_only_store(cli: Command, tmp_path: Path) -> None:
    """It can be read and reported; no work begins whose result could not be kept."""
    plan = written(tmp_path, RUN)
    assert cli("campaign", "run", str(plan), "--jobs", "1").code == 0
    content = (tmp_path / "plan.store").read_bytes()
    for mode in ("mode=ro", "immutable=1"):
        url = f"sqlite:///file:{tmp_path / 'plan.store'}?{mode}&uri=true"
        for verb in ("run", "resume"):
            answer = cli("campaign", verb, str(plan), "--store", url)
            assert answer.code == 2 and answer.err.count("\n") == 1
            assert "attempt to write a readonly database" in answer.err and "Name a store" in answer.err
        assert cli("campaign", "report", str(plan), "--store", url).code == 0
    assert (tmp_path / "plan.store").read_bytes() == content


FULL = """
import resource, signal, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
sys.argv = ["evenhand", *sys.argv[2:]]
from evenhand.__main__ import main
main()
"""


@pytest.mark.slow
def test_a_full_disk_corrupts_nothing(tmp_path: Path) -> None:
    """No file may grow beyond the present size of the store: one line, exit 2; with room the campaign goes on."""
    runs = {"protocol": "ring", "engine": "explore", "scope": {"agents": [2, 3, 4, 5, 6, 7]}}
    plan = written(tmp_path, runs)
    paths = os.pathsep.join((str(RING), str(PLUGINS), str(ROOT)))
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(100 << 10), "campaign", "run", str(plan), "--jobs", "1"],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, timeout=200,
    )  # fmt: skip
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stderr.count("\n") == 1 and "Make room" in done.stderr and "Traceback" not in done.stderr
    with sqlite3.connect(tmp_path / "plan.store") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        (finished,) = connection.execute("SELECT count(*) FROM evenhand_results").fetchone()
    connection.close()
    assert 0 < finished < 6
    with started(command("resume", str(plan), "--jobs", "1", "--json")) as run:
        out, err = run.communicate(timeout=200)
    assert run.returncode == 0, err
    assert f"{6 - finished} tasks now; of 6 jobs 6 done" in err and '"interrupted":false' in out


def test_no_password_is_told(tmp_path: Path) -> None:
    """Whatever is wrong with the URL."""
    for written_ in ("postgresql+pg8000://me:secret@127.0.0.1:1/x", "foo://me:secret@x", "postgresql://me:secret@[x"):
        with pytest.raises(StoreError) as caught:
            opened(store_url(written_, tmp_path), make=True)
        assert "secret" not in str(caught.value) and "\n" not in str(caught.value)


def test_rows_are_added_and_never_changed(tmp_path: Path) -> None:
    """No statement in the whole life of a store updates or deletes."""
    store = opened(store_url("", tmp_path / "p.yaml"), make=True)
    said: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_more: object) -> None:
        said.append(statement.split()[0].upper())

    event.listen(store.engine, "before_cursor_execute", note)
    behaves(store)
    store.close()
    assert {"INSERT", "SELECT"} <= set(said) <= {"INSERT", "SELECT", "BEGIN"}


def test_an_interrupt_while_a_store_closes_is_raised_and_not_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A log would be a traceback in the terminal."""

    def interrupted(_connection: object) -> None:
        raise KeyboardInterrupt

    store = opened(store_url("", tmp_path / "plan.yaml"), make=True)
    monkeypatch.setattr(store.engine.dialect, "do_close", interrupted)
    with pytest.raises(KeyboardInterrupt):
        store.engine.dispose()
    assert caplog.records == []
