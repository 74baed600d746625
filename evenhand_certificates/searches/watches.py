"""What each kind of claim asks of a walk.

A watch is told of every state that is met (`arrive`), of every state whose steps are taken (`visit`, `leave`) and of
every step (`look`).  It raises Invalid where its claim is false; `met` counts how often the claim said something.
"""

# SPDX-License-Identifier: MIT

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from evenhand.core.alike import alike, refuse_merge
from evenhand.core.fairness import assumed
from evenhand.core.kinds import DeadlockFree, Liveness, Property, Reachable, Safety
from evenhand.core.relations import DeterminedBy, Paired, TwoRun
from evenhand.core.system import AnyStep, AnySystem
from evenhand_certificates.errors import Invalid
from evenhand_certificates.searches.ranks import DeadlockRanks, LivenessRanks

KINDS = DeadlockFree | Liveness | Reachable | DeterminedBy | Paired | Safety
"""The kinds of claims that are watched; no certificate is for another."""

RARELY = 4
"""A claim of whose ways fewer than one in so many occurs again at its state is not asked for them."""


class Watch:
    """A claim in one configuration; by default it looks at nothing."""

    def __init__(self, claim: Any, system: AnySystem, config: Any) -> None:
        self.claim, self.system, self.config = claim, system, config
        self.name: str = claim.name
        self.looks = type(self).look is not Watch.look
        self.met = 0

    def false(self, why: str) -> Invalid:
        """Return the error that says where the claim is false."""
        return Invalid(f"claim {self.name} {why}")

    def arrive(self, place: int, state: Any, initial: bool) -> None:
        """A state is met for the first time."""

    def waits(self, place: int) -> bool:
        """Return whether the steps of a state must be taken again."""
        return False

    def visit(self, place: int, state: Any, actions: tuple[Any, ...]) -> None:
        """The steps of a state are about to be taken, all of them."""

    def look(self, step: AnyStep, there: int) -> bool:
        """A step is taken, to the state of that number; return whether its steps must be taken again."""
        return False

    def leave(self) -> None:
        """All steps of the visited state are taken."""

    def close(self) -> None:
        """All states are visited."""


class StateWatch(Watch):
    """A claim about each state."""

    def arrive(self, place: int, state: Any, initial: bool) -> None:
        """Ask about the state."""
        when, check = self.claim.tests
        if when(self.config, state):
            self.met += 1
            if not check(self.config, state):
                raise self.false(f"is false in state {place}")


class StepWatch(Watch):
    """A claim about each step."""

    def __init__(self, claim: Safety, system: AnySystem, config: Any) -> None:
        super().__init__(claim, system, config)
        self.when, self.check = claim.tests

    def look(self, step: AnyStep, there: int) -> bool:
        """Ask about the step."""
        if self.when(step):
            self.met += 1
            if not self.check(step):
                raise self.false(f"is false on a step to state {there}")
        return False


class GoalWatch(Watch):
    """A claim that some step meets a goal: one is enough, in any configuration."""

    def look(self, step: AnyStep, there: int) -> bool:
        """Ask about the step, unless one was found."""
        if not self.met and self.claim.goal(step):
            self.met = 1
        return False


class HistoryWatch(Watch):
    """A claim about histories: every state with every memory that it is reached with."""

    def __init__(self, claim: Safety, system: AnySystem, config: Any) -> None:
        super().__init__(claim, system, config)
        self.known: dict[tuple[int, Any], Any] = {}
        self.pending: dict[int, list[Any]] = {}
        self.here: list[Any] = []

    def arrive(self, place: int, state: Any, initial: bool) -> None:
        """A run begins with the first memory; ask about its start."""
        if initial:
            if self.claim.at_start(self.config, state) is False:
                raise self.false(f"is false at the start, in state {place}")
            self._add(place, self.claim.memory(self.config))

    def _add(self, place: int, memory: Any) -> bool:
        if (place, memory) in self.known:
            refuse_merge(self.known[place, memory], memory, "values of a monitor")
            return False
        self.known[place, memory] = memory
        self.pending.setdefault(place, []).append(memory)
        return True

    def waits(self, place: int) -> bool:
        """Return whether the state was reached with a memory that its steps have not followed."""
        return place in self.pending

    def visit(self, place: int, state: Any, actions: tuple[Any, ...]) -> None:
        """Take the memories that are new here."""
        self.here = self.pending.pop(place, [])

    def look(self, step: AnyStep, there: int) -> bool:
        """Follow the step with every memory, and ask about each that results."""
        new = False
        for memory in self.here:
            later = self.claim.follow(memory, step)
            answer = self.claim.at(self.config, later, step)
            self.met += answer is not None
            if answer is not None and not answer:
                raise self.false(f"is false after a step to state {there}")
            new |= self._add(there, later)
        return new


class DeterminedWatch(Watch):
    """A claim that equal keys have equal values; `table` is shared by the configurations that are compared."""

    def __init__(self, claim: DeterminedBy, system: AnySystem, config: Any, table: dict[Hashable, Hashable]) -> None:
        super().__init__(claim, system, config)
        self.table = table

    def look(self, step: AnyStep, there: int) -> bool:
        """Compare the value with the first one under its key; the claim says something where there is one."""
        if self.claim.when(step):
            key, value = self.claim.key(step), self.claim.value(step)
            if key in self.table:
                self.met += value is not None
                if self.table[key] != value:
                    raise self.false(f"is false: a step to state {there} has another value than one with its key")
            else:
                self.table[key] = value
        return False


