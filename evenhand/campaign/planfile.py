"""Read the file that says what a campaign runs: YAML, TOML or JSON, checked, and made into units of work.

A plan file is untrusted: its size is limited, it is parsed strictly (no duplicate keys, aliases or tags) and checked
against its published schema, and every name in it is looked up before anything runs.
"""

from __future__ import annotations

import itertools
import math
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias, cast

import yaml
from msgspec import UNSET, Meta, UnsetType

from evenhand.campaign.tasks import JobTasks, split
from evenhand.core.bundle import Bundle
from evenhand.core.canonical import Json, digest, parse
from evenhand.core.registry import protocols
from evenhand.evidence.home import found_within
from evenhand.evidence.schemas import Mistake, Name, Natural, Positive, Shape, shaped
from evenhand.jobs.plan import (
    BOUNDS,
    EFFORT,
    Budget,
    Job,
    chosen_readings,
    claims_for,
    covered,
    plan,
    system_for,
)
from evenhand.jobs.proving import theorem_named, theorem_names
from evenhand.processes.pool import ProcessLimits

FORMAT: Final = "evenhand/campaign"
VERSION: Final = 1
MOST_BYTES = 1_000_000
MOST_JOBS = 100_000
"""Largest number of jobs, because a product of lists grows quickly."""

ALL = "*"
_SET = Meta(min_length=1, extra_json_schema={"uniqueItems": True})
Names: TypeAlias = Annotated[list[Name], _SET]
Several: TypeAlias = Annotated[int, Meta(ge=1, le=100_000)]


class Effort(Shape, frozen=True, kw_only=True):
    """What a run may cost; a run has the values of its plan unless it gives its own."""

    budget: Literal["quick", "standard", "deep"] | UnsetType = UNSET
    """What a run may cost where it does not say: `evenhand verify --budget`."""

    seed: Natural | UnsetType = UNSET
    """Where random engines start."""

    seeds: Several | UnsetType = UNSET
    """Random runs are made for so many seeds, from `seed` on, each a task."""

    parts: Several | UnsetType = UNSET
    """Searches are split into so many tasks, by their configurations."""

    seconds: Annotated[float, Meta(gt=0)] | UnsetType = UNSET
    """For one task, without waits for a processor; one that takes longer is ended and UNDECIDED."""

    memory: Annotated[int, Meta(ge=64)] | UnsetType = UNSET
    """MiB of its own for one task; one that asks for more is UNDECIDED."""


class Run(Effort, frozen=True, kw_only=True):
    """One entry of a plan.

    Without `engine`: all that `evenhand verify` does for these protocols. With one: that engine, at every combination
    of the values that are lists.
    """

    protocol: Name | Names
    """One protocol, several, or `*` for all of them."""

    engine: Literal["explore", "fuzz", "prove", "replay", "compare"] | UnsetType = UNSET
    system: Name | UnsetType = UNSET
    scope: dict[str, Natural | Annotated[list[Natural], _SET]] | UnsetType = UNSET
    """Sizes that differ from the system's own: one for each name, or several."""

    readings: dict[str, str | int | Annotated[list[str | int], _SET]] | UnsetType = UNSET
    """Readings that differ from the default: one value for each name, or several."""

    mutant: Name | UnsetType = UNSET
    claims: Names | UnsetType = UNSET
    """Only these; all by default."""

    theorems: Names | UnsetType = UNSET
    """Only these; all by default. Each is a task."""

    max_states: Positive | UnsetType = UNSET
    depth: Natural | UnsetType = UNSET
    examples: Positive | UnsetType = UNSET
    steps: Positive | UnsetType = UNSET
    quotient: Name | UnsetType = UNSET
    """Explore this quotient, under a licence that is proved first."""

    def __post_init__(self) -> None:
        """Raise ValueError for a list with equal entries."""
        entries: list[Any] = [self.protocol, self.claims, self.theorems]
        for given in (*entries, *_values(self.scope), *_values(self.readings)):
            if isinstance(given, list) and len({*cast("list[Any]", given)}) < len(cast("list[Any]", given)):
                raise ValueError(f"{given!r} has equal entries")


class Plan(Effort, frozen=True, kw_only=True):
    """What a campaign runs: a file in YAML, TOML or JSON, read by `evenhand campaign`."""

    format: Literal["evenhand/campaign"] = FORMAT
    version: Literal[1] = VERSION
    strict: bool | UnsetType = UNSET
    """Any UNDECIDED counts, stated or not."""

    runs: Annotated[list[Run], Meta(min_length=1)]


def _values(given: Mapping[str, Any] | UnsetType) -> Iterable[Any]:
    return given.values() if given else ()


_INHERITED = Effort.__struct_fields__
_OF_VERIFY = {"protocol", *_INHERITED}


class BadPlan(ValueError):
    """A plan that cannot be run; the message says which file, what is wrong with it, and what to do."""


