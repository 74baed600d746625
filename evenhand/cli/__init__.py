"""The command line.  Each command is a thin function over the library: it parses, runs, prints, gives an exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from evenhand.cli.campaign import (
    campaign_plan,
    campaign_report,
    campaign_resume,
    campaign_run,
    campaign_status,
)
from evenhand.cli.check import check
from evenhand.cli.common import leave
from evenhand.cli.compare import compare_command
from evenhand.cli.explore import explore, fuzz
from evenhand.cli.fixtures import replay, show
from evenhand.cli.mutants import mutants
from evenhand.cli.profile import profile
from evenhand.cli.prove import prove
from evenhand.cli.report import report
from evenhand.cli.serve import serve
from evenhand.cli.sweep import sweep
from evenhand.cli.validate import validate
from evenhand.cli.vectors import vectors
from evenhand.cli.verify import verify
from evenhand.report.report import INTERRUPTED
from evenhand.versions import __version__

__all__ = ["COMMANDS", "app", "main"]


class _Commands(TyperGroup):
    """The commands; bad use of one is a line of the same shape as every other mistake."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run one, and leave by its exit code."""
        run = partial(super().main, args, prog_name, complete_var, False, windows_expand_args, **extra)
        if not standalone_mode:
            return run()
        try:
            code = run()
        except typer.Abort:
            leave("interrupted", INTERRUPTED)
        except Exception as error:
            told = getattr(error, "format_message", None)  # typer carries click's classes under a private name
            if told is None:
                raise
            if type(error).__name__ == "NoArgsIsHelpError":  # no command: the help is the answer
                typer.echo(told(), err=True)
                sys.exit(2)
            context = getattr(error, "ctx", None)
            path = context.command_path if context is not None else "evenhand"
            cause = " ".join(str(told()).split()).rstrip(".")
            leave(f"{cause[:1].lower()}{cause[1:]}; see `{path} --help`", 2)
        sys.exit(code if isinstance(code, int) else 0)


app = typer.Typer(
    name="evenhand",
    cls=_Commands,
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


COMMANDS: Mapping[str, Callable[..., None]] = {
    "verify": verify,
    "explore": explore,
    "fuzz": fuzz,
    "prove": prove,
    "check": check,
    "validate": validate,
    "compare": compare_command,
    "mutants": mutants,
    "vectors": vectors,
    "profile": profile,
    "sweep": sweep,
    "campaign plan": campaign_plan,
    "campaign run": campaign_run,
    "campaign resume": campaign_resume,
    "campaign status": campaign_status,
    "campaign report": campaign_report,
    "replay": replay,
    "show": show,
    "serve": serve,
    "report": report,
}
"""Every command by its name, in the order of the help."""
_OWN_OPTIONS = {"ignore_unknown_options": True}
"""For commands that take options named like a protocol's sizes, which no list can hold."""
_GROUPS = {"campaign": "Run long campaigns: parallel, kept in a store, resumable."}
"""Words under which several commands stand."""


def _registered(name: str, command: Callable[..., None], groups: dict[str, typer.Typer]) -> None:
    """Put a command where its name says: `campaign run` is `run` of the group `campaign`."""
    group, _, last = name.rpartition(" ")
    if group and group not in groups:
        groups[group] = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help=_GROUPS[group])
        app.add_typer(groups[group], name=group)
    place = groups[group] if group else app
    place.command(last, context_settings=_OWN_OPTIONS if name == "sweep" else None)(command)


_made: dict[str, typer.Typer] = {}
for name, command in COMMANDS.items():
    _registered(name, command, _made)


def main() -> None:
    """The `evenhand` script."""
    app(prog_name="evenhand")
