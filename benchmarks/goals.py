"""Every goal of speed, in one run: the command that a user types, beside Spin, a plain loop or explicit search.

    python -m benchmarks.goals [--write] [--only WORD] [--most SECONDS]

Each row is a whole command in processes of its own; seconds are CPU time of all of them, start-up, proofs and children
included.  What is compared must have counted the same states and steps and given the same verdicts, or the row says so
and the run ends with 1; a missed goal is a row of the table.  Rows with a goal in seconds run one at a time, those with
a goal in ratios two at a time, a row's commands one after the other.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.cells import CELLS
from benchmarks.marked import put
from benchmarks.newcomers import SYSTEMS as NEWCOMERS
from benchmarks.plain import KNOWN
from evenhand.core.bundle import Bundle
from evenhand.core.registry import protocols
from evenhand.jobs.plan import Budget, Job, plan

HERE = Path(__file__).parent
README = HERE / "README.md"
BEGIN, END = "<!-- goals: written by `python -m benchmarks.goals --write` -->\n", "<!-- end of goals -->\n"
SLOWER = 0.9
"""Ratios from here on count as no slower: runs of one and the same search differ by as much."""

LONGEST = 120.0
"""CPU seconds of a command without a limit of its own; by the clock `CLOCK` times as many."""

CLOCK = 40
"""A loaded machine gives a process few of its seconds."""


class Spent(NamedTuple):
    """CPU seconds of a process and of its children, and what it printed; or why there is nothing."""

    seconds: float
    output: str
    why: str = ""


class Answer(NamedTuple):
    """What `evenhand explore` took and gave."""

    seconds: float
    counts: tuple[int, ...] = ()
    verdicts: tuple[tuple[str, str], ...] = ()
    method: str = ""
    why: str = ""


class Row(NamedTuple):
    """One line of the table; `ratio` is how many times as fast the command is as what it is compared with."""

    name: str
    command: str
    took: str
    beside: str
    ratio: float | None
    goal: str
    met: str


class Task(NamedTuple):
    """A row that can be measured."""

    group: str
    name: str
    measure: Callable[[], Row]


def spent(
    words: Sequence[str], most: float = LONGEST, *, folder: str | Path = HERE.parent, fine: Sequence[int] = (0,)
) -> Spent:
    """Run a command, with at most so many CPU seconds in one process; `fine` are the exit codes of an answer."""
    limited = ["sh", "-c", f'ulimit -t {math.ceil(most)}; exec "$@"', "sh", *words]
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent), "PYTHONHASHSEED": "0"}
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        child = subprocess.Popen(limited, cwd=folder, stdout=output, stderr=errors, env=environment)
        began, slow = time.monotonic(), False
        while True:
            done, status, usage = os.wait4(child.pid, os.WNOHANG)
            if done:
                break
            if slow := time.monotonic() - began > CLOCK * most:
                child.kill()
            time.sleep(0.01)
        child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        text, wrong = output.read(), errors.read().strip()
    seconds, why = usage.ru_utime + usage.ru_stime, ""
    if child.returncode < 0:
        ended = f"over {CLOCK * most:.0f} s by the clock" if slow else f"ended by signal {-child.returncode}"
        why = f"over {most:.0f} s" if seconds > most - 1 else ended
    elif child.returncode not in fine:
        why = (wrong or text).strip().rpartition("\n")[2][:200] or f"exit code {child.returncode}"
    print(f"{seconds:8.2f} s  {shlex.join(words)[-150:]}  {why}", file=sys.stderr, flush=True)
    return Spent(seconds, text, why)


def evenhand(words: Sequence[str], most: float = LONGEST) -> Answer:
    """Run `evenhand` with these words."""
    ran = spent([sys.executable, "-m", "evenhand", *words, "--json"], most, fine=(0, 1, 3))
    if ran.why:
        return Answer(ran.seconds, why=ran.why)
    told: dict[str, Any] = json.loads(ran.output)
    counts = tuple(told[name] for name in ("states", "transitions", "edges", "depth"))
    return Answer(ran.seconds, counts, tuple((one["claim"], one["status"]) for one in told["verdicts"]), told["method"])


class Spin(NamedTuple):
    """CPU seconds of Spin's search, and with translating and compiling; states and steps."""

    search: float
    whole: float
    counts: tuple[int, int]


