"""Build the arbitration profile of a protocol: deciding rules among agents, and whether it can deadlock or livelock.

This module knows no protocol: a protocol's `profile` names the claims that answer each question, its plans say where
and under which readings they are searched.  The searches are those of `verify`, and their verdicts give the answer: a
`yes` comes with the run that shows it, a `no` with its scope.  `three_engines` puts machine and proof beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, TypeAlias

from evenhand.core.bundle import Bundle
from evenhand.core.canonical import Json
from evenhand.core.grouping import grouped
from evenhand.core.profile import Aspect, ProfileQuestion
from evenhand.core.verdict import Status
from evenhand.evidence.finding import Finding, plain, readings_of
from evenhand.jobs.plan import Budget, Job, plan
from evenhand.jobs.pool import run_jobs
from evenhand.studies.three_engines import Box, boxes, drawn_beside, proofs_for

Readings: TypeAlias = tuple[tuple[str, Any], ...]

KEPT = ("claim", "sentence", "engine", "system", "sizes", "readings", "length", "because")
"""The fields of a finding that a profile's JSON has as they are."""


class ProfileAnswer(StrEnum):
    """The answer to a question; OPEN if engines are undecided, UNASKED if no claim asks (see `Cell.reason`)."""

    YES = "yes"
    NO = "no"
    OPEN = "open"
    UNASKED = "unasked"


@dataclass(frozen=True)
class Shown:
    """One verdict and the answer that it gives."""

    answer: ProfileAnswer
    finding: Finding
    note: str = ""

    @property
    def cases(self) -> int:
        """How many steps, states or pairs met the claim's antecedent."""
        return self.finding.coverage.get("met", 0)

    @property
    def command(self) -> str:
        """The command that repeats the verdict."""
        found = self.finding
        scope, readings = tuple(found.sizes.items()), tuple(found.readings.items())
        again = Job(found.protocol, "explore", found.system, scope, readings, claims=(found.claim,))
        return found.command or again.command

    def to_json(self) -> dict[str, Json]:
        """Return the verdict's claim, place, evidence and command."""
        found = self.finding
        return {
            **{name: plain(getattr(found, name)) for name in KEPT},
            "answer": self.answer.value,
            "status": found.status.value,
            "cases": self.cases,
            "trace": list(found.trace),
            "command": self.command,
            "note": self.note,
        }

    @staticmethod
    def from_json(protocol: str, made: Mapping[str, Any]) -> Shown:
        """Return what `to_json` wrote, without the steps of its run, because the command shows those again."""
        status = Status(made["status"])
        found = Finding(
            protocol,
            **{name: made[name] for name in KEPT},
            variant="reference",
            status=status,
            expected=status,
            coverage={"met": made["cases"]},
            command=made["command"],
        )
        return Shown(ProfileAnswer(made["answer"]), found, made["note"])


@dataclass(frozen=True)
class Cell:
    """The answer to one question: `shown` are verdicts under the default readings, `readings` those under others.

    `reason` is the protocol's sentence why a question without a claim has no meaning.
    """

    aspect: Aspect
    shown: tuple[Shown, ...] = ()
    readings: tuple[Shown, ...] = ()
    reason: str = ""

    @property
    def answer(self) -> ProfileAnswer:
        """YES if any system shows it; else OPEN if some system decides nothing; else NO.  UNASKED without verdicts."""
        if not self.shown:
            return ProfileAnswer.UNASKED
        if any(one.answer is ProfileAnswer.YES for one in self.shown):
            return ProfileAnswer.YES
        systems = grouped((one.finding.system, one.answer) for one in self.shown).values()
        return ProfileAnswer.NO if all(ProfileAnswer.NO in answers for answers in systems) else ProfileAnswer.OPEN

    @property
    def best(self) -> Shown | None:
        """The verdict that shows the answer best: the shortest run for a yes, the most cases for a no."""
        fitting = [one for one in self.shown if one.answer is self.answer]
        if self.answer is ProfileAnswer.YES:
            return min(fitting, key=lambda one: one.finding.length or 0)
        return max(fitting, key=lambda one: one.cases, default=None)

    @property
    def other(self) -> tuple[Shown, ...]:
        """Verdicts under other readings with another answer, one for each reading."""
        found: dict[str, Shown] = {}
        for one in self.readings:
            if one.answer not in (self.answer, ProfileAnswer.OPEN):
                found.setdefault(readings_of(one.finding), one)
        return tuple(found.values())

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems with the answer of the cell."""
        return tuple(dict.fromkeys(one.finding.system for one in self.shown if one.answer is self.answer))

    def to_json(self) -> dict[str, Json]:
        """Return the answer, its verdicts, and the readings that change it."""
        return {
            "aspect": self.aspect.value,
            "question": self.aspect.question,
            "answer": self.answer.value,
            "reason": self.reason,
            "systems": list(self.systems),
            "verdicts": [one.to_json() for one in self.shown],
            "other_readings": [one.to_json() for one in self.other],
        }


@dataclass(frozen=True)
class Profile:
    """The answers to every question about one protocol, and what each engine says on some of them."""

    protocol: str
    cells: tuple[Cell, ...]
    engines: tuple[Box, ...] = ()

    def cell(self, aspect: Aspect) -> Cell:
        """Return the cell of one question."""
        return next(cell for cell in self.cells if cell.aspect is aspect)

    def to_json(self) -> dict[str, Json]:
        """Return the protocol and its cells."""
        engines: list[Json] = [box.to_json() for box in self.engines]
        return {"protocol": self.protocol, "cells": [cell.to_json() for cell in self.cells], "engines": engines}

    @staticmethod
    def from_json(made: Mapping[str, Any]) -> Profile:
        """Return the profile that `to_json` wrote, as `evenhand profile --out` keeps it.

        Raises KeyError, TypeError or ValueError for anything else.
        """
        name = made["protocol"]
        cells = (
            Cell(
                Aspect(cell["aspect"]),
                tuple(Shown.from_json(name, one) for one in cell["verdicts"]),
                tuple(Shown.from_json(name, one) for one in cell["other_readings"]),
                cell["reason"],
            )
            for cell in made["cells"]
        )
        return Profile(name, tuple(cells), tuple(map(Box.from_json, made["engines"])))


def profiles(
    bundles: Sequence[Bundle],
    *,
    budget: Budget = Budget.quick,
    jobs: int = 1,
    progress: Callable[[Job], None] = lambda _job: None,
) -> tuple[tuple[Profile, ...], bool, tuple[str, ...]]:
    """Return the profile of each protocol, whether Ctrl-C interrupted, and the unfinished jobs.

    A claim is searched where the protocol plans it under `budget`, else under the next larger budget that has it.
    """
    wanted = [job for bundle in bundles for job in _jobs(bundle, budget)]
    ran = run_jobs(wanted, workers=jobs, finished=lambda job, _findings: progress(job))
    made = tuple(_profile(bundle, [one for one in ran.findings if one.protocol == bundle.name]) for bundle in bundles)
    return made, ran.interrupted, tuple(job.title for job in ran.unfinished)


def _jobs(bundle: Bundle, budget: Budget) -> list[Job]:
    """The planned searches of the profile's claims, then machines and proofs, each once, with only those claims."""
    planned = [(asked, _planned(bundle, asked, budget)) for asked in bundle.profile if asked.claim]
    wanted = ((asked.claim, job) for asked, jobs in planned for job in (*jobs, *drawn_beside(asked, jobs)))
    by_job = grouped((replace(job, claims=()), claim) for claim, job in wanted)
    searched = [replace(job, claims=tuple(dict.fromkeys(claims))) for job, claims in by_job.items()]
    return [*searched, *proofs_for(bundle)]


