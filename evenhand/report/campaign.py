"""The report of a campaign, from its store: the report that one process would make of the same plan."""

from __future__ import annotations

from dataclasses import replace

from evenhand.campaign.scheduler import CampaignState
from evenhand.core.registry import find
from evenhand.core.versions import versions
from evenhand.evidence.finding import Finding
from evenhand.jobs.findings import failed
from evenhand.report.about import about_claims, counted
from evenhand.report.report import Report


def report_of(now: CampaignState) -> Report:
    """Return the findings of every job in plan order; a failed job is UNDECIDED, one without an end unfinished."""
    findings: list[Finding] = []
    unfinished: list[str] = []
    seconds: dict[str, float] = {}
    for state in now.states():
        job = state.unit.job
        title = replace(state.unit.whole, joins=0).title
        if state.whole is not None and state.whole.outcome == "done":
            findings += map(Finding.from_json, state.whole.made["findings"])
        elif state.because:
            findings += failed(find(job.protocol), job, state.because)
        else:
            unfinished.append(title)
        spent = [kept.seconds for kept in (*state.pieces.values(), state.whole) if kept is not None]
        if spent:
            seconds[title] = seconds.get(title, 0.0) + sum(spent)
    bundles = [find(name) for name in dict.fromkeys(unit.job.protocol for unit in now.campaign.units)]
    return Report(
        findings=tuple(findings),
        settings=now.campaign.settings,
        versions=versions(),
        interrupted=bool(unfinished),
        unfinished=tuple(unfinished),
        timing={"total": sum(seconds.values()), **seconds},
        claims=tuple(about_claims(bundles)),
        mutants=counted(bundles),
    )
