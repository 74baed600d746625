"""Servers, caches and stores: systems of two kinds of things."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, NewType

import evenhand
from benchmarks.unbounded.known import Action, Known, each, put
from evenhand.core.system import AnySystem

Client = NewType("Client", int)
Server = NewType("Server", int)


@dataclass(frozen=True)
class Config:
    """Clients and servers (or resources, keys, pages)."""

    clients: tuple[Client, ...]
    servers: tuple[Server, ...]


SCOPE = {"clients": 2, "servers": 2}


@dataclass(frozen=True)
class LockServer:
    """Ivy's lock server: which client is linked to which server, and which servers are free."""

    link: frozenset[tuple[Client, Server]]
    free: frozenset[Server]


def lock_server(faulty: bool) -> AnySystem:
    """Return the servers; faulty ones accept a second client."""

    def actions(config: Config, state: LockServer) -> Iterator[Action]:
        for client in config.clients:
            for server in config.servers:
                if faulty or server in state.free:
                    yield ("connect", client, server)
                if (client, server) in state.link:
                    yield ("disconnect", client, server)

    def step(config: Config, state: LockServer, action: Action) -> LockServer:
        verb, client, server = action
        if verb == "connect":
            return LockServer(state.link | {(client, server)}, state.free - {server})
        return LockServer(state.link - {(client, server)}, state.free | {server})

    return evenhand.system(
        "lock_server",
        config=Config,
        scope=SCOPE,
        initial=lambda config: [LockServer(frozenset(), frozenset(config.servers))],
        actions=actions,
        step=step,
        types=(Config, LockServer),
    )


@evenhand.always("No two clients are linked to one server.", name="lock_server_exclusion")
def one_linked(state: LockServer) -> bool:
    """Mutual exclusion at every server."""
    return all(one == other for one, server in state.link for other, place in state.link if server == place)


@dataclass(frozen=True)
class Allocator:
    """Merz' simple allocator (TLA+): what each client wants, and what it has."""

    wants: frozenset[tuple[Client, Server]]
    has: frozenset[tuple[Client, Server]]


def allocator(faulty: bool) -> AnySystem:
    """Return the allocator; the faulty one looks at the client alone."""

    def actions(config: Config, state: Allocator) -> Iterator[Action]:
        for client in config.clients:
            for one in config.servers:
                if (client, one) not in state.wants and (client, one) not in state.has:
                    yield ("request", client, one)
                taken = (client, one) in state.has if faulty else any((c, one) in state.has for c in config.clients)
                if (client, one) in state.wants and not taken:
                    yield ("allocate", client, one)
                if (client, one) in state.has:
                    yield ("return", client, one)

    def step(config: Config, state: Allocator, action: Action) -> Allocator:
        verb, client, one = action
        match verb:
            case "request":
                return replace(state, wants=state.wants | {(client, one)})
            case "allocate":
                return Allocator(state.wants - {(client, one)}, state.has | {(client, one)})
            case _:
                return replace(state, has=state.has - {(client, one)})

    return evenhand.system(
        "allocator",
        config=Config,
        scope=SCOPE,
        initial=lambda config: [Allocator(frozenset(), frozenset())],
        actions=actions,
        step=step,
        types=(Config, Allocator),
    )


@evenhand.always("No two clients have one resource.", name="allocator_exclusion")
def one_has_it(config: Config, state: Allocator) -> bool:
    """Mutual exclusion for every resource."""
    return all(len({client for client in config.clients if (client, one) in state.has}) <= 1 for one in config.servers)


@dataclass(frozen=True)
class Shards:
    """Ivy's sharded store: which node owns a key, and which keys travel to whom."""

    owns: frozenset[tuple[Client, Server]]
    travels: frozenset[tuple[Client, Server]]


def sharded(faulty: bool) -> AnySystem:
    """Return the store; the faulty sender goes on owning the key."""

    def actions(config: Config, state: Shards) -> Iterator[Action]:
        for node in config.clients:
            for key in config.servers:
                if (node, key) in state.owns:
                    for other in config.clients:
                        yield ("send", node, key, other)
                if (node, key) in state.travels:
                    yield ("receive", node, key, node)

    def step(config: Config, state: Shards, action: Action) -> Shards:
        verb, node, key, other = action
        if verb == "send":
            owns = state.owns if faulty else state.owns - {(node, key)}
            return Shards(owns, state.travels | {(other, key)})
        return Shards(state.owns | {(node, key)}, state.travels - {(node, key)})

    return evenhand.system(
        "sharded",
        config=Config,
        scope=SCOPE,
        initial=lambda config: [Shards(frozenset((config.clients[0], key) for key in config.servers), frozenset())],
        actions=actions,
        step=step,
        types=(Config, Shards),
    )


@evenhand.always("No two nodes own one key.", name="sharded_unique")
def one_owner(state: Shards) -> bool:
    """Uniqueness of the owner."""
    return all(one == other for one, key in state.owns for other, place in state.owns if key == place)


@dataclass(frozen=True)
class Caches:
    """The MSI protocol for one line of memory: the state of each cache."""

    line: tuple[Literal["modified", "shared", "invalid"], ...]


@dataclass(frozen=True)
class Machine:
    """The caches."""

    clients: tuple[Client, ...]


