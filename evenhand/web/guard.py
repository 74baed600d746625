"""The checks before any code of the server runs: host, site, token, method, kind and size of content.

The page is for one person on one machine, but every page that this person opens elsewhere can send requests to
127.0.0.1, and a name that is made to point there (DNS rebinding) makes such a page look like ours.  So a request must
name our own host, must not come from another site, and must carry the secret of the address printed at the start.
Only this page may show the answers, and it may load nothing but its own files.
"""

from __future__ import annotations

import secrets

from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY = 9 * 1024 * 1024
"""Bytes of a request; a record may have eight mebibytes."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The page loads its own files and nothing else; no text of it can become a script."""

_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class _TooLarge(Exception):
    """A body longer than its declared length."""


class Guard:
    """ASGI middleware: passes the requests of our own page, and refuses any other with a one-line reason."""

    def __init__(self, app: ASGIApp, *, port: int, token: str) -> None:
        self._app = app
        self._token = token
        self._hosts = frozenset({f"127.0.0.1:{port}", f"localhost:{port}"})
        self._cookie = f"evenhand-{port}"  # cookies of one host are shared by all its ports

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the request, or pass it on."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # the server opens no WebSocket

        async def guarded_send(message: Message) -> None:
            if message["type"] == "http.response.start":
                ours = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
                message = {**message, "headers": [*message.get("headers", ()), *ours]}
            await send(message)

        request = Request(scope)
        answer = self._foreign(request) or self._entered(request) or self._misshapen(request)
        if answer is not None:
            await answer(scope, receive, guarded_send)
            return
        taken = 0

        async def limited() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > MAX_BODY:
                raise _TooLarge
            return message

        try:
            await self._app(scope, limited, guarded_send)
        except ClientDisconnect:
            pass  # nobody is left to answer
        except _TooLarge:
            await _refused(413, "the request is too large")(scope, receive, guarded_send)

    def _foreign(self, request: Request) -> Response | None:
        """Refuse another host or another site."""
        headers = request.headers
        if headers.get("host", "") not in self._hosts:
            return _refused(421, "this server answers under its own address only, as it was printed")
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return _refused(403, "requests of other sites are refused; type or paste the printed address yourself")
        if "origin" in headers and headers["origin"] not in {f"http://{host}" for host in self._hosts}:
            return _refused(403, "requests of other sites are refused")
        return None

    def _entered(self, request: Request) -> Response | None:
        """Set the cookie if the front page's address has the token; elsewhere require cookie or token header."""
        known = request.cookies.get(self._cookie, ""), request.headers.get("x-evenhand-token", "")
        if any(map(self._is_token, known)):
            return None
        given = request.query_params.get("token", "")
        if request.url.path == "/" and request.method == "GET" and self._is_token(given):
            answer = RedirectResponse("/", status_code=303)  # to remove the token from the address bar
            answer.set_cookie(self._cookie, self._token, httponly=True, samesite="strict", path="/")
            return answer
        return _refused(403, "the token is missing: open the address that `evenhand serve` printed, whole")

    def _is_token(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), self._token.encode())

    def _misshapen(self, request: Request) -> Response | None:
        """Refuse another method, another kind of content, or too much of it."""
        if request.method in ("GET", "HEAD"):
            return None
        if request.method != "POST":
            return _refused(405, "only GET and POST are understood")
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            return _refused(415, "only JSON is understood")
        length = request.headers.get("content-length", "")
        if not length.isdecimal():
            return _refused(411, "the request does not say how long it is")
        return _refused(413, "the request is too large") if int(length) > MAX_BODY else None


def _refused(status: int, why: str) -> Response:
    return PlainTextResponse(f"refused: {why}\n", status_code=status)
