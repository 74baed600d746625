"""Evaluate claims about two runs of a kernel by replaying both from the start.

`Paired` and `DeterminedBy` claims compare ends of runs.  A kernel cannot be copied or put into a state, so the
second run is led to its first compared state by the images of the first run's actions, or by a path in the reference's
graph.  On that path a silent kernel must show what the model shows, and one that tells its state must arrive in that
very state; otherwise this second trace is not judged.

A claim is false of a kernel only where it is true of the model's own two steps, and on the bases of `claims`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Any, TypeAlias

from evenhand.conform.adapters.kernels import Source
from evenhand.conform.checking.claims import Basis, KernelStep, StateNeeded, views
from evenhand.conform.checking.covering import spread
from evenhand.conform.checking.divergence import Examiner
from evenhand.core.kinds import Property
from evenhand.core.relations import DeterminedBy, Fork, Paired, Relational
from evenhand.core.system import AnyStep
from evenhand.core.trace import AnyScenario, AnyTrace, Scenario, replay
from evenhand.evidence.second_runs import PAIRS_FROM, Place, ends

SAME_KEY = "two steps with the same key have different values"

TWINS = 8
"""Second traces (or pairs of actions) evaluated for one step, spread evenly."""

LISTED = 256
"""Most second traces that are enumerated."""

SEARCHED = 4_000
"""Steps of the reference tried in search of a path to one state of another configuration."""

KEPT = 20_000
"""Runs whose ends are remembered."""


@dataclass(frozen=True)
class Related:
    """Two runs of a kernel that together violate a claim; `seen` leads to them again (`Pairing.broken`)."""

    claim: Relational
    seen: AnyScenario
    left: AnyScenario
    right: AnyScenario | None
    basis: Basis
    why: str


_Check: TypeAlias = Callable[[Sequence[AnyStep]], bool]


@dataclass(frozen=True)
class _Twin:
    """One comparison: the runs, how their last steps compare, and the model's own two steps."""

    left: AnyScenario
    right: AnyScenario | None
    check: _Check
    reference: tuple[AnyStep, ...]
    arrives: Any = None


