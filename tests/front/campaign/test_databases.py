"""Hypothesis' own example databases, a folder or Redis, carry a refutation from one run of a test file to the next."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest import SkipTest

import pytest
from hypothesis import Phase, settings
from hypothesis.database import DirectoryBasedExampleDatabase, ExampleDatabase, InMemoryExampleDatabase
from hypothesis.stateful import run_state_machine_as_test

from evenhand.core.property import Always
from evenhand.machine import Refuted, machine
from tests.models import counter

LOW = Always(name="low", sentence="It stays below seven.", check=lambda _config, state: state.total < 7)


def refuted(database: ExampleDatabase, *phases: Phase) -> bool:
    """Return whether a state machine in a test file is refuted, with these phases of Hypothesis' own engine."""
    chosen = settings(max_examples=200, stateful_step_count=20, database=database, phases=phases, deadline=None)
    try:
        with suppress(SkipTest):  # the message of Hypothesis when there is nothing to reuse
            run_state_machine_as_test(machine(counter.counter(3, 50, 40), [LOW]), settings=chosen)
    except Refuted:
        return True
    return False


@pytest.fixture(name="redis")
def _redis(tmp_path: Path) -> Iterator[Callable[[], ExampleDatabase]]:
    """Return the code that connects to this test's Redis server, as another process or machine would."""
    server = shutil.which("redis-server")
    if server is None:
        pytest.skip("no Redis server on this machine: apt-get install redis-server")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    command = [server, "--port", str(port), "--bind", "127.0.0.1", "--dir", str(tmp_path), "--save", ""]
    client: Any = import_module("redis")
    from hypothesis.extra.redis import RedisExampleDatabase

    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as running:
        try:
            deadline = time.monotonic() + 30
            while time.monotonic() < deadline:
                with suppress(client.ConnectionError):
                    client.Redis(port=port).ping()
                    break
                time.sleep(0.05)
            yield lambda: RedisExampleDatabase(client.Redis(port=port))
        finally:
            running.kill()


def shared(connect: Callable[[], ExampleDatabase]) -> None:
    """A run with nothing to reuse passes; the next finds a refutation, and a run that only reuses has it at once."""
    assert not refuted(connect(), Phase.reuse)
    assert refuted(connect(), Phase.generate, Phase.shrink)
    assert refuted(connect(), Phase.reuse)


def test_a_folder(tmp_path: Path) -> None:
    """A folder, as on a network drive."""
    shared(lambda: DirectoryBasedExampleDatabase(tmp_path / "examples"))


def test_redis(redis: Callable[[], ExampleDatabase]) -> None:
    """A Redis server, as a team may share."""
    shared(redis)


def test_a_database_that_forgets_is_noticed() -> None:
    """With a new database for each run, nothing is replayed."""
    with pytest.raises(AssertionError):
        shared(InMemoryExampleDatabase)
