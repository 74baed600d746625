"""Cover every transition of the reference's graph by walks from the start.

A kernel cannot be copied, so a transition is covered by replaying a path to it.  A walk goes to the shallowest state
with untried actions, then on through whatever is untried.  After a step on which a kernel differs its state is unknown:
the rest of the walk is given back, and reached by another path if one avoids the known differences.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from math import inf
from typing import Any

from evenhand.core.system import AnyStep, AnySystem
from evenhand.core.trace import AnyTrace, Scenario, Trace

CONFIGS = 512
"""Configurations to cover, spread evenly over all."""
MENU = 2_048
"""Actions tried in one state, spread evenly over those on offer."""
LISTED = 20_000
"""Most configurations, or actions of one state, that are enumerated."""
LONGEST = 24
"""Steps of one walk, unless the path to its first untried action is longer."""


def spread(items: Iterable[Any], count: int, most: int) -> tuple[tuple[Any, ...], bool]:
    """Return at most `count` of the first `most` items, evenly spread, and whether these are all items."""
    listed = list(islice(items, most + 1))
    whole = len(listed) <= most
    listed = listed[:most]
    if len(listed) <= count:
        return tuple(listed), whole
    return tuple(listed[i * len(listed) // count] for i in range(count)), False


@dataclass
class _Node:
    """A state of one configuration: the path to it, and its untried actions."""

    config: Any
    state: Any
    start: Any
    way: tuple[AnyStep, ...]
    left: list[Any]
    turns: int = 0
    lost: bool = False


@dataclass(frozen=True)
class Walk:
    """A scenario and its steps in the reference; `nodes` are the states before them, the last `fresh` are new."""

    trace: AnyTrace
    nodes: tuple[_Node, ...]
    fresh: int


@dataclass
class Covering:
    """Walks through the graph of one system, shallowest transitions first, in an order that `seed` shuffles.

    When the walks are used up, `complete` says whether they covered the whole scope; `transitions` counts what they
    covered, `unreached` what lies behind a step on which the kernel differs.  `left_out` says whether an action is not
    asked for in a configuration and state; it may say otherwise later.
    """

    system: AnySystem
    seed: int = 0
    transitions: int = 0
    unreached: int = 0
    whole: bool = True
    left_out: Callable[[Any, Any, Any], bool] = lambda config, state, action: False
    reach: int = LONGEST
    _nodes: dict[tuple[int, Any], _Node] = field(default_factory=dict[tuple[int, Any], _Node])
    _heap: list[tuple[int, int, int, _Node]] = field(default_factory=list[tuple[int, int, int, _Node]])
    _ids: dict[int, int] = field(default_factory=dict[int, int])
    _pushed: int = 0

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        configs, self.whole = spread(self.system.all_configs(), CONFIGS, LISTED)
        for number, config in enumerate(configs):
            for start in self.system.initial(config):
                self._node(number, config, start, start, ())

    @property
    def complete(self) -> bool:
        """Whether the whole scope was enumerated and no transition is left."""
        return self.whole and not self._heap and not self.unreached

    @property
    def left(self) -> bool:
        """Whether there may be another walk."""
        return bool(self._heap)

    def walks(self, most: float = inf) -> Iterator[Walk]:
        """Yield walks until every transition is on one, or `most` are; `give_back` may add more."""
        while self._heap and self.transitions < most:
            _, _, _, node = heapq.heappop(self._heap)
            if node.lost:
                self.unreached += len(node.left)
                node.left.clear()
            if self._takes(node):
                yield self._walk(node)

    def _takes(self, node: _Node) -> bool:
        """Whether an action is left; those left out are dropped before one that is taken next."""
        while node.left and self.left_out(node.config, node.state, node.left[-1]):
            node.left.pop()
            self.whole = False
        return bool(node.left)

    def give_back(self, walk: Walk, agreed: int) -> None:
        """Give back the steps after the first that differs (step `agreed + 1`); paths through it are lost."""
        first = len(walk.trace.steps) - walk.fresh
        self.reach = max(1, (self.reach + max(agreed - first, 0)) // 2)  # most steps behind a difference are lost
        for place in range(max(agreed + 1, first), len(walk.trace.steps)):
            node = walk.nodes[place]
            node.left.append(walk.trace.steps[place].action)
            self.transitions -= 1
            self._push(node)
        bad = walk.trace.steps[: agreed + 1]
        for node in walk.nodes[agreed + 1 :]:
            node.lost = node.lost or node.way[: len(bad)] == bad
        if agreed < first:  # the path itself differs: its end is out of reach
            node = walk.nodes[first]
            if node.way[: len(bad)] == bad:
                node.lost = True

    def _walk(self, node: _Node) -> Walk:
        steps, nodes = list(node.way), list[_Node]()
        number = self._ids[id(node)]
        for step in node.way:
            nodes.append(self._nodes[number, step.before])
        fresh = 0
        here = node
        longest = max(min(LONGEST, len(node.way) + self.reach), len(node.way) + 1)
        self.reach = min(LONGEST, self.reach + 1)
        while self._takes(here) and len(steps) < longest:
            action = here.left.pop()
            step = self.system.take(here.config, here.state, action)
            nodes.append(here)
            steps.append(step)
            fresh += 1
            self.transitions += 1
            there = self._nodes.get((number, step.after))
            if there is None:
                there = self._node(number, here.config, here.start, step.after, tuple(steps))
            elif there.lost:
                there.way, there.lost = tuple(steps), False  # another path to it
            here = there
        node.turns += 1
        self._push(node)
        actions = tuple(step.action for step in steps)
        return Walk(Trace(Scenario(node.config, node.start, actions), tuple(steps)), tuple(nodes), fresh)

    def _node(self, number: int, config: Any, start: Any, state: Any, way: tuple[AnyStep, ...]) -> _Node:
        menu, whole = spread(self.system.enabled(config, state), MENU, LISTED)
        self.whole = self.whole and whole
        left = list(menu)
        self._random.shuffle(left)
        node = _Node(config, state, start, way, left)
        self._nodes[number, state] = node
        self._ids[id(node)] = number
        self._push(node)
        return node

    def _push(self, node: _Node) -> None:
        if node.left:
            self._pushed += 1
            heapq.heappush(self._heap, (len(node.way), node.turns, self._pushed, node))