@dataclass
class Pairing:
    """Evaluates claims about pairs; `judged` names those evaluated, `lost` counts second traces that no path reached.

    Without `guess`, no state after a step that differs is used.
    """

    examiner: Examiner
    source: Source
    guess: bool = True
    requests: int = 0
    lost: dict[str, int] = field(default_factory=dict[str, int])
    judged: set[str] = field(default_factory=set[str])
    open: set[str] = field(default_factory=set[str])
    _known: dict[AnyScenario, tuple[KernelStep, ...]] = field(default_factory=dict[AnyScenario, tuple[KernelStep, ...]])
    _ways: dict[Any, _Ways] = field(default_factory=dict[Any, "_Ways"])
    _keys: dict[str, dict[Any, tuple[Any, AnyScenario]]] = field(
        default_factory=dict[str, dict[Any, tuple[Any, AnyScenario]]]
    )

    def broken(self, claims: Iterable[Property], left: AnyScenario, *, choice: bool = False) -> Iterator[Related]:
        """Yield violations of `Paired` claims at the last step of `left`, at most one pair each.

        For a `choice` only pairs are made in which lists differ in their order from which the kernel chose.
        """
        self.ask([left])
        end = self.end(left)
        if end is None:
            return
        todo: list[tuple[Paired, list[_Twin]]] = []
        for claim in claims:
            if isinstance(claim, Paired) and claim.applies(left.config):
                made = self._twins(claim, left, end)
                todo.append((claim, [one for one in made if not choice or _reordered(one, end.of)]))
        self.ask(run for _, twins in todo for twin in twins for run in (twin.left, twin.right) if run is not None)
        for claim, twins in todo:
            for twin in twins:
                basis, false = self._compared(claim, twin)
                if false and basis is not None:
                    yield Related(claim, left, twin.left, twin.right, basis, claim.differ)
                    break

    def differing(self, claims: Iterable[Property], runs: Sequence[AnyScenario]) -> Iterator[Related]:
        """Yield violations of `determined_by` claims at the last steps of `runs`, one pair each."""
        self.ask(runs)
        for claim in claims:
            if not isinstance(claim, DeterminedBy):
                continue
            for run in runs:
                found = self._other(claim, run) if claim.applies(run.config) else None
                if found is not None:
                    yield found
                    break

    def differing_from(self, claims: Iterable[Property], agreed: Iterable[AnyTrace], most: int) -> Iterator[Related]:
        """Yield violations of `determined_by` claims between steps known to `differing` and `most` agreeing steps.

        Agreeing steps are the model's own, so runs are requested only once two steps conflict.
        """
        open_claims = [one for one in claims if isinstance(one, DeterminedBy) and self._keys.get(one.name)]
        for trace, number in islice(((one, n) for one in agreed for n in range(len(one.steps))), most):
            step = trace.steps[number]
            for claim in tuple(open_claims):
                if not claim.applies(step.config) or not claim.when(step):
                    continue
                known = self._keys[claim.name].get((claim.key(step), None if claim.across else step.config))
                if known is None or known[0] == claim.value(step):
                    continue
                run = replace(trace.scenario, actions=trace.scenario.actions[: number + 1])
                if (basis := self.pair(claim, known[1], run)) is not None:
                    open_claims.remove(claim)
                    yield Related(claim, run, known[1], run, basis, SAME_KEY)

    def pair(self, claim: DeterminedBy, left: AnyScenario, right: AnyScenario) -> Basis | None:
        """Return the basis on which the last steps of two runs violate the claim, or None."""
        self.ask((left, right))
        if not claim.across and left.config != right.config:
            return None
        ends = [self.end(left), self.end(right)]
        if ends[0] is None or ends[1] is None:
            return None
        reference = tuple(self._reference(end) for end in ends if end is not None)

        basis, false = self._compared(claim, _Twin(left, right, partial(_determined, claim), reference))
        return basis if false else None

    def end(self, run: AnyScenario) -> KernelStep | None:
        """Return the last step of a requested run; None if it failed, or if the state before is unknown.

        A silent kernel is in the model's state as long as it shows what the model shows.
        """
        reported = self._known.get(run, ())
        if (
            not reported
            or len(reported) < len(run.actions)
            or (not reported[-1].own and any(one.differs for one in reported[:-1]))
        ):
            return None
        return reported[-1]

    def reported(self, run: AnyScenario) -> tuple[KernelStep, ...]:
        """Return the steps of a requested run, as far as they decode."""
        return self._known.get(run, ())

    def ask(self, runs: Iterable[AnyScenario]) -> None:
        """Send the kernel all runs that were not requested yet."""
        new = [run for run in dict.fromkeys(runs) if run.actions and run not in self._known]
        if not new:
            return
        if len(self._known) + len(new) > KEPT:
            self._known.clear()
        coder = self.examiner.coder
        traces = [coder.said(coder.trace(run)) for run in new]
        requests = [coder.request(trace) for trace in traces]
        self.requests += len(new)
        for run, trace, one, response in zip(new, traces, requests, self.source.ask(requests), strict=True):
            self._known[run] = tuple(self.examiner.reported(trace, one, response))

    def _other(self, claim: DeterminedBy, run: AnyScenario) -> Related | None:
        """An earlier run whose last step has the same key and another value."""
        end = self.end(run)
        if end is None:
            return None
        for _, (step,) in views((end,), guess=self.guess):
            try:
                if not claim.when(step):
                    return None
                key = (claim.key(step), None if claim.across else run.config)
                value = claim.value(step)
            except StateNeeded:
                self.open.add(claim.name)
                continue
            except Exception:  # an observable that no model makes
                continue
            self.judged.add(claim.name)
            known = self._keys.setdefault(claim.name, {}).setdefault(key, (value, run))
            if known[0] != value and (basis := self.pair(claim, known[1], run)) is not None:
                return Related(claim, run, known[1], run, basis, SAME_KEY)
            return None
        return None

    def _compared(self, claim: Relational, twin: _Twin) -> tuple[Basis | None, bool]:
        """The surest basis on which the claim can be evaluated, and whether it is false there."""
        ends = [self.end(run) for run in (twin.left, twin.right) if run is not None]
        there = [end for end in ends if end is not None]
        if len(there) < len(ends) or not self._arrived(twin):
            self.lost[claim.name] = self.lost.get(claim.name, 0) + 1
            return None, False
        chosen = _chosen(twin, there)
        if not chosen and not any(end.differs or end.own for end in there):
            self.judged.add(claim.name)
            return Basis.SHOWN, False  # these are the model's own steps
        if not _true(twin.check, twin.reference):
            return None, False  # the model does the same: nothing against this kernel
        for basis, steps in views(chosen or there, guess=self.guess):
            try:
                true = twin.check(steps)
            except StateNeeded:
                continue
            except Exception:  # as in `claims`
                continue
            self.judged.add(claim.name)
            if basis is Basis.SHOWN and any(end.own for end in there):
                return Basis.OWN, not true  # the second run began where the kernel says that it was
            if basis is Basis.SHOWN and isinstance(claim, Paired) and len(twin.left.actions) > 1:
                return Basis.BEFORE, not true  # the second run began where the model was
            return basis, not true
        self.open.add(claim.name)
        return None, False

    def _arrived(self, twin: _Twin) -> bool:
        """Whether a kernel that tells its state was where the claim begins the second run."""
        end = None if twin.right is None else self.end(twin.right)
        return twin.arrives is None or end is None or not end.own or bool(end.before == twin.arrives)

    def _reference(self, end: KernelStep) -> AnyStep:
        """The model's step from where the kernel was."""
        return self.examiner.coder.system.take(end.step.config, _before(end), end.step.action) if end.own else end.step

    def _twins(self, claim: Paired, left: AnyScenario, end: KernelStep) -> Iterator[_Twin]:
        """The second runs at the last step of `left`, or of the runs that part in the state before it."""
        config, before, past = left.config, _before(end), replace(left, actions=left.actions[:-1])
        system = self.examiner.coder.system
        states = claim.reads == "states"
        actions = tuple(islice(system.enabled(config, before), PAIRS_FROM)) if states else (end.step.action,)
        place = Place(config, before, actions, None if states else self._reference(end))
        for way in spread(claim.ways(config, before, actions), TWINS, LISTED)[0]:
            fork = claim.fork(way, config, before, actions)
            start = past if states else self._way(claim, way, left, fork) if fork.right else None
            if start is None and fork.right:
                self.lost[claim.name] = self.lost.get(claim.name, 0) + 1
                continue
            mine, its = ends(system, place, fork)
            yield _Twin(
                replace(past, actions=(*past.actions, *fork.left)),
                None if start is None else replace(start, actions=(*start.actions, *fork.right)),
                partial(_agree, claim, way),
                (mine,) if its is None else (mine, its),
                None if states else fork.state,
            )

    def _way(self, claim: Paired, way: Any, left: AnyScenario, fork: Fork) -> AnyScenario | None:
        """A run of the model that ends where the second run begins: images of the first run's actions, or searched."""
        system, config, state = self.examiner.coder.system, fork.config, fork.state
        image = _image(claim, way, left)
        begins = image is not None and any(image.start == one for one in system.initial(config))
        if image is not None and begins and replay(system, image).final == state:
            return image
        if config not in self._ways:
            if len(self._ways) > 256:
                self._ways.clear()
            self._ways[config] = _Ways(system, config)
        return self._ways[config].to(state)


