"""Wait-for graphs: who waits for whom, and for what, after a run; and whether a reachable state has a circular wait.

At the end of a run agent A *waits for* agent B, *for* a completion g (an action of A's that completes something, see
`alone`), if A cannot reach g alone, and

- *taken*: B took the step of the run after which A no longer could; of a joint step those took it whose choice does
  so by itself, or without whose choice it would not have happened, or else all who did not stand by; or
- *needed*: nobody took it (A never could, or gave it up itself, or lost it to the clock), and A and B together can.

B *can give* it where A and B together can.  A step after which A no longer could is its own if its own choice does so.
A graph belongs to a run, since who took something is history; that of a reachable state is that of the shortest run
to it which the search finds first.  A cycle is a candidate for a deadlock, no proof of one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evenhand.model.trace import Lasso, Scenario
from evenhand.properties.search.alone import NOBODY, Alone, Moves, TooWide
from evenhand.properties.search.found import AnySystem
from evenhand.properties.search.graph import Bounds, Walk, Watchers, search
from evenhand.properties.search.steps import nth_action, stepped
from evenhand.properties.search.tiers import tier_for

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["LIMIT", "CircularWaits", "Wait", "WaitFor", "circular_waits", "waits_after"]

LIMIT = 50_000
"""States that an agent, or two, may go to alone before nothing is said of them."""


@dataclass(frozen=True)
class Wait:
    """`waiter` waits for `holder`, for `what` (the waiter's action, or its choice in a joint one).

    `taken` is the number of the step (from 1) by which the holder took it, None where it is only needed; `gives` says
    whether the two together can have it back, None where that would take too many states to find out.
    """

    waiter: str
    holder: str
    what: Any
    taken: int | None
    gives: bool | None


@dataclass(frozen=True)
class WaitFor:
    """The waits after a run; `state` is where it ends, `unknown` what was not found out."""

    system: AnySystem = field(repr=False)
    run: Scenario[Any, Any, Any]
    state: Any
    agents: tuple[str, ...]
    waits: tuple[Wait, ...]
    unknown: tuple[str, ...] = ()

    @property
    def cycles(self) -> tuple[tuple[str, ...], ...]:
        """Circular waits, each from its first name on, the shortest first."""
        import networkx as nx

        found = [tuple(cycle) for cycle in nx.simple_cycles(self.to_networkx())]
        turned = (cycle[cycle.index(min(cycle)) :] + cycle[: cycle.index(min(cycle))] for cycle in found)
        return tuple(sorted(turned, key=lambda cycle: (len(cycle), cycle)))

    def to_networkx(self) -> nx.DiGraph[str]:
        """Agents, and an edge from each to those it waits for, with its `waits`."""
        import networkx as nx

        graph: nx.DiGraph[str] = nx.DiGraph(system=self.system.name, variant=self.system.variant)
        graph.add_nodes_from(self.agents)
        for wait in self.waits:
            if not graph.has_edge(wait.waiter, wait.holder):
                graph.add_edge(wait.waiter, wait.holder, waits=())
            graph.edges[wait.waiter, wait.holder]["waits"] += (wait,)
        return graph


class _Hands:
    """Who can complete what in one configuration, alone and by twos."""

    def __init__(self, system: AnySystem, config: Any, limit: int) -> None:
        self.moves = Moves(system, config)
        self.limit = limit
        self.known: dict[tuple[str, frozenset[str]], Alone | TooWide] = {}

    def can(self, agent: str, state: Any, *others: str) -> frozenset[Any]:
        """What the agent can still complete, alone or with others.  Raises TooWide."""
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

    def takers(self, agent: str, state: Any, action: Any, goal: Any) -> tuple[str, ...]:
        """Who takes a completion from an agent by an action; none where it gives it up itself, or the clock does."""
        system, config, moves = self.moves.system, self.moves.config, self.moves
        if system.joint is None:
            assert system.actor is not None
            actor = system.actor(action)
            return () if actor in (agent, NOBODY) else (actor,)
        menus = moves.menus(state)
        chosen = dict(system.joint.split(action))
        acting = [one for one, choice in chosen.items() if one in menus and choice != menus[one][0]]

        def lost(choices: Mapping[str, Any]) -> bool:
            made = tuple((one, choices.get(one, menu[0])) for one, menu in menus.items())
            after, _ = stepped(system, config, state, system.joint.join(config, state, made))  # type: ignore[union-attr]
            return goal not in self.can(agent, after)

        if agent in acting and lost({agent: chosen[agent]}):
            return ()
        others = [one for one in acting if one != agent]
        found = [
            one
            for one in others
            if lost({one: chosen[one]}) or not lost({name: made for name, made in chosen.items() if name != one})
        ]
        return tuple(found or others)


def waits_after(
    system: AnySystem,
    run: Scenario[Any, Any, Any] | Lasso[Any, Any, Any],
    *,
    agents: Iterable[str] = (),
    limit: int = LIMIT,
) -> WaitFor:
    """Who waits for whom after a run (of a lasso: after its stem and one loop).

    `agents` are looked at beside those who have an action on offer somewhere on the run.  Raises ValueError for a
    system that does not say whose action is whose.
    """
    if isinstance(run, Lasso):
        run = run.unrolled
    hands = _Hands(system, run.config, limit)
    states = [run.start]
    for action in run.actions:
        states.append(stepped(system, run.config, states[-1], action)[0])
    everybody = tuple(sorted({*agents, *(name for state in states for name in hands.moves.agents(state))}))
    waits: list[Wait] = []
    unknown: list[str] = []
    for agent in everybody:
        try:
            here = hands.can(agent, states[-1])
            lost = _lost(hands, agent, states, run.actions)
        except TooWide as error:
            unknown.append(f"what {agent} waits for: {error}")
            continue
        together = _together(hands, agent, states[-1], everybody, unknown)
        for goal, (place, holders) in lost.items():
            waits += [Wait(agent, one, goal, place + 1, _given(together, one, goal)) for one in holders]
        held = {goal for goal, (_, holders) in lost.items() if holders}
        for other, goals in together.items():
            waits += [Wait(agent, other, goal, None, True) for goal in goals or () if goal not in here | held]
    order = sorted(waits, key=lambda wait: (wait.waiter, wait.holder, repr(wait.what)))
    return WaitFor(system, run, states[-1], everybody, tuple(order), tuple(unknown))


def _given(together: Mapping[str, frozenset[Any] | None], other: str, goal: Any) -> bool | None:
    goals = together.get(other)
    return None if goals is None else goal in goals


def _lost(
    hands: _Hands, agent: str, states: Sequence[Any], actions: Sequence[Any]
) -> dict[Any, tuple[int, tuple[str, ...]]]:
    """What the agent could complete alone at some time and cannot any more: by which step, and who took it."""
    found: dict[Any, tuple[int, tuple[str, ...]]] = {}
    for place, action in enumerate(actions):
        before, after = hands.can(agent, states[place]), hands.can(agent, states[place + 1])
        for goal in after:
            found.pop(goal, None)
        for goal in before - after:
            found[goal] = place, hands.takers(agent, states[place], action, goal)
    return found


def _together(
    hands: _Hands, agent: str, state: Any, everybody: Iterable[str], unknown: list[str]
) -> dict[str, frozenset[Any] | None]:
    """What the agent can complete with each other's help."""
    found: dict[str, frozenset[Any] | None] = {}
    for other in everybody:
        if other != agent:
            try:
                found[other] = hands.can(agent, state, other)
            except TooWide as error:
                found[other] = None
                unknown.append(f"what {agent} needs of {other}: {error}")
    return found


@dataclass(frozen=True)
class CircularWaits:
    """What looking at the waits of every reachable state came to.

    `states` were looked at; in `waiting` of them somebody waits, in `circular` of them in a circle.  `first` is the
    graph of the nearest state with a circle, else of the nearest with any wait, else of the first initial state;
    `complete` says that no bound left anything out, and nothing was too wide to be found out.
    """

    states: int
    waiting: int
    circular: int
    complete: bool
    first: WaitFor | None


def circular_waits(
    system: AnySystem,
    configs: Iterable[Any] | None = None,
    *,
    max_states: int | None = None,
    depth: int | None = None,
    max_memory: int | None = None,
    limit: int = LIMIT,
    progress: Callable[[int, int], None] | None = None,
) -> CircularWaits:
    """Look at the waits of every reachable state of every configuration, on tier 0 or 1, within the same bounds.

    Raises ValueError for a system that does not say whose action is whose.
    """
    states = waiting = circular = 0
    complete, rank = True, 0
    first: WaitFor | None = None
    for number, config in enumerate(system.all_configs() if configs is None else configs):
        hands = _Hands(system, config, limit)
        tier, _ = tier_for(system, None)
        walk = search(system, tier, config, number, Watchers(), Bounds(max_states, depth, max_memory), progress)
        everybody = tuple(sorted({name for state in walk.states for name in hands.moves.agents(state)}))
        complete = complete and not walk.open
        history: list[dict[str, dict[Any, tuple[str, ...]]]] = []
        for sid in range(len(walk.states)):
            edges, whole = _edges(hands, walk, sid, everybody, history)
            complete = complete and whole
            states += 1
            waiting += bool(edges)
            circle = _circular(edges)
            circular += circle
            worth = 1 + bool(edges) + circle
            if worth > rank:
                rank, first = worth, waits_after(system, _run(system, walk, sid), agents=everybody, limit=limit)
    return CircularWaits(states, waiting, circular, complete, first)


def _edges(
    hands: _Hands, walk: Walk, sid: int, everybody: Sequence[str], history: list[dict[str, dict[Any, tuple[str, ...]]]]
) -> tuple[set[tuple[str, str]], bool]:
    """Who waits for whom in a state, as `waits_after` says of the run that the search keeps; `history` is kept."""
    state, parent = walk.states[sid], walk.parents[sid]
    taken: dict[str, dict[Any, tuple[str, ...]]] = {}
    edges: set[tuple[str, str]] = set()
    whole = True
    for agent in everybody:
        try:
            here = hands.can(agent, state)
            known: dict[Any, tuple[str, ...]] = {}
            if parent >= 0:
                before = walk.states[parent]
                known = {goal: by for goal, by in history[parent].get(agent, {}).items() if goal not in here}
                if gone := hands.can(agent, before) - here:
                    action = nth_action(hands.moves.system, walk.config, before, walk.actions[sid])
                    known.update({goal: hands.takers(agent, before, action, goal) for goal in gone})
        except TooWide:
            whole = False
            continue
        taken[agent] = known
        edges.update((agent, holder) for by in known.values() for holder in by)
        held = {goal for goal, by in known.items() if by}
        for other in everybody:
            if other != agent and (agent, other) not in edges:
                try:
                    if hands.can(agent, state, other) - here - held:
                        edges.add((agent, other))
                except TooWide:
                    whole = False
    history.append(taken)
    return edges, whole


def _circular(edges: set[tuple[str, str]]) -> bool:
    """Whether the edges close a circle: nodes without a way on are taken away until none is left, or none goes."""
    left = edges
    while left:
        sources = {source for source, _ in left}
        kept = {edge for edge in left if edge[1] in sources}
        if kept == left:
            return True
        left = kept
    return False


def _run(system: AnySystem, walk: Walk, sid: int) -> Scenario[Any, Any, Any]:
    start, path = walk.path(sid)
    state = first = list(system.initial(walk.config))[start]
    actions: list[Any] = []
    for number in path:
        actions.append(nth_action(system, walk.config, state, number))
        state, _ = stepped(system, walk.config, state, actions[-1])
    return Scenario(walk.config, first, tuple(actions))
