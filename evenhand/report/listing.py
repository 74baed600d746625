"""What the digest counts, opened: the claims of a group with their sentences, or everything about one claim."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from evenhand.core.text import inert
from evenhand.evidence.finding import Finding, readings_of, sizes_of
from evenhand.report.about import About
from evenhand.report.digest import Group, ProtocolDigest, digest
from evenhand.report.glance import refuted_lines
from evenhand.report.phrases import Word, counted, plural, refutation, word
from evenhand.report.report import Report, Standing

WIDE = 1000
"""Listings are for reading in full: only a story as long as a page is cut."""


def group_lines(report: Report, group: Group) -> Iterator[str]:
    """Yield the claims of a group, protocol by protocol, each with its sentence; refuted ones with their story."""
    sentences = {(finding.protocol, finding.claim): finding.sentence for finding in report.findings}
    for one in digest(report):
        names = one.groups[group]
        yield f"{inert(one.protocol)}: {plural(len(names), 'claim')} of {one.claims} {group.value}"
        if group is Group.refuted:
            yield from (line for told in one.refuted for line in refuted_lines(told, WIDE))
        elif group is Group.proved:
            for scope, several in one.proved.items():
                yield f"  for {inert(scope)}:"
                yield from (f"    {inert(name)}: {inert(sentences[one.protocol, name])}" for name in several)
        else:
            yield from (f"    {inert(name)}: {inert(sentences[one.protocol, name])}" for name in names)
        yield from _undecided(one) if group is Group.open else ()


def _undecided(one: ProtocolDigest) -> Iterator[str]:
    for told in one.undecided:
        if told.claim not in one.groups[Group.open]:
            yield f"    {inert(told.claim)}, decided elsewhere, open in {', '.join(map(inert, told.systems))}"
        yield f"      {inert(told.story)}"


def claim_lines(report: Report, claim: str) -> Iterator[str]:
    """Yield everything that the report says of the claims of this name, protocol by protocol."""
    found = [finding for finding in report.findings if finding.claim == claim]
    for protocol in dict.fromkeys(finding.protocol for finding in found):
        own = [finding for finding in found if finding.protocol == protocol]
        about = next((one for one in report.claims if (one.protocol, one.claim) == (protocol, claim)), None)
        yield f"{inert(protocol)} {inert(claim)}: {inert(own[0].sentence)}"
        yield from (f"  {line}" for line in _facts(about))
        yield from _verdicts(report, [finding for finding in own if finding.engine != "replay"])
        yield from _kept([finding for finding in own if finding.engine == "replay"])
        for finding in _shortest(own):
            yield from ("", *refutation(finding))


def _facts(about: About | None) -> Iterator[str]:
    if about is None:
        return
    yield f"source {inert(about.source) or 'none given'}; kind {inert(about.kind)}"
    if about.file:
        yield f"stated in {inert(about.file)}:{about.line}"
    if about.questions:
        yield f"answers: {', '.join(map(inert, about.questions))}"


def _verdicts(report: Report, findings: Iterable[Finding]) -> Iterator[str]:
    for finding in findings:
        standing = report.standing(finding)
        variant = "" if finding.variant == "reference" else f"mutant {finding.variant}"
        parts = [finding.system, sizes_of(finding, ","), variant, readings_of(finding), counted(finding)]
        mark = f" {standing.value}" if standing is not Standing.EXPECTED else ""
        said = str(finding.scope.get("proof_status", word(finding)))
        yield f"  {inert(said):<10}{mark} {finding.engine:<8}{' '.join(inert(part) for part in parts if part)}"
        if finding.because and word(finding) is Word.UNDECIDED:
            yield f"             {inert(finding.because)}"


def _kept(findings: list[Finding]) -> Iterator[str]:
    if findings:
        yield f"  {plural(len(findings), 'kept counterexample')}:"
    for finding in findings:
        of = "the reference" if finding.variant == "reference" else f"mutant {finding.variant}"
        yield f"  {word(finding):<10} of {inert(of)}: {inert(finding.command.splitlines()[0])}"


def _shortest(findings: Iterable[Finding]) -> list[Finding]:
    refuting = [finding for finding in findings if word(finding) is Word.REFUTED and not finding.readings]
    return sorted(refuting, key=lambda one: (one.length is None, one.length or 0))[:1]
