"""The command line.  Each command is a thin function over the library: it parses, runs, prints, gives an exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from evenhand.cli.console import leave
from evenhand.core.versions import __version__
from evenhand.exits import INTERRUPTED

__all__ = ["COMMANDS", "app", "main"]


_LISTED = {
    "verify": ("verify", "verify", "Check every claim with every engine, and replay every fixture."),
    "explore": ("explore", "explore", "Explore a system exhaustively."),
    "fuzz": ("fuzz", "fuzz", "Drive a system with a Hypothesis state machine."),
    "prove": ("prove", "prove", "Prove the theorems of a protocol with SMT solvers."),
    "certify": ("certify", "certify", "Write certificates that a small program checks."),
    "examine": ("examine", "examine", "Ask what decides in your code; no protocol needed."),
    "check": ("check", "check", "Check a kernel against the model and the claims."),
    "validate": ("validate", "validate", "Find a run of the model that explains a log or an ITF trace."),
    "compare": ("compare", "compare_command", "Look for the smallest scenario that separates variants."),
    "mutants": ("mutants", "mutants", "Try every claim and engine on every mutant."),
    "vectors": ("vectors", "vectors", "Make, freeze or verify vectors."),
    "profile": ("profile", "profile", "Show what decides, and whether runs can get stuck."),
    "sweep": ("sweep", "sweep", "Measure how a search grows with the sizes of its scope."),
    "campaign plan": ("campaign", "campaign_plan", "Write a plan that does what `verify` does."),
    "campaign run": ("campaign", "campaign_run", "Run everything in a plan that has no result yet."),
    "campaign resume": ("campaign", "campaign_resume", "Continue a campaign, however it ended."),
    "campaign status": ("campaign", "campaign_status", "Show the progress of a campaign."),
    "campaign report": ("campaign", "campaign_report", "Report what a campaign has found so far, without running it."),
    "replay": ("fixtures", "replay", "Replay counterexamples in their variant and the reference."),
    "show": ("fixtures", "show", "Show counterexamples step by step."),
    "serve": ("serve", "serve", "Walk a kernel in the browser."),
    "mcp": ("mcp", "mcp", "Serve the commands to a program over stdin and stdout (MCP)."),
    "init": ("init", "init", "Write a small project of your own."),
    "report": ("report", "report", "Print a report from its report.json, or make every form of it."),
}
"""Module, function and purpose of every command, in the order of the help; the module is imported on demand."""
_OWN_OPTIONS = {"ignore_unknown_options": True}
"""For commands with options named like a protocol's sizes, which cannot be listed."""
_GROUPS = {"campaign": "Run long campaigns in parallel, with stored results, and resume them."}
"""Names of groups of commands."""


class _Functions(Mapping[str, Callable[..., None]]):
    """The function of every command by name, in the order of the help; imported when it is looked up."""

    def __getitem__(self, name: str) -> Callable[..., None]:
        module, function, _ = _LISTED[name]
        found: Callable[..., None] = getattr(import_module(f"evenhand.cli.{module}"), function)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(_LISTED)

    def __len__(self) -> int:
        return len(_LISTED)


COMMANDS = _Functions()


def _does(name: str) -> str:
    return _GROUPS[name] if name in _GROUPS else _LISTED[name][2]


def _command(name: str) -> Any:
    made = typer.Typer(rich_markup_mode=None, add_completion=False)
    settings = _OWN_OPTIONS if name == "sweep" else None
    made.command(name.rpartition(" ")[2], context_settings=settings)(COMMANDS[name])
    return typer.main.get_command(made)


class _Commands(TyperGroup):
    """The commands, or those of a group; bad use of one prints a line of the same shape as every other mistake.

    A command is imported when it is called or asked for help, because importing the engines is slow.
    """

    prefix = ""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names in the order of the help; a group stands where its first command would."""
        below = (name.removeprefix(self.prefix) for name in _LISTED if name.startswith(self.prefix))
        return list(dict.fromkeys(name.split(" ")[0] for name in below))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command or group of that name; None if there is none."""
        name = self.prefix + cmd_name
        if name in _LISTED:
            return _command(name)
        if name in _GROUPS:
            group = _Commands(name=name, help=_GROUPS[name], no_args_is_help=True, rich_markup_mode=None)
            group.prefix = f"{name} "
            return group
        return None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the called command; for an unknown one the error names similar ones."""
        self.commands = dict.fromkeys(self.list_commands(ctx))  # type: ignore[assignment]
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of the help, without an import."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, _does(self.prefix + name)) for name in self.list_commands(ctx)])

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was called; typer itself would end without a word while the command is imported."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            leave("interrupted before anything was run", INTERRUPTED)

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command and exit with its code."""
        run = partial(super().main, args, prog_name, complete_var, False, windows_expand_args, **extra)
        if not standalone_mode:
            return run()
        try:
            code = run()
        except typer.Abort:
            leave("interrupted", INTERRUPTED)
        except Exception as error:
            formatted = getattr(error, "format_message", None)  # typer carries click's classes under a private name
            if formatted is None:
                raise
            if type(error).__name__ == "NoArgsIsHelpError":  # without a command the help is printed
                typer.echo(formatted(), err=True)
                sys.exit(2)
            context = getattr(error, "ctx", None)
            path = context.command_path if context is not None else "evenhand"
            cause = " ".join(str(formatted()).split()).rstrip(".").replace(": Value error, ", ": ")
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


def main() -> None:
    """The `evenhand` script."""
    app(prog_name="evenhand")
