"""The report of a run: every finding, its standing against what was expected, and the exit code.

An expectation is registered before the run.  A finding stands *as expected* or is *unexpected*:

* expected HOLDS: every engine must say HOLDS (sampling may leave open what it cannot establish, such as that
  something happens on every run, where another engine decides it);
* expected REFUTED: some engine must refute it (the others may have searched too small a scope);
* expected UNDECIDED: some engine must be undecided and none may refute it; where all hold it is *better*
  than expected, which the summary reports and which fails nothing.

The exit code follows: 1 for an unexpected refutation or an expected one that now holds, 3 for an unexpected
UNDECIDED (any UNDECIDED if strict), 130 for an interrupted run, otherwise 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from enum import Enum
from functools import cached_property
from typing import Any, cast

from evenhand.core.canonical import Json
from evenhand.core.grouping import grouped
from evenhand.core.text import inert
from evenhand.core.verdict import UNREPLAYED, Status
from evenhand.evidence.finding import Finding, sizes_of
from evenhand.evidence.schemas import Mistake, fields_of
from evenhand.exits import INTERRUPTED
from evenhand.report.about import About
from evenhand.report.phrases import Word, counted, plural, refutation, word

FORMAT = "evenhand/report"
VERSION = 2

DERIVED = ("format", "version", "summary", "digest")
"""The keys of a file that are made from the others when it is written."""

_SHOWN = ("trace", "standing", "word")
"""The same of a verdict."""


class Standing(Enum):
    """How a finding compares with its expectation."""

    EXPECTED = "as expected"
    LEFT_OPEN = "left open"
    BETTER = "better than expected"
    UNEXPECTED = "unexpected"


def _nothing() -> dict[str, Any]:
    return {}


@dataclass(frozen=True, repr=False)
class Report:
    """Every finding of a run, in the order of its plan.

    `settings` are the options of the run (budget, seed, protocols …), `versions` the software that ran it,
    `notes` what a reader must know beside the findings, `claims` the source and the place of each claim, `mutants` how
    many each protocol has.  Only `timing` holds clock readings.
    """

    findings: tuple[Finding, ...]
    settings: Mapping[str, Json] = field(default_factory=_nothing)
    versions: Mapping[str, str] = field(default_factory=_nothing)
    notes: tuple[str, ...] = ()
    interrupted: bool = False
    unfinished: tuple[str, ...] = ()
    timing: Mapping[str, float] = field(default_factory=_nothing)
    claims: tuple[About, ...] = ()
    mutants: Mapping[str, int] = field(default_factory=_nothing)

    @property
    def holds(self) -> bool:
        """Whether every claim holds: refuted by no engine, and held by search or proof.

        Random runs that found nothing are no proof, so a claim that only sampling covered does not hold;
        nor does a report without findings, or one that was interrupted.
        """
        return bool(self.findings) and not self.interrupted and not self.refuted and not self.undecided

    def __bool__(self) -> bool:
        """Return `holds`, for `assert evenhand.verify(…)`."""
        return self.holds

    @property
    def refuted(self) -> tuple[Finding, ...]:
        """The findings that refute."""
        return tuple(finding for finding in self.findings if finding.status is Status.REFUTED)

    @property
    def as_expected(self) -> bool:
        """Whether every finding is as expected (or better), and something was run."""
        return bool(self.findings) and not self.interrupted and not self.unexpected

    @property
    def undecided(self) -> tuple[Finding, ...]:
        """One finding for each claim that no engine decided: no refutation, no HOLDS of search or proof.

        A violation that an engine could not replay leaves its claim undecided: the model or claim is no function.
        """
        return tuple(
            next((finding for finding in group if finding.status is Status.UNDECIDED), group[0])
            for group in self._claims.values()
            if not any(map(decides, group)) or any(UNREPLAYED in finding.coverage for finding in group)
        )

    def standing(self, finding: Finding) -> Standing:
        """Return how one of the findings compares with its expectation."""
        status = finding.status
        match finding.expected:
            case Status.HOLDS:
                if status is Status.HOLDS:
                    return Standing.EXPECTED
                if status is Status.UNDECIDED and finding.beyond and any(map(decides, self._claims[finding.about])):
                    return Standing.LEFT_OPEN
                return Standing.UNEXPECTED
            case Status.REFUTED:
                return Standing.EXPECTED if Status.REFUTED in self._groups[finding.group] else Standing.UNEXPECTED
            case Status.UNDECIDED:
                if status is Status.REFUTED:
                    return Standing.UNEXPECTED
                return Standing.EXPECTED if Status.UNDECIDED in self._groups[finding.group] else Standing.BETTER

    @cached_property
    def _groups(self) -> Mapping[tuple[str, ...], list[Status]]:
        return grouped((finding.group, finding.status) for finding in self.findings)

    @cached_property
    def _claims(self) -> Mapping[tuple[str, ...], list[Finding]]:
        return grouped((finding.about, finding) for finding in self.findings)

    @cached_property
    def unexpected(self) -> tuple[Finding, ...]:
        """The findings that are unexpected; those better than expected are not among them."""
        return tuple(finding for finding in self.findings if self.standing(finding) is Standing.UNEXPECTED)

    def exit_code(self, *, strict: bool = False) -> int:
        """Return the exit code of the command line; see the module."""
        if self.interrupted:
            return INTERRUPTED
        if any(f.status is Status.REFUTED or _gone(f) for f in self.unexpected):
            return 1
        open_ = [f for f in self.findings if f.status is Status.UNDECIDED]
        counted = [f for f in open_ if self.standing(f) is not Standing.LEFT_OPEN] if strict else self.unexpected
        return 3 if any(f.status is Status.UNDECIDED for f in counted) else 0

    def summary(self) -> dict[str, Json]:
        """Return counts: UNDECIDED as expected first, then the rest; claims, findings, and the exit code."""
        standings = [(f, self.standing(f)) for f in self.findings]
        stated = [word(f) for f, standing in standings if standing is Standing.EXPECTED]
        unexpected = [f.status for f in self.unexpected]
        return {
            "undecided_expected": stated.count(Word.UNDECIDED),
            "undecided_unexpected": unexpected.count(Status.UNDECIDED),
            "refuted_unexpected": unexpected.count(Status.REFUTED),
            "refutation_gone": sum(map(_gone, self.unexpected)),
            "refuted_expected": stated.count(Word.REFUTED),
            "killed": stated.count(Word.KILLED),
            "reproduced": stated.count(Word.REPRODUCED),
            "left_open": sum(standing is Standing.LEFT_OPEN for _, standing in standings),
            "better_than_stated": sum(standing is Standing.BETTER for _, standing in standings),
            "holds": sum(f.status is Status.HOLDS for f in self.findings),
            "claims": len({(f.protocol, f.claim) for f in self.findings}),
            "findings": len(self.findings),
            "interrupted": self.interrupted,
            "exit_code": self.exit_code(strict=bool(self.settings.get("strict"))),
        }

    def to_json(self) -> dict[str, Json]:
        """Return the report as JSON: the same bytes for the same run, `timing` apart."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "settings": dict(self.settings),
            "versions": dict(self.versions),
            "summary": self.summary(),
            "verdicts": [self._verdict(f) for f in self.findings],
            "claims": [asdict(claim) for claim in self.claims],
            "mutants": dict(self.mutants),
            "notes": list(self.notes),
            "interrupted": self.interrupted,
            "unfinished": list(self.unfinished),
            "timing": {name: round(seconds, 3) for name, seconds in self.timing.items()},
        }

    def _verdict(self, finding: Finding) -> dict[str, Json]:
        """Return a finding with its standing and without the record, which is a file of its own."""
        made = finding.to_json()
        del made["record"]
        told = {"trace": list(finding.trace), "standing": self.standing(finding).value, "word": word(finding).value}
        return {**made, **told}

    @staticmethod
    def from_json(made: Mapping[str, Any]) -> Report:
        """Return the report that `to_json` wrote, without the records of its refutations.

        Raises ValueError for another format or version, and for what is no report.
        """
        named, version = made.get("format"), made.get("version")
        if (named, version) != (FORMAT, VERSION):
            raise ValueError(f"format {named!r:.60} version {version!r:.60}, not {FORMAT!r} version {VERSION}")
        lists = ("verdicts", "claims")
        if strange := next((name for name in lists if not isinstance(made.get(name), list)), None):
            raise Mistake(f"$.{strange}", "it is no list")
        plain = {name: value for name, value in made.items() if name not in (*lists, *DERIVED)}
        return Report(
            findings=tuple(map(_finding, made["verdicts"])),
            claims=tuple(map(About.from_json, made["claims"])),
            **fields_of({"mutants": {}, **plain}, Report, ("findings", "claims")),  # older files count none
        )

    def __repr__(self) -> str:
        """Return one line, because pytest shortens and flattens values in a failing assertion."""
        return f"<Report: {headline(self)}>"

    def __str__(self) -> str:
        """Return the whole report as text: every refutation with its trace and the command that reproduces it."""
        return readable(self)


