"""`evenhand.examine`: does anything decide in your code that should not?  It needs neither protocol nor model.

    report = evenhand.examine(kernel)
    assert report.clean, report

`kernel` is a factory: a class, or a function that returns a fresh object with `act({agent: choice}) -> {agent:
outcome}`.  `evenhand.rule` makes one of a function of a profile.
"""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from evenhand.arbiters.again import regressions
from evenhand.arbiters.examining import MOST_PLAYS, answers, question_names
from evenhand.arbiters.kernels import NotExaminable, Subject
from evenhand.arbiters.loading import Origin, origin_of
from evenhand.arbiters.power import Power
from evenhand.arbiters.question import Answer
from evenhand.arbiters.words import story, witness_lines
from evenhand.core.verdict import Status
from evenhand.core.versions import versions
from evenhand.evidence.finding import Finding
from evenhand.evidence.known import Known, KnownFindings, known_in
from evenhand.report.report import FORMAT, Report

PROTOCOL = "examine"
"""What stands in the place of a protocol's name in reports."""


@dataclass(frozen=True, repr=False)
class Examination:
    """The answers to all questions about one kernel; `clean` if nothing decides that should not.

    `power` says who alone can block whom in one round; None where that could not be told.  `origin` is where another
    process finds the kernel; None if none does.
    """

    subject: Subject
    answers: tuple[Answer, ...]
    seconds: float
    power: Power | None = None
    interrupted: bool = False
    origin: Origin | None = None

    @property
    def clean(self) -> bool:
        """Whether no question found an arbiter that is not allowed, and none was left open for lack of time."""
        return not self.found and not self.open and not self.interrupted

    @property
    def open(self) -> tuple[Answer, ...]:
        """The questions that could be asked and were left undecided for lack of time, or because a process failed."""
        return tuple(one for one in self.answers if one.open)

    @property
    def found(self) -> tuple[Answer, ...]:
        """The findings that are not allowed."""
        return tuple(one for one in self.answers if one.status is Status.REFUTED and not one.allowed)

    def __bool__(self) -> bool:
        """Return `clean`."""
        return self.clean

    def __str__(self) -> str:
        """Each finding in words with its witness, then what held and what was not asked."""
        lines = [f"{self.subject.name}: {len(self.found)} of {len(self.answers)} questions found an arbiter"]
        for one in self.answers:
            if one.status is Status.REFUTED:
                allowed = f" (allowed: {one.allowed})" if one.allowed else ""
                lines += [f"- {one.question}: {one.named}{allowed}", *(f"    {line}" for line in witness_lines(one))]
        held = [one for one in self.answers if one.status is Status.HOLDS]
        for part in dict.fromkeys(one.because for one in held):
            names = ", ".join(one.question for one in held if one.because == part)
            lines.append(f"- decides nothing{f' in {part}' if part else ''}: {names}")
        lines += [f"- {one.question}: {one.because}" for one in self.answers if one.status is Status.UNDECIDED]
        lines += [f"- {line}" for line in self._power_lines]
        return "\n".join(lines)

    @property
    def _power_lines(self) -> tuple[str, ...]:
        return () if self.power is None else self.power.lines

    __repr__ = __str__

    def regressions(self) -> dict[str, bytes]:
        """Return a pytest file by its name for each finding; none for a kernel that another process cannot import."""
        return {} if self.origin is None else regressions(self.origin, self.subject.name, self.found)

    def report(self, folder: Path | None = None) -> Report:
        """Return the answers as a report, which has every form: table, JSON, SARIF, JUnit, HTML, Markdown.

        `folder` is where the pytest files are written, so that each finding has the command that repeats it.
        """
        names = dict(zip((one.question for one in self.found), self.regressions() if folder else (), strict=False))
        asked = [one for one in self.answers if one.status is not Status.UNDECIDED or one.open]
        other = [one for one in self.answers if one not in asked]
        return Report(
            tuple(_finding(self.subject, one, _command(folder, names.get(one.question))) for one in asked),
            {"kernel": self.subject.name, "abilities": sorted(self.subject.abilities)},
            versions(),
            notes=(*(f"{one.question}: {one.because}" for one in other), *self._power_lines),
            interrupted=self.interrupted,
            timing={"total": self.seconds},
        )


