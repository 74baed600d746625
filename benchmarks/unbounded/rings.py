"""Protocols on a ring."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Literal, NewType

import evenhand
from benchmarks.unbounded.known import Action, Known, each, put
from evenhand.core.system import AnySystem

Node = NewType("Node", int)


@dataclass(frozen=True)
class Config:
    """The nodes, in the order of the ring."""

    nodes: tuple[Node, ...]


SCOPE = {"nodes": 3}


@dataclass(frozen=True)
class Token:
    """A token that goes round: where it is, and who is inside."""

    at: Node
    inside: frozenset[Node]


def token_ring(faulty: bool) -> AnySystem:
    """Return the ring (Le Lann 1977); a faulty node passes the token on while it is inside."""

    def actions(config: Config, state: Token) -> Iterator[Action]:
        for who in config.nodes:
            if state.at == who and who not in state.inside:
                yield ("enter", who)
            if state.at == who and (faulty or who not in state.inside):
                yield ("pass", who)
            if who in state.inside:
                yield ("leave", who)

    def step(config: Config, state: Token, action: Action) -> Token:
        match action:
            case ("enter", who):
                return replace(state, inside=state.inside | {who})
            case ("pass", who):
                return replace(state, at=config.nodes[(who + 1) % len(config.nodes)])
            case (_, who):
                return replace(state, inside=state.inside - {who})
        raise AssertionError(action)

    return evenhand.system(
        "token_ring",
        config=Config,
        scope=SCOPE,
        initial=lambda config: [Token(config.nodes[0], frozenset())],
        actions=actions,
        step=step,
        types=(Config, Token),
    )


@evenhand.always("At most one node is inside.", name="token_ring_exclusion")
def one_with_token(state: Token) -> bool:
    """Mutual exclusion."""
    return len(state.inside) <= 1


@dataclass(frozen=True)
class Philosophers:
    """Dining philosophers: who holds the fork to the left of each place, and who eats."""

    fork: tuple[Node | None, ...]
    eats: frozenset[Node]


def philosophers(faulty: bool) -> AnySystem:
    """Return the table (Dijkstra 1965); a faulty philosopher eats with one fork."""

    def right(config: Config, who: Node) -> Node:
        return config.nodes[(who + 1) % len(config.nodes)]

    def actions(config: Config, state: Philosophers) -> Iterator[Action]:
        for who in config.nodes:
            if state.fork[who] is None:
                yield ("take left", who)
            if state.fork[right(config, who)] is None:
                yield ("take right", who)
            both = state.fork[who] == who and state.fork[right(config, who)] == who
            if both or (faulty and state.fork[who] == who):
                yield ("eat", who)
            if who in state.eats:
                yield ("stop", who)

    def step(config: Config, state: Philosophers, action: Action) -> Philosophers:
        match action:
            case ("take left", who):
                return replace(state, fork=put(state.fork, who, who))
            case ("take right", who):
                return replace(state, fork=put(state.fork, right(config, who), who))
            case ("eat", who):
                return replace(state, eats=state.eats | {who})
            case (_, who):
                fork = tuple(None if holder == who else holder for holder in state.fork)
                return Philosophers(fork, state.eats - {who})
        raise AssertionError(action)

    return evenhand.system(
        "philosophers",
        config=Config,
        scope=SCOPE,
        initial=lambda config: [Philosophers((None,) * len(config.nodes), frozenset())],
        actions=actions,
        step=step,
        types=(Config, Philosophers),
    )


@evenhand.always("Who eats holds both forks.", name="philosophers_forks")
def with_both_forks(config: Config, state: Philosophers) -> bool:
    """Neighbours never eat together, because a fork has one holder."""
    return all(state.fork[who] == who and state.fork[(who + 1) % len(config.nodes)] == who for who in state.eats)


@dataclass(frozen=True)
class Election:
    """Chang and Roberts (1979): the number of each place, the numbers on their way to each, and the leaders."""

    number: tuple[Node, ...]
    pending: frozenset[tuple[Node, Node]]
    leader: frozenset[Node]


def chang_roberts(faulty: bool) -> AnySystem:
    """Return the election; a faulty node passes on a smaller number too."""

    def right(config: Config, who: Node) -> Node:
        return config.nodes[(who + 1) % len(config.nodes)]

    def actions(config: Config, state: Election) -> Iterator[Action]:
        for who in config.nodes:
            yield ("begin", who, who)
            for one in config.nodes:
                if (one, who) in state.pending:
                    yield ("take", who, one)

    def step(config: Config, state: Election, action: Action) -> Election:
        verb, who, one = action
        if verb == "begin":
            return replace(state, pending=state.pending | {(state.number[who], right(config, who))})
        left = state.pending - {(one, who)}
        if one == state.number[who]:
            return replace(state, pending=left, leader=state.leader | {who})
        if faulty or state.number[who] < one:
            return replace(state, pending=left | {(one, right(config, who))})
        return replace(state, pending=left)

    return evenhand.system(
        "chang_roberts",
        config=Config,
        scope=SCOPE,
        initial=lambda config: [Election(order, frozenset(), frozenset()) for order in permutations(config.nodes)],
        actions=actions,
        step=step,
        types=(Config, Election),
    )


@evenhand.always("At most one node is the leader.", name="chang_roberts_unique")
def one_leader(state: Election) -> bool:
    """Uniqueness of the leader."""
    return len(state.leader) <= 1


def passes(x: Node, y: Node, z: Node) -> bool:
    """Whether who goes round the ring from x comes by y before z."""
    return x < y < z if x < z else x < y or y < z


@evenhand.always("A number on its way has passed smaller ones only.", name="chang_roberts_passed")
def passed_smaller(config: Config, state: Election) -> bool:
    """The hint that matters."""
    return all(
        (state.number[x], z) not in state.pending or not passes(x, y, z) or state.number[y] < state.number[x]
        for x in config.nodes
        for y in config.nodes
        for z in config.nodes
    )


@evenhand.always("A number that is back at its node is the largest.", name="chang_roberts_back")
def back_is_largest(config: Config, state: Election) -> bool:
    """What the first hint says of a whole round."""
    return all(
        (state.number[x], x) not in state.pending or x == y or state.number[y] < state.number[x]
        for x in config.nodes
        for y in config.nodes
    )


@evenhand.always("The leader has the largest number.", name="chang_roberts_largest")
def leader_is_largest(config: Config, state: Election) -> bool:
    """What the second hint leads to."""
    return all(x == y or state.number[y] < state.number[x] for x in state.leader for y in config.nodes)


@evenhand.always("No two nodes have one number.", name="chang_roberts_apart")
def numbers_differ(config: Config, state: Election) -> bool:
    """Numbers stay as they were."""
    return all(x == y or state.number[x] != state.number[y] for x in config.nodes for y in config.nodes)


ELECTED = (back_is_largest, passed_smaller, leader_is_largest, numbers_differ)
"""The hints for Chang and Roberts."""


@dataclass(frozen=True)
class Colours:
    """Safra-like mutual exclusion with a permission that visits the nodes: who waits for it, who has it."""

    at: tuple[Literal["rest", "waiting", "inside"], ...]
    permission: Node


def visiting(faulty: bool) -> AnySystem:
    """Return the ring in which the permission stops where somebody waits; the faulty one lets a waiter in early."""

    def actions(config: Config, state: Colours) -> Iterator[Action]:
        for who in config.nodes:
            if state.at[who] == "rest":
                yield ("ask", who)
            if state.at[who] == "waiting" and (state.permission == who or faulty):
                yield ("enter", who)
            if state.at[who] == "inside":
                yield ("leave", who)
            if state.permission == who and state.at[who] == "rest":
                yield ("visit", who)

    def step(config: Config, state: Colours, action: Action) -> Colours:
        match action:
            case ("ask", who):
                return replace(state, at=put(state.at, who, "waiting"))
            case ("enter", who):
                return replace(state, at=put(state.at, who, "inside"))
            case ("leave", who):
                return replace(state, at=put(state.at, who, "rest"))
            case (_, who):
                return replace(state, permission=config.nodes[(who + 1) % len(config.nodes)])
        raise AssertionError(action)

    return evenhand.system(
        "visiting",
        config=Config,
        scope=SCOPE,
        initial=lambda config: [Colours(each("rest", config.nodes), node) for node in config.nodes],
        actions=actions,
        step=step,
        types=(Config, Colours),
    )


@evenhand.always("At most one node is inside.", name="visiting_exclusion")
def one_visited(config: Config, state: Colours) -> bool:
    """Mutual exclusion."""
    return len({who for who in config.nodes if state.at[who] == "inside"}) <= 1


SYSTEMS = (
    Known("token ring", "Le Lann 1977", "passes the token while inside", token_ring, one_with_token),
    Known("dining philosophers", "Dijkstra 1965", "eats with one fork", philosophers, with_both_forks),
    Known("Chang-Roberts", "Chang and Roberts 1979", "passes on every number", chang_roberts, one_leader, ELECTED),
    Known("visiting permission", "ring with stops", "enters without it", visiting, one_visited),
)
