"""`evenhand check`: an outside kernel against the model and the claims."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from math import inf
from pathlib import Path
from typing import Annotated, Any

import typer

from evenhand.cli import options
from evenhand.cli.check_lines import brief, coverage_lines, report_lines
from evenhand.cli.console import BadUse, counting, emit, finishing, guarded, say, terminal, usage
from evenhand.cli.output import folder_for
from evenhand.cli.requests import bundle_named
from evenhand.cli.skeleton import write_skeleton
from evenhand.conform.adapters.bounded import Bounded
from evenhand.conform.adapters.kernels import NoKernel, Piped, adapter_source, command_source
from evenhand.conform.adapters.limits import KernelLimits
from evenhand.conform.checking.baseline import identity, load_baseline
from evenhand.conform.checking.causes import Cause, causes
from evenhand.conform.checking.drawing import Stored
from evenhand.conform.checking.files import save_finding
from evenhand.conform.checking.finding import finding_json
from evenhand.conform.checking.loop import (
    ALTERED,
    EXHAUSTIVE,
    MACHINE,
    SEPARATING,
    CheckEffort,
    check_system,
    scopes_of,
    takes,
)
from evenhand.conform.checking.multi_run import LIVENESS_RUNS, PAIRS
from evenhand.conform.checking.refusing import Slowness
from evenhand.conform.checking.wandering import larger
from evenhand.conform.documents import check_document
from evenhand.conform.vectors.verifying import load_suites
from evenhand.core.bundle import Bundle
from evenhand.core.canonical import Json
from evenhand.core.freedom import FREE, Free
from evenhand.core.lookup import UnknownName
from evenhand.core.text import WHOLE, describe, inert, layout
from evenhand.core.verdict import Status
from evenhand.core.versions import versions
from evenhand.evidence.store import write_atomically
from evenhand.exits import INTERRUPTED
from evenhand.jobs.fixtures import fixtures_of, vector_folder
from evenhand.jobs.plan import chosen_readings, chosen_scope, inhabited
from evenhand.processes.clock import Clock
from evenhand.processes.collector import seldom_collected
from evenhand.report.forms.checked import checked_forms, finding_page
from evenhand.report.phrases import plural
from evenhand.report.table import print_lines
from evenhand.search.verdicts import changed_readings


@guarded
def check(
    protocol: options.ProtocolName,
    adapter: options.AdapterOption = "",
    command: options.CommandOption = "",
    constitution: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Check a document that configures the protocol, instead of a kernel."),
    ] = None,
    skeleton: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write an adapter to begin from, with example steps and a JSON Schema beside it."
        ),
    ] = None,
    system: options.SystemNames = None,
    scope: options.ScopeOption = None,
    reading: options.ReadingOption = None,
    claims_only: Annotated[
        bool,
        typer.Option(
            "--claims-only", help="Report only violated claims; other differences from the model are allowed."
        ),
    ] = False,
    compare: options.CompareOption = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            min=1,
            help="Time limit, by the clock and of CPU; by default 60 CPU seconds, with --exhaustive none.",
        ),
    ] = None,
    transitions: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, help="Limit on the transitions of each exhaustive scope; ignored with --exhaustive."
        ),
    ] = 6_000,
    exhaustive: Annotated[
        bool, typer.Option("--exhaustive", help="Check every transition of every exhaustive scope.")
    ] = False,
    first: Annotated[bool, typer.Option("--first", help="Stop checking a system at its first finding.")] = False,
    hostile: Annotated[
        bool, typer.Option("--hostile", help="Send values and names that no menu of the protocol offers, too.")
    ] = False,
    examples: Annotated[
        int,
        typer.Option(
            metavar="N", min=0, max=options.EXACT, help="Number of runs that the state machine draws for each system."
        ),
    ] = 120,
    pairs: Annotated[
        int,
        typer.Option(metavar="N", min=0, max=options.EXACT, help="Limit on the runs for claims about pairs of runs."),
    ] = 800,
    liveness: Annotated[
        int,
        typer.Option(metavar="N", min=0, help="Limit on the steps on the graph of a kernel that reports its state."),
    ] = 1_000,
    seed: options.SeedOption = 0,
    answer_seconds: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", min=0.01, help="Seconds without an answer after which a kernel counts as hanging."
        ),
    ] = 2.0,
    memory: Annotated[
        int, typer.Option(min=16, metavar="MIB", help="Memory limit of the kernel with all that it starts.")
    ] = 1_024,
    known: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="Do not report findings that stand in this folder of records or report of --json.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Write the report to this folder as HTML, Markdown, SARIF and JSON, and each finding as a record, a "
            "pytest file, Markdown and ITF.",
        ),
    ] = None,
    as_json: options.JsonOut = False,
) -> int:
    """Check a kernel against the model and the claims.

    Runs the kernel's own code, with your rights, in a supervised process.  Exit codes: 0 nothing found; 1 something
    found; 2 bad use, no kernel, or a kernel that supports none of the systems; 130 interrupted, after printing what
    was found.
    """
    if (constitution or skeleton) and (adapter or command):
        raise BadUse("--constitution and --skeleton need no kernel: leave --adapter and --command out")
    if constitution is not None:
        return _document(protocol, constitution, as_json)
    bundle = bundle_named(protocol)
    if skeleton is not None:
        return _begun(bundle, system or [], skeleton, as_json)
    limits = KernelLimits(seconds=answer_seconds, mebibytes=memory)
    compared = _free(compare or [])
    with usage():
        if bool(adapter) == bool(command):
            raise BadUse(
                "name the kernel by exactly one of --adapter module:factory and --command '…'; "
                "--skeleton FILE.py writes an adapter to begin from"
            )
        source = adapter_source(adapter, limits) if adapter else command_source(command, limits)
        baseline = load_baseline(known)
        folder = folder_for(out)
    effort = CheckEffort(
        None if exhaustive else transitions,
        examples,
        seed=seed,
        seconds=seconds,
        phases=(EXHAUSTIVE, *((MACHINE, ALTERED) if examples else ()), SEPARATING, PAIRS, LIVENESS_RUNS),
        hostile=hostile,
        first=first,
        pairs=pairs,
        liveness=liveness,
    )
    clock = _clock(source, seconds, exhaustive=exhaustive)
    began = time.monotonic()
    checking = _checked(bundle, source, system or [], scope or [], reading or [], claims_only, compared, effort, clock)
    checked, interrupted = _gathered(checking, [*bundle.model.systems], source)
    if not interrupted:
        _require_answers(checked, clock)
    kernel = adapter or f"command: {command}"
    usual = frozenset[str]().union(*(one.usual for one in checked))
    found = causes(((one.system, one.defects) for one in checked), usual)
    records = [_finding(bundle, one, source, claims_only, compared) for one in found]
    findings = [_saved(one, kernel, folder) for one in records if not baseline.has(identity(one))]
    report: dict[str, Json] = {
        "format": "evenhand/check",
        "version": 1,
        "protocol": bundle.name,
        "kernel": source.name,
        "judged_by": "claims" if claims_only else "model",
        "findings": findings,
        "known": len(records) - len(findings),
        "sightings": sum(one.divergences for one in checked),
        "explained": sum(one.explained for one in checked),
        "systems": [_system_json(one) for one in checked],
        "versions": dict(versions()),
        "interrupted": interrupted,
        "timing": {
            "total": time.monotonic() - began,
            **{f"first {one.system.name}": one.first[1] for one in checked if one.first},
        },
    }
    _print(report, as_json, folder)
    return INTERRUPTED if interrupted else int(bool(findings))


def _gathered(checking: Iterator[Any], names: Sequence[str], source: Piped) -> tuple[list[Any], bool]:
    """Return each system checked, in the order of their names, and whether that was interrupted.

    Raises BadUse if there is no kernel.
    """
    found, interrupted = dict[str, Any](), False
    try:
        for one in checking:
            interrupted = one.interrupted
            known = found.get(one.system.name)  # from a first look at the system
            if known is None or not interrupted or len(one.defects) >= len(known.defects):
                found[one.system.name] = one
    except NoKernel as error:
        raise BadUse(str(error)) from error
    except KeyboardInterrupt:
        interrupted = True  # while it was asked which systems it takes
    finally:
        source.close()
    finishing()
    return [found[name] for name in names if name in found], interrupted


def _require_answers(checked: Sequence[Any], clock: Clock) -> None:
    """Raise BadUse if the kernel has answered nothing, and say why."""
    if any(one.defects or any(one.steps.values()) for one in checked):
        return
    why = "; ".join(dict.fromkeys(reason for one in checked for reason in one.unsupported))
    if clock.left() <= 0 or not why:
        also = f" (so far: {inert(why)})" if why else ""
        raise BadUse(f"the kernel gave no answer in the time given{also}; give it more with --seconds")
    raise BadUse(f"the kernel supports none of the systems asked for: {inert(why)}")


DEFAULT = 60.0
"""CPU seconds of a check for which no time is given."""

REPORTING = 0.08
"""Part of the time that is kept for the report."""

UNTAKEN = 0.01
"""Part of the time for a system none of whose starts the kernel takes, to see whether it takes any at all."""


def _clock(source: Piped, seconds: float | None, *, exhaustive: bool) -> Clock:
    """Return the clock of a whole check; it includes what the kernel takes."""
    limit = DEFAULT if seconds is None and not exhaustive else seconds
    return Clock(limit, by_clock=seconds is not None, running=lambda: source.pid)


def _begun(bundle: Bundle, names: list[str], path: Path, as_json: bool) -> int:
    """Write a skeleton, and say where and how it is run."""
    written = write_skeleton(bundle, names, path)
    if as_json:
        emit({"written": [str(one) for one in written]})
    else:
        say(f"next: {shlex.join(['evenhand', 'check', bundle.name, '--adapter', f'{path}:make'])}")
    return 0


def _print(report: dict[str, Json], as_json: bool, folder: Path | None) -> None:
    """Print the report, and write its forms to the folder."""
    if folder is not None:
        with usage():
            for name, data in checked_forms(report, list(coverage_lines(report))).items():
                write_atomically(folder / name, data)
    if as_json:
        emit(report)
    else:
        print_lines(terminal(), report_lines(report))


def _free(names: Sequence[str]) -> frozenset[Free]:
    """Return the free fields to compare.  Raises BadUse for another name."""
    for name in names:
        if name not in FREE:
            raise BadUse(f"unknown kind of free field for --compare: {name!r}; there is: {', '.join(FREE)}")
    return frozenset(name for name in FREE if name in names)


def _document(protocol: str, path: Path, as_json: bool) -> int:
    """Check a document: 0 nothing found, 1 something found.  Raises BadUse for no such document."""
    checked = check_document(bundle_named(protocol).name, path)
    findings = [one for one in checked.answers if one.bad]
    if as_json:
        listed: list[Json] = [
            {"claim": one.claim, "length": one.length, "fixture": None, "says": one.sentence, "run": one.witness}
            for one in findings
        ]
        notes: list[Json] = [
            {"claim": one.claim, "status": one.status, "says": one.sentence} for one in checked.answers if not one.bad
        ]
        head: dict[str, Json] = {"format": "evenhand/check-document", "version": 1, "protocol": checked.protocol}
        emit({**head, "digest": checked.digest, "findings": listed, "notes": notes, "versions": dict(versions())})
    else:
        print_lines(terminal(), _answers(checked))
    return 1 if findings else 0


def _answers(checked: Any) -> Iterator[str]:
    for one in checked.answers:
        yield f"{'FOUND' if one.bad else 'note ' if one.status == 'REFUTED' else 'fine '}  {inert(one.sentence)}"
        for number, action in enumerate(one.witness or (), start=1):
            yield f"    {number:>3} {brief(action)}"
    number = sum(one.bad for one in checked.answers)
    yield f"{plural(number, 'finding') if number else 'nothing found'} in {inert(checked.digest)}"


def _placed(
    bundle: Bundle, names: list[str], scope: list[str], reading: list[str]
) -> tuple[list[tuple[Any, Sequence[Any]]], dict[str, int], list[Stored]]:
    """Return each system at its scopes, the sizes asked for, and the stored runs."""
    with usage():
        for name in names:
            if name not in bundle.model.systems:
                raise UnknownName(f"system of {bundle.name}:", name, bundle.model.systems)
        systems = [bundle.model.systems[name] for name in names or bundle.model.systems]
        sizes = dict(chosen_scope(scope))
        systems = [one.under(**dict(chosen_readings(one, reading))) for one in systems]
        placed: list[tuple[Any, Sequence[Any]]] = [
            (one, (one.at(**sizes),) if sizes else scopes_of(bundle, one)) for one in systems
        ]
        for at in (at for _, scopes in placed for at in scopes):
            inhabited(at)
        stored = vector_folder(bundle.name)
        suites = load_suites(stored) if stored is not None else {}
        records: list[Stored] = [
            *(vector for suite in suites.values() for vector in suite.vectors),
            *(record for _, record in fixtures_of(bundle.name)),
        ]
    return placed, sizes, records


def _checked(
    bundle: Bundle,
    source: Piped,
    names: list[str],
    scope: list[str],
    reading: list[str],
    claims_only: bool,
    compare: frozenset[Free],
    effort: Any,
    clock: Clock,
) -> Iterator[Any]:
    """Check each system in turn; the time left is shared evenly among the remaining systems.

    A result of a system replaces the one of a first look at it.
    """
    placed, sizes, records = _placed(bundle, names, scope, reading)
    raw_sent: set[tuple[str, str, int]] = set()
    silent, untaken = Slowness(), set[str]()

    def check(one: Any, scopes: Sequence[Any], effort: CheckEffort) -> Any:
        with counting(f"check {bundle.name} {one.name}", "run") as progress, seldom_collected():
            return check_system(
                bundle.name,
                scopes,
                bundle.claims,
                source,
                own=one.at(**sizes),
                wider=() if sizes or one.name in untaken else larger(bundle, one),
                generator=next((g for g in bundle.generators if g.system == one.name), None),
                records=records,
                mutants=bundle.model.mutants,
                claims_only=claims_only,
                compare=compare,
                expected_false=_expected_false(bundle, one),
                raw_sent=raw_sent,
                silent=silent,
                progress=progress,
                clock=clock,
                effort=effort,
            )

    brief = None if clock.limit == inf else clock.limit * UNTAKEN
    if brief is not None and len(placed) > 1:
        # A system that the kernel does not take leaves its time to the others.  That is asked of a kernel that answers
        # at all: one that does not is a finding of the check, not of this question.
        checked = check(*placed[0], replace(effort, seconds=brief, phases=(EXHAUSTIVE,)))
        yield checked  # what it found is found again, unless that is interrupted
        if checked.interrupted or (checked.defects and not source.answered):
            return
        source.alone, silent = False, Slowness()
        if source.answered:
            untaken |= {one.name for one, scopes in placed if not takes(bundle.name, scopes[0], Bounded(source, clock))}
            placed.sort(key=lambda item: item[0].name not in untaken)
    for number, (one, scopes) in enumerate(placed):
        left = clock.left() - clock.limit * REPORTING
        share = None if brief is None else max(0.0, left / (len(placed) - number))
        brief_share = share if one.name not in untaken or share is None or brief is None else min(share, brief)
        checked = check(one, scopes, replace(effort, seconds=brief_share))
        yield checked
        if brief_share != share and any(checked.steps.values()) and not checked.interrupted:
            checked = check(one, scopes, replace(effort, seconds=share))  # it takes the system after all
            yield checked
        if checked.interrupted:
            return


def _expected_false(bundle: Bundle, system: Any) -> frozenset[str]:
    """Return the claims that are expected to be refuted in this system under its readings."""
    changed = changed_readings(system)
    return frozenset(
        claim.name
        for claim in bundle.claims
        if bundle.expectation(claim.name, system.name, "explore", changed).expected is Status.REFUTED
    )


def _finding(
    bundle: Bundle, cause: Cause, source: Piped, claims_only: bool, compare: frozenset[Free]
) -> dict[str, Json]:
    """Return a finding as JSON: its record, and the steps in words."""
    made = finding_json(
        bundle.name,
        cause,
        bundle.claims,
        bundle.model.mutants,
        claims_only=claims_only,
        kernel=source.name,
        compare=compare,
    )
    divergence = cause.defect.divergence
    made["trace_config"] = layout(divergence.scenario.config)
    made["trace"] = [describe(action, WHOLE) for action in divergence.scenario.actions]
    if divergence.beside is not None:
        made["trace_beside"] = [describe(action, WHOLE) for action in divergence.beside.scenario.actions]
    return made


def _saved(made: dict[str, Json], kernel: str, folder: Path | None) -> dict[str, Json]:
    """Return a finding with the file to which it was written."""
    if folder is None:
        return {**made, "fixture": None}
    with usage():
        path = save_finding({name: made[name] for name in made if not name.startswith("trace")}, folder, kernel)
        test = path.with_name(f"test_{path.stem.replace('--', '_')}.py")
        written = {"fixture": path.relative_to(folder).as_posix(), "reproduce": shlex.join(["pytest", str(test)])}
        write_atomically(path.with_suffix(".md"), finding_page({**made, **written}))
    return {**made, **written}


def _system_json(checked: Any) -> dict[str, Json]:
    """Return the counts and coverage of one checked system, as JSON."""
    return {
        "system": checked.system.name,
        "runs": dict(checked.runs),
        "steps": dict(checked.steps),
        "covered": [dict(one) for one in checked.covered],
        "unsupported": dict(checked.unsupported),
        "left_out": [asdict(one) for one in checked.left_out],
        "divergences": checked.divergences,
        "shrinking": checked.shrinking,
        "first": checked.first[0] if checked.first else None,
        "judged": list(checked.judged),
        "left_open": list(checked.left_open),
        "not_judged": list(checked.not_judged),
        "why_not_judged": dict(checked.not_judged),
        "notes": list(checked.notes),
    }
