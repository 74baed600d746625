"""Systems that get somewhere because each agent that can act acts again and again, some with a rank of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NewType

import evenhand
from benchmarks.unbounded import progress
from benchmarks.unbounded.known import Action, Known, each, put
from evenhand.core.system import AnySystem

Node = NewType("Node", int)


@dataclass(frozen=True)
class Config:
    """The nodes, in the order of the ring."""

    nodes: tuple[Node, ...]


SCOPE = {"nodes": 3}


def each_acts(config: Config) -> Mapping[str, Any]:
    """Each node that can act, acts again and again; to idle and to ask is its own choice."""

    def acts(node: Node) -> Any:
        def taken(state: Any, action: Action) -> bool:
            return bool(action[0] != "ask" and action[0] != "idle" and action[1] == node)

        return evenhand.Fairness("weak", taken)

    return evenhand.per_agent("acts", config.nodes, acts)


def ahead(config: Config, one: Node, other: Node) -> frozenset[Node]:
    """Return the nodes after `one` up to `other`, on the way round the ring."""
    if one <= other:
        return frozenset(node for node in config.nodes if one < node and node <= other)
    return frozenset(node for node in config.nodes if one < node or node <= other)


@dataclass(frozen=True)
class Token:
    """A token on its way round, and the node that is watched."""

    at: Node
    watched: Node


def token_passes(faulty: bool) -> AnySystem:
    """Return the ring (Le Lann 1977); a faulty node may pass the token back."""

    def actions(config: Config, state: Token) -> Iterator[Action]:
        for node in config.nodes:
            yield ("idle", node)
            if state.at == node:
                yield ("pass", node)
                if faulty:
                    yield ("back", node)

    def step(config: Config, state: Token, action: Action) -> Token:
        match action:
            case ("pass", node):
                return replace(state, at=config.nodes[(node + 1) % len(config.nodes)])
            case ("back", node):
                return replace(state, at=config.nodes[(node - 1) % len(config.nodes)])
            case _:
                return state

    return evenhand.system(
        "token_passes",
        config=Config,
        scope=SCOPE,
        initial=lambda config: [Token(config.nodes[0], node) for node in config.nodes],
        actions=actions,
        step=step,
        fair=each_acts,
        types=(Config, Token),
    )


@evenhand.eventually(
    "The token comes to each node.",
    fairness=("acts",),
    rank=lambda config, state: (state.at == state.watched, ahead(config, state.at, state.watched)),
    helps=lambda config, state, agent: state.at == agent,
    name="token_comes_to_each",
)
def comes_to_each(step: Any) -> bool:
    """It is where the watched node is."""
    return bool(step.after.at == step.after.watched)


At = Literal["rest", "waiting", "inside"]


@dataclass(frozen=True)
class Visits:
    """A permission on its way round, what each node does, and the node that is watched."""

    at: tuple[At, ...]
    permission: Node
    watched: Node


def visited(faulty: bool) -> AnySystem:
    """Return a ring with stops: who leaves passes the permission on; a faulty node keeps it."""

    def actions(config: Config, state: Visits) -> Iterator[Action]:
        for node in config.nodes:
            if state.at[node] == "rest":
                yield ("ask", node)
                if state.permission == node:
                    yield ("pass", node)
            if state.permission == node and state.at[node] == "waiting":
                yield ("enter", node)
            if state.at[node] == "inside":
                yield ("leave", node)

    def step(config: Config, state: Visits, action: Action) -> Visits:
        match action:
            case ("ask", node):
                return replace(state, at=put(state.at, node, "waiting"))
            case ("enter", node):
                return replace(state, at=put(state.at, node, "inside"))
            case ("leave", node) if faulty:
                return replace(state, at=put(state.at, node, "rest"))
            case (_, node):
                after = config.nodes[(node + 1) % len(config.nodes)]
                return replace(state, at=put(state.at, node, "rest"), permission=after)
        raise AssertionError(action)

    return evenhand.system(
        "visited_in_turn",
        config=Config,
        scope=SCOPE,
        initial=lambda config: [Visits(each("rest", config.nodes), config.nodes[0], node) for node in config.nodes],
        actions=actions,
        step=step,
        fair=each_acts,
        types=(Config, Visits),
    )


def rounds_left(config: Config, state: Visits) -> Any:
    """The way of the permission to the watched node, and what the node that has it still does."""
    at = state.at[state.permission]
    return ahead(config, state.permission, state.watched), 2 if at == "rest" else 1 if at == "waiting" else 0


@evenhand.leads_to(
    "A node that asks gets in.",
    trigger=lambda step: step.action[0] == "ask" and step.action[1] == step.before.watched,
    fairness=("acts",),
    rank=rounds_left,
    helps=lambda config, state, agent: state.permission == agent,
    name="who_asks_is_visited",
)
def is_visited(step: Any) -> bool:
    """The watched node enters."""
    return bool(step.action[0] == "enter" and step.action[1] == step.before.watched)


@dataclass(frozen=True)
class Line:
    """Who stands in line or is inside, with which number, the greatest of these, and the node that is watched."""

    at: tuple[At, ...]
    number: tuple[int, ...]
    most: int
    watched: Node


def in_line(faulty: bool) -> AnySystem:
    """Return Lamport's bakery with an atomic choice; in the faulty one the last number goes first."""

    def actions(config: Config, state: Line) -> Iterator[Action]:
        for node in config.nodes:
            if state.at[node] == "rest":
                yield ("ask", node)
            if state.at[node] == "waiting" and not any(
                (state.number[other] > state.number[node] if faulty else state.number[other] < state.number[node])
                for other in config.nodes
                if state.at[other] != "rest"
            ):
                yield ("enter", node)
            if state.at[node] == "inside":
                yield ("leave", node)

    def step(config: Config, state: Line, action: Action) -> Line:
        match action:
            case ("ask", node):
                at, number = put(state.at, node, "waiting"), put(state.number, node, state.most + 1)
                return replace(state, at=at, number=number, most=state.most + 1)
            case ("enter", node):
                return replace(state, at=put(state.at, node, "inside"))
            case (_, node):
                return replace(state, at=put(state.at, node, "rest"))
        raise AssertionError(action)

    return evenhand.system(
        "in_line",
        config=Config,
        scope=SCOPE,
        initial=lambda config: [
            Line(each("rest", config.nodes), each(0, config.nodes), 0, node) for node in config.nodes
        ],
        actions=actions,
        step=step,
        fair=each_acts,
        types=(Config, Line),
    )