def _planned(bundle: Bundle, asked: ProfileQuestion, budget: Budget) -> list[Job]:
    """The searches of a claim in every system that it is asked of, each under the cheapest budget that has one.

    A `no` of one system says nothing about another, so all are searched.  Other readings are searched only if another
    verdict is registered for them; `verify` has all of them.
    """
    budgets = list(Budget)
    found: dict[tuple[str, Readings], list[Job]] = {}
    for one in budgets[budgets.index(budget) :]:
        fitting = (job for job in plan(bundle, one) if _answers(bundle, job, asked))
        here = grouped(((job.system, job.readings), job) for job in fitting)
        found |= {place: jobs for place, jobs in here.items() if place not in found}
    return [job for jobs in found.values() for job in jobs]


def _answers(bundle: Bundle, job: Job, asked: ProfileQuestion) -> bool:
    """Whether a job is a whole search of what a question asks, under readings whose registered verdict differs."""
    claim = asked.claim
    named = not job.claims or claim in job.claims
    if job.engine != "explore" or job.quotient or asked.system not in ("", job.system) or not named:
        return False
    if all(one.name != claim for one in bundle.claims_of(job.system)):
        return False
    usual, here = (bundle.expectation(claim, job.system, "explore", one) for one in ({}, dict(job.readings)))
    return not job.readings or here.expected is not usual.expected


def _profile(bundle: Bundle, findings: Sequence[Finding]) -> Profile:
    by_claim = grouped((finding.claim, finding) for finding in findings if finding.engine == "explore")
    reached = {claim.name: claim.existential for claim in bundle.claims}
    cells = tuple(_cell(aspect, bundle.profile, by_claim, reached) for aspect in Aspect)
    return Profile(bundle.name, cells, boxes(bundle, findings))


def _cell(
    aspect: Aspect, every: Iterable[ProfileQuestion], findings: Mapping[str, list[Finding]], reached: Mapping[str, bool]
) -> Cell:
    shown = [
        Shown(answer_of(finding.status, asked.affirms or reached[asked.claim]), finding, asked.note)
        for asked in every
        if asked.aspect is aspect and asked.claim
        for finding in findings.get(asked.claim, [])
        if asked.system in ("", finding.system)
    ]
    usual = tuple(one for one in shown if not one.finding.readings)
    reason = "; ".join(asked.note for asked in every if asked.aspect is aspect and not asked.claim)
    return Cell(aspect, usual, tuple(one for one in shown if one.finding.readings), reason)


def answer_of(status: Status, affirms: bool) -> ProfileAnswer:
    """Return the answer that a verdict gives; `affirms` says that a claim that holds answers yes."""
    if status is Status.UNDECIDED:
        return ProfileAnswer.OPEN
    return ProfileAnswer.YES if (status is Status.HOLDS) is affirms else ProfileAnswer.NO
