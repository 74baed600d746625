"""`evenhand explore` and `evenhand fuzz`: one engine on one system."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from evenhand.cli.common import (
    BadUse,
    Claim,
    JsonOut,
    MutantName,
    ProtocolName,
    ReadingOption,
    ScopeOption,
    SystemOption,
    bundle_named,
    counting,
    finish,
    guarded,
    job_for,
    terminal,
    usage,
)
from evenhand.engines import findings_of
from evenhand.plan import Job, claims_for
from evenhand.properties.property import Reachable
from evenhand.properties.registry import Bundle
from evenhand.report.finding import plain
from evenhand.report.readable import plural
from evenhand.report.report import Report
from evenhand.versions import versions

__all__ = ["FINISHABLE", "explore", "fuzz"]

FINISHABLE = 5_000_000
"""States of a search that a person is assumed to have time and memory for without saying so."""


@guarded
def explore(
    protocol: ProtocolName,
    system: SystemOption = "",
    scope: ScopeOption = None,
    reading: ReadingOption = None,
    mutant: MutantName = "",
    claim: Claim = None,
    reach: Annotated[
        list[str] | None, typer.Option("--reach", metavar="GOAL", help="Only this goal: its shortest run (repeatable).")
    ] = None,
    max_states: Annotated[
        int | None, typer.Option(min=1, help="Stop after so many states of one configuration; may end UNDECIDED.")
    ] = None,
    depth: Annotated[int | None, typer.Option(min=0, help="Stop after so many steps; may end UNDECIDED.")] = None,
    graph: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the graph: .dot, .graphml or .json by suffix.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Start even if the scope looks too large to finish.")] = False,
    as_json: JsonOut = False,
) -> int:
    """Explore a system exhaustively: every configuration, every state, every joint choice."""
    bundle = bundle_named(protocol)
    asked = Job(bundle.name, "explore", system, variant=mutant, max_states=max_states, depth=depth)
    job, chosen = job_for(bundle, asked, scope, reading, [*(claim or ()), *(reach or ())])
    _are_goals(bundle, chosen.name, reach or [])
    export = _exporter(graph)
    from evenhand.properties.search import estimate
    from evenhand.properties.search import explore as search

    size = None if max_states is not None or yes else estimate(chosen)
    if size is not None and size > FINISHABLE:
        raise BadUse(
            f"{chosen.name} at {chosen.scope} has about {size:,} states, too many to finish; "
            "choose a smaller --scope, bound the search with --max-states, or insist with --yes"
        )
    began = time.monotonic()
    with counting(job.title) as progress:
        found = search(
            chosen, claims_for(bundle, chosen.name, job.claims), max_states=max_states, depth=depth, progress=progress
        )
    findings = findings_of(bundle, job, chosen, found.verdicts)
    report = Report(findings, _settings(job, chosen), versions(), timing={"total": time.monotonic() - began})
    if export is not None and graph is not None:
        with usage():
            export(found.to_networkx(), graph)
    more = {
        "states": found.states,
        "transitions": found.transitions,
        "edges": found.edges,
        "depth": found.depth,
        "configs": found.configs,
        "complete": found.complete,
        "tier": found.tier,
        "why_tier": found.why_tier,
        "reach": dict(found.reach),
    }
    if not as_json:
        say_counts(more)
    return finish(report, more, as_json=as_json)


def say_counts(counts: dict[str, Any]) -> None:
    """The sizes of an exploration, in one line."""
    sizes = ", ".join(
        plural(counts[name], name[:-1]) for name in ("configs", "states", "transitions", "edges") if name in counts
    )
    end = "complete" if counts["complete"] else "NOT complete"
    terminal().print(f"{sizes}, depth {counts['depth']}, {end} (tier {counts['tier']}: {counts['why_tier']})")
    for goal, length in sorted(counts["reach"].items()):
        terminal().print(f"shortest way to {goal}: {plural(length, 'step')}")


def _are_goals(bundle: Bundle, system: str, names: list[str]) -> None:
    goals = [claim.name for claim in bundle.claims_of(system) if isinstance(claim, Reachable)]
    for name in names:
        if name not in goals:
            raise BadUse(f"{name!r} is no goal of {system}; there is: {', '.join(sorted(goals)) or 'none'}")


def _exporter(graph: Path | None) -> Any:
    if graph is None:
        return None
    from evenhand.report.graph import exporter

    with usage():
        return exporter(graph)


def _settings(job: Job, system: Any) -> dict[str, Any]:
    return {
        "command": job.command,
        "protocol": job.protocol,
        "system": system.name,
        "scope": plain(system.scope),
        "readings": {name: plain(value) for name, value in job.readings},
        "variant": system.variant,
    }


@guarded
def fuzz(
    protocol: ProtocolName,
    system: SystemOption = "",
    scope: ScopeOption = None,
    reading: ReadingOption = None,
    mutant: MutantName = "",
    claim: Claim = None,
    examples: Annotated[int, typer.Option(min=1, help="How many runs.")] = 200,
    steps: Annotated[int, typer.Option(min=1, help="How many actions a run has at most.")] = 20,
    seed: Annotated[int, typer.Option(min=0, help="Where the random choices start.")] = 0,
    as_json: JsonOut = False,
) -> int:
    """Drive a system with a Hypothesis state machine, hostile and constructive, and shrink what fails."""
    from evenhand.properties.machine import fuzz as drive

    bundle = bundle_named(protocol)
    asked = Job(bundle.name, "fuzz", system, variant=mutant, examples=examples, steps=steps, seed=seed)
    job, chosen = job_for(bundle, asked, scope, reading, claim)
    generator = next((g for g in bundle.generators if g.system == chosen.name), None)
    began = time.monotonic()
    with counting(job.title) as progress:
        found = drive(
            chosen,
            claims_for(bundle, chosen.name, job.claims),
            generator,
            examples=examples,
            steps=steps,
            seed=seed,
            progress=progress,
        )
    findings = findings_of(bundle, job, chosen, found.verdicts)
    report = Report(findings, _settings(job, chosen), versions(), timing={"total": time.monotonic() - began})
    more = {"examples": found.examples, "steps": found.steps, "coverage": dict(found.coverage), "seed": seed}
    if not as_json:
        terminal().print(f"{plural(found.examples, 'run')}, {plural(found.steps, 'step')}, seed {seed}")
    return finish(report, more, as_json=as_json)
