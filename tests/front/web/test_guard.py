"""The refusals of the server, each by one check: without that check the attack succeeds."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from evenhand.core.registry import find
from evenhand.web import guard
from evenhand.web.guard import Guard
from evenhand.web.position import opened
from tests.front.serving import Served, served


def never(*_anything: Any) -> None:
    """A check that refuses nothing."""


@pytest.fixture(name="server", scope="module")
def _server() -> Iterator[Served]:
    with served(opened(find("cud"), "conditions")) as running:
        yield running


BODY = b'{"system": "cud/conditions"}'
ATTACKS: dict[str, tuple[str, str, dict[str, Any], int]] = {
    "another host": ("_foreign", "GET", {"host": "evil.example"}, 421),
    "a host with another port": ("_foreign", "GET", {"host": "127.0.0.1:1"}, 421),
    "a name that is made to point here": ("_foreign", "POST", {"host": "rebound.example:80"}, 421),
    "a request of another site": ("_foreign", "POST", {"sec_fetch_site": "cross-site"}, 403),
    "a request of another port of this machine": ("_foreign", "POST", {"sec_fetch_site": "same-site"}, 403),
    "a link on another site": ("_foreign", "GET", {"sec_fetch_site": "cross-site"}, 403),
    "the origin of another site": ("_foreign", "POST", {"origin": "http://evil.example"}, 403),
    "an origin that hides": ("_foreign", "POST", {"origin": "null"}, 403),
    "no token": ("_entered", "GET", {"cookie": None}, 403),
    "another token": ("_entered", "POST", {"cookie": "evenhand-{port}=guess"}, 403),
    "the token of another port": ("_entered", "POST", {"cookie": "evenhand-1={token}"}, 403),
    "a form": ("_misshapen", "POST", {"content_type": "application/x-www-form-urlencoded"}, 415),
    "text that is JSON": ("_misshapen", "POST", {"content_type": "text/plain"}, 415),
    "another method": ("_misshapen", "DELETE", {}, 405),
    "a body that is too large": ("_misshapen", "POST", {"content_length": str(guard.MAX_BODY + 1)}, 413),
}
"""The refusing check, the method, the unusual headers, the status."""


def attack(server: Served, name: str) -> int:
    """Return the status of an attack."""
    _, method, headers, _ = ATTACKS[name]
    note = {key: value and value.format(port=server.port, token=server.token) for key, value in headers.items()}
    path = "/do/open" if method != "GET" else server.start
    body = BODY if method != "GET" else None
    return server.ask(method, path, body, **note).status


@pytest.mark.parametrize("name", ATTACKS)
def test_it_is_refused(server: Served, name: str) -> None:
    """With one line of text, and without any requested content."""
    assert attack(server, name) == ATTACKS[name][3]


@pytest.mark.parametrize("name", [name for name in ATTACKS if "large" not in name])
def test_without_the_check_it_gets_through(server: Served, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The seeded fault: a check that never refuses."""
    monkeypatch.setattr(Guard, ATTACKS[name][0], never)
    assert attack(server, name) not in (403, 415, 421)


def test_a_body_that_says_it_is_small_is_cut_off(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stated length of a request is not trusted; without the limit the same request is answered."""
    monkeypatch.setattr(guard, "MAX_BODY", 10)
    monkeypatch.setattr(Guard, "_misshapen", never)
    assert server.ask("POST", "/do/open", BODY).status == 413
    monkeypatch.setattr(guard, "MAX_BODY", 10_000)
    assert server.ask("POST", "/do/open", BODY).status == 200


def test_a_chunked_body_is_refused(server: Served) -> None:
    """It does not state its length."""
    chunked = b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)
    got = server.ask("POST", "/do/open", chunked, content_length=None, transfer_encoding="chunked")
    assert got.status == 411


def test_the_token_in_the_address_becomes_a_cookie_and_leaves_the_address(server: Served) -> None:
    """Out of reach of scripts and of other sites; and only on the front page."""
    got = server.ask("GET", f"/?token={server.token}", cookie=None)
    assert (got.status, got.headers["location"]) == (303, "/")
    cookie = got.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie and f"evenhand-{server.port}={server.token}" in cookie
    assert server.ask("GET", f"{server.start}?token={server.token}", cookie=None).status == 403
    assert server.ask("GET", "/?token=guess", cookie=None).status == 403
    assert server.ask("GET", server.start, cookie=None, x_evenhand_token=server.token).status == 200


def test_our_own_page_is_let_through(server: Served) -> None:
    """With the headers that a browser sends."""
    own = f"http://127.0.0.1:{server.port}"
    got = server.ask("POST", "/do/open", BODY, origin=own, sec_fetch_site="same-origin")
    assert got.status == 200 and got.json["to"].startswith("/run/")
    assert server.ask("GET", server.start, sec_fetch_site="none").status == 200


def test_every_answer_has_a_strict_policy(server: Served) -> None:
    """Refusals too; no script but the server's own files, no frame, no other site."""
    for got in (server.get(server.start), server.get("/static/page.js"), server.ask("GET", "/", cookie=None)):
        policy = got.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "script-src 'self'" in policy and "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy and "http" not in policy
        assert got.headers["x-content-type-options"] == "nosniff"
        assert got.headers["cross-origin-resource-policy"] == "same-origin"


@pytest.mark.parametrize(
    "path",
    ["/static/../app.py", "/static/%2e%2e/app.py", "/static/app.py", "/static//etc/passwd", "/static/page.html.j2"],
)
def test_only_named_files_are_served(server: Served, path: str) -> None:
    """For any path."""
    assert server.get(path).status == 404


def test_files_are_what_they_are(server: Served) -> None:
    """With their types, and with the licences of foreign files."""
    script = server.get("/static/cytoscape.min.js")
    assert "The Cytoscape Consortium" in script.text[:200] and script.headers["content-type"].startswith(
        "text/javascript"
    )
    assert server.get("/static/report.css").text.startswith(":root")


def test_a_client_that_goes_away_is_no_error() -> None:
    """In the middle of a request: without a traceback, and without an answer."""

    async def reads(scope: Scope, receive: Receive, _send: Send) -> None:
        await Request(scope, receive).body()

    async def gone() -> Message:
        return {"type": "http.disconnect"}

    async def sent(_message: Message) -> None:
        raise AssertionError("nobody is left to answer")

    headers = [(b"host", b"127.0.0.1:1"), (b"x-evenhand-token", b"t"), (b"content-type", b"application/json")]
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/do/step",
        "query_string": b"",
        "headers": [*headers, (b"content-length", b"9")],
    }
    served = Guard(reads, port=1, token="t")(scope, gone, sent)
    with ThreadPoolExecutor(1) as thread:  # a browser of another test may keep a loop running in this one
        thread.submit(asyncio.run, served).result()
