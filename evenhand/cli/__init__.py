"""The command line: `evenhand verify`, `explore`, `fuzz`, `prove`, `mutants`, `replay`, `show`.

Each command is a thin function over the library; it parses, runs, prints and returns an exit code.
"""

from __future__ import annotations

from typing import Annotated

import typer

from evenhand.cli import explore, fixtures, mutants, prove, verify
from evenhand.versions import __version__

__all__ = ["app", "main"]

app = typer.Typer(
    name="evenhand",
    no_args_is_help=True,
    add_completion=False,
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


app.command("verify")(verify.verify)
app.command("explore")(explore.explore)
app.command("fuzz")(explore.fuzz)
app.command("prove")(prove.prove)
app.command("mutants")(mutants.mutants)
app.command("replay")(fixtures.replay)
app.command("show")(fixtures.show)


def main() -> None:
    """The `evenhand` script."""
    app()
