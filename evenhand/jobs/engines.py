"""Run one job by its engine and turn the verdicts into findings.

The command line, the library and the mutants run call engines through this module.  A missing solver, and an engine or
model that raises, give UNDECIDED findings with the reason, so that no claim is missing from a report.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from evenhand.core.bundle import Bundle
from evenhand.core.canonical import Json
from evenhand.core.kinds import DeadlockFree, Liveness, Property, Reachable
from evenhand.core.licence import Licence
from evenhand.core.system import System
from evenhand.core.text import inert
from evenhand.core.verdict import Status, Verdict
from evenhand.evidence.finding import Finding, finding
from evenhand.evidence.story import evidence_length, story_of
from evenhand.jobs.equality import equal_anywhere
from evenhand.jobs.fixtures import recorded, replayed
from evenhand.jobs.plan import SAME, Job, chosen_part, claims_for, system_for
from evenhand.jobs.proving import licence_for, proved
from evenhand.jobs.unplanned import left_out
from evenhand.machine import fuzz
from evenhand.search import estimate, explore, prepare
from evenhand.search.estimate import widest_state
from evenhand.smt.licence import NotLicensed
from evenhand.smt.portfolio import NoSolver
from evenhand.variants.separate import separate

if TYPE_CHECKING:
    from evenhand.search import Prepared

AnySystem = System[Any, Any, Any, Any, Any]


def run(bundle: Bundle, job: Job, *, workers: int = 1) -> tuple[Finding, ...]:
    """Return the findings of one job; a search may use `workers` processes.

    Raises the model's exceptions, of which `failed` makes findings.
    """
    match job.engine:
        case "explore" | "fuzz":
            system = system_for(bundle, job)
            return findings_of(bundle, job, system, verdicts_of(bundle, job, system, workers=workers))
        case "prove" if not job.theorem:
            return (equal_anywhere(bundle, job),)
        case "prove":
            return proved(bundle, job)
        case "compare":
            return (compared(bundle, job, system_for(bundle, job)),)
        case "replay":
            return replayed(bundle)
        case "plan":
            return left_out(bundle, job)


def verdicts_of(bundle: Bundle, job: Job, system: AnySystem, *, workers: int = 1) -> tuple[Verdict, ...]:
    """Return the verdicts of the search (in `workers` processes) or the machine on the job's claims."""
    claims = claims_for(bundle, system.name, job.claims)
    if job.engine == "fuzz":
        generator = next((g for g in bundle.generators if g.system == system.name), None)
        drawn = fuzz(
            system,
            claims,
            generator,
            examples=job.examples,
            steps=job.steps,
            seed=job.seed,
        )
        return drawn.verdicts
    size = steps_beyond(system, job.finishable) if job.finishable is not None else ""
    if size:
        return tuple(_not_begun(claim, system, size) for claim in claims)
    prepared = prepared_search(bundle, job, system)
    if job.part:
        prepared = prepared.only(cast("tuple[int, int]", chosen_part(job.part)))
    return prepared.concluded(prepared.totals(jobs=workers)).verdicts


def prepared_search(bundle: Bundle, job: Job, system: AnySystem) -> Prepared:
    """Return the search of a job, of all its configurations, ready to begin."""
    return prepare(
        system,
        claims_for(bundle, system.name, job.claims),
        max_states=job.max_states,
        depth=job.depth,
        licence=_licences(bundle, job, system),
    )


PROBED = 20_000
"""States of each configuration that are explored before a search counts as too large."""


def steps_beyond(system: AnySystem, limit: int) -> str:
    """Return the size of the search of `system` in words if it exceeds `limit` steps, else an empty string.

    An estimate from a few states can be far too high, so a search of some thousand states decides; also for a system
    that declares abstractions, because its search may have no end.
    """
    about = estimate(system)
    if about is None:
        return "more configurations than can be counted"
    if about <= limit and not system.abstractions:
        return ""
    few = sum(1 for _ in islice(system.all_configs(), 100)) < 100
    probe = explore(system, max_states=PROBED) if few and widest_state(system) <= limit else None
    if probe is not None and probe.complete and probe.transitions <= limit:
        return ""
    if probe is not None and probe.complete:
        return f"{probe.transitions:,} steps"
    if about > limit or probe is None:
        return f"about {about:,} steps"
    maps = " or ".join(one.name for one in system.abstractions)
    return f"more than {probe.transitions:,} steps and perhaps no end, which a quotient ({maps}) may have"


