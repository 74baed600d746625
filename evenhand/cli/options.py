"""The options that several commands share, each declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli import completion
from evenhand.core.methods import MethodName
from evenhand.jobs.plan import Budget

ProtocolName = Annotated[
    str,
    typer.Argument(
        metavar="PROTOCOL",
        help="A protocol, or a system of your own as FILE.py:name.",
        autocompletion=completion.protocols,
    ),
]


SystemOption = Annotated[
    str,
    typer.Option("--system", metavar="NAME", help="One of the protocol's systems.", autocompletion=completion.systems),
]


ScopeOption = Annotated[
    list[str] | None, typer.Option("--scope", metavar="a=1,b=2", help="Sizes that differ from the system's own.")
]


ReadingOption = Annotated[
    list[str] | None,
    typer.Option(
        "--reading",
        metavar="NAME=VALUE",
        help="A reading that differs from the default (repeatable).",
        autocompletion=completion.readings,
    ),
]


MutantName = Annotated[
    str,
    typer.Option(
        "--mutant",
        "--variant",
        metavar="NAME",
        help="Run this mutant instead of the reference.",
        autocompletion=completion.mutants,
    ),
]


Claim = Annotated[
    list[str] | None,
    typer.Option("--claim", metavar="NAME", help="Only this claim (repeatable).", autocompletion=completion.claims),
]


JobsOption = Annotated[
    int | None,
    typer.Option("--jobs", metavar="N", min=1, help="Number of parallel processes.", show_default="one per core"),
]


KeepOption = Annotated[
    Path | None, typer.Option("--out", metavar="DIR", help="Write new counterexamples to this folder.")
]


ReportFolder = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="DIR", help="Write the report in every form, and new counterexamples, to this folder."
    ),
]
Theorems = Annotated[
    list[str] | None,
    typer.Option(
        "--theorem", metavar="NAME", help="Only this theorem (repeatable).", autocompletion=completion.theorems
    ),
]
JsonOut = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output, and nothing else.")]
ProtocolNames = Annotated[
    list[str] | None,
    typer.Argument(metavar="PROTOCOL", help="Protocols; default: all.", autocompletion=completion.protocols),
]
SystemNames = Annotated[
    list[str] | None,
    typer.Option(
        "--system",
        metavar="NAME",
        help="Only this system (repeatable).",
        autocompletion=completion.systems,
        show_default="every system that is supported",
    ),
]
BudgetOption = Annotated[Budget, typer.Option("--budget", help="Effort: plans, bounds and numbers of examples.")]
EXACT = 2**53 - 1
"""The largest integer that JSON carries exactly, so that a report can name what was asked."""

SeedOption = Annotated[int, typer.Option("--seed", metavar="N", min=0, max=EXACT, help="Seed of the random engines.")]
MaxStates = Annotated[
    int | None,
    typer.Option(
        "--max-states", metavar="N", min=1, help="Limit of states per configuration; the search may end UNDECIDED."
    ),
]
MethodOption = Annotated[
    MethodName | None,
    typer.Option("--method", help="Search method.", show_default="the best that system and claims allow"),
]
StrictOption = Annotated[bool, typer.Option("--strict", help="Exit with code 3 on any UNDECIDED, expected or not.")]
AdapterOption = Annotated[
    str,
    typer.Option(
        "--adapter",
        metavar="MODULE:FACTORY",
        help="A Python adapter of the kernel, or FILE.py:FACTORY; see docs/how-to/check-your-kernel.md.",
    ),
]
CommandOption = Annotated[
    str,
    typer.Option("--command", metavar="COMMAND", help="A program that speaks JSON Lines on standard input and output."),
]
CompareOption = Annotated[
    list[str] | None,
    typer.Option(
        "--compare", metavar="KIND", help="Compare texts, codes or orders that the source leaves open; repeatable."
    ),
]
