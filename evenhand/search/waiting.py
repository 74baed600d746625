"""Wait-for graphs after a run, and circular waits in reachable states.

At the end of a run agent A *waits for* agent B, *for* a completion g (an action of A that completes something, see
`alone`), if A cannot reach g alone, and

- B *holds* it: B is in a minimal set of other agents without whose actions the same run would have ended where A can
  reach g alone (there may be several such sets); or
- B *can help*: there is no such set, and A and B together can reach g.

Without its actions an agent stands by in joint actions, and its other actions do not happen; an action that is then no
longer on offer is taken as the total step takes it.  A holder *gives* if A and B together can reach g.  A graph belongs
to a run, because holding depends on history; a reachable state has the graph of the shortest run by which the search
first reached it.  A cycle is a candidate for a deadlock and no proof, because a holder may give.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, TypeAlias

import networkx as nx

from evenhand.core.system import AnySystem
from evenhand.core.trace import AnyLasso, AnyScenario, Lasso
from evenhand.search.alone import Alone, Moves, TooWide
from evenhand.search.bounds import Bounds
from evenhand.search.evidence import walked
from evenhand.search.graph import search
from evenhand.search.steps import nth_action, stepped

LIMIT = 50_000
"""States that an agent, alone or with another, may reach before the result is unknown."""

MOST = 4
"""Agents that a set of holders may have; larger sets are not searched."""

Without: TypeAlias = dict[frozenset[str], Any]
"""Ends of a run without the actions of some agents, by those agents; the empty set stands for the run itself."""


@dataclass(frozen=True)
class Wait:
    """`waiter` waits for `holder`, for `what` (the waiter's action, or its choice in a joint one).

    `holds`: the holder's actions keep it away, else the holder could help; `beside`: the others of the same set of
    holders; `gives`: whether the two together can reach it, None where that exceeded the limit.
    """

    waiter: str
    holder: str
    what: Any
    holds: bool
    beside: tuple[str, ...]
    gives: bool | None


@dataclass(frozen=True)
class WaitFor:
    """The waits after a run; `state` is where it ends, `unknown` lists results that exceeded the limit."""

    system: AnySystem = field(repr=False)
    run: AnyScenario
    state: Any
    agents: tuple[str, ...]
    waits: tuple[Wait, ...]
    unknown: tuple[str, ...] = ()

    @property
    def cycles(self) -> tuple[tuple[str, ...], ...]:
        """Circular waits, each from its least name on, the shortest first."""
        found = [tuple(cycle) for cycle in nx.simple_cycles(self.to_networkx())]
        turned = (cycle[cycle.index(min(cycle)) :] + cycle[: cycle.index(min(cycle))] for cycle in found)
        return tuple(sorted(turned, key=lambda cycle: (len(cycle), cycle)))

    def to_networkx(self) -> nx.DiGraph[str]:
        """Return a graph of the agents, with an edge from each to those it waits for, with its `waits`."""
        graph: nx.DiGraph[str] = nx.DiGraph(system=self.system.name, variant=self.system.variant)
        graph.add_nodes_from(self.agents)
        for wait in self.waits:
            if not graph.has_edge(wait.waiter, wait.holder):
                graph.add_edge(wait.waiter, wait.holder, waits=())
            graph.edges[wait.waiter, wait.holder]["waits"] += (wait,)
        return graph


class Hands:
    """Completions of agents in one configuration, alone and in pairs, and the ends of runs without some agents."""

    def __init__(self, system: AnySystem, config: Any, limit: int) -> None:
        self.moves, self.limit = Moves(system, config), limit
        self.known: dict[tuple[str, frozenset[str]], Alone | TooWide] = {}

    def can(self, agent: str, state: Any, *others: str) -> frozenset[Any]:
        """Return what the agent can complete, alone or with others.  Raises TooWide."""
        key = (agent, frozenset((agent, *others)))
        alone = self.known.get(key) or Alone(self.moves, *key, self.limit)
        self.known[key] = alone
        if isinstance(alone, TooWide):
            raise alone
        try:
            return alone.can(state)
        except TooWide as error:
            self.known[key] = error
            raise

    def then(self, before: Without, action: Any) -> Without:
        """Return where these runs end after one more action."""
        system, config = self.moves.system, self.moves.config
        after: Without = {}
        for group, state in before.items():
            if system.joint is not None:
                made = {one: choice for one, choice in system.joint.split(action) if one not in group}
                after[group] = self.moves.joined(state, made)
            elif system.actor is not None and system.actor(action) in group:
                after[group] = state
            else:
                after[group] = stepped(system, config, state, action)[0]
        return after

    def waits(self, agent: str, ends: Without, everybody: Sequence[str], unknown: list[str]) -> Iterator[Wait]:
        """Yield the waits of an agent at the end of a run; results beyond the limit are named in `unknown`."""
        state = ends[frozenset()]
        kept: dict[Any, list[frozenset[str]]] = {}
        try:
            here = self.can(agent, state)
            for group in sorted((group for group in ends if agent not in group), key=len):
                for goal in self.can(agent, ends[group]) - here:
                    sets = kept.setdefault(goal, [])
                    if not any(known <= group for known in sets):
                        sets.append(group)
        except TooWide as error:
            unknown.append(f"what {agent} waits for: {error}")
            return
        for other in everybody:
            if other == agent:
                continue
            together: frozenset[Any] | None = None
            try:
                together = self.can(agent, state, other)
            except TooWide as error:
                unknown.append(f"what {agent} can reach with {other}: {error}")
            for goal, sets in kept.items():
                gives = None if together is None else goal in together
                mine = [group for group in sets if other in group]
                if mine:
                    yield Wait(agent, other, goal, True, tuple(sorted(mine[0] - {other})), gives)
            for goal in (together or frozenset()) - here - kept.keys():
                yield Wait(agent, other, goal, False, (), True)


def _sets(everybody: Sequence[str]) -> list[frozenset[str]]:
    """The empty set, each agent, each pair, and so on up to `MOST`, but never all."""
    sizes = range(min(MOST, len(everybody) - 1) + 1)
    return [frozenset(group) for size in sizes for group in combinations(everybody, size)] or [frozenset()]


def waits_after(
    system: AnySystem,
    run: AnyScenario | AnyLasso,
    *,
    agents: Iterable[str] = (),
    limit: int = LIMIT,
) -> WaitFor:
    """Return the wait-for graph after a run (of a lasso: after its stem and one loop).

    `agents` are added to those that have an action on offer somewhere on the run.  Raises ValueError for a system that
    does not name the agent of each action.
    """
    if isinstance(run, Lasso):
        run = run.unrolled
    hands = Hands(system, run.config, limit)
    states = [run.start]
    for action in run.actions:
        states.append(stepped(system, run.config, states[-1], action)[0])
    everybody = tuple(sorted({*agents, *(name for state in states for name in hands.moves.agents(state))}))
    ends = dict.fromkeys(_sets(everybody), run.start)
    for action in run.actions:
        ends = hands.then(ends, action)
    ends[frozenset()] = states[-1]
    unknown: list[str] = []
    waits = [wait for agent in everybody for wait in hands.waits(agent, ends, everybody, unknown)]
    waits.sort(key=lambda wait: (wait.waiter, wait.holder, repr(wait.what)))
    return WaitFor(system, run, states[-1], everybody, tuple(waits), tuple(dict.fromkeys(unknown)))


@dataclass(frozen=True)
class CircularWaits:
    """The waits in all reachable states.

    Of `states` states an agent waits in `waiting`, in a circle in `circular`.  `first` is the graph of the nearest
    state with a circle, else of the nearest with any wait, else of the first initial state; `complete` says that no
    bound left anything out, and nothing exceeded the limit.
    """

    states: int
    waiting: int
    circular: int
    complete: bool
    first: WaitFor | None


def circular_waits(
    system: AnySystem,
    *,
    max_states: int | None = None,
    depth: int | None = None,
    max_memory: int | None = None,
    limit: int = LIMIT,
) -> CircularWaits:
    """Find the waits in every reachable state, by explicit search, within the bounds.

    Raises ValueError for a system that does not name the agent of each action.
    """
    states = waiting = circular = rank = 0
    complete = True
    first: WaitFor | None = None
    for number, config in enumerate(system.all_configs()):
        hands = Hands(system, config, limit)
        walk = search(system, config, number, (), Bounds(max_states, depth, max_memory))
        everybody = tuple(sorted({name for state in walk.states for name in hands.moves.agents(state)}))
        complete = complete and not walk.open
        groups = _sets(everybody)
        ends = list[Without]()
        unknown: list[str] = []
        for sid, state in enumerate(walk.states):
            parent: int = walk.parents[sid]
            if parent < 0:
                ends.append(dict.fromkeys(groups, state))
            else:
                action = nth_action(system, config, walk.states[parent], walk.actions[sid])
                ends.append(hands.then(ends[parent], action))
            found = (wait for agent in everybody for wait in hands.waits(agent, ends[sid], everybody, unknown))
            edges = {(wait.waiter, wait.holder) for wait in found}
            circle = bool(edges) and not nx.is_directed_acyclic_graph(nx.DiGraph(edges))
            states, waiting, circular = states + 1, waiting + bool(edges), circular + circle
            if (worth := 1 + bool(edges) + circle) > rank:
                run, _ = walked(system, config, *walk.path(sid))
                rank, first = worth, waits_after(system, run, agents=everybody, limit=limit)
        complete = complete and not unknown
    return CircularWaits(states, waiting, circular, complete, first)
