"""Exhaustive search side by side, in one run: the engine's methods, a bare loop over the model, and other checkers.

    python -m benchmarks.explore --write

Without sizes it runs everything, `checkers` and `growth` included; with sizes, only the bare loop and explicit
search at these.

Seconds differ between machines; ratios taken in one process on the same states are more stable.  The rounds
alternate between the contenders and the best round of each counts.  All must find the same graph, or there is
no table, because a fast search that counts differently is no faster search.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.bare import Counts, bare
from evenhand.model.cud.protocol import CUD
from evenhand.search import explore

STARTED = time.monotonic()
README = Path(__file__).with_name("README.md")
BEGIN, END = "<!-- table: written by `make bench ARGS=--write` -->\n", "<!-- end of table -->\n"
SCOPES = ("2,2,2", "3,2,2")


def method(name: str) -> Callable[[Any], Counts]:
    """Return the engine with one method and no claim."""

    def run(system: Any) -> Counts:
        found = explore(system, method=name)
        return Counts(found.states, found.transitions, found.edges, found.depth)

    return run


CONTENDERS: dict[str, Callable[[Any], Counts]] = {
    "bare loop": bare,
    "explicit search": method("explicit"),
}


def compare(system: Any, rounds: int) -> dict[str, tuple[Counts, float]]:
    """Return the counts of each contender and its best time in seconds.  Raises ValueError where they disagree."""
    found: dict[str, tuple[Counts, float]] = {}
    for _ in range(rounds):
        for name, run in CONTENDERS.items():
            began = time.perf_counter()
            counts = run(system)
            spent = time.perf_counter() - began
            found[name] = counts, min(spent, found[name][1] if name in found else spent)
    if len({counts for counts, _ in found.values()}) > 1:
        raise ValueError("; ".join(f"{name}: {counts}" for name, (counts, _) in found.items()))
    return found


def table(results: dict[str, dict[str, tuple[Counts, float]]]) -> str:
    """Return a Markdown table: scopes down, contenders across, each with its speed relative to the bare loop."""
    lines = [
        "| agents, keys, values | states | joint choices | " + " | ".join(CONTENDERS) + " |",
        "|---|---|---|" + "---|" * len(CONTENDERS),
    ]
    for scope, found in results.items():
        counts, base = found["bare loop"]
        cells = [f"{spent:.2f} s ({base / spent:.1f} x)" for _, spent in found.values()]
        lines.append(f"| {scope} | {counts.states:,} | {counts.transitions:,} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; with `--write`, also put it into the README beside this file."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("scopes", nargs="*", metavar="AGENTS,KEYS,VALUES")
    parser.add_argument("--rounds", type=int, default=3, help="how often each contender runs (default: 3)")
    parser.add_argument("--write", action="store_true", help=f"write the table into {README.name}")
    chosen = parser.parse_args(arguments)
    results: dict[str, dict[str, tuple[Counts, float]]] = {}
    for scope in chosen.scopes or SCOPES:
        try:
            agents, keys, values = (int(part) for part in scope.split(","))
            system = CUD.systems["free"].at(agents=agents, keys=keys, values=values)
        except ValueError as error:
            parser.error(f"scope {scope!r} is not three sizes such as 3,2,2: {error}")
        try:
            results[scope] = compare(system, max(1, chosen.rounds))
        except ValueError as error:
            print(
                f"{scope}: the contenders found different graphs, so their times mean nothing.\n{error}",
                file=sys.stderr,
            )
            return 1
    made = table(results)
    print(made, end="")
    if chosen.write:
        before, _, rest = README.read_text("utf-8").partition(BEGIN)
        README.write_text(before + BEGIN + made + END + rest.partition(END)[2], "utf-8")
    return 0 if chosen.scopes else _others(["--write"] if chosen.write else [])


def _others(options: list[str]) -> int:
    """Run `growth` and `checkers`, each in a process of its own.

    The memory of this process would count in the peak of its children.
    """
    environment = {**os.environ, "BENCHMARK_STARTED": str(STARTED)}
    calls = [[sys.executable, "-m", f"benchmarks.{name}", *options] for name in ("growth", "checkers")]
    return max(subprocess.call(call, env=environment, cwd=README.parent.parent) for call in calls)


if __name__ == "__main__":
    raise SystemExit(main())
