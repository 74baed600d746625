"""The explorer page on a free port, served by a thread of the test, and plain requests to it."""

from __future__ import annotations

import http.client
import json
import secrets
import socket
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn

from evenhand.jobs.fixtures import fixture_files
from evenhand.web.app import application
from evenhand.web.files import Library
from evenhand.web.position import Position


def shipped(protocol: str, begins: str) -> str:
    """Return the name of the first fixture of a protocol with this prefix."""
    return next(path.name for path in fixture_files(protocol) if path.name.startswith(begins))


@dataclass(frozen=True)
class Got:
    """A response."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def json(self) -> Any:
        """Return the response as JSON."""
        return json.loads(self.text)


@dataclass(frozen=True)
class Served:
    """A running server."""

    port: int
    token: str

    @property
    def address(self) -> str:
        """Return the address that `evenhand serve` would print."""
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    def ask(self, method: str, path: str, body: bytes | None = None, **headers: str | None) -> Got:
        """Send one request with the usual headers or the given ones (None: without); `_` in a name stands for `-`."""
        usual: dict[str, str | None] = {
            "host": f"127.0.0.1:{self.port}",
            "cookie": f"evenhand-{self.port}={self.token}",
        }
        if body is not None:
            usual |= {"content-type": "application/json", "content-length": str(len(body))}
        usual |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in usual.items():
                if value is not None:
                    connection.putheader(name, value)
            connection.endheaders()
            if body:
                connection.send(body)
            answer = connection.getresponse()
            return Got(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read().decode())
        finally:
            connection.close()

    def get(self, path: str) -> Got:
        """Get a page, as our own browser does."""
        return self.ask("GET", path)

    def do(self, what: str, **body: Any) -> Got:
        """Send a change, as our own page does."""
        return self.ask("POST", f"/do/{what}", json.dumps(body).encode())

    @property
    def start(self) -> str:
        """Return the address to which the front page leads."""
        return self.get("/").headers["location"]


@contextmanager
def served(place: Position, folder: Path | None = None) -> Generator[Served]:
    """Run a server that begins at `place` and saves to `folder`; it has ended afterwards."""
    listening = socket.create_server(("127.0.0.1", 0))
    port, token = listening.getsockname()[1], secrets.token_urlsafe(12)
    config = uvicorn.Config(application(place, port=port, token=token, library=Library(folder)), log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        yield Served(port, token)
    finally:
        server.should_exit = True
        thread.join(timeout=30)
        listening.close()
        assert not thread.is_alive()
