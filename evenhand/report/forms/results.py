"""The results of one protocol as its page tells them: guarantees, limits, readings, what is open, how sure it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from evenhand.core.grouping import grouped
from evenhand.core.verdict import Status
from evenhand.evidence.finding import Finding
from evenhand.report.digest import Flip, Group, ProtocolDigest, Told
from evenhand.report.drawing import Picture
from evenhand.report.phrases import Word, counted, plural, word
from evenhand.report.report import decides
from evenhand.report.strip import story_picture


@dataclass(frozen=True)
class Guarantee:
    """A claim that nothing refutes, and how far that reaches; `case` is the run that shows it (0: none)."""

    claim: str
    sentence: str
    source: str
    reach: str
    case: int = 0


@dataclass(frozen=True)
class Limit:
    """A claim that the protocol's own rules refute, with its run drawn, and the number of the run on the page."""

    told: Told
    source: str
    picture: Picture | None
    case: int


@dataclass(frozen=True)
class EngineRow:
    """What one engine did: how many verdicts, how many of them decide, and on how much that rests."""

    engine: str
    verdicts: int
    deciding: int
    extent: str


@dataclass(frozen=True)
class Kills:
    """How many mutants are known to be caught; `mutants` is 0 where the report does not say how many there are."""

    caught: int
    mutants: int
    complete: bool


@dataclass(frozen=True)
class Result:
    """One protocol."""

    digest: ProtocolDigest
    abstract: str
    guarantees: Mapping[Group, Sequence[Guarantee]]
    limits: Sequence[Limit]
    flips: Sequence[Flip]
    engines: Sequence[EngineRow]
    kills: Kills
    base: Mapping[str, int]

    @property
    def open(self) -> dict[tuple[tuple[str, ...], str], list[Told]]:
        """The undecided claims by their systems and the reason."""
        return grouped(((told.systems, told.story), told) for told in self.digest.undecided)


def abstract(one: ProtocolDigest) -> str:
    """Return the whole in a sentence or two."""
    counts = {group: len(names) for group, names in one.groups.items()}
    parts = [
        f"{counts[group]} {words}"
        for group, words in (
            (Group.proved, "proved for any size"),
            (Group.searched, "true in every scope searched"),
            (Group.happens, "shown possible by a run"),
            (Group.refuted, "refuted by the protocol's own rules"),
            (Group.sampled, "only sampled"),
            (Group.elsewhere, "looked at under other readings only"),
            (Group.open, "undecided"),
        )
        if counts[group]
    ]
    text = f"Of {plural(one.claims, 'claim')}, {_listed(parts)}."
    return f"{text} Another reading of the text changes the answer to {len(one.depends)}." if one.depends else text


def _listed(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]])) if parts else "none was looked at"


def reach(group: Group, found: Iterable[Finding]) -> str:
    """Return for how much a claim holds: what a proof is for, or the largest search."""
    holding = [one for one in found if one.status is Status.HOLDS and not one.readings]
    if group is Group.proved:
        proved = dict.fromkeys(str(one.scope["proved"]) for one in holding if one.scope.get("proved"))
        return f"proved for {', '.join(proved)}"
    if group is Group.happens:
        lengths = [one.length for one in holding if one.length is not None]
        return f"shown in {plural(min(lengths), 'step')}" if lengths else ""
    searched = [one for one in holding if one.engine == "explore"] or holding
    largest = max(searched, key=states, default=None)
    if largest is None:
        return ""
    return " of ".join(filter(None, [counted(largest), largest.system]))


def states(finding: Finding) -> int:
    """The number of states or classes that a search covered."""
    count = finding.coverage.get("states", finding.coverage.get("classes", 0))
    return count if isinstance(count, int) else 0


def limit_of(told: Told, found: Iterable[Finding], source: str, cases: Mapping[int, int]) -> Limit:
    """Return a refuted claim with its shortest run; `cases` numbers the runs by the identity of their finding."""
    runs = [one for one in found if one.status is Status.REFUTED and not one.readings and one.story is not None]
    first = min(runs, key=lambda one: (one.length is None, one.length or 0), default=None)
    if first is None or first.story is None:
        return Limit(told, source, None, 0)
    return Limit(told, source, story_picture(first.story), cases.get(id(first), 0))


def engine_rows(every: Sequence[Finding]) -> Iterator[EngineRow]:
    """Yield a row for each engine, in the order of the report."""
    for engine in dict.fromkeys(one.engine for one in every):
        found = [one for one in every if one.engine == engine]
        deciding = sum(decides(one) or word(one) is Word.REPRODUCED for one in found)
        yield EngineRow(engine, len(found), deciding, _extent(engine, found))


def _extent(engine: str, found: Sequence[Finding]) -> str:
    if engine == "explore":
        largest = max(found, key=states)
        jobs = {(one.system, tuple(one.sizes.items()), str(one.readings)) for one in found}
        size = f"the largest, of {largest.system}, has {counted(largest)}"
        return f"exhaustive search in {plural(len(jobs), 'scope')}; {size}"
    if engine == "fuzz":
        drawn = {(one.system, str(one.readings)): one.scope.get("examples", 0) for one in found}
        return f"{plural(sum(drawn.values()), 'random run')}; what they do not refute stays open"
    if engine == "prove":
        return "SMT, for the sizes that each theorem names; the theory is compared with the model"
    if engine == "replay":
        return "kept counterexamples, replayed in their mutant and in the reference"
    if engine == "plan":
        return "claims that no job of this budget looks at in some system"
    return ""