@cache
def spin(name: str) -> Spin | str:
    """Search a model with Spin, or say why not; without its partial-order reduction, since all steps count."""
    if missing := next((one for one in ("spin", "cc") if not shutil.which(one)), None):
        return f"no Spin here (apt-get install {'spin' if missing == 'spin' else 'gcc libc6-dev'})"
    if name == "cells":
        source, defines, more = "cells.pml", [f"-DCELLS={CELLS}"], 0
    else:
        sizes = zip("NKV", name.split(","), strict=True)
        source, defines, more = "free_agent.pml", [f"-D{word}={size}" for word, size in sizes], 1
    with tempfile.TemporaryDirectory() as folder:
        steps = (
            ["spin", "-a", "-o2", *defines, str(HERE / source)],
            ["cc", "-O2", "-DSAFETY", "-DNOREDUCE", "-DMEMLIM=8192", "-o", "pan", "pan.c"],
            ["./pan", "-m3000000", "-w24", "-E"],
        )
        ran = [spent(step, folder=folder) for step in steps]
    if why := next((one.why for one in ran if one.why), ""):
        return f"Spin: {why}"
    # pan counts the initial state as a transition, and in the free-agent graph the setting of the marks.
    states, moves = (
        int(re.findall(rf"(\d+) {word}", ran[-1].output)[-1]) for word in ("states, stored", "transitions")
    )
    return Spin(ran[-1].seconds, sum(one.seconds for one in ran), (states - more, moves - 1 - more))


def told(words: Sequence[str]) -> str:
    """Return a command as a user types it; more than two claims are only counted."""
    claims = words.count("--claim")
    if claims <= 2:
        return f"`evenhand {shlex.join(words)}`"
    shorter = [word for before, word in zip(["", *words], words, strict=False) if "--claim" not in (before, word)]
    return f"`evenhand {shlex.join(shorter)}`, and {claims} claims"


def beside_spin(name: str, words: Sequence[str], most: float | None, rival: str) -> Row:
    """Measure a command whose goal is so many seconds, or None: Spin's search of the same graph."""
    ran, other = evenhand(words), spin(rival) if rival else "-"
    goal = "Spin's search" if most is None else f"≤ {most:g} s"
    limit = most if most is not None or isinstance(other, str) else other.search
    if ran.why:
        return Row(
            name, told(words), ran.why, "", None, goal, "missed" if ran.seconds > (most or LONGEST) else "not measured"
        )
    left = sum(status == "UNDECIDED" for _, status in ran.verdicts)
    met = "not measured" if limit is None else "met" if ran.seconds <= limit else "missed"
    if left:
        met += f", {left} of {len(ran.verdicts)} claims UNDECIDED"
    took = f"{ran.seconds:.2f} {ran.method}"
    if isinstance(other, str):
        return Row(name, told(words), took, other, None, goal, met)
    if other.counts != ran.counts[:2]:
        met = f"DIFFERENT: {ran.counts[:2]} and {other.counts}"
    text = f"Spin's search {other.search:.2f}, with `spin -a` and `cc` {other.whole:.2f}"
    return Row(name, told(words), took, text, other.search / ran.seconds, goal, met)


