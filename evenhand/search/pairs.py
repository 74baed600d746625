"""Watchers for claims that compare two runs."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

from evenhand.core.alike import alike
from evenhand.core.relations import DeterminedBy, Paired, TwoRun
from evenhand.core.system import AnyStep, AnySystem
from evenhand.evidence.second_runs import Compared, Place, at_step, compared, judged_pair
from evenhand.search.graph import Watcher
from evenhand.search.steps import make_step, stepped
from evenhand.search.walk import Walk
from evenhand.search.witness import Seen, StepNumber, Tally, Witness, shorter

T = TypeVar("T")

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


TRIED, WORTH = 500, 4
"""Second steps after which they are kept no longer if fewer than one of `WORTH` was known."""

KEPT = 100_000
"""The most second steps that are kept."""


class PairedWatch(Watcher):
    """A watcher for a claim about pairs of runs; subclasses say where second runs part from the first."""

    def __init__(self, claim: Paired, system: AnySystem, config: Any) -> None:
        self.name, self.claims = f"claim {claim.name!r}", (claim.name,)
        self.claim, self.config = claim, config
        self.system = system
        self.met = self.violations = 0
        self.first: tuple[int, ...] | None = None

    def count(self, every: Iterable[Compared], *at: int) -> None:
        """Count these comparisons; keep the first, by the numbers of state and step, that disagrees."""
        for one in every:
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
        actions = tuple(self.system.enabled(self.config, state))
        self.count(compared(self.system, self.claim, Place(self.config, state, actions)), sid)


class StepPairsWatch(PairedWatch):
    """A watcher for runs that are computed from a step."""

    def __init__(self, claim: Paired, system: AnySystem, config: Any) -> None:
        super().__init__(claim, system, config)
        self.initials = len(dict.fromkeys(system.initial(config)))  # initial states come first

    def look(self, step: AnyStep, action: int, _there: int, /) -> None:
        """Compare one step."""
        self.count(self.compared(at_step(step, first=self.sid < self.initials)), self.sid, action)

    def compared(self, place: Place) -> Iterable[Compared]:
        """Return the comparison of every way at a step."""
        return compared(self.system, self.claim, place)


class _Start(NamedTuple):
    """Where second runs begin, and the steps from there by their actions."""

    config: Any
    state: Any
    steps: dict[Any, AnyStep]


class TwoRunWatch(StepPairsWatch):
    """A watcher for second runs that say where they begin apart from what they do.

    The beginning is asked for once for each way and state.  Steps are kept by beginning and action while many come
    again: a claim that forgets or silences something makes one second step of many first ones.
    """

    claim: TwoRun

    def __init__(self, claim: TwoRun, system: AnySystem, config: Any) -> None:
        super().__init__(claim, system, config)
        self.here: dict[Any, tuple[Any, _Start]] = {}
        self.starts: dict[Any, _Start] = {}
        self.asked = self.known = 0

    def visit(self, sid: int, state: Any, /) -> None:
        """Forget where second runs of the state before begin."""
        super().visit(sid, state)
        self.here.clear()

    def compared(self, place: Place) -> Iterator[Compared]:
        """Yield the comparison of every way at a step."""
        config, state, actions, left, _ = place
        assert left is not None, "a step is compared"
        for way in self.claim.ways(config, state, actions):
            start = self._start(way, config, state)
            fork = self.claim.fork(way, config, state, actions, start[:2])
            right = self._step(start, fork.right[0]) if fork.right else None
            yield judged_pair(self.system, self.claim, place, way, fork, left, right)

    def _start(self, way: Any, config: Any, state: Any) -> _Start:
        """Where the second run of a way begins."""
        known = _looked_up(self.here, way)
        if known is not None and alike(known[0], way):
            return known[1]
        made = self.claim.begun(way, config, state)
        start = _looked_up(self.starts, made)
        if start is None or not alike(start[:2], made):
            start = _Start(*made, {})
            _keep(self.starts, made, start)
        _keep(self.here, way, (way, start))
        return start

    def _step(self, start: _Start, action: Any) -> AnyStep:
        """The step of a second run."""
        keeps = self.asked < TRIED or (self.known * WORTH > self.asked and self.asked - self.known < KEPT)
        known = _looked_up(start.steps, action) if keeps else None
        self.asked += 1
        if known is not None and alike(known.action, action):
            self.known += 1
            return known
        after, shown = stepped(self.system, start.config, start.state, action)
        step = make_step(start.config, start.state, action, shown, after)
        if keeps:
            _keep(start.steps, action, step)
        return step


def _looked_up(known: Mapping[Any, T], key: Any) -> T | None:
    """What is known of a value; nothing of one that cannot be hashed."""
    try:
        return known.get(key)
    except Exception:
        return None


def _keep(known: dict[Any, T], key: Any, value: T) -> None:
    """Keep a value under its key, unless that cannot be hashed."""
    with suppress(Exception):
        known[key] = value
