"""The reference of the command line, from the commands themselves: `python -m evenhand.cli.reference`, Markdown."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, get_args, get_origin, get_type_hints

from typer.models import OptionInfo

from evenhand.cli import COMMANDS


@dataclass(frozen=True)
class Parameter:
    """One parameter of a command: its names on the line (none for an argument), what stands for its value, its type."""

    names: tuple[str, ...]
    metavar: str
    kind: Any
    required: bool
    many: bool
    default: Any
    help: str


def parameters(command: str) -> Iterator[Parameter]:
    """Return the parameters of a command, as declared to typer, arguments first."""
    hints = get_type_hints(COMMANDS[command], include_extras=True)
    for name, given in inspect.signature(COMMANDS[command]).parameters.items():
        written, entry = get_args(hints[name])[:2]
        outer = written if get_origin(written) is list else _present(written)
        inner = next(iter(get_args(outer)), outer)
        named = [word for word in (entry.default, *(entry.param_decls or ())) if str(word).startswith("--")]
        required = given.default is inspect.Parameter.empty
        yield Parameter(
            names=tuple(named or [f"--{name.replace('_', '-')}"]) if isinstance(entry, OptionInfo) else (),
            metavar=entry.metavar or ("|".join(one.value for one in inner) if issubclass(inner, Enum) else ""),
            kind=inner,
            required=required,
            many=outer is not inner,
            default=None if required else getattr(given.default, "value", given.default),
            help=entry.help or "",
        )


def _present(kind: Any) -> Any:
    return next(one for one in (get_args(kind) or (kind,)) if one is not type(None))


def reference() -> str:
    """Every command with its arguments, options, defaults and exit codes, as Markdown."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield "# Commands and options"
    yield ""
    yield "<!-- Made by `python -m evenhand.cli.reference`; a test compares. -->"
    yield ""
    yield "What they mean together, and every key of `--json`: [the command line](cli.md)."
    for command, function in COMMANDS.items():
        own = list(parameters(command))
        arguments = [_argument(one) for one in own if not one.names]
        yield from (
            "",
            f"## evenhand {command}",
            "",
            f"`{' '.join(['evenhand', command, *arguments, '[OPTIONS]'])}`",
            "",
        )
        yield inspect.getdoc(function) or ""
        yield from ("", "| | |", "|---|---|")
        yield from (f"| {_cell(one)} | {_escaped(one.help)}{_default(one)} |" for one in own)
    yield ""


def _argument(one: Parameter) -> str:
    word = f"{one.metavar.strip('[]')}{'…' if one.many else ''}"
    return word if one.required else f"[{word}]"


def _cell(one: Parameter) -> str:
    if not one.names:
        return f"`{_escaped(_argument(one))}`"
    value = "" if one.kind is bool else f" {one.metavar}"
    return ", ".join(f"`{_escaped(name + value)}`" for name in one.names)


def _default(one: Parameter) -> str:
    shown = not one.required and one.kind is not bool and one.default not in (None, "")
    return f" Default: {one.default}." if shown else " Required." if one.required and one.names else ""


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.stdout.write(reference())