@dataclass(frozen=True)
class Campaign:
    """A plan file: its content, the units of work, and the settings that a report shows."""

    content: Mapping[str, Json]
    units: tuple[JobTasks, ...]
    settings: Mapping[str, Json]

    @property
    def digest(self) -> str:
        """The name of this plan in a store, without limits and parts, which change no answer."""
        bare = {"parts", "seconds", "memory"}
        runs = [{name: run[name] for name in run if name not in bare} for run in self.content["runs"]]
        return digest({**{name: self.content[name] for name in self.content if name not in bare}, "runs": runs})


def read_plan(path: Path, content: bytes) -> Campaign:
    """Return the campaign of a plan file with this content; the suffix gives its language.

    Raises BadPlan for any error in it.
    """
    if len(content) > MOST_BYTES:
        raise BadPlan(f"{path}: {len(content):,} bytes; a plan has at most {MOST_BYTES:,}. Write its runs as products")
    try:
        made = _parsed(path, content.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise BadPlan(f"{path}: no UTF-8 at byte {error.start}. Save it as UTF-8") from error
    _check(path, made)
    return _campaign(path, made)


def written_plan(protocol_names: Sequence[str], **chosen: Json) -> dict[str, Json]:
    """Return the plan of `evenhand verify` for these protocols (none: all); `chosen` are top-level keys."""
    kept = {name: value for name, value in chosen.items() if value is not None}
    return {
        "format": FORMAT,
        "version": VERSION,
        **kept,
        "runs": [{"protocol": list(protocol_names) if protocol_names else ALL}],
    }


class _Strict(yaml.SafeLoader):
    """YAML's safe subset without aliases, in which each key occurs once."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if cast(Any, self).check_event(yaml.AliasEvent):
            raise yaml.MarkedYAMLError(
                problem="an alias; write the value out", problem_mark=cast(Any, self).peek_event().start_mark
            )
        return super().compose_node(parent, index)


def _mapping(loader: Any, node: yaml.MappingNode) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        if not isinstance(key, str) or key in found:
            why = f"duplicate key {key!r:.60}" if key in found else f"key {key!r:.60} is no text; quote it"
            raise yaml.MarkedYAMLError(problem=why, problem_mark=key_node.start_mark)
        found[key] = loader.construct_object(value_node, deep=True)
    return found


_Strict.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def _parsed(path: Path, text: str) -> Any:
    try:
        match path.suffix.lower():
            case ".toml":
                return tomllib.loads(text)
            case ".json":
                return parse(text)
            case ".yaml" | ".yml":
                return yaml.load(text, Loader=_Strict)
            case _:
                raise BadPlan(
                    f"{path}: a plan is a .yaml, .toml or .json file, not {path.suffix or 'one without suffix'}"
                )
    except BadPlan:
        raise
    except yaml.YAMLError as error:
        mark: Any = getattr(error, "problem_mark", None)
        where = "" if mark is None else f"line {mark.line + 1}: "
        raise BadPlan(f"{path}: {where}no YAML of plain data: {getattr(error, 'problem', error)!s:.120}") from error
    except (ValueError, RecursionError, TypeError) as error:
        raise BadPlan(f"{path}: it cannot be parsed: {error!s:.120}. Check it against the plan's schema") from error


def _check(path: Path, made: Any) -> None:
    try:
        shaped(made, Plan)
    except Mistake as error:
        named = Mistake(error.place.removeprefix("$").removeprefix(".") or "the file", error.message)
        raise BadPlan(f"{path}: {named}; see docs/how-to/run-a-campaign.md") from error


def _campaign(path: Path, made: Mapping[str, Any]) -> Campaign:
    units: dict[Job, JobTasks] = {}
    runs = [{**{name: made[name] for name in _INHERITED if name in made}, **run} for run in made["runs"]]
    for number, run in enumerate(runs):
        try:
            for unit in _units(run):
                units.setdefault(unit.job, unit)
                if len(units) > MOST_JOBS:
                    raise BadPlan(f"more than {MOST_JOBS:,} jobs; write shorter lists")
        except (ValueError, RecursionError) as error:
            raise BadPlan(f"{path}: runs[{number}]: {error}") from error
    return Campaign(made, tuple(_still_left_out(units)), _settings(runs, made, units))


def _still_left_out(units: Mapping[Job, JobTasks]) -> Iterator[JobTasks]:
    """The units; a claim that one entry leaves out is no finding if another covers it."""
    looked_at: dict[str, set[tuple[str, str]]] = {}
    for job, unit in units.items():
        if job.engine != "plan":
            yield unit
            continue
        if job.protocol not in looked_at:
            every = [other for other in units if other.protocol == job.protocol]
            looked_at[job.protocol] = covered(found_within(job.protocol), every)
        names = tuple(name for name in job.claims if (name, job.system) not in looked_at[job.protocol])
        if names:
            yield replace(unit, job=replace(job, claims=names))


def _settings(runs: Sequence[Mapping[str, Any]], made: Mapping[str, Any], jobs: Iterable[Job]) -> dict[str, Json]:
    """What a report says was requested, in the words of `evenhand verify`."""
    budgets = list(dict.fromkeys(run.get("budget", Budget.standard.value) for run in runs))
    seeds = list(dict.fromkeys(run.get("seed", 0) for run in runs))
    return {
        "budget": budgets[0] if len(budgets) == 1 else budgets,
        "protocols": list(dict.fromkeys(job.protocol for job in jobs)),
        "seed": seeds[0] if len(seeds) == 1 else seeds,
        "strict": bool(made.get("strict", False)),
    }


def _units(run: Mapping[str, Any]) -> Iterator[JobTasks]:
    """The units of one entry, protocol by protocol.  Raises ValueError for an unknown name or combination."""
    limits = ProcessLimits(run.get("seconds"), run["memory"] << 20 if "memory" in run else None)
    for bundle in _bundles(run["protocol"]):
        for job in _jobs(bundle, run):
            yield JobTasks(job, limits, split(bundle, job, run.get("parts", 1)))


def _bundles(named: str | list[str]) -> tuple[Bundle, ...]:
    if named == ALL:
        return protocols()
    return tuple(found_within(name) for name in ([named] if isinstance(named, str) else named))


def _jobs(bundle: Bundle, run: Mapping[str, Any]) -> Iterator[Job]:
    budget, seed = Budget(run.get("budget", Budget.standard)), run.get("seed", 0)
    seeds = range(seed, seed + run.get("seeds", 1))
    if "engine" not in run:
        if strange := sorted(set(run) - _OF_VERIFY):
            raise ValueError(f"{strange[0]!r} belongs to one engine; name it, as in `engine: explore`")
        for job in plan(bundle, budget, seed=seed, theorems=_theorems(bundle, run)):
            yield job
            if job.engine == "fuzz":
                yield from (replace(job, seed=other) for other in seeds[1:])
        return
    for job in _products(bundle, run, (BOUNDS if bundle.own else EFFORT)[budget]):
        checked = _checked(bundle, job)
        yield from (replace(checked, seed=one) for one in (seeds if job.engine in ("fuzz", "compare") else (seed,)))


_KEYS: Mapping[str, frozenset[str]] = {
    "explore": frozenset({"system", "scope", "readings", "mutant", "claims", "max_states", "depth", "quotient"}),
    "fuzz": frozenset({"system", "scope", "readings", "mutant", "claims", "examples", "steps"}),
    "compare": frozenset({"system", "scope", "readings", "mutant", "examples", "steps"}),
    "prove": frozenset({"theorems"}),
    "replay": frozenset(),
}
"""The keys that an entry may have for each engine."""


def _products(bundle: Bundle, run: Mapping[str, Any], effort: Any) -> Iterator[Job]:
    """A job for each combination of listed values."""
    engine = run["engine"]
    if strange := sorted(set(run) - _OF_VERIFY - {"engine"} - _KEYS[engine]):
        raise ValueError(
            f"{strange[0]!r} is no setting of {engine}; it takes: {', '.join(sorted(_KEYS[engine])) or 'none'}"
        )
    if engine == "prove":
        yield from (Job(bundle.name, "prove", theorem=theorem) for theorem in _theorems(bundle, run))
        return
    if engine == "replay":
        yield Job(bundle.name, "replay")
        return
    if engine == "compare" and "mutant" not in run:
        raise ValueError("compare needs a mutant")
    base = Job(
        bundle.name,
        engine,
        system=run.get("system", ""),
        variant=run.get("mutant", ""),
        claims=tuple(run.get("claims", ())),
        max_states=run.get("max_states", effort.max_states) if engine == "explore" else None,
        depth=run.get("depth"),
        examples=run.get("examples", effort.examples),
        steps=run.get("steps", effort.steps),
        quotient=run.get("quotient", ""),
    )
    if _combinations(run.get("scope", {})) * _combinations(run.get("readings", {})) > MOST_JOBS:
        raise BadPlan(f"more than {MOST_JOBS:,} jobs; write shorter lists")
    for sizes in _choices(run.get("scope", {})):
        for readings in _choices(run.get("readings", {})):
            system = system_for(bundle, replace(base, scope=tuple(sorted(sizes.items()))))
            written = [f"{name}={value}" for name, value in sorted(readings.items())]
            chosen = chosen_readings(system, written)
            yield replace(base, system=system.name, scope=tuple(sorted(sizes.items())), readings=chosen)


def _combinations(given: Mapping[str, Any]) -> int:
    counts: list[int] = [len(cast("list[Any]", value)) if isinstance(value, list) else 1 for value in given.values()]
    return math.prod(counts)


def _choices(given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    lists = [cast("list[Any]", value) if isinstance(value, list) else [value] for value in given.values()]
    for values in itertools.product(*lists):
        yield dict(zip(given, values, strict=True))


def _checked(bundle: Bundle, job: Job) -> Job:
    """The job, if everything that it names exists.  Raises UnknownName or ValueError."""
    if job.engine in ("explore", "fuzz", "compare"):
        system = system_for(bundle, job)
        claims_for(bundle, system.name, job.claims)
    return job


def _theorems(bundle: Bundle, run: Mapping[str, Any]) -> tuple[str, ...]:
    named = tuple(run.get("theorems", ()))
    for name in named:
        theorem_named(bundle.name, name)
    return named or theorem_names(bundle.name)