def line_left(config: Config, state: Line) -> Any:
    """Who stands before the watched node, and who of these is not inside."""
    mine = state.number[state.watched]
    before = frozenset(one for one in config.nodes if state.at[one] != "rest" and state.number[one] < mine)
    return before, frozenset(one for one in before if state.at[one] == "waiting")


def is_first(config: Config, state: Line, agent: Node) -> bool:
    """Whether an agent has the least number of those in line."""
    first = min(
        (one for one in config.nodes if state.at[one] != "rest"), key=lambda one: state.number[one], default=None
    )
    return bool(agent == first)


@evenhand.leads_to(
    "Who has a number gets in.",
    trigger=lambda step: step.action[0] == "ask" and step.action[1] == step.before.watched,
    fairness=("acts",),
    rank=line_left,
    helps=is_first,
    name="who_has_a_number_gets_in",
)
def gets_in(step: Any) -> bool:
    """The watched node enters."""
    return bool(step.action[0] == "enter" and step.action[1] == step.before.watched)


Meal = Literal["hungry", "one fork", "eats"]


@dataclass(frozen=True)
class Table:
    """What each philosopher does; a fork is held by whoever has it first or eats with it."""

    at: tuple[Meal, ...]


def dinner(faulty: bool) -> AnySystem:
    """Return the table (Dijkstra 1965) where the lower fork is taken first; in the faulty one always the left one.

    The forks of a philosopher are its own and the next one's; the last philosopher's lower fork is the next one's.
    """

    def crossed(config: Config, node: Node) -> bool:
        return not faulty and node == config.nodes[-1]

    def own_taken(config: Config, state: Table, node: Node) -> bool:
        other = config.nodes[(node - 1) % len(config.nodes)]
        has = state.at[other] == "eats" or (state.at[other] == "one fork" and crossed(config, other))
        return other != node and has

    def next_taken(config: Config, state: Table, node: Node) -> bool:
        other = config.nodes[(node + 1) % len(config.nodes)]
        has = state.at[other] == "eats" or (state.at[other] == "one fork" and not crossed(config, other))
        return other != node and has

    def actions(config: Config, state: Table) -> Iterator[Action]:
        for node in config.nodes:
            own, after = own_taken(config, state, node), next_taken(config, state, node)
            if state.at[node] == "hungry" and not (after if crossed(config, node) else own):
                yield ("take", node)
            if state.at[node] == "one fork" and not (own if crossed(config, node) else after):
                yield ("eat", node)
            if state.at[node] == "eats":
                yield ("leave", node)

    def step(config: Config, state: Table, action: Action) -> Table:
        match action:
            case ("take", node):
                return Table(put(state.at, node, "one fork"))
            case ("eat", node):
                return Table(put(state.at, node, "eats"))
            case (_, node):
                return Table(put(state.at, node, "hungry"))
        raise AssertionError(action)

    return evenhand.system(
        "dinner",
        config=Config,
        scope=SCOPE,
        initial=lambda config: [Table(each("hungry", config.nodes))],
        actions=actions,
        step=step,
        fair=each_acts,
        types=(Config, Table),
    )


def can_eat(config: Config, state: Table, agent: Node) -> bool:
    """Whether an agent eats, or is the last that has one fork, or the first of all if nobody has one."""
    last = max((one for one in config.nodes if state.at[one] == "one fork"), default=config.nodes[0])
    return state.at[agent] == "eats" or agent == last


@evenhand.leads_to(
    "After each meal there is another.",
    trigger=lambda step: step.action[0] == "leave",
    fairness=("acts",),
    rank=lambda config, state: (
        frozenset(one for one in config.nodes if state.at[one] == "eats"),
        frozenset(one for one in config.nodes if state.at[one] == "hungry"),
    ),
    helps=can_eat,
    name="another_meal",
)
def another_meal(step: Any) -> bool:
    """Somebody begins to eat."""
    return bool(step.action[0] == "eat")


def barrier_of_all(faulty: bool) -> AnySystem:
    """Return the barrier of `progress` where each node acts, rather than some node; a faulty one may leave again."""
    return replace(progress.barrier(faulty), name="barrier_of_all", fair=each_acts)


opens_for_all = replace(progress.opens, name="barrier_opens_for_all", fairness=("acts",))

SYSTEMS = (
    Known("barrier of all", "folklore", "who arrived may leave", barrier_of_all, opens_for_all),
    Known("token that passes", "Le Lann 1977", "may pass it back", token_passes, comes_to_each),
    Known("visits in turn", "ring with stops", "keeps the permission", visited, is_visited),
    Known("bakery that serves", "Lamport 1974, atomic choice", "the last number goes first", in_line, gets_in),
    Known("dinner that goes on", "Dijkstra 1965", "all take the left fork first", dinner, another_meal),
)
