"""Split a campaign into tasks: the jobs of a plan, in parts where requested, each of them plain data.

A search is split by its configurations: `part` k/n searches every n-th of them from the k-th on and returns totals; a
task that `joins` n parts adds those up and derives the verdicts of the whole search.  Claims that compare steps across
configurations are searched whole, in a task of their own.  Random runs are split by their seeds (each a job), proofs by
theorem (each a job).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from itertools import islice
from typing import Any

from evenhand.core.bundle import Bundle
from evenhand.core.canonical import Json, digest
from evenhand.evidence.home import found_within
from evenhand.jobs.plan import Job, chosen_part, chosen_readings, claims_for, system_for, written_value
from evenhand.processes.pool import NO_LIMITS, ProcessLimits


@dataclass(frozen=True)
class Task:
    """One piece of work: a whole job, part k/n of a search, or the joining of n parts into the job's answer."""

    job: Job
    part: str = ""
    joins: int = 0

    @property
    def title(self) -> str:
        """A few words for progress."""
        seed = f"seed {self.job.seed}" if self.job.engine == "fuzz" and self.job.seed else ""
        piece = f"piece {self.part}" if self.part else f"join {self.joins} pieces" if self.joins else ""
        return " ".join(word for word in (self.job.title, self.job.variant, seed, piece) if word)

    @property
    def identity(self) -> str:
        """The digest of the job and the part: the work itself, whatever executes it.

        It is the same whether a whole job is split or not.
        """
        return digest({"job": job_to_json(self.job), "part": self.part})

    def to_json(self) -> dict[str, Json]:
        """Return this task as JSON; `from_json` reads it back."""
        return {"job": job_to_json(self.job), "part": self.part, "joins": self.joins}

    @staticmethod
    def from_json(made: Mapping[str, Any]) -> Task:
        """Return the task that `to_json` wrote.  Raises KeyError, TypeError or ValueError for anything else."""
        return Task(job_from_json(made["job"]), made["part"], made["joins"])


@dataclass(frozen=True)
class JobTasks:
    """One job of a plan with its limits and tasks: `pieces`, if it is split, then `whole`."""

    job: Job
    limits: ProcessLimits = NO_LIMITS
    pieces: tuple[Task, ...] = ()

    @property
    def whole(self) -> Task:
        """The task whose answer is the job's: it joins the pieces, or does the job."""
        return Task(self.job, joins=len(self.pieces))


def split(bundle: Bundle, job: Job, parts: int) -> tuple[Task, ...]:
    """Return the pieces of a search in `parts` parts; none if it cannot or need not be split.

    A search that a budget may decline, or that is a part already, is left whole.
    """
    if parts < 2 or job.engine != "explore" or job.part or job.finishable is not None:
        return ()
    system = system_for(bundle, job)
    claims = claims_for(bundle, system.name, job.claims)
    across = tuple(claim.name for claim in claims if claim.across_configurations)
    parts = min(parts, sum(1 for _ in islice(system.all_configs(), parts)))
    if parts < 2 or len(across) == len(claims):
        return ()
    pieces = tuple(Task(job, part=f"{part}/{parts}") for part in range(1, parts + 1))
    return (*pieces, *([Task(replace(job, claims=across))] if across else []))


def job_to_json(job: Job) -> dict[str, Json]:
    """Return a job as JSON, readings written as on the command line."""
    made: dict[str, Json] = {entry.name: getattr(job, entry.name) for entry in fields(job)}
    made["scope"] = dict(job.scope)
    made["readings"] = {name: written_value(value) for name, value in job.readings}
    made["claims"] = list(job.claims)
    return made


def job_from_json(made: Mapping[str, Any]) -> Job:
    """Return the job that `job_to_json` wrote.

    Raises UnknownName for an unknown protocol, system or reading, and KeyError, TypeError or ValueError for anything
    else.
    """
    told: dict[str, Any] = dict(made)
    bundle = found_within(told["protocol"])
    readings = [f"{name}={value}" for name, value in sorted(told["readings"].items())]
    scope = tuple(sorted((str(name), int(size)) for name, size in told["scope"].items()))
    plain: dict[str, Any] = {**told, "scope": scope, "claims": tuple(told["claims"]), "readings": ()}
    job = Job(**plain)
    chosen_part(job.part)
    return replace(job, readings=chosen_readings(system_for(bundle, job), readings)) if readings else job
