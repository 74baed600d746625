"""Make the list of jobs of a run from the plans of the protocols.

This module names no protocol.  A protocol's `Claims.plans` say which engine runs which system at which scope under
which budget; a system without a plan is explored and fuzzed at its own scope.  A job is plain data, so that another
process can run it and its command can reproduce it.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, StrEnum
from typing import TYPE_CHECKING, Any, Literal

from evenhand.core.bundle import Bundle
from evenhand.core.lookup import UnknownName, named
from evenhand.core.plan import Plan
from evenhand.core.property import Property
from evenhand.core.system import AnySystem, Scope, reading_values
from evenhand.variants.automatic import PREFIX, mutated

if TYPE_CHECKING:
    from evenhand.smt.theorem import Stated

Engine = Literal["explore", "fuzz", "prove", "replay", "compare", "plan"]


SAME = "shows_the_same"
"""The claim that a comparison decides."""

ANY_SIZE = "any_size"
"""In place of a theorem: the invariants of a user's own system, for any number of agents."""


class Budget(StrEnum):
    """How much a run may cost."""

    quick = "quick"
    standard = "standard"
    deep = "deep"


@dataclass(frozen=True)
class Effort:
    """The bounds of a budget where a protocol gives none.

    `max_states` bounds the search of each configuration; a search that no plan asks for is not begun above
    `finishable` steps; `examples` and `steps` size a run of the machine.
    """

    max_states: int
    finishable: int
    examples: int
    steps: int


EFFORT: Mapping[Budget, Effort] = {
    Budget.quick: Effort(20_000, 200_000, 100, 20),
    Budget.standard: Effort(400_000, 5_000_000, 200, 20),
    Budget.deep: Effort(20_000_000, 500_000_000, 2_000, 40),
}

BOUNDS: Mapping[Budget, Effort] = {
    Budget.quick: Effort(max_states=20_000, finishable=0, examples=40, steps=20),
    Budget.standard: Effort(max_states=100_000, finishable=0, examples=100, steps=20),
    Budget.deep: Effort(max_states=5_000_000, finishable=0, examples=2_000, steps=40),
}
"""The bounds of a system without plans, as in a team's own test file: its search is always begun."""


@dataclass(frozen=True)
class Job:
    """One engine on one system, one theorem, the fixtures of a protocol, or the claims that no plan checks.

    `readings` and `scope` list only differences from the system's own; `variant` is a mutant's name; `claims` names
    the claims (empty: all).  `theorem` is for `prove`, where the variant `*` includes each of its mutants; `ANY_SIZE`
    stands for the invariants of an own system, and without a theorem `prove` asks whether the variant equals the
    reference for any size.  A search of more than `finishable`
    steps is not begun.  The engine `plan` reports `claims` that no plan of `budget` checks.
    """

    protocol: str
    engine: Engine
    system: str = ""
    scope: tuple[tuple[str, int], ...] = ()
    readings: tuple[tuple[str, Any], ...] = ()
    variant: str = ""
    claims: tuple[str, ...] = ()
    max_states: int | None = None
    depth: int | None = None
    examples: int = 200
    steps: int = 20
    seed: int = 0
    quotient: str = ""
    part: str = ""
    finishable: int | None = None
    theorem: str = ""
    budget: str = ""

    @property
    def affinity(self) -> str:
        """The affinity key: jobs with the same key run in one process and share its caches.  Empty: any process."""
        return f"{self.engine} {self.protocol}" if self.engine == "prove" else ""

    @property
    def command(self) -> str:
        """The command line that runs this job alone; for the engine `plan`, the whole run."""
        if self.engine == "plan":
            return shlex.join(["evenhand", "verify", self.protocol, "--budget", self.budget])
        if self.theorem == ANY_SIZE:
            return shlex.join(["evenhand", "prove", self.protocol])
        words = ["evenhand", self.engine, *([self.protocol] if self.engine != "replay" else [])]
        words += _option("--system", self.system)
        words += _option("--scope", ",".join(f"{name}={size}" for name, size in self.scope))
        for name, value in self.readings:
            words += _option("--reading", f"{name}={written_value(value)}")
        words += _option("--mutant", self.variant)
        for claim in self.claims:
            words += _option("--claim", claim)
        match self.engine:
            case "explore":
                words += _option("--max-states", self.max_states)
                words += _option("--depth", self.depth)
                words += _option("--part", self.part)
                for name in filter(None, self.quotient.split("+")):
                    words += ["--quotient", name]
            case "fuzz":
                words += ["--examples", str(self.examples), "--steps", str(self.steps), "--seed", str(self.seed)]
            case "prove":
                words += _option("--theorem", self.theorem)
            case "replay" | "compare":
                pass
        return shlex.join(words)

    @property
    def title(self) -> str:
        """A short description for progress and lists of unfinished jobs."""
        where = ",".join(f"{name}={value}" for name, value in (*self.scope, *self.readings))
        part = f"part {self.part}" if self.part else ""
        return " ".join(word for word in (self.engine, self.protocol, self.system or self.theorem, where, part) if word)


