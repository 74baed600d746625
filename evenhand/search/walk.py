"""The states that a search found in one configuration, and how each was reached."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Any

from evenhand.search.disk_visited import DiskVisited
from evenhand.search.spilling import Spill
from evenhand.search.witness import Witness


class Paths:
    """How the states of one configuration were first reached."""

    number: int
    parents: Any
    actions: Any
    levels: list[int]

    def depth_of(self, sid: int) -> int:
        """Return the distance of a state from the nearest initial one."""
        return bisect_right(self.levels, sid) - 1

    def path(self, sid: int) -> tuple[int, tuple[int, ...]]:
        """Return a shortest path to a state: number of the initial state, numbers of the actions."""
        taken: list[int] = []
        while self.parents[sid] >= 0:
            taken.append(self.actions[sid])
            sid = self.parents[sid]
        return self.actions[sid], tuple(reversed(taken))

    def finding(self, sid: int, *more: int) -> Witness:
        """Return the shortest run to a state, and the actions `more` after it."""
        start, path = self.path(sid)
        return Witness(self.number, start, (*path, *more))

    def run_of(self, start: int, path: tuple[int, ...], loop: tuple[int, ...]) -> Witness:
        """Return the run of these actions from the initial state of that number."""
        return Witness(self.number, self.actions[start], path, loop)


@dataclass
class Walk(Paths):
    """The states of one configuration, how each was first reached, and the exact counts.

    `levels[d]` is the number of the first state at distance `d`.  `open` says that a bound left something out;
    `transitions` counts pairs of a state and an action on offer, `edges` distinct pairs of states.  `outside`
    are the states from which a constraint lets no run go on, and `back` those of them that a step inside has reached
    since.
    """

    config: Any
    number: int
    states: Any = field(default_factory=list[Any])
    ids: Any = field(default_factory=dict[Any, int])
    parents: Any = field(default_factory=lambda: array("q"))
    actions: Any = field(default_factory=lambda: array("q"))
    levels: list[int] = field(default_factory=list[int])
    transitions: int = 0
    edges: int = 0
    open: bool = False
    disk_visited: DiskVisited | None = None
    outside: set[int] = field(default_factory=set[int])
    back: set[int] = field(default_factory=set[int])

    @property
    def spilled(self) -> int:
        """The number of states on disk."""
        return 0 if self.disk_visited is None else self.disk_visited.count - self.disk_visited.first

    def spill(self, spill: Spill) -> None:
        """Keep later states on disk.  Raises SpillFailed."""
        disk_visited = self.disk_visited = DiskVisited(spill(), self.ids, self.states, self.parents, self.actions)
        self.ids, self.states, self.parents, self.actions = (
            disk_visited,
            disk_visited.states,
            disk_visited.parents,
            disk_visited.actions,
        )


def remember(walk: Walk, state: Any, parent: int, action: int) -> int:
    """Number a new state, and keep how it was reached."""
    if walk.disk_visited is not None:
        return walk.disk_visited.add(state, parent, action)
    sid = len(walk.states)
    walk.ids[state] = sid
    walk.states.append(state)
    walk.parents.append(parent)
    walk.actions.append(action)
    return sid