def _not_begun(claim: Property, system: AnySystem, size: str) -> Verdict:
    return Verdict(
        claim=claim.name,
        status=Status.UNDECIDED,
        engine="explore",
        system=system.name,
        variant=system.variant,
        scope=dict(system.scope),
        because=f"not begun: {size}, too many for this budget; a plan of the protocol can name a smaller scope",
        trusted_base=("the estimate of the search's size",),
    )


def _licences(bundle: Bundle, job: Job, system: AnySystem) -> tuple[Licence, ...]:
    """The licences for a job's quotients.

    Without the licence of a group the whole space is searched.  For an abstraction the whole space may have no end:
    then NotLicensed or NoSolver is raised.
    """
    names = job.quotient.split("+") if job.quotient else []
    endless = any(one.name in names for one in system.abstractions)
    if not names or (system.variant != "reference" and not endless):
        return ()

    if system.variant != "reference":
        raise NotLicensed(f"a mutant has no licence: {system.variant} may break quotient {job.quotient!r}")
    try:
        return tuple(licence_for(bundle, system.name, name) for name in names)
    except (NotLicensed, NoSolver):
        if endless:
            raise
        return ()


def compared(bundle: Bundle, job: Job, system: AnySystem) -> Finding:
    """Return the comparison of a mutant with the reference: HOLDS if equal in the whole scope, REFUTED if separated.

    The scope's `same_state` says whether hidden states were the same too.
    """
    reference = system_for(bundle, replace(job, system=system.name, variant="", scope=tuple(system.scope.items())))
    generator = next((g for g in bundle.generators if g.system == system.name), None)
    found = separate(
        reference,
        system,
        observers=bundle.observers_of(system.name),
        generator=generator,
        examples=job.examples,
        steps=job.steps,
        seed=job.seed,
    )
    status = Status.HOLDS if found.equal else Status.REFUTED if found.separated else Status.UNDECIDED
    return Finding(
        protocol=bundle.name,
        claim=SAME,
        sentence="What the mutant shows, and what observers read of it, is the same as of the reference.",
        engine="compare",
        system=system.name,
        variant=system.variant,
        status=status,
        expected=Status.HOLDS,
        because=inert(found.because),
        scope={
            "states": found.states,
            "steps": found.steps,
            "complete": found.complete,
            "same_state": found.same_state,
        },
        sizes=system.scope,
        length=found.length,
        story=story_of(system, found.scenario, bundle.phases) if found.scenario is not None else None,
    )


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
    missing = [_unanswered(claim, job, system) for claim in asked if claim.name not in answered]
    return tuple(_finding(bundle, job, system, known[verdict.claim], verdict, keep) for verdict in (*given, *missing))


def _unanswered(claim: Property, job: Job, system: AnySystem) -> Verdict:
    return Verdict(
        claim=claim.name,
        status=Status.UNDECIDED,
        engine=job.engine,
        system=system.name,
        variant=system.variant,
        scope=dict(system.scope),
        readings=dict(job.readings),
        because=f"{job.engine} was asked and gave no verdict",
    )


def _finding(bundle: Bundle, job: Job, system: AnySystem, claim: Property, verdict: Verdict, keep: bool) -> Finding:
    evidence = verdict.evidence
    # One claim gives the same verdict as among others, because draws do not depend on the claims.
    command = replace(job, claims=(claim.name,)).command
    record: Json = None
    if keep and verdict.status is Status.REFUTED:
        record, unrecorded = recorded(bundle, system, claim, verdict, command)
        verdict = replace(verdict, because=f"{verdict.because} (not recorded: {unrecorded})") if unrecorded else verdict
    shown = evidence is not None and (verdict.status is Status.REFUTED or claim.existential)
    expected = bundle.expectation(verdict.claim, verdict.system, verdict.engine, verdict.readings)
    return replace(
        finding(bundle.name, claim.sentence, verdict, expected),
        story=story_of(system, evidence, bundle.phases) if shown and evidence is not None else None,
        length=None if evidence is None else evidence_length(evidence),
        record=record,
        command=command if verdict.status is not Status.HOLDS else "",
        evidence=evidence,
        sizes=dict(system.scope),
        beyond=job.engine == "fuzz" and isinstance(claim, _UNSAMPLED),
    )


_UNSAMPLED = (Reachable, Liveness, DeadlockFree)
"""Kinds that drawn runs cannot establish (or, for `Reachable`, exclude)."""


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
