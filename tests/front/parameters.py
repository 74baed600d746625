"""The arguments and options of every command, as the application has them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, get_args, get_type_hints

import typer

from evenhand.cli import COMMANDS, app


@dataclass(frozen=True)
class Parameter:
    """One parameter: its names on the line (none for an argument), what stands for its value, its type."""

    names: tuple[str, ...]
    metavar: str
    kind: Any
    required: bool


def parameters(command: str) -> Iterator[Parameter]:
    """Return the parameters of a command, arguments first."""
    found: Any = typer.main.get_command(app)
    for word in command.split():
        found = found.get_command(None, word)
    hints = get_type_hints(COMMANDS[command])
    for one in found.params:
        kind = hints[one.name]
        while parts := [part for part in get_args(kind) if part is not type(None)]:
            (kind,) = parts
        names = (*one.opts, *one.secondary_opts) if one.param_type_name == "option" else ()
        yield Parameter(names, one.metavar or "", kind, one.required)
