"""Proofs as a table: the status, its scope, the time of each solver; and counterexamples to induction."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from evenhand.core.system import AnySystem
from evenhand.core.text import inert
from evenhand.evidence.story import trace_lines
from evenhand.report.table import print_lines, titled
from evenhand.smt.countermodel import Induction
from evenhand.smt.proved import ProofStatus, Proved

_STYLE = {ProofStatus.HOLDS: "green", ProofStatus.REFUTED: "red", ProofStatus.DISAGREEMENT: "bold red"}


def print_proofs(console: Console, results: Sequence[Proved], systems: Sequence[AnySystem]) -> None:
    """Print the table, and every counterexample to induction with its states; `systems` are those of the results."""
    if results:
        console.print(_table(results))
    for result, system in zip(results, systems, strict=True):
        if isinstance(result.outcome, Induction):
            start = "a counterexample to induction, from a start that may be out of reach"
            print_lines(console, ["", f"{inert(result.theorem.name)}: {start}"])
            print_lines(console, trace_lines(system, result.outcome.evidence))


def timing_of(results: Sequence[Proved]) -> dict[str, float]:
    """Return the CPU seconds of each solver on each theorem."""
    return {
        f"{result.theorem.name}, {solver}": seconds for result in results for solver, seconds in result.seconds.items()
    }


def _table(results: Sequence[Proved]) -> Table:
    solvers = sorted({solver for result in results for solver in result.seconds})
    columns = ("theorem", "word", "proved for", "queries", "mutants")
    table = titled("proofs, with CPU seconds of each solver", *columns)
    for solver in solvers:
        table.add_column(Text(inert(solver)), justify="right")
    for result in results:
        mutants = f"{sum(one.as_declared for one in result.mutants)} of {len(result.mutants)}"
        table.add_row(
            Text(inert(result.theorem.name)),
            Text(result.status.value, style=_STYLE.get(result.status, "yellow")),
            Text(inert(result.theorem.scope) if result.green else ""),
            str(len(result.queries)),
            mutants,
            *(f"{result.seconds.get(solver, 0.0):.2f}" for solver in solvers),
        )
    return table
