"""`evenhand explore` and `evenhand fuzz`: one engine on one system."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenhand.cli import completion
from evenhand.cli.common import (
    BadUse,
    Claim,
    JsonOut,
    KeepOption,
    MutantName,
    ProtocolName,
    ReadingOption,
    ScopeOption,
    SystemOption,
    Unknown,
    bundle_named,
    counting,
    finish,
    guarded,
    job_for,
    keep,
    terminal,
    usage,
)
from evenhand.cli.waits import waiting
from evenhand.engines import findings_of, steps_beyond
from evenhand.model.system import System, UnknownName
from evenhand.plan import Job, chosen_part, claims_for
from evenhand.proofs.smt.portfolio import NoSolver
from evenhand.properties.licence import Licence
from evenhand.properties.property import Reachable
from evenhand.properties.registry import Bundle
from evenhand.proving import licence_for
from evenhand.report.finding import plain
from evenhand.report.graph import exporter
from evenhand.report.readable import classes, plural
from evenhand.report.report import Report
from evenhand.report.store import ready_folder
from evenhand.report.table import print_lines
from evenhand.report.text import inert
from evenhand.versions import versions

if TYPE_CHECKING:
    from evenhand.properties.search.disk import Spill

AnySystem = System[Any, Any, Any, Any, Any]

__all__ = ["FINISHABLE", "explore", "fuzz"]

FINISHABLE = 50_000_000
"""Steps of a search that a person is assumed to have time and memory for without saying so."""

CLASSES = "classes of states"
"""What is counted under an abstraction."""


@guarded
def explore(
    protocol: ProtocolName,
    system: SystemOption = "",
    scope: ScopeOption = None,
    reading: ReadingOption = None,
    mutant: MutantName = "",
    claim: Claim = None,
    reach: Annotated[
        list[str] | None,
        typer.Option(
            "--reach",
            metavar="GOAL",
            help="Only this goal: its shortest run (repeatable).",
            autocompletion=completion.goals,
        ),
    ] = None,
    max_states: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Stop after so many states of one configuration; may end UNDECIDED."),
    ] = None,
    depth: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Stop after so many steps; may end UNDECIDED.")
    ] = None,
    max_memory: Annotated[
        int | None, typer.Option(min=1, metavar="MB", help="Keep nothing new beyond so much; may end UNDECIDED.")
    ] = None,
    spill: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Go on in this folder where --max-memory ends; nothing stays there."),
    ] = None,
    tier: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            max=3,
            help="0: every action, 1: equal work once, 2: rows, 3: orbits (with --symmetry). Default: the best.",
        ),
    ] = None,
    graph: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the graph: .dot, .graphml or .json by suffix.")
    ] = None,
    parts: Annotated[
        bool, typer.Option("--parts", help="With --graph: strongly connected parts instead of states.")
    ] = False,
    wait_for: Annotated[
        Path | None,
        typer.Option(
            "--wait-for",
            metavar="FILE",
            help="Write who waits for whom in the nearest state with a circular wait: .dot, .graphml or .json.",
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Start even if the scope looks too large to finish.")] = False,
    symmetry: Annotated[
        bool, typer.Option("--symmetry", help="Explore a quotient, under a licence that is proved first.")
    ] = False,
    quotient: Annotated[
        list[str] | None,
        typer.Option(
            "--quotient",
            metavar="NAME",
            help="Explore this quotient, under a licence that is proved first (repeatable: one after the other).",
            autocompletion=completion.quotients,
        ),
    ] = None,
    part: Annotated[
        str, typer.Option(metavar="K/N", help="Only each N-th configuration from the K-th on; N runs make the whole.")
    ] = "",
    jobs: Annotated[int, typer.Option(metavar="N", min=1, help="How many processes share the configurations.")] = 1,
    out: KeepOption = None,
    as_json: JsonOut = False,
) -> int:
    """Explore a system exhaustively.

    Every configuration, every state, every joint choice.  Exit codes: 0 all as stated; 1 something refuted that
    nobody stated; 2 bad use; 3 something undecided that was not stated (a bound was hit, say); 130 interrupted.
    """
    from evenhand.properties.search import ModelError, NoSuchPart  # engines are slow to import; `--help` needs none
    from evenhand.properties.search import explore as search
    from evenhand.properties.search.disk import SpillFailed

    bundle = bundle_named(protocol)
    asked = Job(bundle.name, "explore", system, variant=mutant, max_states=max_states, depth=depth, part=part)
    job, chosen = job_for(bundle, asked, scope, reading, [*(claim or ()), *(reach or ())])
    _are_goals(bundle, chosen.name, reach or [])
    with usage():
        portion = chosen_part(part)
    export = _exporter(graph, parts)
    if wait_for is not None and part:
        raise BadUse("--wait-for looks at every configuration; leave --part out")
    names = _quotients(chosen, quotient or [], symmetry=symmetry, waits=wait_for is not None)
    waits = None if wait_for is None else waiting(chosen, wait_for)
    folder = _folder(out)
    disk = _disk(spill, max_memory)
    licences = [_licence(bundle, chosen, name) for name in names]
    job = replace(job, quotient="+".join(licence.quotient for licence in licences))
    group = any(licence.quotient == one.name for licence in licences for one in chosen.quotients)
    mend = "leave --tier out for the best that can"
    if group and tier is None and chosen.domains is not None:
        mend = "name claims that can with --claim or --reach, or leave the quotient out"
        tier = 3  # what orbits cannot answer is UNDECIDED then, instead of being sought in the whole graph
    if tier == 3 and disk is not None:
        raise BadUse("orbits are searched in memory: leave --spill out, or the quotient and --tier 3")
    if max_states is None and depth is None and max_memory is None and not yes and not licences:
        _is_finishable(chosen)
    began = time.monotonic()
    try:
        with counting(job.title) as progress:
            found = search(
                chosen,
                claims_for(bundle, chosen.name, job.claims),
                max_states=max_states,
                depth=depth,
                max_memory=None if max_memory is None else max_memory << 20,
                spill=disk,
                tier=tier,
                licence=licences,
                part=portion,
                progress=progress,
                jobs=jobs,
            )
    except (ModelError, SpillFailed) as error:
        raise BadUse(str(error)) from error
    except ValueError as error:
        if isinstance(error, NoSuchPart):
            raise BadUse(str(error)) from error
        if tier is None:
            raise
        raise BadUse(f"{error}; {mend}") from error
    findings = findings_of(bundle, job, chosen, found.verdicts)
    report = Report(findings, _settings(job, chosen), versions(), timing={"total": time.monotonic() - began})
    waited, told = waits(max_states, depth, max_memory) if waits is not None else ({}, [])
    if export is not None:
        with usage():
            export(found.condensation() if parts else found.to_networkx())
    more = {
        "states": found.states,
        "transitions": found.transitions,
        "edges": found.edges,
        "depth": found.depth,
        "configs": found.configs,
        "complete": found.complete,
        "spilled": found.spilled,
        "tier": found.tier,
        "why_tier": found.why_tier,
        "reach": dict(found.reach),
        **({"counted": CLASSES} if found.classes else {}),
        **waited,
    }
    if not as_json:
        say_counts(more)
        print_lines(terminal(), map(inert, told))
    return finish(keep(folder, report), more, as_json=as_json)


def _quotients(system: AnySystem, names: list[str], *, symmetry: bool, waits: bool) -> tuple[str, ...]:
    """The quotients that were asked for; an empty name is whatever group the system has.  Raises BadUse."""
    if symmetry and names:
        raise BadUse("--symmetry is the --quotient of a group; leave one of them out")
    groups = {one.name for one in system.quotients}
    known = groups | {one.name for one in system.abstractions}
    for name in names:
        if name not in known:
            raise BadUse(str(UnknownName(f"quotient of {system.name}:", name, known)))
    if len(set(names)) < len(names) or (len(names) > 1 and groups & set(names)):
        raise BadUse(
            f"--quotient {' --quotient '.join(names)}: abstractions can be taken one after the other, each once"
        )
    if names and waits:
        raise BadUse("--wait-for looks at every state, and a quotient at some; leave one of them out")
    return ("",) if symmetry else tuple(names)


def _licence(bundle: Bundle, system: AnySystem, name: str) -> Licence:
    option = f"--quotient {name}" if name else "--symmetry"
    if system.variant != "reference":
        raise BadUse(
            f"a mutant has no licence: {system.variant} may be the very fault that breaks the symmetry; "
            f"leave {option} out"
        )
    try:
        return licence_for(bundle, system.name, name)
    except ValueError as error:
        raise BadUse(f"{error}; leave {option} out") from error
    except NoSolver as error:
        raise Unknown(str(error)) from error


def _is_finishable(system: AnySystem) -> None:
    size = steps_beyond(system, FINISHABLE)
    if size:
        raise BadUse(
            f"{system.name} at {system.scope} has {size}, too many to finish; choose a smaller --scope, "
            "bound the search with --max-states or --depth, or insist with --yes"
        )


def say_counts(counts: dict[str, Any]) -> None:
    """The sizes of an exploration, in one line, and the shortest way to each goal."""
    sizes = ", ".join(plural(counts[name], name[:-1]) for name in ("configs", "states", "transitions", "edges"))
    if "counted" in counts:
        sizes = sizes.replace(plural(counts["states"], "state"), classes(counts["states"]), 1)
    end = "complete" if counts["complete"] else "NOT complete"
    if counts["spilled"]:
        end += f", {counts['spilled']} of the states on disk"
    lines = [f"{sizes}, depth {counts['depth']}, {end} (tier {counts['tier']}: {counts['why_tier']})"]
    lines += [f"shortest way to {goal}: {plural(length, 'step')}" for goal, length in sorted(counts["reach"].items())]
    print_lines(terminal(), map(inert, lines))


def _are_goals(bundle: Bundle, system: str, names: list[str]) -> None:
    goals = [claim.name for claim in bundle.claims_of(system) if isinstance(claim, Reachable)]
    for name in names:
        if name not in goals:
            raise BadUse(f"{name!r} is no goal of {system}; there is: {', '.join(sorted(goals)) or 'none'}")


def _folder(out: Path | None) -> Path | None:
    with usage():
        return None if out is None else ready_folder(out)


def _disk(spill: Path | None, max_memory: int | None) -> Spill | None:
    from evenhand.properties.search.disk import SpillFailed
    from evenhand.spilling import Folder

    if spill is None:
        return None
    if max_memory is None:
        raise BadUse("--spill says where to go on when memory ends; say with --max-memory when that is")
    _folder(spill)
    try:
        return Folder(spill).ready()
    except SpillFailed as error:
        raise BadUse(str(error)) from error


def _exporter(graph: Path | None, parts: bool) -> Any:
    if graph is None:
        if parts:
            raise BadUse("--parts says what --graph writes; name a file with --graph")
        return None
    with usage():
        return exporter(graph)


def _settings(job: Job, system: AnySystem) -> dict[str, Any]:
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
    examples: Annotated[int, typer.Option(metavar="N", min=1, help="How many runs.")] = 200,
    steps: Annotated[int, typer.Option(metavar="N", min=1, help="How many actions a run has at most.")] = 20,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Where the random choices start.")] = 0,
    guided: Annotated[
        bool, typer.Option("--guided", help="Steer towards transitions and changes of class that were seen least.")
    ] = False,
    out: KeepOption = None,
    as_json: JsonOut = False,
) -> int:
    """Drive a system with a Hypothesis state machine.

    Hostile and constructive runs; what fails is shrunk.  Exit codes: 0 nothing refuted that was not stated; 1
    something was; 2 bad use; 3 something undecided that was not stated; 130 interrupted, after printing what was
    found.
    """
    from evenhand.properties.machine import fuzz as drive

    bundle = bundle_named(protocol)
    asked = Job(bundle.name, "fuzz", system, variant=mutant, examples=examples, steps=steps, seed=seed, guided=guided)
    job, chosen = job_for(bundle, asked, scope, reading, claim)
    folder = _folder(out)
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
            guided=guided,
            progress=progress,
        )
    findings = findings_of(bundle, job, chosen, found.verdicts)
    report = Report(
        findings,
        _settings(job, chosen),
        versions(),
        notes=found.findings,
        interrupted=found.interrupted,
        timing={"total": time.monotonic() - began},
    )
    more = {"examples": found.examples, "steps": found.steps, "coverage": dict(found.coverage), "seed": seed}
    if not as_json:
        print_lines(terminal(), [f"{plural(found.examples, 'run')}, {plural(found.steps, 'step')}, seed {seed}"])
    return finish(keep(folder, report), more, as_json=as_json)