def beside_loop(name: str) -> Row:
    """Measure a user's system by default, explicitly and with a plain loop over the same functions and claims."""
    goal = "5 x the plain loop"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, re.sub(r"\W+", "_", name) + ".py")
        file.write_text(
            f"from benchmarks.plain import own\n\nsystem, claims = own({name!r})\n"
            "globals().update({f'claim_{number}': claim for number, claim in enumerate(claims)})\n",
            "utf-8",
        )
        words = ["explore", f"{file}:system", "--yes"]
        loop = spent([sys.executable, "-m", "benchmarks.plain", name], 2 * LONGEST)  # some take nearly two minutes
        default, explicit = evenhand(words), evenhand([*words, "--method", "explicit"])
    command = told(["explore", f"{file.name}:system", "--yes"])
    if why := default.why or loop.why:
        return Row(name, command, why, "", None, goal, "not measured")
    *counts, refuted = [*loop.output.split(), ""][:5]
    loop_said = tuple(map(int, counts)), bool(refuted)
    ratio = loop.seconds / default.seconds
    met = "met" if ratio >= 5 else "missed"
    for one in (default, explicit):
        said = one.counts, any(status == "REFUTED" for _, status in one.verdicts)
        if not one.why and said != loop_said:
            met = f"DIFFERENT: {one.method} {said}, the loop {loop_said}"
    took = explicit.why or f"{explicit.seconds:.2f}"
    beside = f"plain loop {loop.seconds:.2f}, explicit {took}; {default.counts[0]:,} states"
    return Row(name, command, f"{default.seconds:.2f} {default.method}", beside, ratio, goal, met)


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


def beside_explicit(name: str, job: Job, most: float) -> Row:
    """Measure a protocol's search by default and explicitly."""
    words, goal = shlex.split(job.command)[1:], "no slower"
    default = evenhand([*words, "--yes"], most)
    if default.why:
        return Row(name, told(words), default.why, "", None, goal, "not measured")
    explicit = evenhand([*words, "--yes", "--method", "explicit"], most)
    ratio = explicit.seconds / default.seconds
    met = "met" if ratio >= SLOWER else "missed"
    if explicit.why and met == "missed":  # it was ended, and would have taken longer
        met = "not measured"
    if not explicit.why and (explicit.counts, explicit.verdicts) != (default.counts, default.verdicts):
        met = f"DIFFERENT: {explicit.counts} and {default.counts}, or verdicts"
    beside = f"explicit {explicit.why or f'{explicit.seconds:.2f}'}; {default.counts[0]:,} states"
    return Row(name, told(words), f"{default.seconds:.2f} {default.method}", beside, ratio, goal, met)


def published() -> Row:
    """Count the systems of the literature with their published numbers of states."""
    words = ["-m", "pytest", "-q", "tests/known/test_published_counts.py"]
    ran = spent([sys.executable, *words], fine=(0, 1))
    last = ran.output.strip().rpartition("\n")[2]
    met = "met" if " passed" in last and "failed" not in last else "missed"
    said = re.sub(r" in .*", "", last)
    return Row("published counts", f"`python {shlex.join(words)}`", f"{ran.seconds:.2f}", said, None, "all agree", met)


def lines() -> Row:
    """Count the lines of the search part."""
    files = sorted((HERE.parent / "evenhand" / "search").rglob("*.py"))
    by_file = {file: len(file.read_text("utf-8").splitlines()) for file in files}
    count, tables = sum(by_file.values()), sum(size for file, size in by_file.items() if file.parent.name == "tables")
    command = "`find evenhand/search -name '*.py' \\| xargs cat \\| wc -l`"
    met = "met" if count <= 6_000 else "missed"
    return Row(
        "lines of `evenhand/search`",
        command,
        "-",
        f"{count:,} lines, {tables:,} of them of tables",
        None,
        "≤ 6,000",
        met,
    )


def tasks(most: float) -> Iterator[Task]:
    """Yield everything that has a goal."""
    for scope, claims, seconds in (
        ("4,3,2", ("--claim", "deadlock_free"), None),
        ("4,3,2", (), 15),
        ("5,2,2", (), 40),
        ("8,3,2", ("--symmetry", "--claim", "deadlock_free"), 15),
        ("8,3,2", ("--symmetry",), 15),
    ):
        agents, keys, values = scope.split(",")
        sizes = ["--scope", f"agents={agents},keys={keys},values={values}"]
        what = "one claim" if "--claim" in claims else "all claims"
        name = f"free agents {scope}, {what}{', by symmetry' if '--symmetry' in claims else ''}"
        words = ["explore", "cud", "--system", "free", *sizes, *claims]
        rival = "" if "--symmetry" in claims else scope
        yield Task("free", name, partial(beside_spin, name, words, seconds, rival))
    for name, method in (("cells", ()), ("cells, compiled", ("--method", "compiled"))):
        words = ["explore", "benchmarks/cells.py:RING", "--yes", *method]
        yield Task("cells", name, partial(beside_spin, name, words, 1.5, "cells"))
    for name in (*KNOWN, *NEWCOMERS):
        yield Task("own", name, partial(beside_loop, name))
    for bundle in protocols():
        for job in largest(bundle):
            name = f"{bundle.name} {job.system}"
            yield Task("protocols", name, partial(beside_explicit, name, job, most))
    yield Task("counts", "published counts", published)
    yield Task("lines", "lines", lines)


