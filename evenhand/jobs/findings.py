"""Findings of a job: the verdicts on its claims, with what a report shows beside them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from evenhand.core.bundle import Bundle
from evenhand.core.canonical import Json
from evenhand.core.kinds import Property
from evenhand.core.system import AnySystem
from evenhand.core.text import inert
from evenhand.core.verdict import Status, Verdict, verdict_on
from evenhand.evidence.finding import Finding, finding
from evenhand.evidence.story import story_of
from evenhand.jobs.fixtures import recorded
from evenhand.jobs.plan import ANY_SIZE, SAME, Job, claims_for


def findings_of(
    bundle: Bundle, job: Job, system: AnySystem, verdicts: Iterable[Verdict], *, keep: bool = True
) -> tuple[Finding, ...]:
    """Return a job's verdicts as findings; with `keep`, refutations carry the record that replays them.

    A claim of the job without a verdict is UNDECIDED.
    """
    known = {claim.name: claim for claim in bundle.claims}
    given = tuple(verdicts)
    answered = {verdict.claim for verdict in given}
    asked = claims_for(bundle, system.name, job.claims)
    reason = f"{job.engine} was asked and gave no verdict"
    missing = [
        verdict_on(system, claim.name, job.engine, Status.UNDECIDED, readings=dict(job.readings), because=reason)
        for claim in asked
        if claim.name not in answered
    ]
    return tuple(_finding(bundle, job, system, known[verdict.claim], verdict, keep) for verdict in (*given, *missing))


def _finding(bundle: Bundle, job: Job, system: AnySystem, claim: Property, verdict: Verdict, keep: bool) -> Finding:
    evidence = verdict.evidence
    # One claim gives the same verdict as among others, because draws do not depend on the claims.
    command = replace(job, claims=(claim.name,)).command
    record: Json = None
    if keep and verdict.status is Status.REFUTED:
        record, unrecorded = recorded(bundle, system, claim, verdict, command)
        because = f"{verdict.because} (not recorded: {unrecorded})".strip()
        verdict = replace(verdict, because=because) if unrecorded else verdict
    shown = evidence is not None and (verdict.status is Status.REFUTED or claim.existential)
    expected = bundle.expectation(verdict.claim, verdict.system, verdict.engine, verdict.readings)
    return replace(
        finding(bundle.name, claim.sentence, verdict, expected),
        story=story_of(system, evidence, bundle.phases) if shown and evidence is not None else None,
        record=record,
        command=command if verdict.status is not Status.HOLDS else "",
        sizes=dict(system.scope),
        beyond=job.engine == "fuzz" and not claim.sampled,
    )


def sentences(bundle: Bundle) -> dict[str, str]:
    """Return the English sentence of each claim, by name."""
    return {claim.name: claim.sentence for claim in bundle.claims}


def failed(bundle: Bundle, job: Job, reason: str) -> tuple[Finding, ...]:
    """Return UNDECIDED findings with the reason for every claim of a job that could not be finished."""
    match job.engine:
        case "explore" | "fuzz" | "compare" | "plan":
            system = job.system or next(iter(bundle.model.systems))
            claims = [claim.name for claim in claims_for(bundle, system, job.claims)]
            claims = [SAME] if job.engine == "compare" else claims
        case "prove" if job.theorem == ANY_SIZE:
            system, claims = job.system, list(job.claims)
        case "prove":
            system, claims = "", [job.theorem or SAME]
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
