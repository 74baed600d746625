"""The sections of the report page, in the order of the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from evenhand.core.verdict import Status
from evenhand.evidence.finding import Finding, readings_of, sizes_of
from evenhand.evidence.story import Story
from evenhand.report.about import About
from evenhand.report.digest import Flip, Group, ProtocolDigest, digest, flips, of_reference
from evenhand.report.forms.results import Guarantee, Kills, Result, abstract, engine_rows, limit_of, reach
from evenhand.report.phrases import where
from evenhand.report.report import Report, Standing
from evenhand.report.table import next_steps, summary_line

_FIRST = {Standing.UNEXPECTED: 0, Standing.EXPECTED: 1, Standing.LEFT_OPEN: 2, Standing.BETTER: 2}
_RANK = {Status.UNDECIDED: 0, Status.REFUTED: 1, Status.HOLDS: 2}


@dataclass(frozen=True)
class Row:
    """One verdict; `number` names it within the page, `case` the counterexample that shows it (0: none)."""

    number: int
    finding: Finding
    standing: Standing
    about: About | None
    case: int
    base: tuple[int, ...]

    @property
    def where(self) -> str:
        """System, variant and readings."""
        return where(self.finding).removeprefix("in ")

    @property
    def more(self) -> list[tuple[str, str]]:
        """The rest of the scope and of the coverage, by name."""
        scope = [(name, value) for name, value in self.finding.scope.items() if name not in self.finding.sizes]
        named = [(name, _number(value)) for name, value in (*scope, *self.finding.coverage.items())]
        word = ("proof_status", self.finding.status.value)  # shown already
        return [("" if name in value.split()[:2] else name, value) for name, value in named if (name, value) != word]


@dataclass(frozen=True)
class Case:
    """A run that is evidence: of a refutation, or a witness of what can happen."""

    number: int
    finding: Finding
    story: Story


@dataclass(frozen=True)
class Growth:
    """The size of one search."""

    protocol: str
    system: str
    sizes: str
    configs: int
    states: int
    steps: int
    depth: int
    complete: bool
    quotient: str


@dataclass(frozen=True)
class Heat:
    """A kill matrix: a row for each mutant, a column for each claim that kills one; (engines, shortest) or None.

    `complete` is false where only the kept fixtures are known; `unfinished` counts what an interruption left open.
    """

    protocol: str
    claims: tuple[str, ...]
    rows: tuple[tuple[str, str, tuple[tuple[str, int | None] | None, ...]], ...]
    idle: tuple[str, ...]
    complete: bool

    @property
    def statuses(self) -> str:
        """The number of mutants with each status, `3 killed, 1 equivalent`."""
        counts = Counter(status or "killed" for _, status, _ in self.rows)
        return ", ".join(f"{number} {status}" for status, number in counts.items())

    @property
    def unfinished(self) -> int:
        """Mutants without a result."""
        return sum(status == "unfinished" for _, status, _ in self.rows)


class View:
    """A report and what the page derives from it."""

    def __init__(self, report: Report, matrices: tuple[Mapping[str, Any], ...]) -> None:
        self.report, self.matrices = report, matrices
        self.summary = report.summary()
        self.headline = summary_line(report)
        self.following = list(next_steps(report))

    @cached_property
    def results(self) -> tuple[Result, ...]:
        """The page of each protocol."""
        return tuple(map(self._result, digest(self.report)))

    def _result(self, one: ProtocolDigest) -> Result:
        every = [finding for finding in self.report.findings if finding.protocol == one.protocol]
        found = of_reference(every)
        cases = {id(finding): self._numbers[_case_of(finding)] for finding in every if finding.story is not None}
        shown = {finding.claim: cases[id(finding)] for finding in every if id(finding) in cases and bool(finding)}
        sources = {about.claim: about.source for about in self.report.claims if about.protocol == one.protocol}
        guarantees = {
            group: [
                Guarantee(
                    name,
                    found[name][0].sentence,
                    sources.get(name, ""),
                    reach(group, found[name]),
                    shown.get(name, 0) if group is Group.happens else 0,
                )
                for name in one.groups[group]
            ]
            for group in (Group.proved, Group.searched, Group.happens, Group.sampled, Group.elsewhere)
            if one.groups[group]
        }
        return Result(
            one,
            abstract(one),
            guarantees,
            [limit_of(told, found[told.claim], sources.get(told.claim, ""), cases) for told in one.refuted],
            [flip for flip in self.sensitivity if flip.protocol == one.protocol],
            list(engine_rows(every)),
            self._kills(one.protocol),
            {part: self.base[part] for part in dict.fromkeys(part for f in every for part in f.trusted_base)},
        )

    def _kills(self, protocol: str) -> Kills:
        heat = next((heat for heat in self.heat if heat.protocol == protocol), None)
        caught = sum(any(cells) for _, _, cells in heat.rows) if heat is not None else 0
        total = len(heat.rows) if heat is not None and heat.complete else self.report.mutants.get(protocol, 0)
        return Kills(caught, total, heat is not None and heat.complete)

    @cached_property
    def about(self) -> dict[tuple[str, str], About]:
        """The facts of each claim, by protocol and name."""
        return {(claim.protocol, claim.claim): claim for claim in self.report.claims}

    @cached_property
    def base(self) -> dict[str, int]:
        """The parts of the trusted base, numbered from 1 in the order of the report."""
        parts = dict.fromkeys(part for finding in self.report.findings for part in finding.trusted_base)
        return {part: number for number, part in enumerate(parts, start=1)}

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        """Each different run once: unexpected verdicts first, then refutations, then witnesses."""
        ranked = sorted(
            self._every, key=lambda f: (self.report.standing(f) is not Standing.UNEXPECTED, _RANK[f.status])
        )
        first: dict[tuple[Any, ...], Finding] = {}
        for finding in ranked:
            first.setdefault(_case_of(finding), finding)
        stories = ((finding, finding.story) for finding in first.values())
        return tuple(Case(n, f, story) for n, (f, story) in enumerate(stories, start=1) if story is not None)

    @cached_property
    def _numbers(self) -> dict[tuple[Any, ...], int]:
        """The number of each run."""
        return {_case_of(case.finding): case.number for case in self.cases}

    @property
    def _every(self) -> list[Finding]:
        return [finding for finding in self.report.findings if finding.story is not None]

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """Every verdict: unexpected, as expected, then left open or better; in each UNDECIDED, REFUTED, HOLDS."""
        cases = self._numbers
        rows = [
            Row(
                number,
                finding,
                self.report.standing(finding),
                self.about.get((finding.protocol, finding.claim)),
                cases.get(_case_of(finding), 0) if finding.story is not None else 0,
                tuple(self.base[part] for part in finding.trusted_base),
            )
            for number, finding in enumerate(self.report.findings, start=1)
        ]
        return tuple(sorted(rows, key=lambda row: (_FIRST[row.standing], _RANK[row.finding.status], row.number)))

    @property
    def protocols(self) -> list[str]:
        """The protocols, in order."""
        return list(dict.fromkeys(finding.protocol for finding in self.report.findings))

    @property
    def engines(self) -> list[str]:
        """The engines, in order."""
        return list(dict.fromkeys(finding.engine for finding in self.report.findings))

    @cached_property
    def sensitivity(self) -> tuple[Flip, ...]:
        """The claims whose decided verdict another reading reverses, by search."""
        return flips(self.report)

    @cached_property
    def readings_run(self) -> tuple[tuple[str, str], ...]:
        """The readings other than the default that were searched, with their protocol."""
        return tuple(dict.fromkeys((f.protocol, readings_of(f)) for f in self._searched if f.readings))

    @property
    def readings_idle(self) -> list[str]:
        """The searched readings that change no verdict."""
        flipping = {(flip.protocol, flip.readings) for flip in self.sensitivity}
        return [
            f"{protocol} {readings}" for protocol, readings in self.readings_run if (protocol, readings) not in flipping
        ]

    @property
    def _searched(self) -> list[Finding]:
        return [f for f in self.report.findings if f.engine == "explore" and f.variant == "reference"]

    @property
    def proofs(self) -> list[Row]:
        """The verdicts of the prover on the reference."""
        return [row for row in self.rows if row.finding.engine == "prove"]

    @cached_property
    def growth(self) -> tuple[Growth, ...]:
        """The searches of each system under its default readings, smallest first."""
        found: dict[tuple[str, ...], Growth] = {}
        for finding in self._searched:
            count = finding.coverage
            states = count.get("states", count.get("classes"))
            if finding.readings or states is None:
                continue
            key = (finding.protocol, finding.system, sizes_of(finding))
            numbers = (count["configs"], states, count["steps"], finding.scope["depth"])
            whole, quotient = bool(finding.scope["complete"]), str(finding.scope.get("quotient", ""))
            found.setdefault((*key, quotient), Growth(*key, *numbers, whole, quotient))
        return tuple(sorted(found.values(), key=lambda one: (one.protocol, one.system, one.states)))

    @cached_property
    def heat(self) -> tuple[Heat, ...]:
        """The kill matrices given; for other protocols, the one that the fixtures show."""
        given = {str(matrix["protocol"]): heat_of(matrix) for matrix in self.matrices}
        kept = (heat for name in self.protocols if name not in given and (heat := self._of_fixtures(name)) is not None)
        return (*given.values(), *kept)

    def _of_fixtures(self, protocol: str) -> Heat | None:
        kills: dict[str, dict[str, tuple[str, int | None]]] = {}
        for f in self.report.findings:
            if (f.protocol, f.engine, f.status) == (protocol, "replay", Status.REFUTED) and f.variant != "reference":
                kills.setdefault(f.variant, {})[f.claim] = ("replay", f.length)
        return _heat_from(protocol, {name: ("", by) for name, by in kills.items()}, (), False) if kills else None


def _case_of(finding: Finding) -> tuple[Any, ...]:
    return (finding.protocol, finding.system, finding.variant, finding.claim, finding.story)


def heat_of(matrix: Mapping[str, Any]) -> Heat:
    """Return a kill matrix from its JSON.  Raises KeyError or TypeError for anything else."""
    lives: dict[str, tuple[str, dict[str, tuple[str, int | None]]]] = {}
    for row in matrix["matrix"]:
        by: dict[str, tuple[str, int | None]] = {}
        for kill in row["kills"]:
            engines, shortest = by.get(kill["claim"], ("", None))
            lengths = [length for length in (shortest, kill["length"]) if length is not None]
            names = dict.fromkeys([*engines.split(), str(kill["engine"])])
            by[kill["claim"]] = (" ".join(names), min(lengths) if lengths else None)
        lives[str(row["mutant"])] = ("" if row["status"] == "killed" else str(row["status"]).replace("_", " "), by)
    return _heat_from(str(matrix["protocol"]), lives, tuple(map(str, matrix["idle_claims"])), True)


def _heat_from(
    protocol: str,
    lives: Mapping[str, tuple[str, Mapping[str, tuple[str, int | None]]]],
    idle: tuple[str, ...],
    complete: bool,
) -> Heat:
    claims = tuple(dict.fromkeys(claim for _, by in lives.values() for claim in by))
    rows = tuple((name, status, tuple(by.get(claim) for claim in claims)) for name, (status, by) in lives.items())
    return Heat(protocol, claims, rows, idle, complete)


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
