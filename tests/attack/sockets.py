"""Sockets that stall, break off, lie and come in crowds, against a running `evenhand serve`."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from evenhand.jobs.fixtures import fixture_files
from tests.attack.mutation import ODD, mutated, values
from tests.attack.running import ABOVE, LINUX, Arena
from tests.attack.table import Attack, Row
from tests.front.serving import Served

SOON = 20.0
"""Seconds in which an honest request is answered, whatever else happens."""


def attacks(arena: Arena) -> Iterator[Attack]:
    """Yield an attack for each way to treat a socket, and one on the requests of the page."""
    del arena
    for name, way in WAYS.items():
        yield Attack("sockets", name, 300, 0, partial(treated, way))
    yield Attack("sockets", "all of these ways", 300, 20, partial(treated, any_way))
    yield Attack("sockets", "requests of the page", 1_500, 20, requests)
    yield Attack("sockets", "two hundred that stall at once", 5, 0, crowd)


@contextmanager
def serving(arena: Arena, row: Row) -> Generator[Served]:
    """Run the server; afterwards it still answers, has written no word, took no memory without end, and ends."""
    place = arena.new()
    words = [sys.executable, "-m", "evenhand", "serve", "latch", "--json", "--out", "kept"]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(words, cwd=place, env=arena.environment, **pipes) as server:
        assert server.stdout is not None
        address = json.loads(server.stdout.readline())
        made = Served(address["port"], address["address"].rpartition("=")[2])
        _answers(made)
        before = _memory(server.pid)
        yield made
        faults = [*_unanswered(made)]
        if (more := _memory(server.pid) - before) > ABOVE:
            faults.append(f"{more} MiB of memory more")
        server.send_signal(signal.SIGINT)
        try:
            _, said = server.communicate(timeout=SOON)
        except subprocess.TimeoutExpired:
            server.kill()
            _, said = server.communicate()
            faults.append("no end after Ctrl-C")
        if server.returncode != 0 or said:
            faults.append(f"exit code {server.returncode}, saying {said[-600:]!r}")
        faults += [f"a file outside the folder: {path}" for path in place.rglob("*") if "kept" not in path.parts]
        row.count("the server afterwards", [*faults, *arena.harmed()])


def _memory(pid: int) -> int:
    text = Path(f"/proc/{pid}/status").read_text("ascii", "replace") if LINUX else ""
    found = re.search(r"VmRSS:\s+(\d+)", text)
    return int(found[1]) >> 10 if found else 0


def _answers(server: Served) -> None:
    began = time.monotonic()
    got = server.get("/")
    assert got.status in (303, 307), got
    assert time.monotonic() - began < SOON


def _unanswered(server: Served) -> Iterator[str]:
    try:
        _answers(server)
    except (OSError, AssertionError) as error:
        yield f"an honest request is not answered: {error!r}"


def _opened(server: Served, stack: ExitStack) -> socket.socket:
    made = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=SOON))
    return made


def _head(server: Served, length: str = "0", **more: str) -> bytes:
    fields = {"host": f"127.0.0.1:{server.port}", "cookie": f"evenhand-{server.port}={server.token}",
              "content-type": "application/json", "content-length": length, **more}  # fmt: skip
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"POST /do/step HTTP/1.1\r\n{lines}\r\n".encode("latin-1", "replace")


def half_a_head(server: Served, made: socket.socket, random: Random) -> None:
    """Send a part of a request and nothing more."""
    whole = _head(server, "100")
    made.sendall(whole[: random.randrange(len(whole))])


def half_a_body(server: Served, made: socket.socket, random: Random) -> None:
    """Promise more than is sent."""
    made.sendall(_head(server, str(random.choice((10, 1_000, 100_000)))) + b'{"address"')


def lying_length(server: Served, made: socket.socket, random: Random) -> None:
    """Promise another length, or none that is a number."""
    length = random.choice(("-1", "9" * 30, "0x10", "1e3", "", "5, 6", "+3", "\u0663"))
    made.sendall(_head(server, length) + b"{}")


def dripping(server: Served, made: socket.socket, random: Random) -> None:
    """Send a byte now and then, and leave."""
    for byte in _head(server)[: random.randrange(30)]:
        made.sendall(bytes([byte]))
        time.sleep(0.002)


def endless_head(server: Served, made: socket.socket, random: Random) -> None:
    """Send a head without an end."""
    made.sendall(b"GET / HTTP/1.1\r\n")
    with suppress(OSError):
        for number in range(random.randrange(3_000)):
            made.sendall(b"x-%d: %s\r\n" % (number, b"y" * 500))


def endless_body(server: Served, made: socket.socket, random: Random) -> None:
    """Send a body in chunks without an end."""
    head = _head(server).replace(b"content-length: 0\r\n", b"transfer-encoding: chunked\r\n")
    with suppress(OSError):
        made.sendall(head)
        for _ in range(random.randrange(60)):
            made.sendall(b"10000\r\n" + b"x" * 65_536 + b"\r\n")


def leaving(server: Served, made: socket.socket, random: Random) -> None:
    """Ask and go away before the answer, with or without a word."""
    if random.random() < 0.5:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    made.sendall(f"GET / HTTP/1.1\r\nhost: 127.0.0.1:{server.port}\r\ncookie: evenhand-{server.port}={server.token}"
                 "\r\n\r\n".encode())  # fmt: skip


def noise(_server: Served, made: socket.socket, random: Random) -> None:
    """Send bytes that are no HTTP."""
    made.sendall(random.randbytes(random.randrange(2_000)))


def many_at_once(server: Served, made: socket.socket, random: Random) -> None:
    """Send many requests without reading an answer."""
    with suppress(OSError):
        made.sendall(_head(server) * random.randrange(200))


def another_protocol(server: Served, made: socket.socket, random: Random) -> None:
    """Ask for a change of protocol, or begin another one."""
    upgrade = f"GET / HTTP/1.1\r\nhost: 127.0.0.1:{server.port}\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n"
    made.sendall(random.choice((upgrade.encode(), b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\x16\x03\x01\x02\0\1\0")))


Way = Callable[[Served, socket.socket, Random], None]
WAYS: dict[str, Way] = {
    one.__name__.replace("_", " "): one
    for one in (
        half_a_head, half_a_body, lying_length, dripping, endless_head, endless_body, leaving, noise, many_at_once,
        another_protocol,
    )
}  # fmt: skip


def any_way(server: Served, made: socket.socket, random: Random) -> None:
    """Treat a socket in one of the ways."""
    random.choice([*WAYS.values()])(server, made, random)


def treated(way: Way, arena: Arena, row: Row, random: Random, trials: int) -> None:
    """Treat sockets in one way, some of them at once, and ask honestly in between."""
    with serving(arena, row) as server:
        for first in range(0, trials, 10):
            with ExitStack() as stack:
                for _ in range(min(10, trials - first)):
                    made = _opened(server, stack)
                    with suppress(BrokenPipeError, ConnectionResetError):
                        way(server, made, random)
                row.count("an honest request among them", _unanswered(server), trials=min(10, trials - first))


def crowd(arena: Arena, row: Row, random: Random, trials: int) -> None:
    """Hold two hundred stalled sockets, and ask honestly."""
    with serving(arena, row) as server:
        for _ in range(trials):
            with ExitStack() as stack:
                for _ in range(200):
                    random.choice((half_a_head, half_a_body))(server, _opened(server, stack), random)
                row.count("an honest request among two hundred", _unanswered(server))


def requests(arena: Arena, row: Row, random: Random, trials: int) -> None:
    """Send mutated requests of our own page, with its token: each gets an answer of its own, never 500."""
    record = fixture_files("cud")[0].read_text("utf-8")
    with serving(arena, row) as server:
        _, _, address, at = server.start.split("/")
        here: dict[str, Any] = {"address": address, "at": int(at)}
        bodies: list[tuple[str, dict[str, Any]]] = [
            ("step", {**here, "number": 0}),
            ("edit", {**here, "step": 1, "text": '{"$":"Act","agent":1,"verb":"take"}'}),
            ("save", {**here, "claim": "one_inside"}), ("load", {"protocol": "cud", "name": "shipped/x.json"}),
            ("load", {"text": record, "name": "x.json"}), ("lead", {**here, "claim": "one_inside"}),
            ("open", {"system": "latch/latch", "scope": "agents=2"}), ("separate", {**here, "beside": "mutant:sticky"}),
        ]  # fmt: skip
        strange = (*ODD, str(arena.outside / "secret.json"), "../../../outside/secret.json", "../outside/secret.json")
        for _ in range(trials):
            what, body = random.choice(bodies)
            data = mutated(body, random, values(body), strange)
            row.count(f"{what} {data[:800]!r}", _wrong(server, "POST", f"/do/{what}", data))


def _wrong(server: Served, method: str, path: str, data: bytes) -> Iterator[str]:
    try:
        got = server.ask(method, path, data)
    except OSError as error:
        yield f"no answer: {error!r}"
        return
    if got.status not in (200, 400, 403, 404, 413, 422):
        yield f"status {got.status}: {got.text[:200]}"
    if "Traceback" in got.text or "the secret" in got.text:
        yield f"it tells {got.text[:200]}"
