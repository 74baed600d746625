"""The local server of the explorer page: it reads requests, calls the pure functions of this folder, and renders.

`GET /run/ADDRESS/STEP` is the page of a position, `GET /graph/…` its picture as JSON; every change is a POST of JSON
that answers `{"to": address, "note": words}` or `{"error": words}`.
"""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from importlib import resources
from types import FrameType
from typing import Any, cast

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from evenhand.core.bundle import Bundle
from evenhand.core.canonical import Json, parse
from evenhand.core.codec import decode
from evenhand.core.lookup import UnknownName, named
from evenhand.core.names import as_name
from evenhand.core.property import Property
from evenhand.core.registry import protocols, registered
from evenhand.core.text import inert
from evenhand.evidence.store import NotWritten
from evenhand.processes.alarm import REQUESTS
from evenhand.report.templates import environment
from evenhand.web import vendor
from evenhand.web.claim_status import Truth
from evenhand.web.comparison import separated, variants
from evenhand.web.files import Library, place_in
from evenhand.web.guard import Guard
from evenhand.web.menu import action_at, picked
from evenhand.web.position import KnownPositions, Position, opened
from evenhand.web.walk import View, ViewRequest, picture, walk
from evenhand.web.witness import led

OWN = "evenhand.web"

FILES: Mapping[str, tuple[str, str, str]] = {
    "report.css": ("evenhand.report.forms", "page.css", "text/css"),
    "page.css": (OWN, "page.css", "text/css"),
    "page.js": (OWN, "page.js", "text/javascript"),
    "graph.js": (OWN, "graph.js", "text/javascript"),
    "cytoscape.min.js": (vendor.__name__, "cytoscape.min.js", "text/javascript"),
}
"""Every file that is served; any other name is refused."""

Body = Mapping[str, Any]


class _Unknown(Exception):
    """An address of no known position."""


