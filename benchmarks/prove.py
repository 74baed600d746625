"""Proofs side by side: each theorem's CPU seconds in both solvers, in Python, and in agreement, in one run.

Seconds are CPU time of the processes that spent them, so that a busy machine changes them little.  `Python per query`
is what the workbench spends outside the solvers and outside agreement (expanding, printing, reading models,
minimising and replaying countermodels), divided by the queries.
"""

from __future__ import annotations

import argparse
import importlib
import resource
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from evenhand.proofs.prove import Proved, prove
from evenhand.proofs.registry import stated
from evenhand.proofs.smt.portfolio import shared
from evenhand.proofs.theorem import Stated
from evenhand.properties.registry import find

__all__ = ["Row", "main", "measure", "table"]

COMPARED = (("evenhand.proofs.prove", "agree"), ("evenhand.proofs.transitions.prove", "link"))
"""Where theory and model are compared: timed apart."""


class Row(NamedTuple):
    """One theorem: its word, how many queries, and CPU seconds by who spent them."""

    name: str
    word: str
    queries: int
    z3: float
    cvc5: float
    python: float
    agreement: float


@contextmanager
def _timed_apart() -> Generator[Callable[[], float]]:
    """While this lasts, the CPU seconds of agreement are counted; gives what they are so far."""
    spent = [0.0]

    def timed(honest: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any, **more: Any) -> Any:
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


def measure(protocol: str, chosen: Sequence[Stated]) -> list[Row]:
    """Prove each, with witnesses, mutants and both solvers."""
    bundle = find(protocol)
    rows: list[Row] = []
    with _timed_apart() as agreement:
        for one in chosen:
            before, compared = time.process_time(), agreement()
            proved: Proved = prove(one, bundle=bundle)
            apart = agreement() - compared
            python = time.process_time() - before - apart
            seconds = proved.seconds
            spent = (seconds.get("z3", 0.0), seconds.get("cvc5", 0.0), python, apart)
            rows.append(Row(one.name, proved.word.value, len(proved.queries), *spent))
    return rows


def table(rows: Sequence[Row]) -> str:
    """A Markdown table, the sum last."""
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
    """Print the table of a protocol, and all CPU seconds together, those of the solver processes included."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.prove", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("protocol", nargs="?", default="cud")
    parser.add_argument("--theorem", action="append", metavar="NAME", help="only this one (repeatable)")
    asked = parser.parse_args(arguments)
    chosen = [one for one in stated(asked.protocol) if not asked.theorem or one.name in asked.theorem]
    print(table(measure(asked.protocol, chosen)), end="")
    shared().close()
    mine, theirs = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    both = [usage.ru_utime + usage.ru_stime for usage in (mine, theirs)]
    print(f"\nall together {sum(both):.1f} s of CPU, {both[1]:.1f} s of them in solver processes")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
