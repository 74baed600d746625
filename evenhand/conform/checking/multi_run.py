"""Check claims that no single run can refute: about pairs of runs, and about what can or must happen.

Pairs are made first from runs on which the kernel differs, then from a sample of the others, so that differences that
show only in another configuration (names, one more authority) are met.  Violations are shrunk; the smallest pair of
each claim is reported.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

from evenhand.conform.adapters.kernels import Source
from evenhand.conform.checking.claims import Basis, Violation
from evenhand.conform.checking.comparing import Difference, Names, differences, normal, words_of
from evenhand.conform.checking.divergence import Divergence, Examiner, SecondTrace
from evenhand.conform.checking.liveness import SILENT, Broken, LivenessClaims, own_system
from evenhand.conform.checking.ordering import Defect
from evenhand.conform.checking.two_safety import SAME_KEY, Pairing, Related
from evenhand.core.canonical import Json
from evenhand.core.codec import encode
from evenhand.core.kinds import Property
from evenhand.core.relations import DeterminedBy, Paired, Relational
from evenhand.core.system import AnySystem
from evenhand.core.trace import AnyScenario, AnyTrace, Lasso, Pair, Scenario, Trace
from evenhand.core.verdict import Evidence
from evenhand.evidence.shrink import shrink
from evenhand.processes.clock import OutOfTime

PAIRS, LIVENESS_RUNS = "pairs", "liveness"

TRIES = 120
"""Comparisons for shrinking one pair."""

DIFFERING = 200
"""Differing runs from which pairs are made."""

CHOOSING = 64
"""Runs, the first, at whose end the kernel chose: they are repeated first, with its choices in other orders."""

DEEP = 6
"""Steps of an agreeing run after which a pair may part."""

SCANNED = 50_000
"""Agreeing steps that are compared with differing ones."""

TOGETHER = 8
"""Runs from which pairs are made between two checks of the budget."""

STEPS = 20_000
"""Steps of a kernel's own graph for repeating one finding."""


