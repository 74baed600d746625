"""From sightings to defects: grouped by claim, shrunk by the one shrinker, confirmed in a fresh process.

Many runs show one defect.  A sighting belongs to the claim that objects to it on the surest basis (where none does,
to the bare disagreement with the model).  Of every claim a few sightings, each wrong in another way, are shrunk for as
long as the claim goes on objecting; what then shows the same fault, or is the same run up to renaming, is one
defect.  A disagreement that claims nothing new is explained by the defects that show each of its differences.  A run
that does not fail again when asked again is a kernel that wavers, which is a finding of its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic

from evenhand.conform.adapters.kernels import KernelResponse, Source
from evenhand.conform.adapters.wire import Fault, text
from evenhand.conform.checking.coding import AnyScenario, Coder
from evenhand.conform.checking.comparing import Names, shape
from evenhand.conform.checking.divergence import DISAGREES, Divergence, Examiner
from evenhand.core.canonical import Json
from evenhand.core.trace import Scenario
from evenhand.core.verdict import Evidence
from evenhand.evidence.shrink import shrink

__all__ = ["Defect", "Defects"]

SHRUNK = 6
"""Sightings of one claim that are shrunk, simplest first; the others are counted."""

TRIES = 300
"""Runs of the kernel that shrinking one sighting may take."""

SLOW_TRIES = 6
"""The same where each run ends by a time limit."""

AGAIN = 5
"""How often what was found is asked again, where that costs no time limit."""

STUBBORN = 32
"""The same of a kernel that was seen to waver: one that tosses a coin says the same five times now and then."""

_SLOW = (Fault.HUNG, Fault.MEMORY, Fault.TOO_LONG)


@dataclass(frozen=True)
class Defect:
    """One distinct defect: its smallest sighting, how many runs showed it, and every claim that objected to one."""

    sighting: Divergence
    count: int
    claims: frozenset[str] = frozenset()


@dataclass
class Defects:
    """Collects the sightings of one system."""

    coder: Coder
    examiner: Examiner
    source: Source
    _seen: dict[tuple[object, ...], Defect] = field(default_factory=dict[tuple[object, ...], Defect])
    runs: int = 0

    def add(self, sighting: Divergence) -> None:
        """One more; of equal ones the shortest is kept."""
        key = (sighting.what, sighting.subject, sighting.kinds, sighting.shape)
        known = self._seen.get(key)
        claims = frozenset(one.claim.name for one in sighting.objections)
        if known is None:
            self._seen[key] = Defect(sighting, 1, claims)
        else:
            best = sighting if sighting.length < known.sighting.length else known.sighting
            self._seen[key] = Defect(best, known.count + 1, known.claims | claims)

    @property
    def count(self) -> int:
        """How many sightings there were."""
        return sum(one.count for one in self._seen.values())

    def distinct(self, deadline: float | None) -> tuple[Defect, ...]:
        """The defects, each shrunk as far as the deadline allows, shortest first."""
        made: list[Defect] = []
        for group in self._groups():
            shrunk = 0
            for one in group:
                sighting = one.sighting
                if sighting.what == "differs" and _explained(sighting, made):
                    continue
                if shrunk >= SHRUNK:
                    break
                shrunk += 1
                _merge(made, replace(one, sighting=self._small(sighting, deadline)), self._shape)
        made = [replace(one, sighting=self._confirmed(one.sighting, AGAIN)) for one in made]
        if any(one.sighting.what == "wavers" for one in made):
            made = [replace(one, sighting=self._confirmed(one.sighting, STUBBORN)) for one in made]
        confirmed: list[Defect] = []
        for one in made:
            _merge(confirmed, one, self._shape)
        return tuple(sorted(confirmed, key=lambda one: (one.sighting.length, one.sighting.subject, one.sighting.why)))

    def _groups(self) -> Iterator[list[Defect]]:
        """The sightings by subject, those of claims first; in a group one of each kind, simplest first."""
        groups: dict[tuple[str, str], list[Defect]] = {}
        for defect in self._seen.values():
            groups.setdefault((defect.sighting.what, defect.sighting.subject), []).append(defect)
        order = {claim.name: number for number, claim in enumerate(self.examiner.judge.claims)}
        for _, group in sorted(groups.items(), key=lambda one: (order.get(one[0][1], len(order)), one[0])):
            group.sort(key=lambda one: (one.sighting.length, len(one.sighting.kinds), one.sighting.shape))
            first: dict[frozenset[str], Defect] = {}
            for one in group:
                first.setdefault(one.sighting.kinds, one)
            yield list(first.values())

    def _small(self, sighting: Divergence, deadline: float | None) -> Divergence:
        """The sighting shrunk: the same claim objects still, or, without one, nothing new differs."""
        best = sighting

        def still(evidence: Evidence) -> bool:
            nonlocal best
            assert isinstance(evidence, Scenario)
            if evidence == sighting.scenario:
                return True
            if deadline is not None and monotonic() > deadline:
                return False
            found = self.sight(evidence, sighting.origin)
            if found is None or found.what != sighting.what or found.fault is not sighting.fault:
                return False
            objecting = {one.claim.name for one in found.objections}
            if sighting.objections and sighting.subject not in objecting:
                return False
            if not sighting.objections and sighting.what == "differs" and not found.kinds <= sighting.kinds:
                return False
            best = found
            return True

        shrink(self.coder.system, sighting.scenario, still, limit=SLOW_TRIES if sighting.fault in _SLOW else TRIES)
        return best

    def sight(self, scenario: AnyScenario, origin: str) -> Divergence | None:
        """Ask the kernel about one scenario."""
        trace = self.coder.trace(scenario)
        asked = self.coder.asked(trace)
        self.runs += 1
        (heard,) = self.source.ask([asked])
        return self.examiner.examine(trace, asked, heard, origin)

    def _confirmed(self, sighting: Divergence, times: int) -> Divergence:
        """The sighting, or that the kernel wavers: asked `times` more in a fresh process it answers differently."""
        if sighting.what == "wavers":
            return sighting
        self.source.renew()
        asked = self.coder.asked(self.coder.trace(sighting.scenario))
        again = 1 if sighting.fault in _SLOW else times
        self.runs += again
        for heard in self.source.ask([asked] * again):
            said = self.shown(sighting, heard)
            same = text(list(said[: len(sighting.got)])) == text(list(sighting.got))
            if same and (sighting.fault is Fault.ILLEGAL or (heard.fault is None) == (sighting.fault is None)):
                continue  # that it fails by the clock now and by its memory then is no answer of its own
            return wavering(sighting, said)
        return sighting

    def shown(self, sighting: Divergence, heard: KernelResponse) -> tuple[Json, ...]:
        """All answers of a run, those as expected too."""
        return tuple(
            expected if said is None else said for said, expected in zip(heard.shown, sighting.expected, strict=False)
        )

    def _shape(self, sighting: Divergence) -> str:
        asked = self.coder.asked(self.coder.trace(sighting.scenario))
        names = Names(json.loads(b"{" + asked.initial)["config"])
        return shape([json.loads(action) for action in asked.actions], names)


def wavering(sighting: Divergence, again: Sequence[Json]) -> Divergence:
    """The finding that a kernel answered differently to the same."""
    return replace(
        sighting,
        what="wavers",
        kinds=frozenset({"wavers"}),
        objections=(),
        differences=(),
        again=tuple(again),
        fault=None,
        shape="",
        why="the same actions from the same start were answered differently the second time",
    )


def _explained(sighting: Divergence, made: Sequence[Defect]) -> bool:
    """Whether known defects show each difference of a sighting, and their claims whatever objects to it."""
    smaller = [one for one in made if one.sighting.what == "differs" and one.sighting.kinds <= sighting.kinds]
    claims = frozenset[str]().union(*(one.claims for one in smaller))
    return frozenset[str]().union(*(one.sighting.kinds for one in smaller)) == sighting.kinds and sighting.subject in (
        *claims,
        DISAGREES,
    )


def _merge(made: list[Defect], one: Defect, shape_of: Callable[[Divergence], str]) -> None:
    """Add a defect, or count it with the one that it is."""
    for place, known in enumerate(made):
        if _one_defect(known.sighting, one.sighting) or (
            known.sighting.what == one.sighting.what and shape_of(known.sighting) == shape_of(one.sighting)
        ):
            best = min((known.sighting, one.sighting), key=lambda sighting: (sighting.length, len(sighting.kinds)))
            made[place] = Defect(best, known.count + one.count, known.claims | one.claims)
            return
    made.append(one)


def _one_defect(one: Divergence, other: Divergence) -> bool:
    """Whether two shrunk sightings say the same of the same subject, the one perhaps more; all that wavers is one."""
    if one.what == other.what == "wavers":
        return True
    if (one.what, one.subject) != (other.what, other.subject):
        return False
    return one.kinds <= other.kinds or other.kinds <= one.kinds
