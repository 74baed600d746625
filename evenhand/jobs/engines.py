"""Run one job by its engine and turn the verdicts into findings.

The command line, the library and the mutants run call engines through this module.  A missing solver, and an engine or
model that raises, give UNDECIDED findings with the reason, so that no claim is missing from a report.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from evenhand.core.bundle import Bundle
from evenhand.core.ending import of_this
from evenhand.core.kinds import Property
from evenhand.core.licence import Licence
from evenhand.core.system import AnySystem
from evenhand.core.text import inert
from evenhand.core.verdict import Status, Verdict, verdict_on
from evenhand.evidence.finding import Finding
from evenhand.evidence.story import story_of
from evenhand.jobs.findings import findings_of
from evenhand.jobs.finishable import steps_beyond
from evenhand.jobs.fixtures import replayed
from evenhand.jobs.plan import ANY_SIZE, SAME, Job, chosen_part, claims_for, system_for
from evenhand.jobs.proving import licence_for, proved
from evenhand.jobs.raising import decided
from evenhand.jobs.unplanned import left_out
from evenhand.machine import fuzz
from evenhand.search import prepare
from evenhand.smt.equality import equality_of
from evenhand.smt.licence import NotLicensed
from evenhand.smt.portfolio import NoSolver
from evenhand.source.unbounded import prove_any_size
from evenhand.variants.separate import separate

if TYPE_CHECKING:
    from evenhand.search import Prepared


def run(bundle: Bundle, job: Job, *, workers: int = 1) -> tuple[Finding, ...]:
    """Return the findings of one job; a search may use `workers` processes.

    Raises the model's exceptions, of which `failed` makes findings.
    """
    match job.engine:
        case "explore" | "fuzz":
            system = system_for(bundle, job)
            return findings_of(bundle, job, system, verdicts_of(bundle, job, system, workers=workers))
        case "prove" if job.theorem == ANY_SIZE:
            system = system_for(bundle, job)
            return findings_of(bundle, job, system, verdicts_of(bundle, job, system))
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


def verdicts_of(
    bundle: Bundle, job: Job, system: AnySystem, *, workers: int = 1, licences: Sequence[Licence] = ()
) -> tuple[Verdict, ...]:
    """Return the verdicts of the search (in `workers` processes, under these licences), the machine or the proof."""
    claims = of_this(system, claims_for(bundle, system.name, job.claims))
    if job.engine == "prove":
        return prove_any_size(system, claims).verdicts
    if job.engine == "fuzz":
        generator = bundle.generator_of(system.name)

        def drawn(asked: Sequence[Property]) -> Sequence[Verdict]:
            return fuzz(system, asked, generator, examples=job.examples, steps=job.steps, seed=job.seed).verdicts

        return decided(drawn, claims, system, "fuzz")
    size = steps_beyond(system, job.finishable) if job.finishable is not None else ""
    if size:
        why = f"not begun: {size}, too many for this budget; a plan of the protocol can name a smaller scope"
        more = {"because": why, "trusted_base": ("the estimate of the search's size",)}
        return tuple(verdict_on(system, claim.name, "explore", Status.UNDECIDED, **more) for claim in claims)

    def searched(asked: Sequence[Property]) -> Sequence[Verdict]:
        prepared = prepared_search(bundle, job, system, asked, licences)
        if job.part:
            prepared = prepared.only(cast("tuple[int, int]", chosen_part(job.part)))
        return prepared.concluded(prepared.totals(jobs=workers)).verdicts

    return decided(searched, claims, system, "explore")


def prepared_search(
    bundle: Bundle,
    job: Job,
    system: AnySystem,
    asked: Sequence[Property] | None = None,
    licences: Sequence[Licence] = (),
) -> Prepared:
    """Return the search of a job, of all its configurations and (unless `asked` names some) its claims, ready.

    Without `licences` those for the quotients that the job names are proved first.
    """
    return prepare(
        system,
        of_this(system, claims_for(bundle, system.name, job.claims)) if asked is None else asked,
        max_states=job.max_states,
        depth=job.depth,
        licence=licences or _licences(bundle, job, system),
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
    found = separate(
        reference,
        system,
        observers=bundle.observers_of(system.name),
        generator=bundle.generator_of(system.name),
        examples=job.examples,
        steps=job.steps,
        seed=job.seed,
    )
    status = Status.HOLDS if found.equal else Status.REFUTED if found.separated else Status.UNDECIDED
    scenario = found.scenario
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
        scope={name: getattr(found, name) for name in ("states", "steps", "complete", "same_state")},
        sizes=system.scope,
        length=found.length,
        story=None if scenario is None else story_of(system, scenario, bundle.phases),
    )


def equal_anywhere(bundle: Bundle, job: Job) -> Finding:
    """Return whether the mutant `job.variant` equals the reference for any size, beyond the scope of a comparison.

    HOLDS: proved in a theory that expresses the mutant and conforms to its steps.  REFUTED: a run made by a solver
    replays, and the two differ on it.  UNDECIDED gives the reason, mostly that no theory expresses the mutant.
    Raises NoSolver when no solver is installed.
    """
    found = equality_of(bundle, job.variant)
    system, apart = found.system, found.apart
    return Finding(
        protocol=bundle.name,
        claim=SAME,
        sentence="What the mutant shows is the same as of the reference, whatever the size.",
        engine="prove",
        system=system.name if system is not None else job.system,
        variant=job.variant,
        status=found.status,
        expected=Status.HOLDS,
        because=inert(found.because),
        scope={"proved": found.scope} if found.status is Status.HOLDS else {},
        length=None if apart is None else len(apart.actions),
        story=None if apart is None or system is None else story_of(system, apart, bundle.phases),
        command=shlex.join(("evenhand", "mutants", bundle.name, "--mutant", job.variant)),
    )