@dataclass
class MultiRunClaims:
    """Judges claims about several runs: `defects`, and in `why_not` the reason for each open claim."""

    examiner: Examiner
    source: Source
    claims: Sequence[Property]
    guess: bool
    seed: int = 0
    defects: list[Defect] = field(default_factory=list[Defect])
    why_not: dict[str, str] = field(default_factory=dict[str, str])
    judged: set[str] = field(default_factory=set[str])
    asked: dict[str, int] = field(default_factory=dict[str, int])
    left: Callable[[], float] = lambda: inf
    _best: dict[str, tuple[Related, int]] = field(default_factory=dict[str, tuple["Related", int]])

    def __post_init__(self) -> None:
        self.pairing = Pairing(self.examiner, self.source, self.guess)

    def over(self) -> bool:
        """Return whether the time is up."""
        return self.left() <= 0

    def pairs(
        self,
        differing: Sequence[AnyTrace],
        agreed: Sequence[AnyTrace],
        most: int,
        choosing: Sequence[AnyScenario] = (),
    ) -> None:
        """Make pairs of runs until `most` runs were requested, and keep the violations.

        The kernel differs on the runs of `differing`, agrees on those of `agreed`, and shows at the end of those of
        `choosing` what it chose by a rule of its own.
        """
        about = [claim for claim in self.claims if isinstance(claim, Relational)]
        if not about:
            return
        begin = self.pairing.requests
        best = self._best

        def keep(found: Iterable[Related]) -> None:
            for one in found:
                known, count = best.get(one.claim.name, (one, 0))
                best[one.claim.name] = (min(known, one, key=_length), count + 1)

        try:
            for one in choosing[:CHOOSING]:
                if not self.over():
                    keep(self.pairing.broken(about, one, choice=True))
            for group in _grouped(self._lefts(differing, agreed), TOGETHER):
                if self.over() or self.pairing.requests - begin >= most:
                    break
                keep(one for left in group for one in self.pairing.broken(about, left))
                keep(self.pairing.differing(about, group))
            if differing:
                until = [Trace(_cut(one.scenario, len(one.steps) - 1), one.steps[:-1]) for one in differing]
                keep(self.pairing.differing_from(about, [*until, *agreed], SCANNED))
        finally:
            self.asked[PAIRS] = self.pairing.requests - begin
            self.judged |= self.pairing.judged
            for claim in about:
                if claim.name not in self.pairing.judged:
                    self.why_not[claim.name] = self._why(claim.name)

    def concluded(self) -> list[Defect]:
        """Return all defects; the pairs that violate a claim are shrunk as far as the time allows."""
        for claim, (related, count) in self._best.items():
            self._best[claim] = self._small(related), count
        return [
            *self.defects,
            *(Defect(related_divergence(self.pairing, one), count) for one, count in self._best.values()),
        ]

    def liveness(self, systems: Sequence[AnySystem], steps: int) -> None:
        """Search the kernel's own graph in each scope, if it tells its state."""
        about = LivenessClaims.about(self.claims)
        begin = self.pairing.requests
        known: set[str] = set()
        reasons: dict[str, str] = {}
        try:
            for system in systems if about else ():
                if self.over():
                    break
                asking = LivenessClaims(self.pairing, [claim for claim in about if claim.name not in known], steps)
                for one in asking.broken(system):
                    known.add(one.claim.name)
                    self.defects.append(Defect(broken_divergence(self.pairing, one), 1))
                self.judged |= asking.judged
                reasons |= asking.why_not
                if SILENT in asking.why_not.values():
                    break
        finally:
            self.asked[LIVENESS_RUNS] = self.pairing.requests - begin
            for claim in about:
                if claim.name not in self.judged | known:
                    self.why_not[claim.name] = reasons.get(claim.name, "the time was up")
            self.judged |= known

    def _lefts(self, differing: Sequence[AnyTrace], others: Sequence[AnyTrace]) -> Iterator[AnyScenario]:
        """Beginnings of runs: those that differ, then one of each other run, a second of each, and so on."""
        chance = random.Random(self.seed)
        yield from (trace.scenario for trace in differing[:DIFFERING])
        cuts = [
            (trace.scenario, chance.sample(range(1, most + 1), most))
            for trace in chance.sample(others, len(others))
            if (most := min(DEEP, len(trace.steps)))
        ]
        seen = set[AnyScenario]()
        for turn in range(DEEP):
            for scenario, places in cuts:
                if turn < len(places):
                    left = _cut(scenario, places[turn])
                    if left not in seen:
                        seen.add(left)
                        yield left

    def _small(self, related: Related) -> Related:
        """The pair shrunk: the run it is made from, or both runs if their last steps share a key."""
        best, claim, system = related, related.claim, self.examiner.coder.system

        def still(evidence: Evidence) -> bool:
            nonlocal best
            if self.over():
                return evidence == first
            try:
                found = self._again(claim, evidence)
            except OutOfTime:
                return evidence == first
            best = found or best
            return found is not None

        first: Evidence = related.seen
        if isinstance(claim, DeterminedBy) and related.right is not None:
            first = Pair(related.left, related.right, claim.name)
        if still(first):
            shrink(system, first, still, limit=TRIES)
        return best

    def _again(self, claim: Any, evidence: Evidence) -> Related | None:
        if isinstance(evidence, Pair):
            left, right = evidence.left, evidence.right
            basis = self.pairing.pair(claim, left, right) if left.actions and right.actions else None
            return None if basis is None else Related(claim, right, left, right, basis, SAME_KEY)
        assert isinstance(evidence, Scenario)
        return next(self.pairing.broken([claim], evidence), None) if evidence.actions else None

    def _why(self, claim: str) -> str:
        if claim in self.pairing.open:
            return "it needs a state that the kernel does not report"
        if self.pairing.lost.get(claim):
            return "no run was found to the start of its second run"
        return "no run was about it"


