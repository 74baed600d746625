"""Watchers for claims about states, steps and histories.

Each watcher counts where its claim's antecedent is met and where the claim is violated, and keeps the first violation,
which is a shortest one (see `graph`).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from evenhand.core.alike import refuse_merge
from evenhand.core.answers import caught, unchecked
from evenhand.core.kinds import Safety, StepTest, every_state, every_step
from evenhand.core.system import AnyStep
from evenhand.search.graph import Watcher
from evenhand.search.walk import Walk
from evenhand.search.witness import Tally


class StateWatch(Watcher):
    """A watcher for a claim about states: checks every reachable one."""

    def __init__(self, claim: Safety, config: Any) -> None:
        self.name, self.claims = f"claim {claim.name!r}", (claim.name,)
        self.config = config
        when, self.check = claim.tests
        self.when = None if when is every_state else when
        self.met = self.violations = 0
        self.first: int | None = None

    def arrive(self, sid: int, state: Any, /) -> None:
        """Check one state."""
        if self.when is not None and not self.when(self.config, state):
            return
        self.met += 1
        if not self.check(self.config, state):
            self.violations += 1
            self.first = sid if self.first is None else self.first

    def close(self, walk: Walk) -> Tally:
        """Return this configuration's tally."""
        finding = None if self.first is None else walk.finding(self.first)
        return Tally(1, len(walk.states), self.met, self.violations, finding)


class _Group:
    """The claims with one antecedent; `each` has a claim's function, the same checked, and what violates it."""

    def __init__(self, when: StepTest | None, members: Sequence[StepWatch]) -> None:
        self.when, self.plain_when, self.met = when, unchecked(when), 0
        self.each = [(unchecked(one.check), one.check, one.violates, one) for one in members]
        for one in members:
            one.group = self


class StepWatch:
    """The count of a claim about each step, kept by `StepsWatch`; a step `violates` it where `check` gives that."""

    def __init__(self, claim: str, when: StepTest, check: StepTest, *, violates: bool = False) -> None:
        self.name, self.claims = f"claim {claim!r}", (claim,)
        self.check, self.violates = check, violates
        self.when = None if when is every_step else when
        self.group: _Group | None = None
        self.violations = 0
        self.first: tuple[int, int] | None = None

    def close(self, walk: Walk) -> Tally:
        """Return this configuration's tally."""
        finding = None if self.first is None else walk.finding(*self.first)
        return Tally(1, walk.transitions, 0 if self.group is None else self.group.met, self.violations, finding)


class StepsWatch(Watcher):
    """A watcher for all claims about steps: a `when` that they share is evaluated once for each step.

    Functions are called without the check of their answers; one that raises, or answers neither True nor False, is
    called again with it.
    """

    def __init__(self, watches: Sequence[StepWatch]) -> None:
        self.at = watches[0]
        shared: dict[StepTest | None, list[StepWatch]] = {}
        for watch in watches:
            shared.setdefault(watch.when, []).append(watch)
        self.groups = [_Group(when, members) for when, members in shared.items()]

    @property
    def name(self) -> str:  # type: ignore[override]
        """The claim that was evaluated last."""
        return self.at.name

    @property
    def claims(self) -> tuple[str, ...]:  # type: ignore[override]
        """The claim that was evaluated last."""
        return self.at.claims

    def look(self, step: AnyStep, action: int, _there: int, /) -> None:
        """Check one step for every claim."""
        checked, at = None, self.at
        try:
            for group in self.groups:
                if group.when is not None:
                    checked, at = group.when, group.each[0][3]
                    met = group.plain_when(step)
                    if met is not True and (met is False or not checked(step)):
                        continue
                group.met += 1
                for plain, checked, violates, at in group.each:
                    answer = plain(step)
                    if answer is not violates and (answer is True or answer is False or checked(step) is not violates):
                        continue
                    at.violations += 1
                    # A state that a constraint had left outside is expanded later than its number says.
                    at.first = min(at.first or (self.sid, action), (self.sid, action))
        except caught():
            self.at = at
            if checked is not None:
                checked(step)
            raise


NEVER_RETURNED = "its `update` never gave anything but None; is a `return` missing?"
"""The doubt about a monitor that begins with a value and loses it at the first step."""


class HistoryWatch(Watcher):
    """A watcher for a claim about histories: the product of the states with the claim's memory.

    The value is checked after every step, the initial state by itself.  A node is (state, value, parent node, action).
    """

    def __init__(self, claim: Safety, config: Any, max_nodes: int | None) -> None:
        self.name, self.claims = f"claim {claim.name!r}", (claim.name,)
        self.config = config
        self.claim = claim
        self.max_nodes = max_nodes
        self.known: dict[Hashable, Any] = {}
        self.nodes: list[tuple[int, Any, int, int]] = []  # state, value, parent, action
        self.waiting: dict[int, list[int]] = {}
        self.current: dict[int, list[int]] = {}
        self.here: Sequence[int] = ()
        self.met = self.violations = self.initial = 0
        self.first: int | None = None
        self.open = False

    def start(self, initial: Sequence[Any]) -> None:
        """Add one node for each initial state."""
        value = self.claim.memory(self.config)
        for sid, state in enumerate(initial):
            self._add(sid, value, -1, 0)
            if sid < len(self.nodes) and self.claim.at_start(self.config, state) is False:
                self.violations += 1
                self.first = sid if self.first is None else self.first
        self.initial = len(self.nodes)
        # The first nodes were not checked: a step that leads back to one must make a node that is.
        self.known.clear()

    def turn(self) -> Sequence[int]:
        """Go on to the next level, and return its states."""
        self.current, self.waiting = self.waiting, {}
        return tuple(self.current)

    def waits(self, sid: int) -> bool:
        """Return whether a node of this level is in that state."""
        return sid in self.current

    def visit(self, sid: int, _state: Any, /) -> None:
        """Note this level's nodes in the state being expanded."""
        self.here = self.current[sid]

    def look(self, step: AnyStep, action: int, there: int, /) -> None:
        """Update the value of every node in this state, and number the new nodes."""
        for node in self.here:
            value = self.claim.follow(self.nodes[node][1], step)
            known = self.known.get((there, value), self)
            if known is self:
                self._add(there, value, node, action)
            else:
                refuse_merge(known, value, "values of a monitor")

    def _add(self, sid: int, value: Any, parent: int, action: int) -> None:
        if self.max_nodes is not None and len(self.nodes) >= self.max_nodes:
            self.open = True
            return
        node = len(self.nodes)
        self.known[sid, value] = value
        self.nodes.append((sid, value, parent, action))
        if sid >= 0:
            self.waiting.setdefault(sid, []).append(node)
        kept = self.claim.answer(self.config, value) if parent >= 0 else None
        if kept is not None:
            self.met += 1
            if not kept:
                self.violations += 1
                self.first = node if self.first is None else self.first

    def close(self, walk: Walk) -> Tally:
        """Return this configuration's tally."""
        finding = None
        if self.first is not None:
            taken: list[int] = []
            node = self.first
            while self.nodes[node][2] >= 0:
                taken.append(self.nodes[node][3])
                node = self.nodes[node][2]
            finding = walk.finding(self.nodes[node][0], *reversed(taken))
        doubts = (f"a bound of {self.max_nodes} histories left its product open",) if self.open else ()
        later = self.nodes[self.initial :]
        if later and self.nodes[0][1] is not None and all(value is None for _, value, _, _ in later):
            doubts = (*doubts, NEVER_RETURNED)
        total = len(self.nodes) - self.initial
        return Tally(1, total, self.met, self.violations, finding, doubts, {"histories": len(self.nodes)})
