"""Findings for claims that a run leaves out, because no plan of its budget checks them.

Such a finding is UNDECIDED, by the engine `plan`; an `Expectation` of that engine may expect it, with the reason.
"""

from __future__ import annotations

from dataclasses import replace

from evenhand.core.bundle import Bundle
from evenhand.core.verdict import Status, Verdict
from evenhand.evidence.finding import Finding, finding
from evenhand.jobs.findings import sentences
from evenhand.jobs.plan import EFFORT, Budget, Job, covered, plan
from evenhand.smt.registry import stated


def left_out(bundle: Bundle, job: Job) -> tuple[Finding, ...]:
    """Return a finding for each claim of a job by `plan`, with the command that checks it."""
    known = sentences(bundle)
    others = _elsewhere(bundle, job)
    return tuple(_finding(bundle, job, name, known[name], others.get((name, job.system))) for name in job.claims)


def _finding(bundle: Bundle, job: Job, claim: str, sentence: str, other: Job | None) -> Finding:
    if other is None:
        other = replace(job, engine="explore", max_states=EFFORT[Budget(job.budget)].max_states)
    command = (other if other.engine == "prove" else replace(other, claims=(claim,))).command
    verdict = Verdict(
        claim=claim,
        status=Status.UNDECIDED,
        engine=job.engine,
        system=job.system,
        because=f"no plan of budget {job.budget} looks at it; this does: {command}",
    )
    registered = bundle.expectation(claim, job.system, job.engine, {})
    return replace(finding(bundle.name, sentence, verdict, registered), command=command)


def _elsewhere(bundle: Bundle, job: Job) -> dict[tuple[str, str], Job]:
    """For each claim and system the first job of another budget that checks it, the cheapest budget first."""
    theorems = [one.name for one in stated(bundle.name)]
    found: dict[tuple[str, str], Job] = {}
    for budget in Budget:
        for other in plan(bundle, budget, theorems=theorems) if budget.value != job.budget else ():
            for pair in covered(bundle, [other]):
                found.setdefault(pair, other)
    return found
