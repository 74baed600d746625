"""A report in one page: per protocol what is guaranteed, what its own rules refute, what is open, what to look at.

Every claim of a protocol stands in exactly one group.  The groups are about the reference under its default readings;
what another reading changes is counted beside them, and kept counterexamples that fail again are counted by themselves:
they say that the record is right, and nothing new about the protocol.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from msgspec import to_builtins

from evenhand.core.canonical import Json
from evenhand.core.grouping import grouped
from evenhand.core.profile import Aspect
from evenhand.core.verdict import Status
from evenhand.evidence.finding import Finding, readings_of
from evenhand.evidence.story import Story
from evenhand.report.about import About
from evenhand.report.phrases import Word, plural, word
from evenhand.report.report import Report, decides
from evenhand.studies.profiling import Cell, ProfileAnswer, Shown, answer_of


class Group(StrEnum):
    """What is known of a claim of the reference under its default readings; the first that fits.

    `proved` is for any number of agents (the theorem's scope says of what); `searched` holds in every scope that was
    searched whole; `happens` was shown by a run; `sampled` met no fault in random runs, which establishes nothing;
    `elsewhere` was looked at under other readings only.
    """

    refuted = "refuted"
    open = "open"
    proved = "proved"
    searched = "searched"
    happens = "happens"
    sampled = "sampled"
    elsewhere = "elsewhere"


@dataclass(frozen=True)
class Told:
    """A claim in the digest: its sentence, where it is so, in how many steps, the story in a line, how to open it."""

    claim: str
    sentence: str
    systems: tuple[str, ...] = ()
    length: int | None = None
    story: str = ""
    command: str = ""


@dataclass(frozen=True)
class Answered:
    """An answer of the protocol's profile: in which systems yes, no and open, and the readings that change it.

    `why` is the claim that shows a yes, `how` the claim that another reading refutes with its shortest run in a line;
    `unasked` says that no claim asks; an answer that is open in no system has no verdict yet.
    """

    aspect: str
    answer: str
    yes: tuple[str, ...] = ()
    no: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    readings: tuple[str, ...] = ()
    why: str = ""
    how: str = ""


@dataclass(frozen=True)
class ProtocolDigest:
    """What a report says of one protocol.

    `groups` has every claim once.  `refuted` are those of its group, deadlock, livelock and arbitration first, then the
    shortest; `undecided` those of which some system is decided by no engine and sampled by none, with the reason;
    `sampled` counts, by system, those that only random runs looked at there.  `depends` names the claims whose decided
    verdict another reading reverses.  `answers` follow the protocol's profile.  `recorded` and `caught` are the kept
    counterexamples of the reference and of its mutants that fail as recorded, `kept` all that were replayed.  `proved`
    has the claims of its group by what the proof is for, `any number of agents`.
    """

    protocol: str
    groups: Mapping[Group, tuple[str, ...]]
    refuted: tuple[Told, ...]
    undecided: tuple[Told, ...]
    sampled: Mapping[str, int]
    depends: tuple[str, ...]
    answers: tuple[Answered, ...]
    recorded: int
    caught: int
    kept: int
    proved: Mapping[str, tuple[str, ...]]

    @property
    def claims(self) -> int:
        """How many claims were looked at."""
        return sum(map(len, self.groups.values()))

    def to_json(self) -> dict[str, Json]:
        """Return the fields by name."""
        return dict(to_builtins(self))


def digest(report: Report) -> tuple[ProtocolDigest, ...]:
    """Return what the report says of each protocol, in its order."""
    return tuple(_of(report, name) for name in dict.fromkeys(finding.protocol for finding in report.findings))


def with_digest(report: Report) -> dict[str, Json]:
    """Return the JSON of a report with its digest, as `report.json` has it."""
    return {**report.to_json(), "digest": [one.to_json() for one in digest(report)]}


def _of(report: Report, protocol: str) -> ProtocolDigest:
    every = [finding for finding in report.findings if finding.protocol == protocol]
    replayed = [finding for finding in every if finding.engine == "replay"]
    about = {one.claim: one for one in report.claims if one.protocol == protocol}
    existential = {name for name, one in about.items() if one.existential}
    by_claim = of_reference(every)
    found = grouped((_group(several, claim in existential), claim) for claim, several in by_claim.items())
    groups = {group: tuple(found.get(group, ())) for group in Group}
    answering = {name for name, one in about.items() if one.questions}
    kept = {finding.claim: finding for finding in reversed(replayed) if finding.variant == "reference"}
    refuted = [_refuted(by_claim[claim], kept.get(claim)) for claim in groups[Group.refuted]]
    refuted.sort(key=lambda one: (one.claim not in answering, one.length or 0, one.claim))
    flipped = grouped((flip.claim, flip) for flip in flips(report) if flip.protocol == protocol)
    again = [finding for finding in replayed if word(finding) is Word.REPRODUCED]
    return ProtocolDigest(
        protocol,
        groups,
        tuple(refuted),
        tuple(_undecided(by_claim)),
        dict(Counter(system for several in by_claim.values() for system in _left(several, sampled=True))),
        tuple(flipped),
        tuple(_answer(about.values(), aspect, by_claim, flipped) for aspect in Aspect),
        sum(finding.variant == "reference" for finding in again),
        sum(finding.variant != "reference" for finding in again),
        len(replayed),
        _proved(by_claim, sorted(groups[Group.proved], key=[*about, *by_claim].index)),
    )


def of_reference(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    """Return what engines say of the reference, by claim; kept counterexamples are no engine's."""
    asked = (one for one in findings if one.variant == "reference" and one.engine != "replay")
    return grouped((one.claim, one) for one in asked)


def _proved(by_claim: Mapping[str, list[Finding]], names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    def proved_for(name: str) -> str:
        scopes = (one.scope.get("proved") for one in _usual(by_claim[name]))
        return str(next(filter(None, scopes), "any size"))

    return {scope: tuple(several) for scope, several in grouped((proved_for(name), name) for name in names).items()}


def _usual(found: Iterable[Finding]) -> list[Finding]:
    return [finding for finding in found if not finding.readings]


def _group(found: Iterable[Finding], existential: bool) -> Group:
    usual = _usual(found)
    holding = {finding.engine for finding in usual if finding.status is Status.HOLDS}
    decided = [finding for finding in usual if decides(finding)]
    if any(finding.status is Status.REFUTED for finding in usual):
        return Group.refuted
    if not usual:
        return Group.elsewhere
    if "prove" in holding:
        return Group.proved
    if decided:
        return Group.happens if existential else Group.searched
    return Group.sampled if holding else Group.open


@dataclass(frozen=True)
class Flip:
    """A claim whose verdict another reading changes."""

    protocol: str
    system: str
    claim: str
    usual: Status
    readings: str
    status: Status
    story: str = ""


def flips(report: Report) -> tuple[Flip, ...]:
    """Return the claims whose decided verdict another reading reverses, by search."""
    searched = [f for f in report.findings if f.engine == "explore" and f.variant == "reference"]
    usual: dict[tuple[str, str, str], Status] = {}
    for finding in searched:
        if not finding.readings:
            key = (finding.protocol, finding.system, finding.claim)
            usual[key] = min(usual.get(key, finding.status), finding.status, key=lambda s: s is not Status.REFUTED)
    found: dict[tuple[str, str, str, str], Flip] = {}
    for finding in searched:
        key = (finding.protocol, finding.system, finding.claim)
        before = usual.get(key)
        decided = Status.UNDECIDED not in (before, finding.status)
        if finding.readings and before is not None and decided and finding.status is not before:
            readings = readings_of(finding)
            found[*key, readings] = Flip(*key, before, readings, finding.status, brief(finding.story))
    return tuple(found.values())


def _refuted(found: Iterable[Finding], kept: Finding | None) -> Told:
    against = [finding for finding in _usual(found) if finding.status is Status.REFUTED]
    first = min(against, key=lambda one: (one.length is None, one.length or 0))
    command = (kept.command if kept is not None else "") or first.command
    return Told(
        first.claim,
        first.sentence,
        tuple(dict.fromkeys(finding.system for finding in against)),
        first.length,
        brief(first.story) or first.because,
        command.splitlines()[0] if command else "",
    )


def _left(found: Iterable[Finding], *, sampled: bool) -> dict[str, list[Finding]]:
    """The systems in which no engine decides the claim, `sampled` or not; none if it is proved, in every system."""
    usual = _usual(found)
    if any(one.engine == "prove" and one.status is Status.HOLDS for one in usual):
        return {}
    systems = grouped((one.system, one) for one in usual)
    return {
        system: several
        for system, several in systems.items()
        if not any(map(decides, several)) and any(map(bool, several)) is sampled
    }


def _undecided(by_claim: Mapping[str, list[Finding]]) -> Iterator[Told]:
    for claim, found in by_claim.items():
        if open_ := _left(found, sampled=False):
            first = next(iter(open_.values()))[0]
            yield Told(claim, first.sentence, tuple(open_), None, first.because, "")


def _answer(
    every: Iterable[About], aspect: Aspect, by_claim: Mapping[str, list[Finding]], flipped: Mapping[str, list[Flip]]
) -> Answered:
    """The answer to a question of the profile; what only sampling met stays open."""
    asked = [one for one in every if aspect.value in one.questions]
    shown = tuple(
        Shown(answer_of(finding.status, one.affirms) if decides(finding) else ProfileAnswer.OPEN, finding)
        for one in asked
        for finding in _usual(by_claim.get(one.claim, ()))
    )
    cell = Cell(aspect, shown)
    by_system = grouped((one.finding.system, one) for one in shown)
    systems = grouped((Cell(aspect, tuple(own)).answer, system) for system, own in by_system.items())
    yes, no, open_ = (tuple(systems.get(one, ())) for one in (ProfileAnswer.YES, ProfileAnswer.NO, ProfileAnswer.OPEN))
    changing = [flip for one in asked for flip in flipped.get(one.claim, ())]
    runs = sorted((flip for flip in changing if flip.story), key=lambda flip: len(flip.story))
    answer = ProfileAnswer.OPEN if asked and not shown else cell.answer  # a run that was interrupted, say
    return Answered(
        aspect.value,
        answer.value,
        yes,
        no,
        open_,
        tuple(dict.fromkeys(flip.readings for flip in changing)),
        cell.best.finding.claim if cell.answer is ProfileAnswer.YES and cell.best is not None else "",
        f"{runs[0].claim}: {runs[0].story}" if runs else "",
    )


def brief(story: Story | None) -> str:
    """Return the actions of a story in one line: of both runs where there are two, `for ever` where they repeat."""
    if story is None:
        return ""
    told: list[str] = []
    for run in story.runs:
        actions = [" ".join(line.strip() for line in step.action) for step in run.steps]
        if run.loop:
            actions[-run.loop] = f"for ever: {actions[-run.loop]}"
        told.append("; then ".join(_counted(actions)) if actions else "at the start")
    return f" {BESIDE} ".join(dict.fromkeys(told))


def _counted(actions: list[str]) -> Iterator[str]:
    """The actions, one that comes several times in a row once with its number."""
    for action, again in groupby(actions):
        times = len(list(again))
        yield f"{times} times {action}" if times > 1 else action


BESIDE = "| beside |"


def steps_of(told: Told) -> str:
    """Return the number of steps in words; empty where there is no run."""
    return "" if told.length is None else plural(told.length, "step")
