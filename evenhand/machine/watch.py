"""Watchers: one per claim, each examining every step of every drawn run.

A watcher counts how often its claim's antecedent was true (`met`) and how often not (`unmet`), and keeps the shortest
evidence it saw.  It never stops a run, because a refuted claim must not hide the next one.  Its evidence is a
candidate; the judge decides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Generic, TypeVar

from evenhand.core.kinds import Property, Reachable, Safety
from evenhand.core.relations import DeterminedBy, Paired
from evenhand.core.system import AnyStep, AnySystem
from evenhand.core.trace import AnyScenario, Pair, Scenario
from evenhand.core.verdict import Evidence, runs
from evenhand.evidence.second_runs import PAIRS_FROM, Place, at_step, compare, compared, pair_of
from evenhand.machine.ahead import AHEAD, AHEAD_OF_ALL, Region, region

P = TypeVar("P", bound=Property)

ORDERS = 64
"""Pairs of runs that are compared from one state."""
OFFERED = 128
"""Enabled actions of one state from which a claim about pairs of runs picks, taken evenly from all."""


@dataclass
class Run:
    """One run in progress: configuration, initial state, steps so far, and where each state was met."""

    system: AnySystem
    config: Any
    start: Any
    steps: list[AnyStep] = field(default_factory=list[AnyStep])
    met: dict[Any, list[int]] = field(default_factory=dict[Any, list[int]])
    _checked: int = 0
    _offered: Run | None = None

    def __post_init__(self) -> None:
        self.met[self.start] = [0]

    @property
    def state(self) -> Any:
        """The current state."""
        return self.steps[-1].after if self.steps else self.start

    @property
    def scenario(self) -> AnyScenario:
        """The run so far, as evidence."""
        return Scenario(self.config, self.start, tuple(step.action for step in self.steps))

    def ends_with(self, step: AnyStep) -> bool:
        """Return whether this step is the last one."""
        return bool(self.steps) and self.steps[-1] is step

    def take(self, action: Any) -> AnyStep:
        """Take one step and return it."""
        return self.follow(self.system.take(self.config, self.state, action))

    def follow(self, step: AnyStep) -> AnyStep:
        """Add a step that was taken, and return it."""
        self.steps.append(step)
        self.met.setdefault(step.after, []).append(len(self.steps))
        return step

    def offered(self) -> Run | None:
        """Return this run without its rejected actions: a run that the system offers.

        None if an action that was not on offer changed the state.
        """
        if self._checked == 0:
            self._offered = Run(self.system, self.config, self.start)
        while self._offered is not None and self._checked < len(self.steps):
            step = self.steps[self._checked]
            self._checked += 1
            if self.system.is_enabled(step.config, step.before, step.action):
                self._offered.follow(step)
            elif step.after != step.before:
                self._offered = None
        return self._offered


class Watch(Generic[P]):
    """The counts and evidence of one claim; subclasses examine runs."""

    def __init__(self, claim: P) -> None:
        self.claim = claim
        self.met = 0
        self.unmet = 0
        self.evidence: Evidence | None = None
        self.pursued = self.ahead = self.closed = 0
        self.looked: set[Any] = set()

    @property
    def served(self) -> Callable[[AnyStep], bool] | None:
        """The test of the steps that a claim about whole runs waits for; None for other claims."""
        return None

    def begin(self, run: Run) -> None:
        """Examine the initial state of a run."""

    def look(self, run: Run, step: AnyStep) -> None:
        """Examine the last step of the run."""

    def end(self, run: Run) -> None:
        """Examine a finished run, which ends because no action is enabled or because the machine stops."""

    def tests(self, run: Run) -> tuple[Callable[[AnyStep], bool], ...]:
        """Return the predicates that tell steps ahead of a run apart; none if the claim does not look there."""
        return ()

    def look_ahead(self, run: Run) -> None:
        """Open what lies ahead of a run of actions on offer and examine it, while this claim is open."""
        tests, most = self.tests(run), min(AHEAD, AHEAD_OF_ALL - self.ahead)
        here = (run.config, run.state)
        if not tests or self.evidence is not None or most <= 0 or here in self.looked:
            return
        self.looked.add(here)
        seen = region(run.system, run.scenario, run.state, tests, most)
        self.ahead += seen.opened
        self.closed += seen.closed
        self.examine(run, seen)

    def examine(self, run: Run, ahead: Region) -> None:
        """Examine the region ahead of a run."""

    def said(self, something: bool) -> bool:
        """Count whether the claim's antecedent is true here, and return it."""
        self.met += something
        self.unmet += not something
        return something

    def fails(self, evidence: Evidence) -> None:
        """Keep the evidence if it is the shortest."""
        if self.evidence is None or _size(evidence) < _size(self.evidence):
            self.evidence = evidence


