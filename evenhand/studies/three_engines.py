"""Put the verdicts of machine, search and proof on the same questions side by side.

The questions are deadlock, livelock, no arbitration (does position or a name decide?) and exclusion.  The claims are
those of a protocol's profile.  The machine draws runs at the scopes of the searches; the proofs are the theorems of the
claims, and those of the claims about single steps from which an answer follows (`ProfileQuestion.steps`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from msgspec import convert

from evenhand.core.bundle import Bundle
from evenhand.core.canonical import Json
from evenhand.core.profile import Aspect, ProfileQuestion
from evenhand.core.verdict import Status
from evenhand.evidence.finding import Finding, readings_of
from evenhand.jobs.plan import EFFORT, Budget, Job
from evenhand.smt.registry import stated

ASPECTS: Mapping[str, tuple[Aspect, ...]] = {
    "deadlock": (Aspect.DEADLOCK,),
    "livelock": (Aspect.LIVELOCK,),
    "no arbitration": (Aspect.POSITION, Aspect.NAME),
    "exclusion": (Aspect.EXCLUSION,),
}
"""The aspects of each question."""
ENGINES: Mapping[str, str] = {"machine": "fuzz", "search": "explore", "proof": "prove"}
"""The columns of the table, and the engine of each."""


@dataclass(frozen=True)
class Line:
    """One verdict: of a claim (or the theorem that states it), where, and in which scope."""

    status: str
    claim: str
    system: str
    scope: str


@dataclass(frozen=True)
class Box:
    """The verdicts of one engine on one question; without any, `reason` says why."""

    question: str
    engine: str
    lines: tuple[Line, ...]
    reason: str = ""

    def to_json(self) -> dict[str, Json]:
        """Return question, engine, verdicts and reason."""
        lines = [asdict(line) for line in self.lines]
        return {"question": self.question, "engine": self.engine, "verdicts": lines, "reason": self.reason}

    @staticmethod
    def from_json(made: Mapping[str, Any]) -> Box:
        """Return what `to_json` wrote.  Raises KeyError or ValueError for anything else."""
        return Box(made["question"], made["engine"], convert(made["verdicts"], tuple[Line, ...]), made["reason"])


def questions(bundle: Bundle) -> dict[str, tuple[ProfileQuestion, ...]]:
    """Return what the profile of a protocol asks about each question of the table."""
    return {
        question: tuple(asked for asked in bundle.profile if asked.aspect in aspects)
        for question, aspects in ASPECTS.items()
    }


def drawn_beside(asked: ProfileQuestion, searches: Iterable[Job]) -> Iterator[Job]:
    """Yield the machine's runs beside the searches of a claim: at the scope of the first one in each system.

    Searches under other readings have none, nor have questions outside the table.
    """
    if not any(asked.aspect in aspects for aspects in ASPECTS.values()):
        return
    effort, seen = EFFORT[Budget.quick], set[str]()
    for job in searches:
        if not job.readings and job.system not in seen:
            seen.add(job.system)
            yield Job(job.protocol, "fuzz", job.system, job.scope, examples=effort.examples, steps=effort.steps)


def proofs_for(bundle: Bundle) -> list[Job]:
    """Return a job for each theorem about a question of the table."""
    several = (asked for asked_of in questions(bundle).values() for asked in asked_of)
    names = dict.fromkeys(name for asked in several for name in theorem_names(bundle.name, asked))
    return [Job(bundle.name, "prove", theorem=name) for name in names]


def theorem_names(protocol: str, asked: ProfileQuestion) -> tuple[str, ...]:
    """Return the theorems of the claims that a question names, under whatever readings."""
    named = {asked.claim, *asked.steps}
    return tuple(one.name for one in stated(protocol) if one.claim.name in named)


def boxes(bundle: Bundle, findings: Sequence[Finding]) -> tuple[Box, ...]:
    """Return the table of one protocol from what its engines found."""
    return tuple(
        _box(question, column, several, findings)
        for question, several in questions(bundle).items()
        for column in ENGINES
    )


def _box(question: str, column: str, several: Sequence[ProfileQuestion], findings: Iterable[Finding]) -> Box:
    engine = ENGINES[column]
    names = {name for asked in several for name in (asked.claim, *(asked.steps if engine == "prove" else ()))}
    found = [one for one in findings if one.engine == engine and one.claim in names]
    if engine != "prove":  # a theorem says under which reading it holds, and is not searched for again under others
        found = [one for one in found if not one.readings]
    lines = tuple(Line(one.status.value, one.claim, one.system, _scope(one)) for one in _best(found))
    return Box(question, column, lines, "" if lines else _reason(several, column))


def _reason(several: Sequence[ProfileQuestion], column: str) -> str:
    if not several:
        return "no claim asks"
    without = [asked.note for asked in several if not asked.claim]
    return "; ".join(without) or ("no theorem asks" if column == "proof" else "not run")


def _best(found: Iterable[Finding]) -> list[Finding]:
    """For each claim, system and reading what says most: the shortest run against it, else the most cases."""
    most: dict[tuple[str, str, str], Finding] = {}
    for one in found:
        key = (one.claim, one.system, readings_of(one))
        most[key] = max(most.get(key, one), one, key=_weight)
    return list(most.values())


def _weight(one: Finding) -> tuple[int, int]:
    order = (Status.UNDECIDED, Status.HOLDS, Status.REFUTED)
    return order.index(one.status), -(one.length or 0) if one.status is Status.REFUTED else one.coverage.get("met", 0)


def _scope(one: Finding) -> str:
    if one.engine == "prove":
        return ", ".join(filter(None, (str(one.scope.get("proved", "")), readings_of(one))))
    sizes = ", ".join(f"{name}={size}" for name, size in one.sizes.items() if size)
    return f"{sizes}; {EFFORT[Budget.quick].examples} runs" if one.engine == "fuzz" else sizes
