"""Proofs side by side: each theorem's CPU seconds in both solvers, in Python, and in agreement, in one run.

Seconds are CPU time of the processes that spent them, so that a busy machine changes them little.  `Python per query`
is the time of the workbench outside the solvers and outside agreement (expanding, printing, reading models,
minimising and replaying countermodels), divided by the queries.  A query repeated in the same run costs no solver
time.  Agreement also queries solvers, in the processes of the run; `--unlinked` leaves it out, so that the last line
has the cost of the proofs alone.
"""

from __future__ import annotations

import argparse
import importlib
import resource
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from evenhand.core.registry import find
from evenhand.smt.conformance import Conformance
from evenhand.smt.portfolio import shared
from evenhand.smt.prove import prove
from evenhand.smt.proved import Proved
from evenhand.smt.registry import stated
from evenhand.smt.theorem import Stated

COMPARED = (("evenhand.smt.prove", "agree"), ("evenhand.smt.transitions.prove", "link"))
"""The functions that compare theory and model: timed apart, or left out."""

UNLINKED = "all but linked"
"""The status where a verdict lacks only the comparison of theory and model."""


class Row(NamedTuple):
    """One theorem: its status, its number of queries, and CPU seconds by solver, Python and agreement."""

    name: str
    word: str
    queries: int
    z3: float
    cvc5: float
    python: float
    agreement: float


@contextmanager
def _timed_apart(*, left_out: bool) -> Generator[Callable[[], float]]:
    """Leave agreement out, or count its CPU seconds; yields a function that returns the count so far."""
    spent = [0.0]

    def timed(honest: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any, **more: Any) -> Any:
            if left_out:
                return Conformance()
            began = time.process_time()
            try:
                return honest(*arguments, **more)
            finally:
                spent[0] += time.process_time() - began

        return run

    honest = {(module, name): getattr(importlib.import_module(module), name) for module, name in COMPARED}
    for (module, name), function in honest.items():
        setattr(importlib.import_module(module), name, timed(function))
    try:
        yield lambda: spent[0]
    finally:
        for (module, name), function in honest.items():
            setattr(importlib.import_module(module), name, function)


def measure(protocol: str, chosen: Sequence[Stated], *, unlinked: bool = False) -> list[Row]:
    """Prove each theorem, with witnesses, mutants and both solvers; without agreement where `unlinked`."""
    bundle = find(protocol)
    rows: list[Row] = []
    with _timed_apart(left_out=unlinked) as agreement:
        for one in chosen:
            before, compared = time.process_time(), agreement()
            proved: Proved = prove(one, bundle=bundle)
            apart = agreement() - compared
            python = time.process_time() - before - apart
            seconds = proved.seconds
            spent = (seconds.get("z3", 0.0), seconds.get("cvc5", 0.0), python, apart)
            word = UNLINKED if proved.verdict.because == Conformance().because else proved.status.value
            rows.append(Row(one.name, word, len(proved.queries), *spent))
    return rows


def table(rows: Sequence[Row]) -> str:
    """Return a Markdown table, the sum last."""
    lines = [
        "| theorem | word | queries | z3 | cvc5 | Python per query | agreement |",
        "|---|---|---|---|---|---|---|",
    ]
    total = Row("all", "", *(sum(column) for column in list(zip(*rows, strict=True))[2:])) if rows else None
    for row in (*rows, *([total] if total else [])):
        each = 1000 * row.python / row.queries if row.queries else 0.0
        lines.append(
            f"| {row.name} | {row.word} | {row.queries} | {row.z3:.2f} s | {row.cvc5:.2f} s | {each:.1f} ms "
            f"| {row.agreement:.2f} s |"
        )
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table of a protocol, and the total CPU seconds, solver processes included."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.prove", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("protocol", nargs="?", default="cud")
    parser.add_argument("--theorem", action="append", metavar="NAME", help="only this one (repeatable)")
    parser.add_argument("--unlinked", action="store_true", help="leave agreement out; no verdict is green without it")
    asked = parser.parse_args(arguments)
    chosen = [one for one in stated(asked.protocol) if not asked.theorem or one.name in asked.theorem]
    started = time.process_time()
    rows = measure(asked.protocol, chosen, unlinked=asked.unlinked)
    print(table(rows), end="")
    shared().close()
    mine, theirs = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    both = [usage.ru_utime + usage.ru_stime for usage in (mine, theirs)]
    solving = sum(row.z3 + row.cvc5 for row in rows)
    print(
        f"\nall together {sum(both):.1f} s of CPU: {both[1]:.1f} s in solver processes ({solving:.1f} s of them in the "
        f"table), {started:.1f} s before the first theorem, {both[0] - started:.1f} s in Python after it"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
