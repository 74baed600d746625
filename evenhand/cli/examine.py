"""`evenhand examine`: questions about a kernel that has neither protocol nor model."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated

import typer

from evenhand.arbiters.examining import MOST_PLAYS
from evenhand.arbiters.kernels import Factory
from evenhand.arbiters.loading import factory_at
from evenhand.arbiters.programs import program
from evenhand.arbiters.rules import rule
from evenhand.cli.console import BadUse, guarded
from evenhand.cli.forms import folder_for_forms, write_forms
from evenhand.cli.options import CommandOption, JsonOut, SeedOption
from evenhand.cli.output import finish, write_files
from evenhand.examination import examine as examined


@guarded
def examine(
    kernel: Annotated[str, typer.Argument(metavar="KERNEL", help="package.module:factory, or FILE.py:factory.")] = "",
    command: CommandOption = "",
    choices: Annotated[
        str, typer.Option(metavar="A,B,…", help="KERNEL is a function of {agent: choice}; these are the choices.")
    ] = "",
    listed: Annotated[
        bool, typer.Option("--listed", help="With --choices: the function takes the list of choices.")
    ] = False,
    label: Annotated[
        list[str] | None,
        typer.Option(metavar="VALUE", help="With --choices: the name of this value should not matter (repeatable)."),
    ] = None,
    allow: Annotated[
        list[str] | None,
        typer.Option(metavar="QUESTION=REASON", help="A finding that is intended, and why (repeatable)."),
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(metavar="S", min=1.0, help="Time limit of the whole. Default: 60 CPU seconds.")
    ] = None,
    plays: Annotated[int, typer.Option(metavar="N", min=1, help="Small plays that are tried at most.")] = MOST_PLAYS,
    examples: Annotated[int, typer.Option(metavar="N", min=1, help="Drawn plays of each question.")] = 60,
    seed: SeedOption = 0,
    known: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="Expect the findings of this report (report.json, or the folder of --out)."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Write the report in every form, and a pytest file of each finding, to this folder."
        ),
    ] = None,
    as_json: JsonOut = False,
) -> int:
    """Ask what decides in your code; no protocol needed.

    Exit codes: 0 nothing decides that should not; 1 an arbiter was found; 2 bad use; 3 no time for some
    questions; 130 interrupted.
    """
    if bool(kernel) == bool(command):
        raise BadUse("name the kernel by exactly one of KERNEL (package.module:factory) and --command '…'")
    if command and (choices or listed or label):
        raise BadUse("--choices, --listed and --label describe a function; a program lists its choices itself")
    allowed = dict(_exception(text) for text in allow or ())
    folder = folder_for_forms(out)
    with redirect_stdout(sys.stderr):  # what a kernel prints must not mix with the report
        factory = _factory(kernel, choices, listed, label or []) if kernel else program(command)
        found = examined(
            factory,
            allow=allowed,
            known=known,
            place=kernel,
            seconds=seconds,
            plays=plays,
            examples=examples,
            seed=seed,
        )
    report = found.report(folder)
    if folder is not None:
        write_forms(folder, report)
        write_files(folder, found.regressions())
    return finish(report, {}, as_json=as_json)


def _factory(kernel: str, choices: str, listed: bool, labels: list[str]) -> Factory:
    found = factory_at(kernel)
    if not choices:
        if listed or labels:
            raise BadUse("--listed and --label describe a function of choices; list the choices with --choices")
        return found
    menu = [one.strip() for one in choices.split(",") if one.strip()]
    if len(menu) < 2:
        raise BadUse(f"--choices {choices!r} lists fewer than two choices; write --choices A,B")
    return rule(found, menu, listed=listed, labels=labels)


def _exception(text: str) -> tuple[str, str]:
    question, equals, reason = text.partition("=")
    if not equals or not reason.strip():
        raise BadUse(f"--allow {text!r} gives no reason; write --allow QUESTION=REASON")
    return question.strip(), reason.strip()