def _option(name: str, value: Any) -> list[str]:
    return [name, str(value)] if value not in ("", None) else []


def written_value(value: Any) -> str:
    """Return the value of a reading as written on the command line."""
    return str(value.value) if isinstance(value, Enum) else str(value)


def plan(bundle: Bundle, budget: Budget, *, seed: int = 0, theorems: Iterable[str] = ()) -> tuple[Job, ...]:
    """Return the jobs of one protocol under a budget: searches, machines, proofs, and the replay of its fixtures.

    For claims about a system that none of these jobs checks, a job of the engine `plan` reports this.
    """
    jobs = [_job(bundle, entry, budget, seed) for entry in _plans(bundle) if budget.value in entry.budgets]
    jobs += [Job(bundle.name, "prove", theorem=theorem) for theorem in theorems]
    return (*jobs, *_left_out(bundle, jobs, budget), Job(bundle.name, "replay"))


def _left_out(bundle: Bundle, jobs: Iterable[Job], budget: Budget) -> Iterator[Job]:
    """A job for each system with claims that no job checks."""
    looked_at = covered(bundle, jobs)
    for system in bundle.model.systems:
        names = tuple(claim.name for claim in bundle.claims_of(system) if (claim.name, system) not in looked_at)
        if names:
            yield Job(bundle.name, "plan", system, claims=names, budget=budget.value)


def covered(bundle: Bundle, jobs: Iterable[Job]) -> set[tuple[str, str]]:
    """Return the pairs of claim and system on which jobs give a verdict: by search, by machine, or by theorem.

    Under any readings, but only of the reference: a verdict on a mutant says nothing about it.
    """
    found: set[tuple[str, str]] = set()
    for job in jobs:
        if job.engine in ("explore", "fuzz") and job.variant in ("", "reference"):
            found |= {(claim.name, job.system) for claim in claims_for(bundle, job.system, job.claims)}
        elif job.engine == "prove":
            found |= {(one.claim.name, one.system) for one in theorems_of(bundle) if one.name == job.theorem}
    return found


def theorems_of(bundle: Bundle) -> tuple[Stated, ...]:
    """Return the theorems and invariants of a protocol."""
    from evenhand.smt.registry import stated  # they take 0.05 s to import, which most commands need not

    return stated(bundle.name)


def _plans(bundle: Bundle) -> Iterator[Plan]:
    """The protocol's plans, and one of each engine for a system without any."""
    planned = {entry.system for entry in bundle.plans}
    yield from bundle.plans
    for name in bundle.model.systems:
        if name not in planned:
            yield Plan(name, "explore")
            yield Plan(name, "fuzz")


def _job(bundle: Bundle, entry: Plan, budget: Budget, seed: int) -> Job:
    effort = BOUNDS[budget] if bundle.own else EFFORT[budget]
    job = Job(
        protocol=bundle.name,
        engine=entry.engine,
        system=entry.system,
        scope=tuple(sorted(entry.scope.items())),
        readings=tuple(sorted(entry.readings.items(), key=lambda pair: pair[0])),
        claims=entry.claims,
        depth=entry.depth,
        seed=seed,
        quotient=entry.quotient,
        part=entry.part,
    )
    if entry.engine == "explore":
        limit = None if entry in bundle.plans or bundle.own else effort.finishable
        return replace(job, max_states=entry.max_states or effort.max_states, finishable=limit)
    return replace(job, examples=entry.examples or effort.examples, steps=entry.steps or effort.steps)


