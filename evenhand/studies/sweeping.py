"""Sweep sizes: one search for each size of a scope, with its results and costs.

Each point is a search in a process of its own, so that it has its own memory and time limit, and its end (a kill for
lack of memory, say) affects no other point.  A point that met a bound is UNDECIDED and says what was covered.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from multiprocessing.sharedctypes import RawArray
from typing import TYPE_CHECKING, Any

from evenhand.core.bundle import Bundle
from evenhand.core.canonical import Json, canonical_bytes, parse
from evenhand.core.registry import find
from evenhand.evidence.finding import Finding
from evenhand.jobs.findings import findings_of
from evenhand.jobs.plan import Job, claims_for, system_for
from evenhand.processes.group import Ended
from evenhand.processes.pool import ChildTask, ProcessLimits, in_children
from evenhand.search import explore
from evenhand.search.memory import peak, resident

if TYPE_CHECKING:  # proofs are loaded on demand
    from evenhand.smt.theorem import Stated

MOST = 200
"""Largest number of points of one sweep."""


@dataclass(frozen=True)
class PointBounds:
    """The bounds of one point: states of each configuration, bytes, seconds by the clock; None: no bound."""

    max_states: int | None = None
    max_memory: int | None = None
    timeout: float | None = None


@dataclass(frozen=True)
class Point:
    """One search.  `because` is empty if it is complete; else the counts are what was covered before the bound.

    `cpu` and `wall` are seconds.  `peak` is the most bytes held, `memory` the same without those held before the
    search.
    """

    sizes: Mapping[str, int]
    because: str = ""
    configs: int = 0
    states: int = 0
    transitions: int = 0
    edges: int = 0
    depth: int = 0
    method: str | None = None
    why_method: str = ""
    findings: tuple[Finding, ...] = ()
    cpu: float = 0.0
    wall: float = 0.0
    memory: int = 0
    peak: int = 0

    @property
    def complete(self) -> bool:
        """Whether the whole scope was searched."""
        return not self.because

    def to_json(self) -> dict[str, Json]:
        """Return all but time and memory, which stand under `timing`."""
        return {
            "sizes": dict(self.sizes),
            "complete": self.complete,
            "because": self.because,
            **{name: getattr(self, name) for name in ("configs", "states", "transitions", "edges", "depth")},
            "method": self.method,
            "why_method": self.why_method,
            "verdicts": [finding.to_json() for finding in self.findings],
        }

    def costs(self) -> dict[str, Json]:
        """Return seconds and bytes."""
        return {"cpu": round(self.cpu, 3), "wall": round(self.wall, 3), "memory": self.memory, "peak": self.peak}


@dataclass(frozen=True)
class Sweep:
    """The result of a sweep: its finished points in the order of the sizes, and the sizes not reached."""

    over: Mapping[str, tuple[int, ...]]
    points: tuple[Point, ...]
    unfinished: tuple[Mapping[str, int], ...] = ()
    interrupted: bool = False


def default_system(bundle: Bundle, parameters: Sequence[str]) -> str:
    """Return the system to sweep by default: the first with these parameters whose names trade places, else the first.

    Symmetric search, which reaches large sizes, needs such names.  Raises ValueError if no system has all
    parameters.
    """
    able = [one for one in bundle.model.systems.values() if set(parameters) <= set(one.scope)]
    if not able:
        known = ", ".join(f"{name} ({', '.join(one.scope) or 'none'})" for name, one in bundle.model.systems.items())
        raise ValueError(f"no system of {bundle.name} has the sizes {', '.join(parameters)}; there is: {known}")
    return next((one.name for one in able if any(group.swap for group in one.quotients)), able[0].name)


def points_of(job: Job, over: Mapping[str, Sequence[int]]) -> tuple[Job, ...]:
    """Return the job at every combination of sizes, the last parameter changing first."""
    fixed = dict(job.scope)
    return tuple(
        replace(job, scope=tuple(sorted({**fixed, **dict(zip(over, sizes, strict=True))}.items())))
        for sizes in product(*over.values())
    )


def covering(
    theorems: Iterable[Stated],
    system: str,
    claims: Sequence[str],
    parameters: Sequence[str],
    readings: Mapping[str, Any],
) -> tuple[str, ...]:
    """Return the theorems of these claims, this system and these readings whose scope says "any" of each parameter."""
    return tuple(
        one.name
        for one in theorems
        if one.system == system
        and one.claim.name in claims
        and dict(one.readings) == dict(readings)
        and all(re.search(rf"^any\b.*\b{re.escape(name)}\b", one.scope, re.IGNORECASE) for name in parameters)
    )


def sweep(
    jobs: Sequence[Job],
    over: Mapping[str, Sequence[int]],
    bounds: PointBounds,
    *,
    method: str | None = None,
    workers: int = 1,
    finished: Callable[[Job], None] = lambda _job: None,
) -> Sweep:
    """Search every job of `points_of`, `workers` at a time.  Ctrl-C ends it and keeps the finished points."""
    done: dict[int, Point] = {}
    covered = RawArray("q", 2 * len(jobs))  # states and steps of each point so far, as its process reports them

    def ended(number: int, one: Ended) -> tuple[ChildTask, ...]:
        done[number] = _point(jobs[number], one, bounds, covered[2 * number], covered[2 * number + 1])
        finished(jobs[number])
        return ()

    interrupted = False
    try:
        in_children(
            [ChildTask(number, limits=ProcessLimits(bounds.timeout)) for number in range(len(jobs))],
            partial(_work, tuple(jobs), bounds, method, covered),
            workers=workers,
            finished=ended,
        )
    except KeyboardInterrupt:
        interrupted = True
    unfinished = tuple(dict(job.scope) for number, job in enumerate(jobs) if number not in done)
    sizes = {name: tuple(values) for name, values in over.items()}
    return Sweep(sizes, tuple(done[number] for number in sorted(done)), unfinished, interrupted)


def _point(job: Job, one: Ended, bounds: PointBounds, states: int, transitions: int) -> Point:
    """The point of a child's answer; without one it is UNDECIDED, with the last counts that the child reported."""
    said: dict[str, Any] = parse(one.answer) if one.answer is not None else {}
    if "error" not in said and said:
        findings = tuple(Finding.from_json(made) for made in said.pop("findings"))
        return Point(sizes=dict(job.scope), findings=findings, wall=one.seconds, **said)
    because = f"its process ended with exit code {one.code}"
    if said:
        because = f"an error stopped it: {said['error']}"
    elif one.late:
        because = f"stopped after {bounds.timeout:g} s"
    told = f"at least {states:,} states and {transitions:,} steps were covered" if states else "no count reported yet"
    return Point(
        sizes=dict(job.scope),
        because=f"{because}; {told}",
        states=states,
        transitions=transitions,
        wall=one.seconds,
    )


