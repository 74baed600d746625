"""The constants that a plan for more machines is made of: rates by CPU seconds, bytes by state, bytes of a result.

Every measure has a process of its own; its CPU seconds are those of that process and its children (solvers), its
bytes the peak beyond what it held before.  CPU seconds change less than the clock under other load, but still change,
because caches and memory are shared.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from benchmarks.cells import cells
from evenhand.core.canonical import canonical_bytes, parse
from evenhand.core.registry import find, protocols
from evenhand.jobs.engines import run
from evenhand.jobs.plan import Job
from evenhand.machine import fuzz
from evenhand.model.cud.protocol import CUD
from evenhand.processes.group import Ended
from evenhand.processes.pool import ChildTask, in_children
from evenhand.search import explore
from evenhand.search.memory import peak, resident


class Measure(NamedTuple):
    """A name and a function that does the work and returns counts by unit."""

    name: str
    work: Callable[[], dict[str, int]]


def _search(system: Any, method: str) -> Callable[[], dict[str, int]]:
    def count() -> dict[str, int]:
        found = explore(system, method=method)
        return {"states": found.states, "steps": found.transitions}

    return count


def _machine(protocol: str, *, claims: bool) -> Callable[[], dict[str, int]]:
    def count() -> dict[str, int]:
        bundle = find(protocol)
        generator = bundle.generators[0]
        named = bundle.claims_of(generator.system) if claims else ()
        system = bundle.model.systems[generator.system]
        found = fuzz(system, named, generator, examples=20, steps=20)
        return {"steps": found.steps}

    return count


def _proofs(protocol: str, names: Sequence[str]) -> Callable[[], dict[str, int]]:
    def count() -> dict[str, int]:
        from evenhand.smt.portfolio import shared
        from evenhand.smt.prove import prove
        from evenhand.smt.registry import stated

        queries = sum(len(prove(one).queries) for one in stated(protocol) if one.name in names)
        shared().close()
        return {"theorems": len(names), "queries": queries}

    return count


def _result() -> dict[str, int]:
    found = run(find("cud"), Job("cud", "explore", "universe", scope=(("agents", 2), ("keys", 1))))
    return {"verdicts": len(found), "bytes sent": len(canonical_bytes([one.to_json() for one in found]))}


_FREE = CUD.systems["free"]
MEASURES = (
    Measure("explicit search, free agents 3,2,2", _search(_FREE.at(agents=3, keys=2, values=2), "explicit")),
    Measure("explicit search, ring of 7", _search(cells(7), "explicit")),
    Measure("compiled search, ring of 9", _search(cells(9), "compiled")),
    Measure("compiled search, ring of 10", _search(cells(10), "compiled")),
    *(Measure(f"machine, {one.name}, all claims", _machine(one.name, claims=True)) for one in protocols()),
    *(Measure(f"machine, {one.name}, no claim", _machine(one.name, claims=False)) for one in protocols()),
    Measure("proofs, cud", _proofs("cud", ("no_winner", "deadlock_is_stable", "executed_never_interfere"))),
    Measure("a result, cud universe 2,1", _result),
)


def measured(place: int) -> bytes:
    """Return the result of one measure, run in this process."""
    before, began = resident(), time.process_time()
    made = MEASURES[place].work()
    own, others = time.process_time() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = own + others.ru_utime + others.ru_stime
    return canonical_bytes({"made": made, "cpu": cpu, "memory": max(0, peak() - before)})


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line for each measure when it ends."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.constants", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--only", default="", metavar="WORD", help="only measures whose name has this word")
    asked = parser.parse_args(arguments)
    chosen = [number for number, one in enumerate(MEASURES) if asked.only in one.name]
    print("| measure | counted | CPU s | per CPU second | MB | bytes for each state |\n" + "|---" * 6 + "|", flush=True)

    def finished(place: int, ended: Ended) -> tuple[ChildTask, ...]:
        name = MEASURES[chosen[place]].name
        if ended.answer is None:
            print(f"| {name} | its process ended with exit code {ended.code} | | | | |", flush=True)
            return ()
        said = parse(ended.answer)
        made: dict[str, int] = said["made"]
        counted = ", ".join(f"{count:,} {what}" for what, count in made.items())
        rates = ", ".join(f"{count / said['cpu']:,.3g} {what}" for what, count in made.items())
        each = f"{said['memory'] / made['states']:,.0f}" if "states" in made else ""
        memory = said["memory"] / 2**20
        print(f"| {name} | {counted} | {said['cpu']:.2f} | {rates} | {memory:,.0f} | {each} |", flush=True)
        return ()

    tasks = [ChildTask(number) for number in chosen]
    in_children(tasks, measured, finished=finished)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
