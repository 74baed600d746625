"""Turn divergences into defects: group them by claim, shrink them, confirm them in a fresh process.

Many runs show one defect.  A divergence belongs to the claim that it violates on the surest basis, else to the bare
disagreement with the model.  A few divergences of each claim and kind are shrunk while the claim stays violated;
results with the same fault, or with the same run up to renaming, are one defect.  A disagreement that violates no new
claim is explained by defects that together show its differences.  A run that does not fail again is a finding of its
own: the kernel is non-deterministic.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic

from evenhand.conform.adapters.kernels import Source
from evenhand.conform.adapters.wire import Fault, text
from evenhand.conform.checking.coding import Coder
from evenhand.conform.checking.comparing import Names, shape
from evenhand.conform.checking.divergence import DISAGREES, Divergence, Examiner
from evenhand.core.canonical import Json
from evenhand.core.trace import AnyScenario, Scenario
from evenhand.core.verdict import Evidence
from evenhand.evidence.shrink import shrink

SHRUNK = 6
"""Divergences of one claim that are shrunk, simplest first; the others are counted."""

TRIES = 300
"""Runs of the kernel for shrinking one divergence."""

SLOW_TRIES = 6
"""The same if each run ends by a time limit."""

AGAIN = 5
"""How often a finding is repeated, if that costs no time limit."""

STUBBORN = 32
"""The same for a non-deterministic kernel, because a random answer may be the same five times."""

_SLOW = (Fault.HUNG, Fault.MEMORY, Fault.TOO_LONG)


@dataclass(frozen=True)
class Defect:
    """One distinct defect: its smallest divergence, how many runs showed it, and all claims that they violate."""

    divergence: Divergence
    count: int
    claims: frozenset[str] = frozenset()


@dataclass
class Defects:
    """Collects the divergences of one system and reduces them to defects."""

    coder: Coder
    examiner: Examiner
    source: Source
    _seen: dict[tuple[object, ...], Defect] = field(default_factory=dict[tuple[object, ...], Defect])
    runs: int = 0

    def add(self, divergence: Divergence) -> None:
        """Add a divergence; of equal ones the shortest is kept."""
        key = (divergence.what, divergence.subject, divergence.kinds, divergence.shape)
        known = self._seen.get(key)
        claims = frozenset(one.claim.name for one in divergence.violations)
        if known is None:
            self._seen[key] = Defect(divergence, 1, claims)
        else:
            best = divergence if divergence.length < known.divergence.length else known.divergence
            self._seen[key] = Defect(best, known.count + 1, known.claims | claims)

    @property
    def count(self) -> int:
        """Number of divergences."""
        return sum(one.count for one in self._seen.values())

    def distinct(self, deadline: float | None) -> tuple[Defect, ...]:
        """Return the defects, shrunk as far as the deadline allows, shortest first."""
        made: list[Defect] = []
        for group in self._groups():
            shrunk = 0
            for one in group:
                divergence = one.divergence
                if divergence.what == "differs" and _explained(divergence, made):
                    continue
                if shrunk >= SHRUNK:
                    break
                shrunk += 1
                _merge(made, replace(one, divergence=self._small(divergence, deadline)), self._shape)
        made = [replace(one, divergence=self._confirmed(one.divergence, AGAIN)) for one in made]
        if any(one.divergence.what == "non-deterministic" for one in made):
            made = [replace(one, divergence=self._confirmed(one.divergence, STUBBORN)) for one in made]
        confirmed: list[Defect] = []
        for one in made:
            _merge(confirmed, one, self._shape)
        return tuple(
            sorted(confirmed, key=lambda one: (one.divergence.length, one.divergence.subject, one.divergence.why))
        )

    def _groups(self) -> Iterator[list[Defect]]:
        """The divergences by subject, claims first; in each group one of each kind, simplest first."""
        groups: dict[tuple[str, str], list[Defect]] = {}
        for defect in self._seen.values():
            groups.setdefault((defect.divergence.what, defect.divergence.subject), []).append(defect)
        order = {claim.name: number for number, claim in enumerate(self.examiner.judge.claims)}
        for _, group in sorted(groups.items(), key=lambda one: (order.get(one[0][1], len(order)), one[0])):
            group.sort(key=lambda one: (one.divergence.length, len(one.divergence.kinds), one.divergence.shape))
            first: dict[frozenset[str], Defect] = {}
            for one in group:
                first.setdefault(one.divergence.kinds, one)
            yield list(first.values())

    def _small(self, divergence: Divergence, deadline: float | None) -> Divergence:
        """The divergence shrunk: the same claim is still violated, or nothing new differs."""
        best = divergence

        def still(evidence: Evidence) -> bool:
            nonlocal best
            assert isinstance(evidence, Scenario)
            if evidence == divergence.scenario:
                return True
            if deadline is not None and monotonic() > deadline:
                return False
            found = self.sight(evidence, divergence.origin)
            if found is None or found.what != divergence.what or found.fault is not divergence.fault:
                return False
            objecting = {one.claim.name for one in found.violations}
            if divergence.violations and divergence.subject not in objecting:
                return False
            if not divergence.violations and divergence.what == "differs" and not found.kinds <= divergence.kinds:
                return False
            best = found
            return True

        shrink(self.coder.system, divergence.scenario, still, limit=SLOW_TRIES if divergence.fault in _SLOW else TRIES)
        return best

    def sight(self, scenario: AnyScenario, origin: str) -> Divergence | None:
        """Run one scenario on the kernel and return its divergence, if any."""
        trace = self.coder.trace(scenario)
        request = self.coder.request(trace)
        self.runs += 1
        (response,) = self.source.ask([request])
        return self.examiner.examine(trace, request, response, origin)

    def _confirmed(self, divergence: Divergence, times: int) -> Divergence:
        """The divergence, or a non-deterministic one if a repetition in a fresh process differs."""
        if divergence.what == "non-deterministic":
            return divergence
        self.source.renew()
        trace = self.coder.trace(divergence.scenario)
        request = self.coder.request(trace)
        again = 1 if divergence.fault in _SLOW else times
        self.runs += again
        for response in self.source.ask([request] * again):
            said = self.examiner.answers(trace, request, response)
            same = text(list(said[: len(divergence.got)])) == text(list(divergence.got))
            if same and (divergence.fault is Fault.ILLEGAL or (response.fault is None) == (divergence.fault is None)):
                continue  # a time-out now and a lack of memory then are the same answer
            return wavering(divergence, said)
        return divergence

    def _shape(self, divergence: Divergence) -> str:
        request = self.coder.request(self.coder.trace(divergence.scenario))
        names = Names(json.loads(b"{" + request.initial)["config"])
        return shape([json.loads(action) for action in request.actions], names)


def wavering(divergence: Divergence, again: Sequence[Json]) -> Divergence:
    """Return the finding that a kernel answered the same run differently."""
    return replace(
        divergence,
        what="non-deterministic",
        kinds=frozenset({"non-deterministic"}),
        violations=(),
        differences=(),
        again=tuple(again),
        fault=None,
        shape="",
        why="the same actions from the same start were answered differently the second time",
    )


def _explained(divergence: Divergence, made: Sequence[Defect]) -> bool:
    """Whether known defects show each difference of a divergence and violate its claim."""
    smaller = [one for one in made if one.divergence.what == "differs" and one.divergence.kinds <= divergence.kinds]
    claims = frozenset[str]().union(*(one.claims for one in smaller))
    return frozenset[str]().union(
        *(one.divergence.kinds for one in smaller)
    ) == divergence.kinds and divergence.subject in (
        *claims,
        DISAGREES,
    )


def _merge(made: list[Defect], one: Defect, shape_of: Callable[[Divergence], str]) -> None:
    """Add a defect, or count it with an equal one."""
    for place, known in enumerate(made):
        if _one_defect(known.divergence, one.divergence) or (
            known.divergence.what == one.divergence.what and shape_of(known.divergence) == shape_of(one.divergence)
        ):
            best = min(
                (known.divergence, one.divergence), key=lambda divergence: (divergence.length, len(divergence.kinds))
            )
            made[place] = Defect(best, known.count + one.count, known.claims | one.claims)
            return
    made.append(one)


def _one_defect(one: Divergence, other: Divergence) -> bool:
    """Whether two shrunk divergences are one: same subject and nested kinds, or both non-deterministic."""
    if one.what == other.what == "non-deterministic":
        return True
    if (one.what, one.subject) != (other.what, other.subject):
        return False
    return one.kinds <= other.kinds or other.kinds <= one.kinds