def examine(
    kernel: Callable[..., Any],
    *,
    allow: Mapping[str, str] | None = None,
    known: Path | str | None = None,
    place: str = "",
    seconds: float | None = None,
    plays: int = MOST_PLAYS,
    examples: int = 60,
    seed: int = 0,
) -> Examination:
    """Ask every question that the kernel's abilities open, and return the answers.

    `allow` maps a question (such as "listing order") to the reason why its finding is intended.  `known` is a report of
    an earlier examination (`report.json`, or the folder that holds it), whose findings are expected now.  `place`
    (`package.module:factory`) lets other processes import the kernel where its own name does not.  `seconds` bounds
    the whole, by the clock (None: 60 CPU seconds); `plays` the small plays that are tried, `examples` the drawn plays
    of each question.  Raises `NotExaminable` (a ValueError) for a kernel that
    lacks the least that is needed, and for an exception to a question that does not exist; BadBaseline (a ValueError)
    for a file at `known` that is no report.
    """
    allowed = _exceptions(allow)
    unknown = sorted(allowed.keys() - set(question_names()))
    if unknown:
        known = ", ".join(question_names())
        raise NotExaminable(f"there is no question {unknown[0]!r} to allow; there are: {known}")
    earlier = KnownFindings() if known is None else _earlier(Path(known))
    began = time.monotonic()
    examined = answers(kernel, place=place, seconds=seconds, most=plays, examples=examples, seed=seed)
    made = tuple(
        replace(one, allowed=allowed.get(one.question) or _known(earlier, examined.subject, one))
        if one.status is Status.REFUTED
        else one
        for one in examined.answers
    )
    origin = origin_of(kernel, place)
    spent = time.monotonic() - began
    return Examination(examined.subject, made, spent, examined.power, examined.interrupted, origin)


def _exceptions(allow: Mapping[str, str] | None) -> dict[str, str]:
    if isinstance(allow, Mapping) or allow is None:
        return dict(allow or {})
    raise NotExaminable(f"{allow!r} gives no reasons: write allow={{'listing order': 'seniority is our rule'}}")


def _earlier(path: Path) -> KnownFindings:
    give = "Give the report.json that `examine --out` wrote, its folder, or a report of `examine --json`."
    file = path / "report.json" if path.is_dir() else path
    return known_in([file], _refuted, give, "Examine the kernel again.")


def _refuted(_path: Path, made: Mapping[str, Any]) -> Iterable[Known] | None:
    """Return what an earlier report refuted; None for another file."""
    if made.get("format") != FORMAT or not isinstance(made.get("verdicts"), list):
        return None
    found = [one for one in cast("list[Mapping[str, Any]]", made["verdicts"]) if one["engine"] == PROTOCOL]
    return [
        (one["system"], one["claim"], _kinds(one["because"]), frozenset[str]())
        for one in found
        if one["status"] == Status.REFUTED.value
    ]


def _known(earlier: KnownFindings, subject: Subject, one: Answer) -> str:
    finding = (subject.name, _claim(one), _kinds(one.named or one.because), frozenset[str]())
    return "known from an earlier report" if earlier.has(finding) else ""


def _kinds(named: str) -> frozenset[str]:
    """Return what decides, without the numbers that chance may change."""
    return frozenset([re.sub(r"\d+", "#", named.split(":")[0])])


def _claim(one: Answer) -> str:
    return one.question.replace(" ", "_")


def _command(folder: Path | None, name: str | None) -> str:
    return shlex.join(["pytest", str(folder / name)]) if folder is not None and name else ""


def _finding(subject: Subject, one: Answer, command: str) -> Finding:
    return Finding(
        protocol=PROTOCOL,
        claim=_claim(one),
        sentence=one.sentence,
        engine="examine",
        system=subject.name,
        variant="reference",
        status=one.status,
        expected=Status.REFUTED if one.allowed else Status.HOLDS,
        stated=one.allowed,
        because=one.named or one.because,
        scope={"plays": one.plays, "drawn": one.drawn, "complete": one.complete},
        coverage={"plays": one.plays},
        story=story(one),
        length=one.length if one.witness is not None else None,
        command=command,
    )
