"""A report as a person reads it, without a terminal: refutations first, each with its trace and its command."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from evenhand.properties.verdict import Status
from evenhand.report.finding import Finding
from evenhand.report.text import inert

if TYPE_CHECKING:
    from evenhand.report.report import Report

__all__ = ["classes", "counted", "headline", "plural", "readable", "refutation", "where"]


def plural(count: int, thing: str) -> str:
    """`1 claim`, `2 claims`: the count with thousands separated."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def classes(count: int) -> str:
    """`1 class of states`, `2 classes of states`: what is counted under an abstraction."""
    return f"{count:,} class{'' if count == 1 else 'es'} of states"


def headline(report: Report) -> str:
    """One line, short enough for an assertion's message: what was refuted first, and how to see it again."""
    if report.refuted:
        first = min(report.refuted, key=_length)
        more = len({(f.protocol, f.claim) for f in report.refuted}) - 1
        others = f" and {plural(more, 'other claim')}" if more else ""
        steps = f" in {plural(first.length, 'step')}" if first.length is not None else ""
        return inert(f"{first.claim} REFUTED{steps}{others}")
    if report.undecided:
        names = ", ".join(dict.fromkeys(finding.claim for finding in report.undecided))
        return inert(f"UNDECIDED: {names}")
    if not report.findings:
        return "nothing was checked"
    return f"{plural(len({(f.protocol, f.claim) for f in report.findings}), 'claim')} HOLD"


def _length(finding: Finding) -> int:
    return finding.length if finding.length is not None else 10**9


def readable(report: Report) -> str:
    """The whole report as text: every refutation with its trace, then what is undecided, then what holds."""
    lines = [headline(report)]
    for finding in sorted(_once(report.refuted), key=_length):
        lines += ["", *refutation(finding)]
    undecided = [f for f in report.undecided if f not in report.refuted]
    for finding in undecided:
        lines += ["", f"UNDECIDED  {inert(finding.claim)}: {inert(finding.sentence)}"]
        lines += [f"  {finding.engine}: {inert(finding.because)}"] if finding.because else []
    settled = {(f.protocol, f.system, f.claim) for f in (*report.refuted, *report.undecided)}
    holding = [f for f in report.findings if (f.protocol, f.system, f.claim) not in settled]
    if holding:
        lines += ["", *_holding(holding)]
    surprising = [f for f in report.surprising if f.expected is not Status.HOLDS]
    lines += [f"surprising: {f.claim} by {f.engine} was stated {f.expected.value}" for f in surprising]
    return "\n".join([*lines, *(inert(note) for note in report.notes)])


def _once(findings: Iterable[Finding]) -> Iterator[Finding]:
    """The shortest refutation of each claim: two engines that refute one claim tell one story."""
    best: dict[tuple[str, ...], Finding] = {}
    for finding in findings:
        key = (finding.protocol, finding.system, finding.variant, finding.claim)
        if key not in best or _length(finding) < _length(best[key]):
            best[key] = finding
    return iter(best.values())


def refutation(finding: Finding) -> list[str]:
    """One refutation: the claim, who found it and where, the trace, and what reproduces it."""
    steps = f" in {plural(finding.length, 'step')}" if finding.length is not None else ""
    lines = [
        f"REFUTED  {inert(finding.claim)}: {inert(finding.sentence)}",
        f"  by {finding.engine}{steps}, {inert(where(finding))}",
    ]
    lines += [f"  {inert(finding.because)}"] if finding.because else []
    lines += [f"    {inert(line)}" for line in finding.trace]
    lines += [f"  reproduce: {inert(line)}" for line in finding.command.splitlines()]
    return lines


def where(finding: Finding) -> str:
    """System, variant, scope and readings in one line."""
    named = finding.system if finding.system == finding.protocol else f"{finding.protocol} {finding.system}"
    variant = [] if finding.variant == "reference" else [f"variant {finding.variant}"]
    readings = [f"{name}={value}" for name, value in sorted(finding.readings.items())]
    return ", ".join([f"in {named.strip()}", *variant, *readings])


def counted(finding: Finding) -> str:
    """What was looked at, as a count with its unit; empty where the engine counted nothing."""
    if "classes" in finding.coverage:
        return classes(finding.coverage["classes"])
    key, unit = {
        "explore": ("states", "state"),
        "fuzz": ("examples", "run"),
        "prove": ("linked_structures", "linked structure"),
    }.get(finding.engine, ("", ""))
    count = finding.coverage.get(key, finding.scope.get(key))
    said = plural(count, unit) if isinstance(count, int) else ""
    return f"for {finding.scope['proved']}, {said}" if finding.scope.get("proved") else said


def _holding(findings: Iterable[Finding]) -> Iterator[str]:
    best: dict[tuple[str, ...], list[str]] = {}
    for finding in findings:
        said = f"{finding.engine} {counted(finding)}".strip()
        best.setdefault((finding.protocol, finding.system, finding.claim), []).append(said)
    for (_, _, claim), answers in best.items():
        yield f"HOLDS  {inert(claim)} ({'; '.join(answers)})"
