"""What was observed, as decision trees over the columns, and how arrays of states go through them.

A node asks an expression, names an action on offer, or ends with a result.  Runs that agree so far share their nodes.
At a mark runs with one continuation share all that follows, so that the whole is a graph without circles.  Where two
runs that agree so far go on to look at different things, the model depends on something that is not observed.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from evenhand.search.tables.expressions import Expression, Expressions, Ids
from evenhand.search.tables.proxies import Event
from evenhand.search.witness import NotLearned

OPEN, DECIDE, YIELD, END = range(4)

ALONE = 100
"""Paths from which a tree may be found to learn nothing."""

Ints = Any
"""An array of whole numbers."""


class Node:
    """A place in a tree: what is asked or found there, and what comes next.

    `jumps` has for each outcome the place in `after` of the node that follows, -1 if it was never seen; the last is -1.
    """

    __slots__ = ("after", "expression", "jumps", "kind", "next", "number", "rank", "result", "root", "uses")

    def __init__(self, rank: int = 0, *, root: bool = False) -> None:
        self.kind = OPEN
        self.expression: Any = None
        self.after: list[Node] = []
        self.jumps: Any = None
        self.next: Any = None
        self.result: Any = None
        self.number = -1
        self.rank = rank
        self.root = root
        self.uses = 0

    def known(self, outcome: int) -> Node | None:
        """Return the node after an outcome; None for one that was never seen."""
        place = int(self.jumps[outcome]) if outcome < len(self.jumps) else -1
        return self.after[place] if place >= 0 else None

    def to(self, outcome: int, node: Node | None) -> Node:
        """Return the node after an outcome, which is `node` or a new one if the outcome was never seen."""
        if outcome + 1 >= len(self.jumps):
            more = np.full(2 * outcome + 2 - len(self.jumps), -1, dtype=np.int32)
            self.jumps = np.concatenate([self.jumps, more])
        place = int(self.jumps[outcome])
        if place < 0:
            fresh = Node(self.rank) if node is None else node
            place = next((place for place, known in enumerate(self.after) if known is fresh), len(self.after))
            if place == len(self.after):
                self.after.append(fresh)
            self.jumps[outcome] = place
        # The same outcomes lead to the same continuation, even where its key holds something made anew in each run.
        return self.after[place]


class Tree:
    """The observations of one function."""

    def __init__(self, expressions: Expressions) -> None:
        self.expressions = expressions
        self.asked = 0
        self.root = Node(root=True)
        self.segments: dict[Any, Node] = {}
        self.ends: list[Node] = []

    @property
    def is_hopeless(self) -> bool:
        """Whether half of the states asked about, and not few, had a path of their own."""
        return len(self.ends) >= ALONE and 2 * len(self.ends) > self.asked

    def followed(self, at: Node, events: Sequence[Event]) -> Node | None:
        """Return the known continuation to which these events, up to a mark, lead from a node; None for none.

        It is not always the one of the mark's key, see `Node.to`.
        """
        alone: list[Event] = [("mark", None, None)]
        for what, first, found in events or alone:
            after: Node | None = None
            if what == "decide" and at.kind == DECIDE and at.expression is first:
                after = at.known(outcome_number(self.expressions, first, found))
            elif what != "decide" and at.kind == YIELD:
                after = at.next
            if after is None:
                return None
            at = after
        return at if at.root else None

    def leads_on(self, node: Node, rows: Any) -> bool:
        """Return whether all that follows a node is known for the one state of these rows."""
        every = np.zeros(1, dtype=np.int64)
        while node.kind != END:
            after = node.next
            if node.kind == DECIDE:
                after = node.known(int(self.expressions.looked_up(node.expression, rows, every)[0]))
            if after is None:
                return False
            node = after
        return True

    def insert(self, events: Sequence[Event], result: Any, *, ended: bool = True) -> Node:
        """Add one run, and return its last node.  Raises NotLearned where it contradicts an earlier run.

        One that has not `ended` was left at a mark that was known.
        """
        at: Node | None = self.root
        before, outcome = self.root, 0
        rank = 0
        for what, first, found in [*events, ("end", result, None)] if ended else events:
            if what == "mark":
                rank += 1
                if at is not None:  # nothing since the last mark: this node only leads on
                    _agree(at, YIELD, None, None)
                    before, outcome = at, 0
                known = self.segments.get(first)
                if known is None:
                    known = self.segments[first] = Node(rank, root=True)
                known.rank = max(known.rank, rank)
                at = self._next(before, outcome, known)
                continue
            if at is None:
                at = self._next(before, outcome, None)
            if what == "decide":
                _agree(at, DECIDE, first, None)
                before, outcome = at, outcome_number(self.expressions, first, found)
            elif what == "yield":
                _agree(at, YIELD, None, first)
                before, outcome = at, 0
            else:
                if at.kind == OPEN:
                    at.number = len(self.ends)
                    self.ends.append(at)
                _agree(at, END, None, first)
                return at
            at = None
        assert at is not None
        return at

    def _next(self, before: Node, outcome: int, known: Node | None) -> Node:
        """The node after another; `known` after a mark."""
        if before.kind == DECIDE:
            return before.to(outcome, known)
        if before.next is None:
            before.next = Node(before.rank) if known is None else known
        found: Node = before.next
        return found

    def through(
        self, rows: Ids | Sequence[Any], these: Ints, learn: Callable[[int], None]
    ) -> tuple[list[tuple[Node, Ints]], list[tuple[Any, Ints]]]:
        """Send states through the tree until all reach an end; `learn(index)` observes one that did not.

        Returns the states that reach each end, and the actions with the states that offer each, in the order of each
        state's actions.
        """
        learned = set[int]()
        self.asked = max(self.asked, len(these))
        while True:
            offered: list[tuple[Any, Ints]] = []
            ended, stopped = self.walk(rows, these, offered)
            if not stopped:
                return ended, offered
            for group in stopped:
                learn(once(group, learned))

    def walk(
        self, rows: Ids | Sequence[Any], these: Ints, offered: list[tuple[Any, Ints]] | None = None
    ) -> tuple[list[tuple[Node, Ints]], list[Ints]]:
        """Send states through the tree, and list the actions that they offer.

        Returns the states that reach each end, and groups of states that an outcome unseen so far stops, each group at
        one place.
        """
        ended: dict[int, tuple[Node, list[Ints]]] = {}
        stopped: list[Ints] = []
        waiting, groups = [(self.root.rank, 0, self.root)], {id(self.root): [these]}
        count = 0
        while waiting:
            _, _, node = heapq.heappop(waiting)
            some = groups.pop(id(node))  # all states that wait for a segment go through it once
            group = some[0] if len(some) == 1 else np.concatenate(some)
            for after, part in self._advanced(node, rows, group, offered, ended, stopped):
                if id(after) in groups:
                    groups[id(after)].append(part)
                else:
                    count += 1
                    groups[id(after)] = [part]
                    heapq.heappush(waiting, (after.rank, count, after))
        return [(node, np.concatenate(some)) for node, some in ended.values()], stopped

    def _advanced(
        self,
        node: Node,
        rows: Ids | Sequence[Any],
        group: Ints,
        offered: list[tuple[Any, Ints]] | None,
        ended: dict[int, tuple[Node, list[Ints]]],
        stopped: list[Ints],
    ) -> list[tuple[Node, Ints]]:
        """Follow states as long as they stay together; return where they go on to then."""
        while True:
            node.uses += len(group)
            if node.kind == DECIDE:
                parts = self._parted(node, rows, group, stopped)
                if len(parts) != 1:
                    return parts
                node, group = parts[0]
            elif node.kind == YIELD and node.next is not None:
                if node.result is not None and offered is not None:
                    offered.append((node.result, group))
                node = node.next
            elif node.kind == END:
                ended.setdefault(node.number, (node, []))[1].append(group)
                return []
            else:
                stopped.append(group)
                return []
            if node.root:
                return [(node, group)]

    def _parted(
        self, node: Node, rows: Ids | Sequence[Any], group: Ints, stopped: list[Ints]
    ) -> list[tuple[Node, Ints]]:
        """Split states by what comes after a question."""
        outcome = self.expressions.looked_up(node.expression, rows, group)
        place = node.jumps.take(outcome, mode="clip")  # beyond the last outcome nothing was seen
        least = int(place[place.argmin()])  # which takes a quarter of the time of `min` for few states
        if least == place[place.argmax()]:
            if least >= 0:
                return [(node.after[least], group)]
            stopped.extend(_by_outcome(outcome, group))
            return []
        found: list[tuple[Node, Ints]] = []
        for one, after in enumerate(node.after):
            part = group.take((place == one).nonzero()[0])
            if len(part):
                found.append((after, part))
        if least < 0:
            lost = place < 0
            stopped.extend(_by_outcome(outcome[lost], group[lost]))
        return found


def once(group: Ints, learned: set[int]) -> int:
    """Return the index of a state to observe.  Raises NotLearned if it was observed and is still unknown."""
    index = int(group[0])
    if index in learned:
        raise NotLearned("a state that was observed is not found among what was observed")
    learned.add(index)
    return index


def _by_outcome(outcome: Any, group: Ints) -> list[Ints]:
    order = np.argsort(outcome, kind="stable")
    edges = np.flatnonzero(np.diff(outcome[order])) + 1
    return list(np.split(group[order], edges))


def _agree(node: Node, kind: int, expression: Expression | None, result: Any) -> None:
    """Fill an open node, or check that it says the same."""
    if node.kind == OPEN:
        node.kind, node.expression, node.result = kind, expression, result
        if kind == DECIDE:
            node.jumps = np.full(2, -1, dtype=np.int32)
    elif node.kind != kind or node.expression is not expression or node.result != result:
        raise NotLearned("two runs that agree so far differ: something that is not part of the state decides as well")


def outcome_number(expressions: Expressions, expression: Expression, outcome: Any) -> int:
    """Return the number of an outcome; that of a column is the number of its value."""
    values = expressions.columns[expression.columns[0]] if expression.run is None else expression.outcomes
    return values.number(outcome)