def system_for(bundle: Bundle, job: Job) -> AnySystem:
    """Return the system of a job: at its scope, under its readings, as its variant.

    Raises UnknownName or ValueError for a name or size that the protocol does not have.
    """
    systems = bundle.model.systems
    base = named(f"system of {bundle.name}:", job.system or next(iter(systems)), systems)
    if job.variant.startswith(PREFIX):
        base = mutated(base, job.variant)
    elif job.variant not in ("", "reference"):
        base = bundle.mutant(job.variant, job.system).of(systems)
    return base.at(**dict(job.scope)).under(**dict(job.readings))


OTHERWISE = "choose other sizes with --scope"


def inhabited(system: AnySystem) -> AnySystem:
    """Return the system.  Raises ValueError where it has no configuration at its scope, or takes no such size."""
    try:
        some = any(True for _ in system.all_configs())  # a configuration may be None
    except ValueError as error:
        raise ValueError(f"{system.name} at {system.scope}: {error}; {OTHERWISE}") from error
    if not some:
        raise ValueError(f"{system.name} has no configuration at {system.scope}; {OTHERWISE}")
    return system


def claims_for(bundle: Bundle, system: str, names: Sequence[str] = ()) -> tuple[Property, ...]:
    """Return the claims of a system, or those named.

    Raises UnknownName for a claim that the protocol lacks, ValueError for one about other systems only.
    """
    claims = bundle.claims_of(system)
    if not names:
        return claims
    known = {claim.name: claim for claim in claims}
    for name in names:
        others = [other for claim in bundle.claims if claim.name == name for other in claim.systems]
        if name not in known and others:
            raise ValueError(
                f"claim {name!r} of {bundle.name} is not about system {system!r}; choose --system {' or '.join(others)}"
            )
        if name not in known:
            raise UnknownName(f"claim about system {system!r} of {bundle.name}:", name, known)
    return tuple(known[name] for name in dict.fromkeys(names))


def chosen_readings(system: AnySystem, written: Iterable[str]) -> tuple[tuple[str, Any], ...]:
    """Return readings as written on the command line (`name=value`), with values of the record's types.

    Raises UnknownName for a reading or value that the system lacks, ValueError for other text.
    """
    known = reading_values(system.readings)
    chosen: dict[str, Any] = {}
    for text in written:
        name, equals, value = text.partition("=")
        if not equals:
            raise ValueError(
                f"--reading {text!r} is not of the form name=value; there is: {', '.join(sorted(known)) or 'none'}"
            )
        if name not in known:
            raise UnknownName("reading", name, known)
        if known[name]:
            legal = {written_value(entry): entry for entry in known[name]}
            chosen[name] = named(f"value of reading {name}:", value, legal)
        else:
            chosen[name] = _like(getattr(system.readings, name), name, value)
    return tuple(sorted(chosen.items(), key=lambda pair: pair[0]))


def _like(default: Any, name: str, value: str) -> Any:
    if isinstance(default, int) and not isinstance(default, bool):
        try:
            return int(value)
        except ValueError as error:
            raise ValueError(f"reading {name!r} is a number, not {value!r}") from error
    return value


def chosen_part(written: str) -> tuple[int, int] | None:
    """Return a part as written on the command line (`k/n`), None for the whole.  Raises ValueError for other text."""
    if not written:
        return None
    first, stroke, parts = written.partition("/")
    if not (stroke and first.isdecimal() and parts.isdecimal() and 1 <= int(first) <= int(parts)):
        raise ValueError(f"--part {written!r} is not of the form k/n with 1 <= k <= n, as in 1/4")
    return int(first), int(parts)


def chosen_scope(written: Iterable[str]) -> Scope:
    """Return sizes as written on the command line (`a=1,b=2`, given once or several times).

    Raises ValueError for text that is not of that form.
    """
    sizes: dict[str, int] = {}
    for text in written:
        for part in filter(None, text.split(",")):
            name, equals, size = part.partition("=")
            if not equals or not size.strip().isdecimal():
                raise ValueError(f"--scope {part!r} is not of the form name=number; write it as in agents=3,keys=2")
            sizes[name.strip()] = int(size)
    return Scope(sizes)
