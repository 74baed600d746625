"""Every system of the protocols at its largest standard scope: explicit search, and `explore` by default.

    python -m benchmarks.standard [PROTOCOL …] [--most SECONDS]

A command with all claims of the system runs in a process of its own for each contender.  CPU seconds are those of the
finished process, start-up and imports included.  Contenders must agree in counts and verdicts.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from evenhand.core.bundle import Bundle
from evenhand.core.registry import find, protocols
from evenhand.core.system import UnknownName
from evenhand.jobs.plan import Budget, Job, plan


class Found(NamedTuple):
    """What one command gave: CPU seconds (None where it did not end in time), counts and verdicts, the method."""

    seconds: float | None
    said: str
    method: str


def largest(bundle: Bundle) -> Iterator[Job]:
    """Yield for each system of a protocol the standard search of the reference that has the largest scope."""
    jobs = [
        job
        for job in plan(bundle, Budget.standard)
        if job.engine == "explore" and not (job.variant or job.readings or job.quotient or job.part)
    ]
    for name, system in bundle.model.systems.items():
        mine = [job for job in jobs if job.system == name]
        if mine:
            yield max(mine, key=lambda job: math.prod({**dict(system.scope), **dict(job.scope)}.values()))


def run(job: Job, method: str, most: float) -> Found:
    """Run the command of a job by this method ("": the default)."""
    words = [*shlex.split(job.command)[1:], "--json", "--yes", *(["--method", method] if method else [])]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "evenhand", *words],
            cwd=Path(__file__).parent.parent,
            capture_output=True,
            text=True,
            check=False,
            timeout=most,
        )
    except subprocess.TimeoutExpired:
        return Found(None, "", "")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if not done.stdout:
        raise SystemExit(f"{shlex.join(words)}: {done.stderr}")
    told: dict[str, Any] = json.loads(done.stdout)
    verdicts = [(one["claim"], one["status"]) for one in told["verdicts"]]
    said = json.dumps([*(told[name] for name in ("states", "transitions", "edges", "depth")), verdicts])
    return Found(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, said, told["method"])


def row(bundle: Bundle, job: Job, most: float) -> tuple[str, bool]:
    """Return the line of one system, and whether the contenders agree."""
    plain, default = run(job, "explicit", most), run(job, "", most)
    scope = ", ".join(f"{name}={size}" for name, size in job.scope) or "as declared"
    seconds = [f"over {most:.0f} s" if one.seconds is None else f"{one.seconds:.1f} s" for one in (plain, default)]
    ratio = "" if plain.seconds is None or default.seconds is None else f"{plain.seconds / default.seconds:.2f}"
    said = default.said or plain.said
    states, steps = json.loads(said)[:2] if said else ("", "")
    line = f"| {bundle.name} {job.system} | {scope} | {states}, {steps} | {seconds[0]} "
    agree = not (plain.said and default.said) or plain.said == default.said
    return f"{line}| {default.method} {seconds[1]} | {ratio} |", agree


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table.  Returns 1 where the contenders differ."""
    parser = argparse.ArgumentParser(prog="benchmarks.standard", description=__doc__)
    parser.add_argument("protocol", nargs="*", help=", ".join(one.name for one in protocols()))
    parser.add_argument("--most", type=float, default=300, metavar="SECONDS", help="wall-clock seconds of one command")
    given = parser.parse_args(arguments)
    try:
        bundles = [*map(find, given.protocol)] or protocols()
    except UnknownName as error:
        parser.error(str(error))
    wrong = False
    print("| system | scope | states, steps | explicit | default | ratio |\n|---|---|---|---|---|---|")
    for bundle in bundles:
        for job in largest(bundle):
            line, agree = row(bundle, job, given.most)
            print(line, flush=True)
            if not agree:
                print(f"{bundle.name} {job.system}: the contenders differ", file=sys.stderr)
                wrong = True
    return int(wrong)


if __name__ == "__main__":
    raise SystemExit(main())