class _Server:
    """The state of the server: the positions that it showed, and the fixtures."""

    def __init__(self, first: Position, library: Library) -> None:
        self.shelf = KnownPositions()
        self.library = library
        self.first = first
        self.own: dict[str, Bundle] = {}
        self.template = environment().from_string(_text(OWN, "page.html.j2"))

    def view(self, address: str, at: int, query: Mapping[str, str]) -> View:
        place = self.shelf.get(address)
        if place is None:
            raise _Unknown
        return walk(place, at, ViewRequest.of(query))

    def page(self, view: View | None, error: str = "") -> str:
        """Return the page of a view, or the page that says why there is none."""
        return self.template.render(
            view=view,
            error=error,
            systems=[(bundle.name, list(bundle.model.systems)) for bundle in self.known(view)],
            variants=variants(view.place) if view is not None else (),
            mutants=[one.name for one in view.place.bundle.model.mutants] if view is not None else [],
            fixtures=self.library.names(view.place.bundle.model.name) if view is not None else (),
            folder=str(self.library.folder) if self.library.folder is not None else "",
            protocol=as_name(view.place.bundle.model.name) if view is not None else "",
            Truth=Truth,
        )

    def known(self, view: View | None = None) -> tuple[Bundle, ...]:
        """Return the protocols, and the own systems with which the server started or that the page shows."""
        places = [self.first, *([view.place] if view is not None else [])]
        own = {place.bundle.name: place.bundle for place in places if place.bundle.own}
        self.own.update(own)
        return (*self.own.values(), *protocols())

    def at(self, body: Body) -> tuple[Position, int]:
        """Return the position that a request names, and how many of its steps are taken.  Raises ValueError."""
        place = self.shelf.get(_word(body, "address"))
        if place is None:
            raise ValueError("this run is not known any more; open it again")
        return place, max(0, min(_whole(body, "at"), place.steps))

    def to(self, place: Position, at: int | None = None, *, note: str = "", query: str = "") -> dict[str, Json]:
        """Return the answer that leads to a position, by default to the end of its run."""
        address = self.shelf.put(place)
        return {"to": f"/run/{address}/{place.steps if at is None else at}{query}", "note": inert(note)}

    # The requests

    def open(self, body: Body) -> dict[str, Json]:
        """Open another protocol, system, scope, reading, variant, configuration or start."""
        word = _word(body, "system")
        own = {f"{one.name}/{name}": (one, name) for one in self.known() if one.own for name in one.model.systems}
        protocol, _, system = word.partition("/")
        bundle, system = own[word] if word in own else (registered(protocol), system)
        return self.to(
            opened(
                bundle,
                system,
                scope=_word(body, "scope").split(),
                readings=_word(body, "readings").split(),
                variant=_word(body, "variant"),
                config=_whole(body, "config", 1),
                start=_whole(body, "start", 1),
            )
        )

    def step(self, body: Body) -> dict[str, Json]:
        """Take an action on offer: by its number, or by one choice for each agent."""
        place, at = self.at(body)
        here = walk(place, at).trace
        choices: Any = body.get("choices")
        if isinstance(choices, list):
            numbers = tuple(one for one in cast("list[Any]", choices) if type(one) is int)
            action = picked(place.system, here.scenario.config, here.final, numbers)
        else:
            action = action_at(place.system, here.scenario.config, here.final, _whole(body, "number", -1))
        done = place.scenario.actions
        if at < place.steps and done[at] == action:  # the same action as in the run: keep the run
            return self.to(place, at + 1, query=_kept(body))
        return self.to(place.walked((*done[:at], action)), query=_kept(body))

    def edit(self, body: Body) -> dict[str, Json]:
        """Replace a request by another text and replay what follows; a hostile one shows its rejection."""
        place, _ = self.at(body)
        number = _whole(body, "step")
        if not 1 <= number <= place.steps:
            raise ValueError(f"there is no step {number} in this run")
        try:
            action = decode(parse(_word(body, "text", 1_000_000)), *place.system.types)
        except ValueError as error:
            raise ValueError(f"this is no request of {place.system.name}: {error}") from error
        done = place.scenario.actions
        changed = place.walked((*done[: number - 1], action, *done[number:]))
        try:
            walk(changed, changed.steps)
        except Exception as error:
            raise ValueError(f"the model cannot take this: {type(error).__name__}: {error}") from error
        return self.to(changed, number, note=f"the request of step {number} was replaced; later steps were replayed")

    def lead(self, body: Body) -> dict[str, Json]:
        """Lead to a run that refutes or witnesses a claim."""
        place, at = self.at(body)
        claim = _claim(place, body)
        fresh = place.walked(())
        found, note = led(fresh, claim)
        if found is None:
            names = [name for _, names in self.library.names(place.bundle.model.name) for name in names]
            fitting = [name for name in names if name.partition("/")[2].startswith(f"{claim.name}--")]
            note += f" A fixture shows it elsewhere: {fitting[0]}." if fitting else ""
            return self.to(place, at, note=note, query=_kept(body))
        return self.to(found, note=note, query=_kept(body))

    def separate(self, body: Body) -> dict[str, Json]:
        """Lead to the smallest run that separates the second variant from this one."""
        place, at = self.at(body)
        name = _word(body, "beside")
        scenario, note = separated(place, name)
        query = ViewRequest(beside=name).query
        if scenario is None:
            return self.to(place, at, note=note, query=query)
        found = Position(place.bundle, place.system, scenario)
        return self.to(found, note=note, query=query)

    def load(self, body: Body) -> dict[str, Json]:
        """Load a fixture from the list, or one sent as text."""
        if body.get("text"):
            found = place_in(_word(body, "text", 9_000_000), _word(body, "name") or "the file")
        else:
            found = self.library.load(_word(body, "protocol"), _word(body, "name"))
        return self.to(found, note=f"loaded: {found.origin}")

    def save(self, body: Body) -> dict[str, Json]:
        """Save the run as a new fixture."""
        place, at = self.at(body)
        claim = _claim(place, body)
        saved = self.library.save(place, at, claim)
        note = f"saved: {saved.path}. Replayed: {saved.message}"
        return {**self.to(place, at, note=note, query=_kept(body)), "file": str(saved.path), "ok": saved.ok}


