"""`evenhand serve` on the command line: refusals at the start, output, end."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from starlette.applications import Starlette

from evenhand.web import vendor
from evenhand.web.app import serve_on
from tests.deep import rest_slow
from tests.front.conftest import ROOT, Command
from tests.front.serving import shipped

FIXTURE = f"cud/{shipped('cud', 'livelock_free--reference')}"


@pytest.mark.parametrize(
    ("words", "note"),
    [
        (["cuds"], "did you mean cud?"),
        (["latch", "--system", "lock"], "unknown system of latch"),
        (["latch", "--scope", "agnets=2"], "unknown scope field"),
        (["latch", "--scope", "agents"], "name=number"),
        (["latch", "--reading", "again=maybe"], "unknown value of reading again"),
        (["latch", "--mutant", "nobody"], "unknown mutant of latch"),
        (["--fixture", "missing.json"], "there is no such file"),
        (["--fixture", "README.md"], "no JSON"),
        (["latch", "--fixture", FIXTURE], "not of latch"),
        (["cud", "--system", "free", "--fixture", FIXTURE], "leave those options out"),
        (["latch", "--port", "70000"], "65535"),
        (["latch", "--out", "README.md"], "README.md"),
    ],
)
def test_bad_use_is_one_line(cli: Command, words: list[str], note: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 2, before anything is served."""
    monkeypatch.chdir(ROOT)
    answer = cli("serve", *words)
    assert answer.code == 2 and answer.out == ""
    assert note in answer.err and len(answer.err.strip().splitlines()) == 1, answer.err


def test_a_port_in_use_is_told(cli: Command) -> None:
    """The message has the number."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        answer = cli("serve", "latch", "--port", str(port))
    assert answer.code == 2 and f"--port {port}: cannot listen there" in answer.err


@pytest.mark.parametrize("request_to_end", rest_slow([signal.SIGINT, signal.SIGTERM, signal.SIGHUP]))
def test_it_serves_until_it_is_asked_to_end(tmp_path: Path, request_to_end: signal.Signals) -> None:
    """Only the printed address opens the page, and Ctrl-C ends it with exit code 0 and no traceback."""
    command = [sys.executable, "-m", "evenhand", "serve", "--fixture", FIXTURE, "--out", str(tmp_path), "--json"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None and running.stderr is not None
        note = json.loads(running.stdout.readline())
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with opener.open(note["address"], timeout=30) as page:
            text = page.read().decode()
            assert "token" not in page.url
        assert f"From the fixture {FIXTURE}" in text and "step 3 of 3" in text
        with socket.socket() as other:
            assert other.connect_ex(("127.0.0.2", note["port"])) != 0, "only 127.0.0.1 is listened on"
        running.send_signal(request_to_end)
        assert running.wait(timeout=30) == 0
        assert running.stderr.read() == ""
    with socket.create_server(("127.0.0.1", note["port"])):
        pass


@pytest.mark.parametrize("request_to_end", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_while_it_starts_ends_it(request_to_end: signal.Signals, capfd: pytest.CaptureFixture[str]) -> None:
    """Also before the server listens to signals itself, where an exception would be a traceback."""

    @asynccontextmanager
    async def starting(_app: Starlette) -> AsyncGenerator[None]:
        os.kill(os.getpid(), request_to_end)
        yield

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(request_to_end, interrupt)
    try:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            serve_on(listening, Starlette(lifespan=starting))
        assert signal.getsignal(request_to_end) is interrupt
    finally:
        signal.signal(request_to_end, before)
    assert capfd.readouterr().err == ""


def test_other_people_s_scripts_are_unchanged() -> None:
    """As they were published, with their licence."""
    import hashlib
    from importlib.resources import files

    for name, digest in vendor.SHA256.items():
        content = (files(vendor.__name__) / name).read_bytes()
        assert hashlib.sha256(content).hexdigest() == digest
        assert b"Permission is hereby granted, free of charge" in content[:300]
