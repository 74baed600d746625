"""`evenhand serve`: the explorer page, on this machine alone."""

from __future__ import annotations

import contextlib
import secrets
import socket
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evenhand.cli import completion
from evenhand.cli.console import BadUse, emit, guarded, say, usage
from evenhand.cli.options import JsonOut, MutantName, ReadingOption, ScopeOption, SystemOption
from evenhand.cli.output import folder_for
from evenhand.cli.requests import bundle_named, bundles_named
from evenhand.jobs.fixtures import fixture_at
from evenhand.web.files import Library, place_of
from evenhand.web.position import opened

if TYPE_CHECKING:
    from evenhand.web.position import Position

HOST = "127.0.0.1"
"""The page is reachable from this machine only; there is no option for another address."""


@guarded
def serve(
    protocol: Annotated[
        str,
        typer.Argument(
            metavar="[PROTOCOL]",
            help="The protocol to start with; by default the first.",
            autocompletion=completion.protocols,
        ),
    ] = "",
    system: SystemOption = "",
    scope: ScopeOption = None,
    reading: ReadingOption = None,
    mutant: MutantName = "",
    fixture: Annotated[
        Path | None, typer.Option("--fixture", metavar="FILE", help="Start with the run of this counterexample.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Folder for saved runs; without it no run can be saved.")
    ] = None,
    port: Annotated[int, typer.Option(metavar="N", min=0, max=65535, help="Port of the page; 0: any free one.")] = 0,
    browser: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    as_json: JsonOut = False,
) -> int:
    """Walk a kernel in the browser.

    Prints the address of a page on this machine, with a token in it, and serves the page until Ctrl-C.  Exit codes: 0
    ended; 2 bad use, a port in use, or the extra `serve` is not installed.
    """
    from evenhand.web.app import application, serve_on

    first = _first(protocol, system, scope, reading, mutant, fixture)
    folder = folder_for(out)
    listening = _listening(port)
    with contextlib.closing(listening):
        number = listening.getsockname()[1]
        token = secrets.token_urlsafe(24)
        made = application(first, port=number, token=token, library=Library(folder))
        address = f"http://{HOST}:{number}/?token={token}"
        if as_json:
            emit({"address": address, "port": number})
        else:
            typer.echo(address)
            say("the explorer page is at the address above, for this machine alone; Ctrl-C ends it")
        if browser:
            webbrowser.open(address)
        serve_on(listening, made)
    return 0


def _first(
    protocol: str,
    system: str,
    scope: list[str] | None,
    readings: list[str] | None,
    mutant: str,
    fixture: Path | None,
) -> Position:
    """Return the position where the walk begins.  Raises BadUse."""
    if fixture is not None:
        if system or scope or readings or mutant:
            raise BadUse("a fixture names its own system, scope, readings and mutant; leave those options out")
        with usage():
            place = place_of(fixture_at(fixture), str(fixture))
        if protocol not in ("", place.bundle.name):
            raise BadUse(f"{fixture} is a run of {place.bundle.name}, not of {protocol}")
        return place
    bundle = bundle_named(protocol) if protocol else bundles_named([])[0]
    with usage():
        return opened(bundle, system, scope=scope or (), readings=readings or (), variant=mutant)


def _listening(port: int) -> socket.socket:
    """Return a listening socket on the loopback address.  Raises BadUse."""
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((HOST, port))
        made.listen(128)
    except OSError as error:
        made.close()
        cause = error.strerror or type(error).__name__
        raise BadUse(
            f"--port {port}: cannot listen there ({cause}); choose another, or leave it out for a free one"
        ) from error
    return made