def application(first: Position, *, port: int, token: str, library: Library | None = None) -> Starlette:
    """Return the server for one port and one token; it begins at `first`."""
    server = _Server(first, library or Library())

    async def begin(_request: Request) -> Response:
        return RedirectResponse(f"/run/{server.shelf.put(server.first)}/{server.first.steps}", status_code=303)

    def page(request: Request) -> Response:
        try:
            made = server.page(_view(server, request))
        except _Unknown:
            made = server.page(None, "This run is not known here: the server was started anew, or forgot it.")
            return Response(made, 404, media_type="text/html")
        return Response(made, media_type="text/html")

    def graph(request: Request) -> Response:
        try:
            view = _view(server, request)
        except _Unknown:
            return JSONResponse({"error": "this run is not known any more"}, 404)
        return JSONResponse(picture(view).to_json())

    def file(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in FILES:
            return Response("there is no such file\n", 404, media_type="text/plain")
        package, source, kind = FILES[name]
        return Response(_text(package, source), media_type=f"{kind}; charset=utf-8")

    doings: Mapping[str, Callable[[Body], dict[str, Json]]] = {
        name: getattr(server, name) for name in ("open", "step", "edit", "lead", "separate", "load", "save")
    }

    async def do(request: Request) -> Response:
        doing = doings.get(request.path_params["what"])
        if doing is None:
            return JSONResponse({"error": "there is no such request"}, 404)
        content = await request.body()
        return await run_in_threadpool(_answered, doing, content)

    return Starlette(
        routes=[
            Route("/", begin),
            Route("/run/{address}/{at:int}", page),
            Route("/graph/{address}/{at:int}", graph),
            Route("/static/{name}", file),
            Route("/do/{what}", do, methods=["POST"]),
        ],
        middleware=[Middleware(Guard, port=port, token=token)],
    )


def serve_on(listening: socket.socket, made: Starlette) -> None:
    """Answer requests at a listening socket until Ctrl-C."""
    config = uvicorn.Config(  # a broken request is the client's fault and says nothing on this side
        made, log_level="error", access_log=False, server_header=False, timeout_graceful_shutdown=2
    )
    server = _Unsignalled(config)
    with suppress(KeyboardInterrupt), _ended_by_signals(server):
        server.run(sockets=[listening])


class _Unsignalled(uvicorn.Server):
    """A server that leaves signals to whoever runs it."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


@contextmanager
def _ended_by_signals(server: uvicorn.Server) -> Generator[None]:
    """Let each signal that raises an exception elsewhere ask the server to end.

    An exception in the loop, wherever it happens to be, ends with a traceback.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(_number: int, _frame: FrameType | None) -> None:
        server.should_exit = True

    before = {number: signal.signal(number, end) for number in REQUESTS if callable(signal.getsignal(number))}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _answered(doing: Callable[[Body], dict[str, Json]], content: bytes) -> Response:
    """Return the answer to a request, or one sentence about its error."""
    try:
        body = parse(content)
        if not isinstance(body, dict):
            raise ValueError("a request is a JSON object")
        return JSONResponse(doing(cast("Body", body)))
    except (ValueError, NotWritten) as error:  # UnknownName and BadRecord are ValueErrors
        return JSONResponse({"error": inert(str(error))}, 404 if isinstance(error, UnknownName) else 422)


def _view(server: _Server, request: Request) -> View:
    return server.view(request.path_params["address"], request.path_params["at"], request.query_params)


@cache
def _text(package: str, name: str) -> str:
    return (resources.files(package) / name).read_text("utf-8")


def _word(body: Body, name: str, most: int = 4_000) -> str:
    value = body.get(name, "")
    if not isinstance(value, str) or len(value) > most:
        raise ValueError(f"{name!r} is not a text of at most {most:,} characters")
    return value


def _whole(body: Body, name: str, default: int = 0) -> int:
    value = body.get(name, default)
    if isinstance(value, str) and value.isdecimal() and len(value) < 9:
        return int(value)
    if type(value) is not int:
        raise ValueError(f"{name!r} is not a whole number")
    return value


def _claim(place: Position, body: Body) -> Property:
    name = _word(body, "claim")
    claims = {claim.name: claim for claim in place.bundle.claims_of(place.system.name)}
    return named(f"claim about {place.system.name}:", name, claims)


def _kept(body: Body) -> str:
    """Return the query of the settings that stay with the next step."""
    asked = ViewRequest.of({name: str(body.get(name, "")) for name in ("beside", "pair", "picture")})
    return asked.query