class _Ways:
    """Shortest paths in the reference's graph of one configuration, searched on demand."""

    def __init__(self, system: Any, config: Any) -> None:
        self.system, self.config, self.left = system, config, SEARCHED
        self.found: dict[Any, AnyScenario] = {start: Scenario(config, start) for start in system.initial(config)}
        self._more = self._searched(list(self.found))

    def to(self, state: Any) -> AnyScenario | None:
        """Return a run that ends in `state`; None if the search finds none within its bound."""
        while state not in self.found and next(self._more, False):
            pass
        return self.found.get(state)

    def _searched(self, queue: list[Any]) -> Iterator[bool]:
        for state in queue:
            way = self.found[state]
            for action in self.system.enabled(self.config, state):
                after = self.system.take(self.config, state, action).after
                if after not in self.found:
                    self.found[after] = replace(way, actions=(*way.actions, action))
                    queue.append(after)
                self.left -= 1
                if self.left <= 0:
                    return
                yield True


def _image(claim: Paired, way: Any, left: AnyScenario) -> AnyScenario | None:
    """The second run up to its last step, if the kind can tell it; without actions if `way` fits only that step."""
    try:
        whole = claim.whole(way, left.config, left.start, left.actions[:-1])
    except Exception:
        whole = claim.whole(way, left.config, left.start, ())
    return None if whole is None else Scenario(whole.config, whole.state, whole.right)


def _chosen(twin: _Twin, ends: Sequence[KernelStep]) -> tuple[KernelStep, ...]:
    """The last steps with what the kernel chose, if only the order differs of the lists from which it was chosen."""
    if len(ends) < 2 or ends[0].of != ends[1].of or not _reordered(twin, ends[0].of):
        return ()
    return tuple(replace(end, shown=end.chosen) for end in ends)


def _reordered(twin: _Twin, names: Collection[str]) -> bool:
    """Whether the runs differ in nothing but the order of some lists in the last action, the fields `names`."""
    one, other = twin.left, twin.right
    if (
        not names
        or other is None
        or replace(one, actions=one.actions[:-1]) != replace(other, actions=other.actions[:-1])
    ):
        return False
    first, second = one.actions[-1], other.actions[-1]
    lists = {name: (getattr(first, name, ()), getattr(second, name, ())) for name in names}
    same = all(Counter(mine) == Counter(its) for mine, its in lists.values())
    return same and replace(second, **{name: mine for name, (mine, _) in lists.items()}) == first


def _before(end: KernelStep) -> Any:
    return end.before if end.own else end.step.before


def _agree(claim: Paired, way: Any, steps: Sequence[AnyStep]) -> bool:
    return claim.agrees(way, steps[0], steps[1] if len(steps) > 1 else None)


def _determined(claim: DeterminedBy, steps: Sequence[AnyStep]) -> bool:
    one, other = steps
    if not (claim.when(one) and claim.when(other)) or claim.key(one) != claim.key(other):
        return True
    return bool(claim.value(one) == claim.value(other))


def _true(check: _Check, steps: Sequence[AnyStep]) -> bool:
    try:
        return check(steps)
    except Exception:  # a state that no model reaches
        return False