class PairsWatch(Watch):
    """A claim that compares the runs which part at each state, or at each step."""

    def __init__(self, claim: Paired, system: AnySystem, config: Any) -> None:
        super().__init__(claim, system, config)
        self.initials: set[int] = set()
        self.place = 0
        self.begun: dict[Any, tuple[Any, Any]] = {}  # by its way, where the second run from this state begins
        self.computed = getattr(type(claim), "fork", None) is TwoRun.fork
        self.ways = self.again = 0

    def arrive(self, place: int, state: Any, initial: bool) -> None:
        """Keep which states are initial."""
        if initial:
            self.initials.add(place)

    def visit(self, place: int, state: Any, actions: tuple[Any, ...]) -> None:
        """Compare the runs that part here."""
        self.place = place
        self.begun.clear()
        if self.claim.reads == "states":
            self._compare(state, actions, None)

    def look(self, step: AnyStep, there: int) -> bool:
        """Compare the step with the runs that are computed from it."""
        if self.claim.reads == "steps":
            self._compare(step.before, (step.action,), step)
        return False

    def _compare(self, state: Any, actions: tuple[Any, ...], step: AnyStep | None) -> None:
        claim = self.claim
        for way in claim.ways(self.config, state, actions):
            known = (self._begun(way, state),) if self.computed else ()
            fork = claim.fork(way, self.config, state, actions, *known)
            left = step if step is not None else self._end(self.config, state, fork.left)
            right = self._end(fork.config, fork.state, fork.right)
            self.met += 1
            first = self.place in self.initials and step is not None and claim.starts_too
            if first and not any(fork.state == start for start in self.system.initial(fork.config)):
                raise self.false(f"is false: the twin of initial state {self.place} is not initial")
            if not claim.agrees(way, left, right):
                raise self.false(f"is false: two runs from state {self.place} do not agree")

    def _begun(self, way: Any, state: Any) -> Any:
        """Where the second run begins; steps from one state share it, unless their ways are seldom the same."""
        if self.ways > RARELY * (self.again + 100):
            return None
        self.ways += 1
        try:
            known = self.begun.get(way)
        except TypeError:  # it has no hash
            return None
        if known is not None and alike(known[0], way):
            self.again += 1
            return known[1]
        found = self.claim.begun(way, self.config, state)
        self.begun[way] = way, found
        return found

    def _end(self, config: Any, state: Any, actions: tuple[Any, ...]) -> AnyStep | None:
        """The last step of these actions; None if there are none."""
        step: AnyStep | None = None
        for action in actions:
            step = self.system.take(config, state, action)
            state = step.after
        return step


class DeadlockWatch(Watch):
    """A claim that something completes from every state in which an agent wants to act."""

    def __init__(self, claim: DeadlockFree, system: AnySystem, config: Any, given: Any) -> None:
        super().__init__(claim, system, config)
        self.ranks = DeadlockRanks(given)

    def arrive(self, place: int, state: Any, initial: bool) -> None:
        """Ask for a rank where an agent wants to act."""
        if self.claim.wants(self.config, state):
            self.met += 1
            self.ranks.need(place)

    def visit(self, place: int, state: Any, actions: tuple[Any, ...]) -> None:
        """Begin with the steps of this state."""
        self.ranks.begin(place)

    def look(self, step: AnyStep, there: int) -> bool:
        """Tell the ranks of the step."""
        self.ranks.step(there, completes=self.claim.completes(step))
        return False

    def leave(self) -> None:
        """Check the rank of this state."""
        self.ranks.end()

    def close(self) -> None:
        """Refuse ranks of states that there are not."""
        self.ranks.close()


class LivenessWatch(Watch):
    """A claim that what is raised is served."""

    def __init__(self, claim: Liveness, system: AnySystem, config: Any, given: Any) -> None:
        super().__init__(claim, system, config)
        self.assumed = assumed(system.fair(config), claim.fairness)
        self.raises, self.serves = claim.tests
        self.ranks = LivenessRanks(given, {name: one.kind for name, one in self.assumed.items()}, claim.begins)

    def arrive(self, place: int, state: Any, initial: bool) -> None:
        """A claim from the start is owed in initial states."""
        self.ranks.arrive(place)
        if initial and self.claim.begins == "start":
            self.met += 1
            self.ranks.owe(place)

    def visit(self, place: int, state: Any, actions: tuple[Any, ...]) -> None:
        """Begin with the steps of this state; a run ends where there are none."""
        self.ranks.begin(place, ends=not actions)

    def look(self, step: AnyStep, there: int) -> bool:
        """Tell the ranks whether the step raises, serves, and is what an assumption is about."""
        raised = self.claim.begins != "start" and self.raises(step)
        self.met += raised
        taken = frozenset(n for n, one in self.assumed.items() if one.taken(step.before, step.action))
        self.ranks.step(there, raised=raised, served=self.serves(step), taken=taken)
        return False

    def close(self) -> None:
        """Check every level with steps inside."""
        self.ranks.close()


def watch_of(claim: Property, system: AnySystem, config: Any, given: Any, shared: dict[str, Any]) -> Watch:
    """Return the watch of a claim; `given` are its ranks, `shared` what configurations have in common.

    Raises Invalid.
    """
    match claim:
        case DeadlockFree():
            return DeadlockWatch(claim, system, config, given)
        case Liveness():
            return LivenessWatch(claim, system, config, given)
        case Reachable():
            return GoalWatch(claim, system, config)
        case DeterminedBy():
            table = shared.setdefault(claim.name, {}) if claim.across else dict[Hashable, Hashable]()
            return DeterminedWatch(claim, system, config, table)
        case Paired():
            return PairsWatch(claim, system, config)
        case Safety(reads="states"):
            return StateWatch(claim, system, config)
        case Safety(reads="steps"):
            return StepWatch(claim, system, config)
        case Safety():
            return HistoryWatch(claim, system, config)
        case _:
            raise Invalid(f"claim {claim.name} is of kind {claim.kind}, which no certificate is for")
