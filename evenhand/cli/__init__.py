"""The command line.  Each command is a thin function over the library: it parses, runs, prints, gives an exit code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from evenhand.cli.check import check
from evenhand.cli.compare import compare_command
from evenhand.cli.explore import explore, fuzz
from evenhand.cli.fixtures import replay, show
from evenhand.cli.mutants import mutants
from evenhand.cli.prove import prove
from evenhand.cli.report import report
from evenhand.cli.validate import validate
from evenhand.cli.vectors import vectors
from evenhand.cli.verify import verify
from evenhand.versions import __version__

__all__ = ["app", "main"]

app = typer.Typer(
    name="evenhand",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Verify kernels in which several agents act without an arbiter.",
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit()


@app.callback()
def evenhand(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Verify kernels in which several agents act without an arbiter."""


_COMMANDS: dict[str, Callable[..., None]] = {
    "verify": verify,
    "explore": explore,
    "fuzz": fuzz,
    "prove": prove,
    "check": check,
    "validate": validate,
    "compare": compare_command,
    "mutants": mutants,
    "vectors": vectors,
    "replay": replay,
    "show": show,
    "report": report,
}
for name, command in _COMMANDS.items():
    app.command(name)(command)


def main() -> None:
    """The `evenhand` script."""
    app(prog_name="evenhand")
