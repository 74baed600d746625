"""What a kernel behind an adapter costs per step, beside the same kernel called directly, in one run.

    python -m benchmarks.adapters [--rounds N]

The kernel answers from a table, so the cost is that of the round trip: encode a scenario for the wire, request it
ahead, answer, compare.  Contenders alternate, the best round of each counts.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from evenhand.conform.adapters.kernels import KernelRequest, Piped, adapter_source, command_source
from evenhand.conform.checking.coding import Coder
from evenhand.conform.checking.covering import Covering
from evenhand.core.registry import find


def scenarios(protocol: str = "cud", system: str = "free", count: int = 150) -> list[KernelRequest]:
    """Return walks through the reference's graph, as `check` requests them."""
    made = find(protocol).model.systems[system]
    coder = Coder(protocol, made)
    walks = (walk.trace for walk in Covering(made).walks())
    return [coder.request(trace) for trace, _ in zip(walks, range(count), strict=False)]


class Table:
    """A kernel that answers every action with one observation."""

    def __init__(self, shown: Any) -> None:
        self.shown = shown

    def step(self, _action: Any) -> Any:
        """Return the same observation for every action."""
        return self.shown


@cache
def _shown() -> Any:
    return json.loads(scenarios(count=1)[0].expected[0])


def factory(_initial: Any) -> Table:
    """Return the measured kernel."""
    return Table(_shown())


def alike(asked: list[KernelRequest]) -> list[KernelRequest]:
    """Return the same scenarios with the one observation of the table."""
    shown = asked[0].expected[0]
    return [KernelRequest(one.initial, one.actions, (shown,) * len(one.actions)) for one in asked]


def direct(asked: list[KernelRequest]) -> Callable[[], None]:
    """Return the bare calls, on decoded data."""
    plain = [[json.loads(action) for action in one.actions] for one in asked]
    shown = json.loads(asked[0].expected[0])

    def run() -> None:
        for actions in plain:
            kernel = Table(shown)
            for action in actions:
                kernel.step(action)

    return run


def processor(source: Piped | None) -> float:
    """Return processor seconds of this process and the kernel's, user and system; Linux counts hundredths."""
    own = time.process_time()
    child = source.pid if source is not None else None
    if child is None:
        return own
    try:
        words = Path(f"/proc/{child}/stat").read_text("ascii").rpartition(")")[2].split()
    except OSError:  # without /proc the kernel's share is left out
        return own
    return own + (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def piped(source: Piped, asked: list[KernelRequest]) -> Callable[[], None]:
    """Return the same scenarios through a pipe; every answer must be the expected one."""

    def run() -> None:
        for place in range(0, len(asked), 32):
            wrong = [heard for heard in source.ask(asked[place : place + 32]) if not heard.as_expected]
            if wrong:
                raise SystemExit(f"a kernel answered something else: {wrong[0]}")

    return run


def main(words: list[str]) -> int:
    """Print microseconds per step, by the clock (best round) and processor (mean), and the ratio to the bare call."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=5)
    rounds: int = parser.parse_args(words).rounds
    asked = alike(scenarios())
    steps = sum(len(one.actions) for one in asked)
    python = adapter_source("benchmarks.adapters:factory")
    lines = command_source(
        shlex.join([sys.executable, str(Path(__file__).with_name("table_kernel.py")), asked[0].expected[0].decode()])
    )
    contenders: dict[str, Callable[[], None]] = {
        "bare call": direct(asked),
        "Python adapter": piped(python, asked),
        "JSON Lines, Python": piped(lines, asked),
    }
    sources = [python, lines]
    node = shutil.which("node")
    if node is not None:
        kernel = Path(__file__).with_name("table_kernel.mjs")
        source = command_source(shlex.join([node, str(kernel), asked[0].expected[0].decode()]))
        sources.append(source)
        contenders["JSON Lines, Node"] = piped(source, asked)
    behind = {"Python adapter": python, "JSON Lines, Python": lines, "JSON Lines, Node": sources[-1]}
    best = {name: float("inf") for name in contenders}
    used = dict.fromkeys(contenders, 0.0)
    try:
        for run in contenders.values():
            run()  # warm up: start processes, fill caches
        for _ in range(rounds):
            for name, run in contenders.items():
                began, busy = time.perf_counter(), processor(behind.get(name))
                run()
                best[name] = min(best[name], time.perf_counter() - began)
                used[name] += (processor(behind.get(name)) - busy) / rounds
    finally:
        for source in sources:
            source.close()
    bytes_per_step = sum(len(action) for one in asked for action in one.actions) // steps + len(asked[0].expected[0])
    print(f"{steps:,} steps in {len(asked)} scenarios, {bytes_per_step} bytes a step")
    for name, seconds in best.items():
        wall, busy = seconds / steps * 1e6, used[name] / steps * 1e6
        ratio = seconds / best["bare call"]
        print(f"{name:20} {wall:8.2f} µs a step by the clock {busy:8.2f} µs of processor {ratio:8.0f} x the bare call")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
