"""Watchers for claims that compare two runs."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any

from evenhand.core.alike import alike
from evenhand.core.relations import DeterminedBy, Paired, TwoRun
from evenhand.core.system import AnyStep, AnySystem
from evenhand.evidence.second_runs import Compared, Place, at_step, compared, ends, judged_pair
from evenhand.search.graph import Watcher
from evenhand.search.walk import Walk
from evenhand.search.witness import Seen, StepNumber, Tally, Witness, shorter

VALUED = "valued"
"""The count of keys with a value that is not None."""


class DeterminedWatch(Watcher):
    """A watcher for `DeterminedBy`, in one hash pass: the values under each key, and where each was seen first."""

    def __init__(self, claim: DeterminedBy) -> None:
        self.name, self.claims = f"claim {claim.name!r}", (claim.name,)
        self.claim = claim
        self.met = 0
        self.seen: dict[Hashable, tuple[Hashable, int, int]] = {}
        self.others: dict[Hashable, dict[Hashable, tuple[int, int]]] = {}

    def look(self, step: AnyStep, action: int, _there: int, /) -> None:
        """Keep the value under its key, with the first step where it occurs."""
        claim = self.claim
        if not claim.when(step):
            return
        key, value = claim.key(step), claim.value(step)
        sid = self.sid
        known = self.seen.get(key)
        if known is None:
            self.seen[key] = (value, sid, action)
        elif known[0] != value:
            others = self.others.setdefault(key, {})
            others[value] = min(others.get(value, (sid, action)), (sid, action))
        self.met += 1

    def close(self, walk: Walk) -> Tally:
        """Return the tally of this configuration, with the table if the claim goes across configurations."""
        table: dict[Hashable, Seen] = {}
        for key, (value, sid, action) in self.seen.items():
            if not self.claim.across and key not in self.others:
                continue
            places = [(sid, action, value), *((s, a, v) for v, (s, a) in self.others.get(key, {}).items())]
            places.sort(key=lambda place: place[:2])
            table[key] = tuple((v, StepNumber(walk.number, s, a, walk.depth_of(s))) for s, a, v in places)
        if self.claim.across:
            return Tally(1, walk.transitions, self.met, table=table)
        violations, finding = differing(table)
        more = {"keys": len(self.seen), VALUED: sum(value is not None for value, _, _ in self.seen.values())}
        return Tally(1, walk.transitions, self.met, violations, finding, more=more)


def differing(table: Mapping[Hashable, Seen]) -> tuple[int, Witness | None]:
    """Return how many values are surplus under their keys, and the shortest pair of runs that shows it."""
    violations = 0
    best: Witness | None = None
    for seen in table.values():
        if len(seen) > 1:
            violations += len(seen) - 1
            places = (seen[0][1], seen[1][1])
            best = shorter(best, Witness(min(place.config for place in places), 0, (), places=places))
    return violations, best


class PairedWatch(Watcher):
    """A watcher for a claim about pairs of runs; subclasses say where second runs part from the first."""

    def __init__(self, claim: Paired, system: AnySystem, config: Any) -> None:
        self.name, self.claims = f"claim {claim.name!r}", (claim.name,)
        self.claim, self.config = claim, config
        self.system = system
        self.met = self.violations = 0
        self.first: tuple[int, ...] | None = None

    def compared(self, place: Place) -> Iterable[Compared]:
        """Return the comparison of every way at a place."""
        return compared(self.system, self.claim, place)

    def compare(self, place: Place, *at: int) -> None:
        """Compare the runs that part at a place; keep the first, by the numbers of state and step, that disagree."""
        for one in self.compared(place):
            self.met += 1
            if one.why:
                self.violations += 1
                self.first = min(self.first or at, at)

    def close(self, walk: Walk) -> Tally:
        """Return this configuration's tally."""
        finding = None if self.first is None else walk.finding(*self.first)
        return Tally(1, self.met, self.met, self.violations, finding)


class StatePairsWatch(PairedWatch):
    """A watcher for runs that part in a state."""

    def visit(self, sid: int, state: Any, /) -> None:
        """Compare the runs that go on from this state."""
        self.compare(Place(self.config, state, tuple(self.system.enabled(self.config, state))), sid)


class StepPairsWatch(PairedWatch):
    """A watcher for runs that are computed from a step."""

    def __init__(self, claim: Paired, system: AnySystem, config: Any) -> None:
        super().__init__(claim, system, config)
        self.initials = len(dict.fromkeys(system.initial(config)))  # initial states come first

    def look(self, step: AnyStep, action: int, _there: int, /) -> None:
        """Compare one step."""
        self.compare(at_step(step, first=self.sid < self.initials), self.sid, action)


class TwoRunWatch(StepPairsWatch):
    """A watcher for second runs whose beginning is asked for once for each way and state."""

    claim: TwoRun

    def __init__(self, claim: TwoRun, system: AnySystem, config: Any) -> None:
        super().__init__(claim, system, config)
        self.here: list[tuple[Any, tuple[Any, Any]]] = []

    def visit(self, sid: int, state: Any, /) -> None:
        """Forget where second runs of the state before begin."""
        super().visit(sid, state)
        self.here.clear()

    def compared(self, place: Place) -> Iterator[Compared]:
        """Yield the comparison of every way at a step."""
        config, state, actions, _, _ = place
        for number, way in enumerate(self.claim.ways(config, state, actions)):
            fork = self.claim.fork(way, config, state, actions, self._begun(number, way, config, state))
            yield judged_pair(self.system, self.claim, place, way, fork, *ends(self.system, place, fork))

    def _begun(self, number: int, way: Any, config: Any, state: Any) -> tuple[Any, Any]:
        """The configuration and state of a second run, kept while the way of this number is the same.

        One without a hash may change; ways that Python calls equal may be told apart.
        """
        try:
            hash(way)
        except Exception:
            return self.claim.begun(way, config, state)
        for known, begun in self.here[number : number + 1]:
            if known is way or (known == way and alike(known, way)):
                return begun
        begun = self.claim.begun(way, config, state)
        self.here[number : number + 1] = [(way, begun)]
        return begun
