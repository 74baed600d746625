"""Build the kill matrix: deliberate faults against claims, engine by engine.

A mutant is *killed* by a claim and an engine that refutes the claim on it, while the claim holds on the reference at
the same scope and under the same readings.  Other mutants are compared with the reference step by step.  If the whole
scope shows no difference, a mutant is *equivalent* there (in hidden state too, or else every claim must have been
searched to its end with the reference's verdict).  Otherwise it is an *open gap* if registered as one, or a *survivor*:
some claim should refute the scenario on which it differs.  Claims and engines that kill nothing are listed, because a
claim that nothing falsifies tests nothing.  An interrupted mutant is *unfinished*.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from evenhand.core.bundle import Bundle
from evenhand.core.canonical import Json
from evenhand.core.grouping import grouped
from evenhand.core.system import Mutant
from evenhand.core.text import describe
from evenhand.core.verdict import Status
from evenhand.evidence.finding import Finding, plain
from evenhand.jobs.plan import EFFORT, Budget, Effort, Job
from evenhand.jobs.pool import run_jobs
from evenhand.studies.by_rule import Automatic, hunted

HUNT: Mapping[Budget, Effort] = {
    Budget.quick: replace(EFFORT[Budget.quick], examples=40, steps=15),
    Budget.standard: EFFORT[Budget.quick],
    Budget.deep: EFFORT[Budget.standard],
}
"""The effort for one mutant: there are many, and most are killed early."""

WRITTEN = ("protocol", "claims", "engines", "idle_claims", "idle_engines", "interrupted", "unfinished")
"""What the JSON of a kill matrix has as it is."""

MutantStatus = Literal["killed", "equivalent", "open_gap", "survivor", "unfinished"]


@dataclass(frozen=True)
class Kill:
    """One claim refuted on a mutant by one engine, in `length` steps; `record` replays it (or is None)."""

    claim: str
    engine: str
    length: int | None
    record: Json = None


@dataclass(frozen=True)
class MutantRow:
    """The status of one mutant beside the registered one; `because` explains a mutant that lives.

    `hint` is the run on which a survivor differs: what a missing claim would be about.  `command` compares it with the
    reference again.  Of an equivalent mutant `proved` says for which sizes that is proved; if empty, `unproved` says
    why it is known in its scope only.
    """

    mutant: str
    sentence: str
    source: str
    system: str
    scope: Mapping[str, int]
    readings: Mapping[str, str]
    expected: str
    reason: str
    status: MutantStatus
    kills: tuple[Kill, ...] = ()
    because: str = ""
    doubts: tuple[str, ...] = ()
    hint: tuple[str, ...] = ()
    command: str = ""
    proved: str = ""
    unproved: str = ""

    @property
    def as_expected(self) -> bool:
        """Whether its status is the registered one, or better (a registered open gap that is killed)."""
        return self.status == self.expected or (self.status == "killed" and self.expected == "open_gap")

    @property
    def best(self) -> Kill | None:
        """The shortest kill with a record and a length; the order of engines and claims breaks ties."""
        written = [kill for kill in self.kills if kill.record is not None and kill.length is not None]
        return min(written, key=lambda kill: kill.length or 0) if written else None

    def to_json(self) -> dict[str, Json]:
        """Return this row as JSON, its kills without their records."""
        kills = [{"claim": k.claim, "engine": k.engine, "length": k.length} for k in self.kills]
        return {**plain(vars(replace(self, kills=()))), "as_expected": self.as_expected, "kills": kills}


@dataclass(frozen=True)
class KillMatrix:
    """The result of a mutants run: `rows` in the protocol's order, and the `claims` and `engines` used."""

    protocol: str
    rows: tuple[MutantRow, ...]
    claims: tuple[str, ...]
    engines: tuple[str, ...]
    automatic: Automatic = field(default_factory=Automatic)
    interrupted: bool = False
    unfinished: tuple[str, ...] = ()
    seconds: tuple[tuple[str, str, float], ...] = ()

    def of(self, status: MutantStatus) -> tuple[str, ...]:
        """Return the names of the mutants with this status."""
        return tuple(row.mutant for row in self.rows if row.status == status)

    @property
    def idle_claims(self) -> tuple[str, ...]:
        """Claims that kill nothing."""
        used = {kill.claim for row in self.rows for kill in row.kills}
        return tuple(claim for claim in self.claims if claim not in used)

    @property
    def idle_engines(self) -> tuple[str, ...]:
        """Engines that kill nothing."""
        used = {kill.engine for row in self.rows for kill in row.kills}
        return tuple(engine for engine in self.engines if engine not in used)

    def timing(self) -> dict[str, Json]:
        """Return wall seconds by engine, and by mutant and engine (`reference`: the reference at all places)."""
        by_variant = grouped((variant, (engine, seconds)) for variant, engine, seconds in self.seconds)
        return {
            "engines": _added((engine, seconds) for _, engine, seconds in self.seconds),
            "mutants": {variant: _added(several) for variant, several in by_variant.items()},
        }

    @property
    def exit_code(self) -> int:
        """0 when every mutant's status is the registered one, 1 otherwise, 130 when interrupted."""
        if self.interrupted:
            return 130
        return 0 if all(row.as_expected for row in self.rows) else 1

    def to_json(self) -> dict[str, Json]:
        """Return the matrix as JSON, without timings."""
        return {
            "format": "evenhand/mutants",
            "version": 1,
            "matrix": [row.to_json() for row in self.rows],
            "survivors": list(self.of("survivor")),
            "equivalent": list(self.of("equivalent")),
            "open_gaps": list(self.of("open_gap")),
            "automatic": self.automatic.to_json(),
            **{name: plain(getattr(self, name)) for name in WRITTEN},
        }


