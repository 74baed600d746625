"""Build the sensitivity table: which claim's verdict changes with which reading.

Every value of every reading is explored beside the default, one reading changed at a time, in places with a small
search: the systems' own scopes and those that mutants name.  A small set of these is used that decides every claim
which the default decides in any.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evenhand.core.bundle import Bundle
from evenhand.core.canonical import Json
from evenhand.core.lookup import named
from evenhand.core.system import Scope, reading_values
from evenhand.core.verdict import Status
from evenhand.evidence.finding import Finding, plain
from evenhand.jobs.plan import Job
from evenhand.jobs.pool import run_jobs
from evenhand.studies.small_scopes import SMALL, is_small

WRITTEN = ("protocol", "untried", "undecided", "silent", "stated", "interrupted")
"""What the JSON of a table has as it is."""


@dataclass(frozen=True)
class Sensitivity:
    """One claim whose verdict one reading changes, in one place; `length` is that of the refutation, if any."""

    reading: str
    value: str
    system: str
    scope: Scope
    claim: str
    default: Status
    now: Status
    length: int | None


@dataclass(frozen=True)
class OpenCell:
    """A cell that one of the two runs left undecided unexpectedly: whether the verdict changes is unknown."""

    reading: str
    value: str
    system: str
    claim: str
    because: str


@dataclass(frozen=True)
class SensitivityTable:
    """The table: `sensitivity` holds the changed cells only; `places` and `values` say what was tried.

    `untried` are readings whose legal values cannot be listed (a number, say).  Of the cells in which one of the two
    runs decided nothing, `silent` counts those where the whole place was searched and the claim is about nothing in it
    (its antecedent is never met, say), `stated` those expected to be undecided; `open_cells` are the others.
    """

    protocol: str
    places: tuple[tuple[str, Scope], ...]
    values: tuple[tuple[str, str], ...]
    sensitivity: tuple[Sensitivity, ...]
    untried: tuple[str, ...]
    silent: int = 0
    stated: int = 0
    open_cells: tuple[OpenCell, ...] = ()
    interrupted: bool = False

    @property
    def undecided(self) -> int:
        """Number of cells in which one of the two runs decided nothing, for any reason."""
        return self.silent + self.stated + len(self.open_cells)

    @property
    def exit_code(self) -> int:
        """0 whatever changes, because readings are meant to differ; 3 if cells are open, 130 when interrupted."""
        return 130 if self.interrupted else 3 if self.open_cells else 0

    @property
    def idle(self) -> tuple[tuple[str, str], ...]:
        """Values that change no verdict."""
        used = {(flip.reading, flip.value) for flip in self.sensitivity}
        return tuple(value for value in self.values if value not in used)

    def to_json(self) -> dict[str, Json]:
        """Return the table as JSON."""
        return {
            "format": "evenhand/sensitivity",
            "version": 1,
            "places": [{"system": system, "scope": dict(scope)} for system, scope in self.places],
            "values": [{"reading": name, "value": value} for name, value in self.values],
            "sensitivity": [plain(vars(flip)) for flip in self.sensitivity],
            "idle": [{"reading": name, "value": value} for name, value in self.idle],
            "open": [plain(vars(cell)) for cell in self.open_cells],
            **{name: plain(getattr(self, name)) for name in WRITTEN},
        }


def sensitivity_table(
    bundle: Bundle,
    *,
    readings: Sequence[str] = (),
    system: str = "",
    scope: Scope | None = None,
    jobs: int = 1,
    progress: Callable[[str], None] = lambda _words: None,
) -> SensitivityTable:
    """Explore every value of every reading (or of those named) and keep what differs from the default.

    Raises UnknownName for an unknown reading or system, ValueError if no search is small enough.
    """
    known = reading_values(bundle.model.readings)
    for name in readings:
        named(f"reading of {bundle.name}:", name, known)
    wanted = {name: values for name, values in known.items() if not readings or name in readings}
    values = [(name, value) for name, legal in wanted.items() for value in legal[1:]]
    small = _places(bundle, system, scope)
    if not small:
        raise ValueError(f"no system of {bundle.name} has a search of at most {SMALL} steps; give --system and --scope")
    found: dict[Job, tuple[Finding, ...]] = {}

    def finished(job: Job, findings: tuple[Finding, ...]) -> None:
        found[job] = findings
        progress(job.title)

    tried = [Job(bundle.name, "explore", name, scope=tuple(sorted(at.items()))) for name, at in small]
    ran = run_jobs(tried, workers=jobs, finished=finished)
    base = tried if scope is not None else telling_places(tried, found)
    places = tuple((job.system, Scope(dict(job.scope))) for job in base)
    changed = [(pair, replace(job, readings=(pair,))) for pair in values for job in base]
    if not ran.interrupted:
        ran = run_jobs([job for _, job in changed], workers=jobs, finished=finished)
    sensitivity, left, stated, silent = _compared(found, changed)
    return SensitivityTable(
        protocol=bundle.name,
        places=places,
        values=tuple((name, str(plain(value))) for name, value in values),
        sensitivity=tuple(sensitivity),
        untried=tuple(name for name, legal in wanted.items() if not legal),
        silent=silent,
        stated=stated,
        open_cells=tuple(left),
        interrupted=ran.interrupted,
    )


def _compared(
    found: Mapping[Job, tuple[Finding, ...]], changed: Sequence[tuple[tuple[str, Any], Job]]
) -> tuple[list[Sensitivity], list[OpenCell], int, int]:
    """The changed and the open cells; how many cells are undecided as expected, and by the claim alone."""
    sensitivity: list[Sensitivity] = []
    left: list[OpenCell] = []
    silent = stated = 0
    for (name, value), job in changed:
        usual = {one.claim: one for one in found.get(replace(job, readings=()), ())}
        for now in found.get(job, ()):
            before = usual.get(now.claim)
            doubts = [one for one in (before, now) if one is not None and one.status is Status.UNDECIDED]
            if before is None or not all(_whole(one) or one.expected is Status.UNDECIDED for one in doubts):
                because = doubts[-1].because if doubts else "the default was not searched"
                left.append(OpenCell(name, str(plain(value)), job.system, now.claim, because))
            elif doubts:
                stated += any(not _whole(one) for one in doubts)
                silent += all(_whole(one) for one in doubts)
            elif before.status is not now.status:
                where = job.system, Scope(dict(job.scope))
                sensitivity.append(
                    Sensitivity(name, str(plain(value)), *where, now.claim, before.status, now.status, now.length)
                )
    return sensitivity, left, stated, silent


def _whole(found: Finding) -> bool:
    """Whether the whole place was searched, so that only the claim itself leaves the verdict open."""
    return found.scope.get("complete") is True


def _places(bundle: Bundle, system: str, scope: Scope | None) -> list[tuple[str, Scope]]:
    """Small places; a given scope is taken as it is, in every system (or in `system`)."""
    systems = bundle.model.systems
    chosen = {system: named(f"system of {bundle.name}:", system, systems)} if system else systems
    if scope is not None:
        return [(name, base.at(**dict(scope)).scope) for name, base in chosen.items()]
    return [
        (name, at) for name, base in chosen.items() for at in bundle.scopes_of(name) if is_small(base.at(**dict(at)))
    ]


def telling_places(tried: list[Job], found: Mapping[Job, tuple[Finding, ...]]) -> list[Job]:
    """Return a small set of these places that decides every claim which is decided in any of them."""
    decides = {
        job: {(job.system, one.claim) for one in found.get(job, ()) if one.status is not Status.UNDECIDED}
        for job in tried
    }
    taken: list[Job] = []
    left = set[tuple[str, str]]().union(*decides.values())
    while left:
        best = max(tried, key=lambda job: len(decides[job] & left))
        taken.append(best)
        left -= decides[best]
    return [job for job in tried if job in taken] or tried[:1]
