"""One job, one engine: runs it and turns its verdicts into findings.

Everything that asks the engines to do something (the command line, the library, the mutants run) comes
through here.  A solver that is not installed and an engine or model that raises are findings too:
UNDECIDED, saying why, never a shorter report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from evenhand.fixtures import recorded, replayed
from evenhand.model.canonical import Json
from evenhand.model.system import System
from evenhand.plan import Job, claims_for, system_for
from evenhand.properties.property import (
    DeadlockFree,
    Eventually,
    LeadsTo,
    LivelockFree,
    Property,
    Reachable,
)
from evenhand.properties.registry import Bundle
from evenhand.properties.verdict import Status, Verdict
from evenhand.report.finding import Finding, finding
from evenhand.report.text import evidence_length, inert, trace_lines

__all__ = ["Progress", "failed", "findings_of", "run", "sentences", "verdicts_of"]

AnySystem = System[Any, Any, Any, Any, Any]
Progress = Callable[[int, int], None]
"""Called now and then with what is done and what is known to be there."""


def run(bundle: Bundle, job: Job, *, progress: Progress | None = None) -> tuple[Finding, ...]:
    """The findings of one job.  Raises what the model raises; `failed` makes findings of that."""
    match job.engine:
        case "explore" | "fuzz":
            system = system_for(bundle, job)
            return findings_of(bundle, job, system, verdicts_of(bundle, job, system, progress))
        case "prove":
            from evenhand.proving import proved  # solvers are loaded only where a proof is asked for

            return proved(bundle, job)
        case "replay":
            return replayed(bundle)


def verdicts_of(bundle: Bundle, job: Job, system: AnySystem, progress: Progress | None = None) -> tuple[Verdict, ...]:
    """What the search or the machine says of the job's claims."""
    claims = claims_for(bundle, system.name, job.claims)
    if job.engine == "fuzz":
        from evenhand.properties.machine import fuzz

        generator = next((g for g in bundle.generators if g.system == system.name), None)
        return fuzz(
            system, claims, generator, examples=job.examples, steps=job.steps, seed=job.seed, progress=progress
        ).verdicts
    from evenhand.properties.search import explore

    return explore(system, claims, max_states=job.max_states, depth=job.depth, progress=progress).verdicts


def findings_of(
    bundle: Bundle, job: Job, system: AnySystem, verdicts: Iterable[Verdict], command: str = ""
) -> tuple[Finding, ...]:
    """The findings that the verdicts of a job are."""
    known = {claim.name: claim for claim in bundle.claims}
    return tuple(_finding(bundle, job, system, known, verdict, command) for verdict in verdicts)


def _finding(
    bundle: Bundle, job: Job, system: AnySystem, known: dict[str, Property], verdict: Verdict, command: str
) -> Finding:
    claim = known[verdict.claim]
    evidence = verdict.evidence
    again = command or job.command
    record: Json = None
    if verdict.status is Status.REFUTED:
        record, unrecorded = recorded(bundle, system, claim, verdict, again)
        verdict = replace(verdict, because=f"{verdict.because} (not recorded: {unrecorded})") if unrecorded else verdict
    shown = evidence is not None and (verdict.status is Status.REFUTED or isinstance(claim, Reachable))
    return finding(
        bundle.name,
        claim.sentence,
        verdict,
        bundle.expectation(verdict.claim, verdict.system, verdict.engine, verdict.readings),
        trace=trace_lines(system, evidence) if shown and evidence is not None else (),
        length=None if evidence is None else evidence_length(evidence),
        record=record,
        command=again if verdict.status is not Status.HOLDS else "",
        evidence=evidence,
        sizes=system.scope,
        beyond=job.engine == "fuzz" and isinstance(claim, _UNSAMPLED),
    )


_UNSAMPLED = (Reachable, Eventually, LeadsTo, DeadlockFree, LivelockFree)
"""Kinds that no finite number of drawn runs establishes (or, for `Reachable`, excludes)."""


def sentences(bundle: Bundle) -> dict[str, str]:
    """The English sentence of each claim, by name."""
    return {claim.name: claim.sentence for claim in bundle.claims}


def failed(bundle: Bundle, job: Job, reason: str) -> tuple[Finding, ...]:
    """UNDECIDED findings for every claim of a job that could not be finished, and why."""
    match job.engine:
        case "explore" | "fuzz":
            system = job.system or next(iter(bundle.model.systems))
            claims = [claim.name for claim in claims_for(bundle, system, job.claims)]
        case "prove":
            system, claims = "", [job.theorem]
        case "replay":
            system, claims = "", ["fixtures"]
    known = sentences(bundle)
    return tuple(
        Finding(
            protocol=bundle.name,
            claim=name,
            sentence=known.get(name, ""),
            engine=job.engine,
            system=system,
            variant=job.variant or "reference",
            status=Status.UNDECIDED,
            expected=Status.HOLDS,
            because=inert(reason),
            scope=dict(job.scope),
            command=job.command,
        )
        for name in claims
    )