@dataclass(frozen=True)
class Hunt:
    """The effort for mutants: bounds of a budget, the seed of what is drawn, processes at a time."""

    budget: Budget = Budget.quick
    seed: int = 0
    jobs: int = 1


def kill_matrix(
    bundle: Bundle,
    *,
    mutants: Sequence[str] = (),
    theorems: Iterable[str] = (),
    automatic: int = 0,
    proofs: bool = False,
    hunt: Hunt | None = None,
    progress: Callable[[Job], None] = lambda _job: None,
) -> KillMatrix:
    """Run every mutant (or those named) of a registered protocol against every claim of its system.

    Search and machine run at the bounds that `HUNT` has for the budget of `hunt`; the mutants of `theorems` count too.
    With `proofs`, solvers decide whether equivalent mutants are equal at any size.  `automatic` more mutants are made
    by rule from the functions that steps call (see `by_rule`), chosen by the seed of `hunt`.  `progress` is called with
    every finished job.
    Raises UnknownName for an unknown mutant.
    """
    for name in mutants:
        bundle.mutant(name)
    hunt = hunt or Hunt()
    run = _Run(bundle, hunt, progress)
    asked = [Job(bundle.name, "prove", theorem=name, variant="*") for name in theorems]
    rows = run.rows([m for m in bundle.model.mutants if not mutants or m.name in mutants], asked, anywhere=proofs)
    made = Automatic()

    def decided(name: str) -> None:
        progress(Job(bundle.name, "explore", variant=name))

    if not run.interrupted:
        made = hunted(bundle, automatic, seed=hunt.seed, workers=hunt.jobs, progress=decided)
    return KillMatrix(
        protocol=bundle.name,
        rows=rows,
        claims=tuple(claim.name for claim in bundle.claims),
        engines=("explore", "fuzz", *(("prove",) if asked else ())),
        automatic=made,
        interrupted=run.interrupted or made.interrupted,
        unfinished=tuple(run.unfinished),
        seconds=tuple(run.seconds),
    )