def caches(faulty: bool) -> AnySystem:
    """Return the caches; a faulty writer does not tell the others."""

    def actions(config: Machine, state: Caches) -> Iterator[Action]:
        for who in config.clients:
            if state.line[who] == "invalid":
                yield ("read", who)
            if state.line[who] != "modified":
                yield ("write", who)
            yield ("evict", who)

    def step(config: Machine, state: Caches, action: Action) -> Caches:
        match action:
            case ("read", who):
                shared = tuple("shared" if line == "modified" else line for line in state.line)
                return Caches(put(shared, who, "shared"))
            case ("write", who):
                if faulty:
                    return Caches(put(state.line, who, "modified"))
                return Caches(tuple("modified" if one == who else "invalid" for one in config.clients))
            case (_, who):
                return Caches(put(state.line, who, "invalid"))
        raise AssertionError(action)

    return evenhand.system(
        "caches",
        config=Machine,
        scope={"clients": 3},
        initial=lambda config: [Caches(each("invalid", config.clients))],
        actions=actions,
        step=step,
        types=(Machine, Caches),
    )


@evenhand.always("A modified line is in no other cache.", name="caches_coherent")
def coherent(config: Machine, state: Caches) -> bool:
    """Single writer, or readers."""
    return all(
        state.line[other] == "invalid"
        for one in config.clients
        if state.line[one] == "modified"
        for other in config.clients
        if other != one
    )


@dataclass(frozen=True)
class Leases:
    """Leases (Gray and Cheriton 1989): the time, who believes to have the lease, and until when."""

    now: int
    holder: Client | None
    until: int
    believes: frozenset[Client]
    own: tuple[int, ...]


def leases(faulty: bool) -> AnySystem:
    """Return the server with clients that look at the same clock; the faulty client forgets to look."""

    def actions(config: Machine, state: Leases) -> Iterator[Action]:
        yield ("tick", config.clients[0])
        for who in config.clients:
            if state.holder is None or state.until < state.now:
                yield ("grant", who)

    def step(config: Machine, state: Leases, action: Action) -> Leases:
        verb, who = action
        if verb == "tick":
            now = state.now + 1
            left = frozenset(one for one in state.believes if faulty or now <= state.own[one])
            return replace(state, now=now, believes=left)
        until = state.now + 2
        own = put(state.own, who, until)
        return replace(state, holder=who, until=until, believes=state.believes | {who}, own=own)

    return evenhand.system(
        "leases",
        config=Machine,
        scope={"clients": 2},
        initial=lambda config: [Leases(0, None, 0, frozenset(), (0,) * len(config.clients))],
        actions=actions,
        step=step,
        types=(Machine, Leases),
    )


@evenhand.always("At most one client believes to have the lease.", name="leases_exclusive")
def one_believes(state: Leases) -> bool:
    """Exclusiveness of the lease."""
    return len(state.believes) <= 1


@dataclass(frozen=True)
class Fencing:
    """A store behind a lock service with fencing tokens: the next token, each client's, and the highest seen."""

    next: int
    token: tuple[int, ...]
    seen: int
    last: int


def fencing(faulty: bool) -> AnySystem:
    """Return the store; the faulty one takes every write."""

    def actions(config: Machine, state: Fencing) -> Iterator[Action]:
        for who in config.clients:
            yield ("lock", who)
            if faulty or state.seen <= state.token[who]:
                yield ("write", who)

    def step(config: Machine, state: Fencing, action: Action) -> Fencing:
        verb, who = action
        if verb == "lock":
            return replace(state, token=put(state.token, who, state.next), next=state.next + 1)
        return replace(state, seen=max(state.seen, state.token[who]), last=state.token[who])

    return evenhand.system(
        "fencing",
        config=Machine,
        scope={"clients": 2},
        initial=lambda config: [Fencing(1, (0,) * len(config.clients), 0, 0)],
        actions=actions,
        step=step,
        types=(Machine, Fencing),
    )


@evenhand.always("The last write has the highest token that was seen.", name="fencing_monotone")
def last_is_highest(state: Fencing) -> bool:
    """No stale write comes after a newer one."""
    return state.last == state.seen


@dataclass(frozen=True)
class Replies:
    """Clients and servers over a network (Ivy's client-server): what was asked, answered and received."""

    asked: frozenset[tuple[Client, Server]]
    answered: frozenset[tuple[Client, Server]]
    received: frozenset[tuple[Client, Server]]


def replies(faulty: bool) -> AnySystem:
    """Return the network; a faulty server answers what nobody asked."""

    def actions(config: Config, state: Replies) -> Iterator[Action]:
        for client in config.clients:
            for server in config.servers:
                yield ("ask", client, server)
                if faulty or (client, server) in state.asked:
                    yield ("answer", client, server)
                if (client, server) in state.answered:
                    yield ("receive", client, server)

    def step(config: Config, state: Replies, action: Action) -> Replies:
        match action:
            case ("ask", client, server):
                return replace(state, asked=state.asked | {(client, server)})
            case ("answer", client, server):
                return replace(state, answered=state.answered | {(client, server)})
            case (_, client, server):
                return replace(state, received=state.received | {(client, server)})
        raise AssertionError(action)

    return evenhand.system(
        "replies",
        config=Config,
        scope={"clients": 2, "servers": 1},
        initial=lambda config: [Replies(frozenset(), frozenset(), frozenset())],
        actions=actions,
        step=step,
        types=(Config, Replies),
    )


@evenhand.always("What was received was asked for.", name="replies_asked")
def was_asked(state: Replies) -> bool:
    """No answer without a question."""
    return state.received <= state.asked


SYSTEMS = (
    Known("lock server", "Ivy", "accepts a second client", lock_server, one_linked),
    Known("simple allocator", "Merz; TLA+ SimpleAllocator", "looks at one client alone", allocator, one_has_it),
    Known("sharded store", "Ivy", "the sender goes on owning", sharded, one_owner),
    Known("MSI caches", "textbook", "a writer does not invalidate", caches, coherent),
    Known("leases", "Gray and Cheriton 1989", "a client does not look at the clock", leases, one_believes),
    Known("fencing tokens", "Kleppmann 2016", "takes every write", fencing, last_is_highest),
    Known("client and server", "Ivy", "answers without a question", replies, was_asked),
)
