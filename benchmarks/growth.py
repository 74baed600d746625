"""How searches grow with each agent and each key, what symmetry makes of the largest, and loops on ten million edges.

Part of `python -m benchmarks.explore`; by itself `python -m benchmarks.growth`.  Each search has a process of its own,
and its seconds are the CPU time from the start of that process: nothing is warm.  After a search longer than
`PATIENCE` a contender takes no larger scope.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

import numpy as np

from benchmarks.checkers import CONTENDERS, Run, late, written
from evenhand.search.lasso import Edges, nearest_run
from evenhand.search.liveness import fair_parts, need_of

BEGIN, END = "<!-- growth: written by `python -m benchmarks.explore --write` -->\n", "<!-- end of growth -->\n"
AGENTS = ("2,2,2", "3,2,2", "4,2,2", "5,2,2", "6,2,2", "7,2,2")
KEYS = ("3,2,2", "3,3,2", "3,4,2", "3,5,2", "3,6,2")
LARGEST = ("6,3,2", "7,3,2", "8,3,2")
METHODS = ("compiled search", "symmetric search")
PATIENCE = 25.0
"""CPU seconds after which a contender takes no larger scope."""

EDGES = 10_000_000
"""Edges of the graph for loops; it has a tenth as many states."""


def grown(scopes: Sequence[str], limits: dict[str, float]) -> list[str]:
    """Return one line for each scope: its size, each method's seconds, and the ratio to the scope before."""
    lines: list[str] = []
    before: dict[str, Run] = {}
    for scope in scopes:
        runs: dict[str, Run] = {}
        for method in METHODS:
            if late() or limits.get(method, 0.0) > PATIENCE:
                runs[method] = Run(why="not tried")
                continue
            try:
                runs[method] = CONTENDERS[method](scope)
            except (OSError, RuntimeError) as error:
                runs[method] = Run(why=str(error).splitlines()[0][:60])
            limits[method] = (
                PATIENCE + 1 if runs[method].why and "interchangeable" not in runs[method].why else runs[method].cold
            )
            print(f"{scope} {method}: {runs[method]}", file=sys.stderr)
        counted = {(run.states, run.steps) for run in runs.values() if not run.why}
        if len(counted) > 1:
            raise ValueError(f"{scope}: the methods found different graphs: {runs}")
        states, steps = next(iter(counted), (0, 0))
        cells = [_cell(runs[method], before.get(method)) for method in METHODS]
        lines.append(f"| {scope} | {states:,} | {steps:,} | " + " | ".join(cells) + " |")
        before = runs
    return lines


def _cell(run: Run, before: Run | None) -> str:
    if run.why:
        return "-"
    times = f" ({run.cold / before.cold:.1f} x)" if before is not None and before.cold else ""
    return f"{run.cold:.2f} s{times}, {run.peak:,.0f} MB"


def loops(count: int = EDGES) -> tuple[int, int, float]:
    """Find the fair parts of a random graph of `count` edges, and a shortest run into a fair loop.

    The result is the edges of the largest part, the length of the run, and CPU seconds.  The graph has a fixed seed;
    one edge in twenty may not be taken, one in a thousand serves the (strong) fairness.
    """
    random = np.random.default_rng(1)
    states = count // 10
    source = np.sort(random.integers(0, states, count))
    target = random.integers(0, states, count)
    alive, served = random.random(count) >= 0.05, random.random(count) < 0.001
    edges = Edges(states, 1, source, target, np.arange(count))
    every = np.ones(count, dtype=np.bool_)
    began = time.process_time()
    needs = [need_of("strong", served, edges)]
    parts = fair_parts(edges, alive, needs)
    found = nearest_run(edges, (~every, ~every, every), np.zeros(states, dtype=np.bool_), parts, needs)
    spent = time.process_time() - began
    return max(map(len, parts), default=0), len(found[1]) + len(found[2]) if found is not None else 0, spent


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables; with `--write`, also put them into the README beside this file."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="write the tables into README.md")
    chosen = parser.parse_args(arguments)
    head = ["| agents, keys, values | states | joint choices | " + " | ".join(METHODS) + " |", "|---|---|---|---|---|"]
    try:
        agents, keys = grown(AGENTS, {}), grown(KEYS, {})
        largest = grown(LARGEST, {"compiled search": PATIENCE + 1})
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    part, length, seconds = loops()
    lines = [
        "One agent more, all else alike:\n",
        *head,
        *agents,
        "\nOne key more:\n",
        *head,
        *keys,
        "\nSymmetry alone:\n",
        *head,
        *largest,
        f"\nFair loops: {EDGES:,} edges over {EDGES // 10:,} states, {part:,} of them in the largest fair part; the "
        f"parts and the shortest run into a loop ({length} steps) took {seconds:.1f} s.",
    ]
    made = "\n".join(lines) + "\n"
    print(made, end="")
    if chosen.write:
        written(BEGIN, END, made)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