class _Run:
    def __init__(self, bundle: Bundle, hunt: Hunt, progress: Callable[[Job], None]) -> None:
        self.bundle, self.effort, self.seed = bundle, HUNT[hunt.budget], hunt.seed
        self.workers, self.progress = hunt.jobs, progress
        self.found: dict[Job, tuple[Finding, ...]] = {}
        self.proved: list[Finding] = []
        self.interrupted = False
        self.unfinished: list[str] = []
        self.seconds: list[tuple[str, str, float]] = []

    def run(self, wanted: Iterable[Job]) -> None:
        """Run the jobs that were not run yet; none once interrupted."""
        new = [job for job in dict.fromkeys(wanted) if job not in self.found]
        if self.interrupted:
            self.unfinished += [job.title for job in new]
            return

        since: dict[Job, float] = {}

        def started(job: Job) -> None:
            since[job] = time.monotonic()

        def finished(job: Job, findings: tuple[Finding, ...]) -> None:
            self.found[job] = findings
            self.seconds.append((_variant(job), job.engine, time.monotonic() - since[job]))
            self.progress(job)

        ran = run_jobs(new, workers=self.workers, started=started, finished=finished)
        self.interrupted = ran.interrupted
        self.unfinished += [f"{job.title} {job.variant}".rstrip() for job in ran.unfinished]

    def place(self, mutant: Mutant[Any]) -> Job:
        """Return the search job of a mutant: its system, scope and readings."""
        return Job(
            self.bundle.name,
            "explore",
            mutant.system,
            scope=tuple(sorted(mutant.scope.items())),
            readings=tuple(sorted(mutant.readings, key=lambda pair: pair[0])),
            variant=mutant.name,
            max_states=self.effort.max_states,
            examples=self.effort.examples,
            steps=self.effort.steps,
            seed=self.seed,
        )

    def rows(
        self, mutants: Sequence[Mutant[Any]], proofs: Sequence[Job], *, anywhere: bool = False
    ) -> tuple[MutantRow, ...]:
        """Return a row for every mutant; those not killed are compared with the reference, `anywhere` also by proof."""
        places = [self.place(mutant) for mutant in mutants]
        references = [replace(place, variant="") for place in places]
        self.run([job for place in (*references, *places) for job in _searched(place)] + list(proofs))
        self.proved = [finding for job in proofs for finding in self.found.get(job, ())]
        alive = [place for place in places if not self.kills(place)]
        self.run(replace(place, engine="compare") for place in alive)
        if anywhere:
            self.run(_anywhere(place) for place in alive if self.status(place, "killed") == "equivalent")
        return tuple(self.row(mutant, place) for mutant, place in zip(mutants, places, strict=True))

    def findings(self, place: Job) -> list[Finding]:
        """Return the findings of search and machine there, and of theorems about the same variant."""
        own = [finding for job in _searched(place) for finding in self.found.get(job, ())]
        variant = place.variant or "reference"
        return own + [finding for finding in self.proved if finding.variant == variant]

    def kills(self, place: Job) -> tuple[Kill, ...]:
        """Return the claims refuted here that hold on the reference at the same place."""
        reference = self.findings(replace(place, variant=""))
        false = {(f.system, f.claim) for f in reference if f.status is Status.REFUTED}
        true = {(f.system, f.claim) for f in reference if f.status is Status.HOLDS} - false
        return tuple(
            Kill(finding.claim, finding.engine, finding.length, finding.record)
            for finding in self.findings(place)
            if finding.status is Status.REFUTED and (finding.system, finding.claim) in true
        )

    def row(self, mutant: Mutant[Any], place: Job) -> MutantRow:
        """Return the row of one mutant."""
        kills = self.kills(place)
        compared = self.found.get(replace(place, engine="compare"), ())
        status = self.status(place, mutant.expected)
        because = "; ".join(finding.because for finding in compared)
        beyond = self.found.get(_anywhere(place), ()) if status != "killed" else ()
        proved = "; ".join(one.because for one in beyond if one.status is Status.HOLDS)
        doubts = [f"{f.engine}: {f.because}" for f in self.findings(place) if f.status is Status.UNDECIDED]
        return MutantRow(
            mutant=mutant.name,
            sentence=mutant.sentence,
            source=mutant.source,
            system=mutant.system,
            scope=dict(mutant.scope),
            readings={name: describe(value) for name, value in mutant.readings},
            expected=mutant.expected,
            reason=mutant.reason,
            status=status,
            kills=kills,
            because=because,
            doubts=() if kills else tuple(dict.fromkeys(doubts)),
            hint=tuple(line for one in (*compared, *beyond) for line in one.trace) if status == "survivor" else (),
            command=replace(place, engine="compare").command,
            proved=proved,
            unproved="; ".join(one.because for one in beyond if not proved),
        )

    def status(self, place: Job, expected: str) -> MutantStatus:
        """Return the status of the mutant at a place; unfinished jobs decide nothing."""
        if self.kills(place):
            return "killed"
        comparing = replace(place, engine="compare")
        if any(job not in self.found for job in (*_searched(place), comparing)):
            return "unfinished"
        beyond = self.found.get(_anywhere(place), ())
        apart = any(finding.status is Status.REFUTED for finding in beyond)
        if not apart and any(self.equal(place, finding) for finding in self.found[comparing]):
            return "equivalent"
        return "open_gap" if expected == "open_gap" else "survivor"

    def equal(self, place: Job, compared: Finding) -> bool:
        """Return whether a comparison shows the mutant equivalent in its scope, for every claim.

        If hidden state differs, the search must have decided every claim as on the reference.
        """
        if compared.status is not Status.HOLDS:
            return False
        if compared.scope.get("same_state"):
            return True
        searched = [
            {f.claim: f.status for f in self.found.get(replace(place, variant=v), ())} for v in ("", place.variant)
        ]
        return searched[0] == searched[1] and bool(searched[0]) and Status.UNDECIDED not in searched[1].values()


def _added(seconds: Iterable[tuple[str, float]]) -> dict[str, Json]:
    return {name: round(sum(several), 3) for name, several in grouped(seconds).items()}


def _searched(place: Job) -> tuple[Job, Job]:
    return replace(place, engine="explore"), replace(place, engine="fuzz")


def _anywhere(place: Job) -> Job:
    """The job that decides whether the mutant there equals the reference at any size."""
    return Job(place.protocol, "prove", place.system, variant=place.variant)


def _variant(job: Job) -> str:
    """The owner of a job's time: a mutant, the reference, or a theorem with all its mutants."""
    return f"theorem {job.theorem}" if job.theorem else job.variant or "reference"
