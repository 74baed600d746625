"""Watchers for claims that compare two steps: `DeterminedBy`, `Commute`, `TwoRun`."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from evenhand.core.property import Commute, DeterminedBy, TwoRun
from evenhand.core.system import AnyStep, AnySystem
from evenhand.evidence.judge import bad_twins
from evenhand.search.graph import Watcher
from evenhand.search.steps import Method
from evenhand.search.walk import Walk
from evenhand.search.witness import Seen, StepNumber, Tally, Witness, shorter

VALUED = "valued"
"""The count of keys with a value that is not None."""


class DeterminedWatch(Watcher):
    """A watcher for `DeterminedBy`, in one hash pass: the values under each key, and where each was seen first."""

    def __init__(self, claim: DeterminedBy) -> None:
        self.name = f"claim {claim.name!r}"
        self.claim = claim
        self.sid = 0
        self.met = 0
        self.seen: dict[Hashable, tuple[Hashable, int, int]] = {}
        self.others: dict[Hashable, dict[Hashable, tuple[int, int]]] = {}

    def visit(self, sid: int, _state: Any, _method: Method, /) -> None:
        """Note the state being expanded."""
        self.sid = sid

    def look(self, step: AnyStep, weight: int, action: int, _there: int, /) -> None:
        """Keep the value under its key, with the first step where it occurs."""
        claim = self.claim
        if not claim.when(step):
            return
        key, value = claim.key(step), claim.value(step)
        sid = self.sid
        known = self.seen.get(key)
        if known is None:
            self.seen[key] = (value, sid, action)
        elif known[0] == value:
            if known[1] == sid and action < known[2]:
                self.seen[key] = (value, sid, action)
        else:
            others = self.others.setdefault(key, {})
            others[value] = min(others.get(value, (sid, action)), (sid, action))
        self.met += weight

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


class CommuteWatch(Watcher):
    """A watcher for two actions in either order, from every state."""

    def __init__(self, claim: Commute, system: AnySystem, config: Any) -> None:
        self.name = f"claim {claim.name!r}"
        self.claim = claim
        self.system = system
        self.config = config
        self.met = self.violations = 0
        self.first: tuple[int, int] | None = None

    def visit(self, sid: int, state: Any, method: Method, /) -> None:
        """Take every pair that the claim picks, in both orders."""
        config, system = self.config, replace(self.system, step=method.step)
        pairs: Iterable[tuple[Any, Any]] = self.claim.pairs(config, state, tuple(system.enabled(config, state)))
        for pick, (one, two) in enumerate(pairs):
            forth = system.take(config, system.take(config, state, one).after, two)
            back = system.take(config, system.take(config, state, two).after, one)
            self.met += 1
            if not self.claim.same(config, forth, back):
                self.violations += 1
                self.first = (sid, pick) if self.first is None else self.first

    def close(self, walk: Walk) -> Tally:
        """Return this configuration's tally."""
        finding = None if self.first is None else replace(walk.finding(self.first[0]), pick=self.first[1])
        return Tally(1, self.met, self.met, self.violations, finding)


class TwoRunWatch(Watcher):
    """A watcher for 2-safety by unwinding: compares every step with its twins in the second trace."""

    def __init__(self, claim: TwoRun, system: AnySystem, initials: int) -> None:
        self.name = f"claim {claim.name!r}"
        self.claim = replace(claim, twins=self._counted)
        self.twins = claim.twins
        self.system = self.fast = system
        self.initials = initials  # initial states come first
        self.sid = 0
        self.met = self.violations = 0
        self.first: tuple[int, int] | None = None

    def _counted(self, config: Any, state: Any, action: Any) -> Iterable[Any]:
        for w in self.twins(config, state, action):
            self.met += 1
            yield w

    def visit(self, sid: int, _state: Any, method: Method, /) -> None:
        """Note the state being expanded."""
        self.sid = sid
        if self.fast is self.system:
            self.fast = replace(self.system, step=method.step)

    def look(self, step: AnyStep, weight: int, action: int, _there: int, /) -> None:
        """Compare one step with its twins; they depend on the action, so an action-independent step stops here."""
        del weight
        _ = step.action
        for _w, _why in bad_twins(self.fast, self.claim, step, first=self.sid < self.initials):
            self.violations += 1
            self.first = min(self.first or (self.sid, action), (self.sid, action))

    def close(self, walk: Walk) -> Tally:
        """Return this configuration's tally."""
        finding = None if self.first is None else walk.finding(*self.first)
        return Tally(1, self.met, self.met, self.violations, finding)
