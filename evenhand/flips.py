"""The table of readings and claims: which claim's verdict changes with which reading.

Every value of every reading is explored beside the default, one reading changed at a time, in the largest place of
each system whose search is small: the system's own scope or one that a mutant names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evenhand.model.canonical import Json
from evenhand.model.system import Scope, System, UnknownName, reading_values
from evenhand.places import SMALL, small_places
from evenhand.plan import Job
from evenhand.properties.registry import Bundle
from evenhand.properties.verdict import Status
from evenhand.report.finding import Finding, plain
from evenhand.running import run_jobs

__all__ = ["Flip", "FlipTable", "flip_table"]

AnySystem = System[Any, Any, Any, Any, Any]


@dataclass(frozen=True)
class Flip:
    """One claim whose verdict one reading changes, in one place; `length` is that of the refutation, if any."""

    reading: str
    value: str
    system: str
    scope: Scope
    claim: str
    default: Status
    now: Status
    length: int | None

    def to_json(self) -> dict[str, Json]:
        """This cell as JSON."""
        return {
            "reading": self.reading,
            "value": self.value,
            "system": self.system,
            "scope": dict(self.scope),
            "claim": self.claim,
            "default": self.default.value,
            "now": self.now.value,
            "length": self.length,
        }


@dataclass(frozen=True)
class FlipTable:
    """The table: `flips` alone, for most cells do not change; `places` and `values` say what was tried.

    `untried` are readings whose legal values cannot be listed (a number, say); `undecided` counts cells that one of
    the two runs left open.
    """

    protocol: str
    places: tuple[tuple[str, Scope], ...]
    values: tuple[tuple[str, str], ...]
    flips: tuple[Flip, ...]
    untried: tuple[str, ...]
    undecided: int
    interrupted: bool = False

    @property
    def idle(self) -> tuple[tuple[str, str], ...]:
        """Values that change no verdict."""
        used = {(flip.reading, flip.value) for flip in self.flips}
        return tuple(value for value in self.values if value not in used)

    def _repr_html_(self) -> str:
        """A notebook shows what flips."""
        from evenhand.report.display import flips_html

        return flips_html(self)

    def to_json(self) -> dict[str, Json]:
        """The table as JSON."""
        return {
            "format": "evenhand/flips",
            "version": 1,
            "protocol": self.protocol,
            "places": [{"system": system, "scope": dict(scope)} for system, scope in self.places],
            "values": [{"reading": name, "value": value} for name, value in self.values],
            "flips": [flip.to_json() for flip in self.flips],
            "idle": [{"reading": name, "value": value} for name, value in self.idle],
            "untried": list(self.untried),
            "undecided": self.undecided,
            "interrupted": self.interrupted,
        }


def flip_table(
    bundle: Bundle,
    *,
    readings: Sequence[str] = (),
    system: str = "",
    scope: Scope | None = None,
    small: int = SMALL,
    jobs: int = 1,
    progress: Callable[[str], None] = lambda _words: None,
) -> FlipTable:
    """Explore every value of every reading (or of those named) and keep what differs from the default.

    Raises UnknownName for a reading or system that is not there, ValueError where no search is small enough.
    """
    known = reading_values(bundle.model.readings)
    for name in readings:
        if name not in known:
            raise UnknownName(f"reading of {bundle.name}:", name, known)
    wanted = {name: values for name, values in known.items() if not readings or name in readings}
    values = [(name, value) for name, legal in wanted.items() for value in legal[1:]]
    places = tuple(_places(bundle, system, scope, small).items())
    if not places:
        raise ValueError(f"no system of {bundle.name} has a search of at most {small} steps; give --system and --scope")
    base = [Job(bundle.name, "explore", name, scope=tuple(sorted(at.items()))) for name, at in places]
    changed = [(pair, replace(job, readings=(pair,))) for pair in values for job in base]
    found: dict[Job, tuple[Finding, ...]] = {}

    def finished(job: Job, findings: tuple[Finding, ...]) -> None:
        found[job] = findings
        progress(job.title)

    ran = run_jobs([*base, *(job for _, job in changed)], workers=jobs, finished=finished)
    flips: list[Flip] = []
    undecided = 0
    for (name, value), job in changed:
        usual = {one.claim: one for one in found.get(replace(job, readings=()), ())}
        for now in found.get(job, ()):
            before = usual.get(now.claim)
            if before is None or Status.UNDECIDED in (before.status, now.status):
                undecided += 1
            elif before.status is not now.status:
                where = job.system, Scope(dict(job.scope))
                flips.append(Flip(name, str(plain(value)), *where, now.claim, before.status, now.status, now.length))
    return FlipTable(
        protocol=bundle.name,
        places=places,
        values=tuple((name, str(plain(value))) for name, value in values),
        flips=tuple(flips),
        untried=tuple(name for name, legal in wanted.items() if not legal),
        undecided=undecided,
        interrupted=ran.interrupted,
    )


def _places(bundle: Bundle, system: str, scope: Scope | None, small: int) -> dict[str, Scope]:
    """Small places; a scope that was given is taken as it is, in every system (or in `system`)."""
    if scope is None:
        return small_places(bundle, small, system=system)
    systems = bundle.model.systems
    if system and system not in systems:
        raise UnknownName(f"system of {bundle.name}:", system, systems)
    return {name: base.at(**dict(scope)).scope for name, base in systems.items() if system in ("", name)}