def totals(group: str, rows: Sequence[Row]) -> list[Row]:
    """Return what is asked of a group as a whole."""
    ratios = [row.ratio for row in rows if row.ratio is not None]
    if group == "own":
        found = sum(ratio >= 4 for ratio in ratios)
        met = "met" if found >= 8 else "missed"
        return [Row("own systems together", "", "", f"{found} of {len(rows)}", None, "eight of them 4 x", met)]
    if group == "protocols":
        found = sum(ratio >= 2 for ratio in ratios)
        met = "met" if found >= 10 else "missed"
        return [Row("protocols together", "", "", f"{found} of {len(rows)}", None, "ten of them twice as fast", met)]
    return []


def measured(chosen: Sequence[Task], jobs: int = 0, *, whole: bool = True) -> Iterator[Row]:
    """Measure tasks, those of a group together, in the order in which they are listed; so many at once."""
    for group in dict.fromkeys(task.group for task in chosen):
        rows: list[Row] = []
        with ThreadPoolExecutor(jobs or (2 if group in ("own", "protocols") else 1)) as pool:
            for row in pool.map(_measured, [one for one in chosen if one.group == group]):
                rows.append(row)
                yield row
        yield from totals(group, rows) if whole else ()


def _measured(task: Task) -> Row:
    try:
        return task.measure()
    except (OSError, ValueError, LookupError) as error:  # one row that fails does not end the run
        return Row(task.name, "", f"{type(error).__name__}: {error}"[:100], "", None, "", "not measured")


def line(row: Row) -> str:
    """Return a row in Markdown."""
    ratio = "-" if row.ratio is None else f"{row.ratio:.2f}"
    return f"| {row.name} | {row.command} | {row.took} | {row.beside} | {ratio} | {row.goal} | {row.met} |\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; with `--write`, also put it into the README beside this file."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.goals", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help=f"write the table of a whole run into {README.name}")
    parser.add_argument("--only", metavar="WORD", default="", help="only this group, or rows whose name has this word")
    parser.add_argument("--most", type=float, default=60, help="CPU seconds of a search of a protocol (default: 60)")
    parser.add_argument("--jobs", type=int, default=0, help="rows at once (default: as above)")
    asked = parser.parse_args(arguments)
    chosen = [task for task in tasks(asked.most) if asked.only in (task.group, "") or asked.only in task.name]
    if asked.jobs < 0 or not asked.most > 0:
        parser.error("--most must be positive, and --jobs not negative")
    if (asked.write and asked.only) or not chosen:
        parser.error("--write needs a whole run" if chosen else f"no row or group has the name {asked.only!r}")
    # Byte code is made once, so that no row pays for what the next one finds.
    folders = ("evenhand", "benchmarks", "tests/known", "tests/models")
    subprocess.run([sys.executable, "-m", "compileall", "-q", *folders], cwd=HERE.parent, check=False)
    before = os.getloadavg()[0]
    table = "| | command | CPU s | beside it | ratio | goal | |\n|---|---|---|---|---|---|---|\n"
    print(table, end="", flush=True)
    different = False
    for row in measured(chosen, asked.jobs, whole=asked.only in ("", chosen[0].group)):
        print(line(row), end="", flush=True)
        table, different = table + line(row), different or row.met.startswith("DIFFERENT")
    load = f"load {before:.1f} before and {os.getloadavg()[0]:.1f} after"
    table = f"Python {platform.python_version()} on {os.cpu_count()} cores, {load}.\n\n{table}"
    if asked.write:
        put(README, BEGIN, table, END)
    return int(different)


if __name__ == "__main__":
    raise SystemExit(main())
