"""The free-agent graph, enumerated from its description with ints and tuples alone.

Nothing of the project is imported: no model, no engine.  n agents, k keys, v values a key may take. A state is (values,
statuses, counter): a status is EXITED or the last outcome of an active agent.  Agent n - 1 holds everything but WRITE
on key 0; with k >= 3 no agent may write key k - 1.

Two enumerations of the same graph.  `naive` makes every joint choice from every state.  `folded` uses that the effect
of an epoch's requests depends on the active agents alone: it computes the joint choices once per set of active agents,
merges equal effects and counts how often each occurs.

Run it:  python tests/oracles/free_agent_graph.py 2 2 2
"""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

EXITED, NONE, EXECUTED, REFUSED, NO_ACTION = range(5)
LIMIT = 3

State = tuple[tuple[int, ...], tuple[int, ...], int]
Effect = tuple[tuple[int | None, ...], tuple[int, ...], bool]
"""The effect of one epoch: the value written to each key or None, the statuses, whether pass 2 refused any agent."""
Successors = Callable[[State], Iterable[tuple[State, int]]]


class Graph(NamedTuple):
    """The counts that are pinned.  `transitions` are states times joint choices, `edges` distinct (s, s')."""

    states: int
    transitions: int
    edges: int
    depth: int
    to_limit: int | None


def menu(keys: int, values: int) -> list[tuple[str, int, int]]:
    """Return the choices of one active agent: 2 + k + k*v."""
    reads = [("read", key, 0) for key in range(keys)]
    writes = [("write", key, value) for key in range(keys) for value in range(values)]
    return [("exit", 0, 0), ("nothing", 0, 0), *reads, *writes]


def admitted(agent: int, choice: tuple[str, int, int], agents: int, keys: int) -> bool:
    """Return whether pass 1 admits a request: all agents may read all keys; two bans on writing."""
    what, key, _ = choice
    if what == "write":
        return not (agent == agents - 1 and key == 0) and not (keys >= 3 and key == keys - 1)
    return what == "read"


def effect(joint: dict[int, tuple[str, int, int]], agents: int, keys: int) -> Effect:
    """Return the effect of one epoch, from the active agents' choices."""
    passed = {agent: choice for agent, choice in joint.items() if admitted(agent, choice, agents, keys)}
    written: list[int | None] = [None] * keys
    statuses = [EXITED] * agents
    collided = False
    for agent, (what, key, value) in joint.items():
        if what == "exit":
            continue
        if what == "nothing":
            statuses[agent] = NO_ACTION
        elif agent not in passed:
            statuses[agent] = REFUSED
        elif any(other != agent and there[1] == key and "write" in (what, there[0]) for other, there in passed.items()):
            statuses[agent], collided = REFUSED, True
        else:
            statuses[agent] = EXECUTED
            if what == "write":
                written[key] = value
    return tuple(written), tuple(statuses), collided


def after(state: State, happened: Effect) -> State:
    """Return the state after an epoch's effect."""
    world, _, counter = state
    written, statuses, collided = happened
    now = tuple(old if new is None else new for old, new in zip(world, written, strict=True))
    return now, statuses, min(LIMIT, counter + 1) if collided and now == world else 0


def joint_choices(active: tuple[int, ...], keys: int, values: int) -> Iterator[dict[int, tuple[str, int, int]]]:
    """Yield every joint choice of the active agents; none without active agents."""
    if active:
        for picked in itertools.product(menu(keys, values), repeat=len(active)):
            yield dict(zip(active, picked, strict=True))


def active_in(state: State) -> tuple[int, ...]:
    """Return the agents that have not left."""
    return tuple(agent for agent, status in enumerate(state[1]) if status != EXITED)


def walk(agents: int, keys: int, successors: Successors) -> Graph:
    """Count the graph that `successors` (state, how many joint choices lead there) spans, layer by layer."""
    start: State = ((0,) * keys, (NONE,) * agents, 0)
    seen, layer = {start}, [start]
    transitions = edges = 0
    depth, to_limit = -1, None
    while layer:
        depth += 1
        if to_limit is None and any(state[2] == LIMIT for state in layer):
            to_limit = depth
        following: list[State] = []
        for state in layer:
            targets = set[State]()
            for target, times in successors(state):
                transitions += times
                targets.add(target)
            edges += len(targets)
            following.extend(targets - seen)
            seen |= targets
        layer = following
    return Graph(len(seen), transitions, edges, depth, to_limit)


def naive(agents: int, keys: int, values: int) -> Graph:
    """Count every joint choice from every state, one at a time."""

    def successors(state: State) -> Iterator[tuple[State, int]]:
        for joint in joint_choices(active_in(state), keys, values):
            yield after(state, effect(joint, agents, keys)), 1

    return walk(agents, keys, successors)


def folded(agents: int, keys: int, values: int) -> Graph:
    """Count equal effects of different joint choices once, with their number."""
    table: dict[tuple[int, ...], Counter[Effect]] = {}

    def successors(state: State) -> Iterator[tuple[State, int]]:
        active = active_in(state)
        if active not in table:
            table[active] = Counter(effect(joint, agents, keys) for joint in joint_choices(active, keys, values))
        for happened, times in table[active].items():
            yield after(state, happened), times

    return walk(agents, keys, successors)


if __name__ == "__main__":
    sizes = tuple(int(word) for word in sys.argv[1:4])
    print((naive if "--naive" in sys.argv else folded)(*sizes))
