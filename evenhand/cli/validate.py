"""`evenhand validate`: a recorded run of a kernel, or a trace of another checker, against the model and the claims."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenhand.cli.console import BadUse, emit, guarded, terminal, usage
from evenhand.cli.itf import validate_trace
from evenhand.cli.options import JsonOut, KeepOption, ProtocolName, ReadingOption, ScopeOption, SystemOption
from evenhand.cli.requests import bundle_named, job_for
from evenhand.conform.adapters.wire import text
from evenhand.conform.checking.claims import Judge, KernelStep, judged_kinds
from evenhand.conform.checking.logs import load_log
from evenhand.conform.checking.matching import explain
from evenhand.conform.checking.words import gaps
from evenhand.core.bundle import Bundle
from evenhand.core.canonical import Json
from evenhand.core.codec import decode, encode
from evenhand.core.system import System
from evenhand.core.text import inert
from evenhand.core.verdict import Status
from evenhand.core.versions import versions
from evenhand.evidence.judge import first_refuted_step
from evenhand.jobs.plan import Job, chosen_readings, chosen_scope, inhabited
from evenhand.report.phrases import plural
from evenhand.report.table import print_lines

if TYPE_CHECKING:
    from evenhand.conform.checking.matching import Explained


@guarded
def validate(
    protocol: ProtocolName,
    log: Annotated[Path | None, typer.Option("--log", metavar="FILE", help="The log, as JSON Lines.")] = None,
    trace: Annotated[
        Path | None,
        typer.Option("--trace", metavar="FILE", help="A trace of Apalache or Quint (ITF) instead of a log."),
    ] = None,
    seen: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="With --trace: the function of your file from a state to the trace's variables; default: its fields.",
        ),
    ] = "",
    out: KeepOption = None,
    system: SystemOption = "",
    scope: ScopeOption = None,
    reading: ReadingOption = None,
    as_json: JsonOut = False,
) -> int:
    """Find a run of the model that explains a log or an ITF trace.

    The claims judge that run; of a trace, --out keeps what it refutes.  Exit codes: 0 explained, and no unexpected
    refutation; 1 an event or state that no behaviour explains, or an unexpected refutation; 2 no log, or a log of
    another protocol; 3 a bound was reached before an explanation was found or ruled out.
    """
    bundle = bundle_named(protocol)
    if (log is None) == (trace is None):
        raise BadUse("name either a log with --log or a trace with --trace")
    if trace is not None:
        job, base = job_for(bundle, Job(bundle.name, "replay", system), scope, reading, None)
        return validate_trace(bundle, base, trace, seen, out, dict(job.readings), as_json)
    assert log is not None
    if seen or out is not None or system:
        raise BadUse("--seen, --out and --system belong to --trace; a log names its system")
    return _of_log(bundle, log, scope, reading, as_json)


def _of_log(bundle: Bundle, log: Path, scope: list[str] | None, reading: list[str] | None, as_json: bool) -> int:
    with usage():
        read = load_log(log)
        if read.head.protocol != bundle.name:
            raise BadUse(f"{log}: a log of {read.head.protocol!r}, not of {bundle.name!r}")
        systems = bundle.model.systems
        if read.head.system not in systems:
            raise BadUse(f"{log}: unknown system {read.head.system!r}; there is: {', '.join(systems)}")
        sizes = {**read.head.scope, **chosen_scope(scope or [])}
        base = systems[read.head.system].at(**sizes)
        chosen = dict(chosen_readings(base, reading or []))
        system = inhabited(base.under(**chosen))
        found = explain(system, read)
    refuted, stated, left_open = _judged(bundle, system, chosen, found)
    report: dict[str, Json] = {
        "format": "evenhand/validation",
        "version": 1,
        "protocol": bundle.name,
        "system": system.name,
        "log": str(log),
        "events": len(read.events),
        "matched": found.matched,
        "explained": found.failed is None,
        "complete": found.whole,
        "recorded": found.recorded,
        "candidates": found.candidates,
        "failed": _failed(found),
        "refuted": refuted,
        "stated": stated,
        "left_open": left_open,
        "versions": dict(versions()),
    }
    if as_json:
        emit(report)
    else:
        print_lines(terminal(), _lines(report))
    if not found.whole and found.failed is not None:
        return 3
    return 1 if found.failed is not None or refuted else 0


def _failed(found: Explained) -> Json:
    """Return the event without an explanation, and the nearest outcomes that the model allows."""
    if found.failed is None:
        return None
    return {
        "event": found.matched + 1,
        "line": found.failed.line,
        "action": found.failed.action,
        "shown": found.failed.shown,
        "nearest": [
            {
                "action": encode(near.step.action),
                "shown": encode(near.step.shown),
                "differences": [str(one) for one in near.differences],
            }
            for near in found.nearest
        ],
    }


def _judged(
    bundle: Bundle, system: System[Any, Any, Any, Any, Any], readings: Mapping[str, Any], found: Explained
) -> tuple[list[Json], list[str], list[str]]:
    """Return the claims violated by the matching run and the event after it, those expected so, those left open."""
    assert found.trace is not None
    claims, _ = judged_kinds(bundle.claims, system.name)
    refuted: list[Json] = []
    stated: list[str] = []
    basis = "the run recorded" if found.recorded else "one run that matches; others may, too"
    for claim in claims:
        step = first_refuted_step(system, claim, found.trace.scenario)
        if step is None:
            continue
        if bundle.expectation(claim.name, system.name, "", readings).expected is Status.REFUTED:
            stated.append(claim.name)
        else:
            refuted.append({"claim": claim.name, "sentence": claim.sentence, "event": step, "basis": basis})
    judge = Judge(claims)
    if found.failed is not None and found.nearest and not gaps(found.failed.shown):
        near = found.nearest[0].step
        try:
            shown = decode(found.failed.shown, *system.types)
        except ValueError:
            return refuted, stated, []
        formatted = [
            *(KernelStep(step, step.shown, False) for step in found.trace.steps),
            KernelStep(near, shown, True),
        ]
        for one in judge.violations(near.config, formatted, guess=False):
            refuted.append(
                {"claim": one.claim.name, "sentence": one.claim.sentence, "event": one.step, "basis": one.basis.words}
            )
    return refuted, stated, sorted(judge.left_open - judge.judged)


def _lines(report: Mapping[str, Any]) -> Iterator[str]:
    failed = report["failed"]
    if failed is not None:
        sure = "no behaviour of the model explains" if report["complete"] else "no behaviour that was tried explains"
        yield f"event {failed['event']} (line {failed['line']}): {sure} it, after {report['matched']} that match"
        yield f"  action: {inert(text(failed['action']))[:300]}"
        yield f"  shown:  {inert(text(failed['shown']))[:300]}"
        for near in failed["nearest"]:
            yield f"  the model allows, differing in {plural(len(near['differences']), 'place')}:"
            yield f"    action: {inert(text(near['action']))[:300]}"
            yield from (f"    {inert(one)[:200]}" for one in near["differences"][:6])
    else:
        lacking = ", perhaps not the only one: parts are missing"
        only, rest = ("the one run", "") if report["recorded"] else ("a run", lacking)
        yield f"{plural(report['matched'], 'event')} explained by {only} of {report['system']}{rest}"
    for one in report["refuted"]:
        yield f"REFUTED  {one['claim']}: {inert(one['sentence'])} (event {one['event']}; on: {one['basis']})"
    if report["stated"]:
        yield f"refuted as expected: {', '.join(report['stated'])}"
    if report["left_open"]:
        yield f"left open, because they need a state that was not recorded: {', '.join(report['left_open'])}"