def _cut(scenario: AnyScenario, steps: int) -> AnyScenario:
    return replace(scenario, actions=scenario.actions[:steps])


def _grouped(items: Iterable[AnyScenario], size: int) -> Iterator[list[AnyScenario]]:
    group: list[AnyScenario] = []
    for item in items:
        group.append(item)
        if len(group) == size:
            yield group
            group = []
    if group:
        yield group


def _length(related: Related) -> tuple[int, int]:
    other = 0 if related.right is None else len(related.right.actions)
    return related.basis, len(related.left.actions) + other


def related_divergence(pairing: Pairing, related: Related) -> Divergence:
    """Return the divergence of two runs that violate a claim, with the kinds of both."""
    first = _Shown(pairing, related.left)
    second = None if related.right is None else _Shown(pairing, related.right)
    kinds = (first.kinds if second is None else first.kinds | second.kinds) or frozenset({related.claim.name})
    violation = Violation(related.claim, len(related.left.actions), related.basis)
    return Divergence(
        related.left,
        PAIRS,
        "relates",
        kinds,
        "",
        first.expected,
        first.got,
        first.differences,
        why=related.why,
        violations=(violation,),
        beside=None if second is None else SecondTrace(second.run, second.expected, second.got),
    )


def broken_divergence(pairing: Pairing, broken: Broken) -> Divergence:
    """Return the divergence of a violated liveness property or goal."""
    shown = _Shown(pairing, broken.run)
    violation = Violation(broken.claim, max(1, len(broken.run.actions)), Basis.OWN)
    return Divergence(
        broken.run,
        LIVENESS_RUNS,
        "liveness",
        frozenset({broken.claim.name}),
        "",
        shown.expected,
        shown.got,
        why=broken.why,
        violations=(violation,),
        loop=broken.loop,
    )


class _Shown:
    """The observations of the model and the kernel in a run, and their differences at its end."""

    def __init__(self, pairing: Pairing, run: AnyScenario) -> None:
        pairing.ask([run])
        self.run = run
        self.expected: tuple[Json, ...] = tuple(encode(s.shown) for s in pairing.examiner.coder.trace(run).steps)
        self.got: tuple[Json, ...] = tuple(
            one.told if one.differs else encode(one.step.shown) for one in pairing.reported(run)
        )
        self.differences: tuple[Difference, ...] = ()
        if self.got and len(self.got) == len(self.expected):
            self.differences = tuple(differences(normal(self.expected[-1]), normal(self.got[-1])))
        words = words_of(pairing.examiner.coder.system.types)
        self.kinds = Names(encode(run.config), map(encode, run.actions), words).kinds(self.differences)


def still_related(pairing: Pairing, claim: Property, run: AnyScenario, beside: AnyScenario | None) -> bool:
    """Return whether a kernel still violates a claim about two recorded runs."""
    if isinstance(claim, DeterminedBy):
        return beside is not None and pairing.pair(claim, run, beside) is not None
    if isinstance(claim, Paired):  # `broken` picks the pair before the last action
        run = replace(run, actions=run.actions[: len(run.actions) - claim.taken + 1])
    return any(pairing.broken([claim], run))


def still_broken(pairing: Pairing, claim: Property, system: AnySystem, run: AnyScenario, loop: int) -> bool:
    """Return whether a kernel still violates a liveness claim by this run, whose last `loop` actions repeat."""
    asking = LivenessClaims(pairing, [claim], STEPS)
    if claim.existential:
        return any(True for _ in asking.broken(system))
    first = len(run.actions) - loop
    evidence = Lasso(run.config, run.start, run.actions[:first], run.actions[first:]) if loop else run
    return asking.breaks(own_system(system, pairing, STEPS), claim, evidence)