def _finding(made: Any) -> Finding:
    """The finding of a verdict in a file, without what is derived from it."""
    if not isinstance(made, dict):
        return Finding.from_json(made)
    kept = {name: value for name, value in cast("dict[str, Json]", made).items() if name not in _SHOWN}
    return Finding.from_json({**kept, "record": None})


def _gone(finding: Finding) -> bool:
    """Return whether an expected refutation now holds; while it is merely undecided, that is unknown."""
    return finding.status is Status.HOLDS and finding.expected is Status.REFUTED


def decides(finding: Finding) -> bool:
    """Return whether a finding decides its claim: it has a run to show, or it is a HOLDS of search or proof."""
    if finding.status is not Status.HOLDS:
        return finding.status is Status.REFUTED
    return finding.engine not in ("fuzz", "replay") or (finding.engine == "fuzz" and finding.length is not None)


def headline(report: Report) -> str:
    """Return one line, short enough for an assertion's message: the shortest refutation, or the undecided claims."""
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
    claims = len({(f.protocol, f.claim) for f in report.findings})
    return f"{plural(claims, 'claim')} {'HOLDS' if claims == 1 else 'HOLD'}"


def _length(finding: Finding) -> int:
    return finding.length if finding.length is not None else 10**9


def readable(report: Report) -> str:
    """Return the whole report as text: every refutation with its trace, then what is undecided, then what holds."""
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
    unexpected = [f for f in report.unexpected if f.expected is not Status.HOLDS]
    lines += [f"unexpected: {f.claim} by {f.engine} was expected {f.expected.value}" for f in unexpected]
    return "\n".join([*lines, *(inert(note) for note in report.notes)])


def _once(findings: Iterable[Finding]) -> Iterator[Finding]:
    best: dict[tuple[str, ...], Finding] = {}
    for finding in findings:
        key = (finding.protocol, finding.system, finding.variant, finding.claim)
        if key not in best or _length(finding) < _length(best[key]):
            best[key] = finding
    return iter(best.values())


def _holding(findings: Iterable[Finding]) -> Iterator[str]:
    answers = grouped(((finding.protocol, finding.system, finding.claim), _answer(finding)) for finding in findings)
    for (_, _, claim), several in answers.items():
        yield f"HOLDS  {inert(claim)} ({'; '.join(several)})"


def _answer(finding: Finding) -> str:
    """What one engine says of a claim that nothing refutes."""
    if finding.status is Status.UNDECIDED:  # a search decides its sizes; what else was asked stays open
        asked = f" for {finding.scope['asked']}" if finding.scope.get("asked") else ""
        return inert(f"{finding.engine} UNDECIDED{asked}{finding.because and f': {finding.because}'}")
    told = f"{finding.engine} {counted(finding)}".strip()
    return f"{told} with {sizes_of(finding)}" if finding.sizes and not finding.scope.get("proved") else told
