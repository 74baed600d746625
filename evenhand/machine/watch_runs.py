"""Watchers for claims about whole runs, and the choice of the watcher for a claim.

A drawn run that comes back to a state closes a loop, one that can go on no more ends; what lies ahead of it may hold
either (`ahead`).  The judge decides on each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from evenhand.core.ending import has_ended
from evenhand.core.fairness import assumed, is_known
from evenhand.core.kinds import DeadlockFree, Liveness, Property, Reachable, Safety
from evenhand.core.relations import DeterminedBy, Paired
from evenhand.core.system import AnyStep
from evenhand.core.temporal import Temporal
from evenhand.core.trace import AnyScenario, Lasso
from evenhand.core.verdict import Evidence
from evenhand.evidence.judge import judge, owed_since
from evenhand.machine.ahead import AHEAD, Region, dead_end, lasso, serving
from evenhand.machine.watch import Run, Watch, WatchGoal, WatchKeys, WatchPairs, WatchSafety

P = TypeVar("P", bound=Property)

TRIES = 1_000
"""Lassos and dead ends that are judged for one liveness claim in a whole fuzzing."""

ENTRIES = 8
"""Earlier visits of a state from which a loop is tried for a temporal claim; all are tried for the other kinds."""


class _WatchLassos(Watch[P]):
    """A watcher whose candidates the judge decides one by one."""

    tries = 0

    def _try(self, run: Run, evidence: Evidence) -> None:
        if self.evidence is None and self.tries < TRIES:
            self.tries += 1
            if judge(run.system, self.claim, evidence):
                self.fails(evidence)


class WatchForever(_WatchLassos[Liveness]):
    """Liveness kinds: a lasso wherever a state recurs, and a run that ends too early."""

    @property
    def served(self) -> Callable[[AnyStep], bool]:
        """What serves the claim."""
        return self.claim.tests[1]

    def look(self, run: Run, step: AnyStep) -> None:
        """Try every loop that ends in this state, the shortest first."""
        raises, serves = self.claim.tests
        self.said(raises(step))
        offered = run.offered() if len(run.met[step.after]) > 1 and self.evidence is None else None
        if offered is None or not offered.ends_with(step):
            return
        now = len(offered.steps)
        for entry in reversed(offered.met[step.after][:-1]):
            if not any(serves(done) for done in offered.steps[entry:now]):  # else it is not worth judging
                actions = offered.scenario.actions
                self._try(run, Lasso(run.config, run.start, actions[:entry], actions[entry:now]))

    def end(self, run: Run) -> None:
        """Try a run after which no action is enabled."""
        offered = run.offered() if self.claim.begins != "loop" else None
        if offered is not None and has_ended(run.system, run.config, run.state):
            self._try(run, offered.scenario)

    def tests(self, run: Run) -> tuple[Callable[[AnyStep], bool], ...]:
        """Return what the claim raises and serves, and what serves the fairness that it assumes, if it is known."""
        fair = run.system.fair(run.config)
        if not is_known(fair, self.claim.fairness):
            return ()
        return (*self.claim.tests, *map(serving, assumed(fair, self.claim.fairness).values()))

    def examine(self, run: Run, ahead: Region) -> None:
        """Try a loop, or an end, that lies ahead."""
        fair = run.system.fair(run.config)
        owes = owed_since(self.claim, run.steps) is not None
        found = lasso(ahead, self.claim, [*assumed(fair, self.claim.fairness).values()], owes=owes)
        if found is not None:
            self._try(run, found)


class WatchDeadEnds(Watch[DeadlockFree]):
    """`DeadlockFree`: whether anything can complete after a drawn state."""

    def __init__(self, claim: DeadlockFree) -> None:
        super().__init__(claim)
        self.done: set[Any] = set()

    @property
    def served(self) -> Callable[[AnyStep], bool]:
        """What completes."""
        return self.claim.completes

    def look(self, run: Run, step: AnyStep) -> None:
        """Count whether an agent wants to act."""
        self.said(self.claim.wants(run.config, run.state))

    def end(self, run: Run) -> None:
        """Judge the future of the last state, however wide it is."""
        here, offered = (run.config, run.state), run.offered()
        if self.evidence is None and here not in self.done and len(self.done) < TRIES and offered is not None:
            self.done.add(here)
            self._try(run, offered.scenario)

    def tests(self, run: Run) -> tuple[Callable[[AnyStep], bool], ...]:
        """Return whether a step completes."""
        return (self.claim.completes,)

    def examine(self, run: Run, ahead: Region) -> None:
        """Try a dead end that lies ahead."""
        found = dead_end(ahead, self.claim)
        if found is not None:
            self._try(run, found)

    def _try(self, run: Run, found: AnyScenario) -> None:
        if judge(run.system, self.claim, found, limit=AHEAD):
            self.fails(found)


class WatchTemporal(_WatchLassos[Temporal]):
    """`Temporal`: the loops that a run closes, the nearest first, and the states in which it may stop."""

    def begin(self, run: Run) -> None:
        """Try to stop in the initial state."""
        self.said(True)
        self._stop(run)

    def look(self, run: Run, step: AnyStep) -> None:
        """Try the loops that end in this state, and to stop in it."""
        if self.evidence is not None or (offered := run.offered()) is None or not offered.ends_with(step):
            return
        now, actions = len(offered.steps), offered.scenario.actions
        for entry in offered.met[step.after][:-1][: -ENTRIES - 1 : -1]:
            self._try(run, Lasso(run.config, run.start, actions[:entry], actions[entry:now]))
        self._stop(offered)

    def end(self, run: Run) -> None:
        """Try a run after which no action is enabled."""
        if (offered := run.offered()) is not None and has_ended(run.system, run.config, run.state):
            self._try(run, offered.scenario)

    def _stop(self, run: Run) -> None:
        if self.claim.stutter:
            self._try(run, run.scenario)


_WATCHERS: dict[type[Property], Callable[[Any], Watch[Any]]] = {
    Safety: WatchSafety,
    Reachable: WatchGoal,
    DeterminedBy: WatchKeys,
    Paired: WatchPairs,
    Liveness: WatchForever,
    DeadlockFree: WatchDeadEnds,
    Temporal: WatchTemporal,
}


def watch(claim: Property) -> Watch[Any]:
    """Return a new watcher for `claim`.  Raises TypeError for a kind that the machine does not know."""
    for kind, watcher in _WATCHERS.items():
        if isinstance(claim, kind):
            return watcher(claim)
    raise TypeError(f"the state machine supports no claims of kind {claim.kind} ({claim.name})")