def _work(jobs: Sequence[Job], bounds: PointBounds, method: str | None, covered: Any, number: int) -> bytes:
    """Search one point in this child process, and report its counts on the way."""

    def tell(states: int, transitions: int) -> None:
        covered[2 * number], covered[2 * number + 1] = states, min(transitions, sys.maxsize)

    try:
        return canonical_bytes(_measured(find(jobs[number].protocol), jobs[number], bounds, method, tell))
    except Exception as error:
        return canonical_bytes({"error": f"{type(error).__name__}: {error}"})


def _measured(
    bundle: Bundle, job: Job, bounds: PointBounds, method: str | None, tell: Callable[[int, int], None]
) -> dict[str, Any]:
    """The search of one point in this process, as plain data: counts, findings, CPU seconds and bytes.

    Raises what the model raises, and ValueError for a method that the system or claims do not allow.
    """
    system = system_for(bundle, job)
    claims = claims_for(bundle, system.name, job.claims) if job.claims else ()
    before, began = resident(), time.process_time()
    found = explore(
        system,
        claims,
        max_states=bounds.max_states,
        max_memory=None if bounds.max_memory is None else before + bounds.max_memory,
        method=method,
        progress=tell,
    )
    cpu, most = time.process_time() - began, peak()
    counts = {name: getattr(found, name) for name in ("configs", "states", "transitions", "edges", "depth", "method")}
    because = "" if found.complete else _bound(bounds, found.states, found.transitions)
    findings = findings_of(bundle, job, system, found.verdicts, keep=False) if claims else ()
    return {
        **counts,
        "because": because,
        "why_method": found.why_method,
        "findings": [finding.to_json() for finding in findings],
        "cpu": cpu,
        "memory": max(0, most - before),
        "peak": most,
    }


def _bound(bounds: PointBounds, states: int, transitions: int) -> str:
    met = [f"{bounds.max_states:,} states of a configuration"] if bounds.max_states is not None else []
    met += [f"{bounds.max_memory >> 20:,} MB"] if bounds.max_memory is not None else []
    return f"a bound was met ({' or '.join(met)}); {states:,} states and {transitions:,} steps were covered"