class WatchSafety(Watch[Safety]):
    """`Safety`: the answer at the initial state and after every step."""

    memory: Any = None
    lost: bool = False

    def begin(self, run: Run) -> None:
        """Start the claim's automaton and check the initial state."""
        self.memory = self.claim.memory(run.config)
        kept = self.claim.at_start(run.config, run.start)
        if kept is not None or self.claim.reads == "states":
            self._count(run, kept)

    def look(self, run: Run, step: AnyStep) -> None:
        """Follow the step and check the answer after it."""
        before, self.memory = self.memory, self.claim.follow(self.memory, step)
        # A memory that becomes None at the first step may be a forgotten `return`; then the run is not counted.
        self.lost = self.memory is None and (self.lost if len(run.steps) > 1 else before is not None)
        self._count(run, self.claim.at(run.config, self.memory, step))

    def _count(self, run: Run, kept: bool | None) -> None:
        self.said(kept is not None and not self.lost)
        if kept is False:
            self.fails(run.scenario)


class WatchGoal(Watch[Reachable]):
    """`Reachable`: a step that meets the goal, on a run of enabled actions."""

    def look(self, run: Run, step: AnyStep) -> None:
        """Keep the run as a witness if the step meets the goal."""
        if self.said(self.claim.goal(step)) and (offered := run.offered()) is not None and offered.ends_with(step):
            self.fails(offered.scenario)


class WatchKeys(Watch[DeterminedBy]):
    """`DeterminedBy`: the first step seen with each key, kept across all runs.

    Only a comparison of two different steps counts as `met`; a key that occurs once proves nothing.
    """

    def __init__(self, claim: DeterminedBy) -> None:
        super().__init__(claim)
        self.first: dict[Any, tuple[Any, Any, AnyScenario]] = {}

    def look(self, run: Run, step: AnyStep) -> None:
        """Compare the step with the first one of its key."""
        if not self.claim.when(step):
            self.said(False)
            return
        key = self.claim.key(step) if self.claim.across else (step.config, self.claim.key(step))
        what, value = (step.config, step.before, step.action), self.claim.value(step)
        if key not in self.first:
            self.first[key] = what, value, run.scenario
            self.said(False)
            return
        other, known, scenario = self.first[key]
        self.said(what != other and (value is not None or known is not None))  # None may be a forgotten `return`
        if value != known:
            self.fails(Pair(scenario, run.scenario, self.claim.name))


class WatchPairs(Watch[Paired]):
    """`Paired`: the second runs of every step, or the runs that part in a state, when the state is first met."""

    def __init__(self, claim: Paired) -> None:
        super().__init__(claim)
        self.done: set[Any] = set()

    def begin(self, run: Run) -> None:
        """Compare the runs that part in the initial state."""
        if self.claim.reads == "states":
            self._in_state(run)

    def look(self, run: Run, step: AnyStep) -> None:
        """Compare the step with its second runs, or the runs that part in the state after it."""
        claim = self.claim
        if claim.reads == "states":
            self._in_state(run)
            return
        place = at_step(step, first=len(run.steps) == 1)
        if not self.said(any(True for _ in claim.ways(place.config, place.state, place.actions))):
            return
        found = next((one for one in compared(run.system, claim, place) if one.why), None)
        if found is not None:
            past = replace(run.scenario, actions=run.scenario.actions[:-1])
            self.fails(pair_of(claim, past, found))

    def _in_state(self, run: Run) -> None:
        if (run.config, run.state) in self.done:
            return
        self.done.add((run.config, run.state))
        system, claim, config, state = run.system, self.claim, run.config, run.state
        offered = _evenly(tuple(islice(system.enabled(config, state), PAIRS_FROM)), OFFERED)
        ways = _evenly(tuple(islice(claim.ways(config, state, offered), PAIRS_FROM)), ORDERS)
        if not ways:
            self.said(False)
        for way in ways:
            self.said(True)
            found = compare(system, claim, Place(config, state, offered), way)
            if found.why:
                self.fails(pair_of(claim, run.scenario, found))


def _evenly(items: tuple[Any, ...], count: int) -> tuple[Any, ...]:
    return items if len(items) <= count else tuple(items[i * len(items) // count] for i in range(count))


def _size(evidence: Evidence) -> int:
    return sum(len(run.actions) for run in runs(evidence))
