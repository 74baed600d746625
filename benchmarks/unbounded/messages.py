"""Protocols in which processes send messages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, NewType

import evenhand
from benchmarks.unbounded.known import Action, Known, each, put
from evenhand.core.system import AnySystem

Node = NewType("Node", int)


@dataclass(frozen=True)
class Config:
    """The nodes."""

    nodes: tuple[Node, ...]


SCOPE = {"nodes": 3}


@dataclass(frozen=True)
class TwoPhase:
    """Two-phase commit (Gray 1978, after Lamport's TLA+): resource managers, the coordinator, and what was sent."""

    at: tuple[Literal["working", "prepared", "committed", "aborted"], ...]
    coordinator: Literal["waits", "committed", "aborted"]
    heard: frozenset[Node]
    prepared: frozenset[Node]
    commit: bool
    abort: bool


def two_phase(faulty: bool) -> AnySystem:  # noqa: C901 - the guards of one protocol
    """Return the protocol; the faulty coordinator commits as soon as it has heard of anybody."""

    def actions(config: Config, state: TwoPhase) -> Iterator[Action]:
        everyone = len(state.heard) == len(config.nodes)
        if state.coordinator == "waits" and ((faulty and state.heard) or everyone):
            yield ("commit", config.nodes[0])
        if state.coordinator == "waits":
            yield ("abort", config.nodes[0])
        for who in config.nodes:
            if state.coordinator == "waits" and who in state.prepared:
                yield ("hear", who)
            if state.at[who] == "working":
                yield ("prepare", who)
                yield ("give up", who)
            if state.commit:
                yield ("obey commit", who)
            if state.abort:
                yield ("obey abort", who)

    def step(config: Config, state: TwoPhase, action: Action) -> TwoPhase:
        match action:
            case ("commit", _):
                return replace(state, coordinator="committed", commit=True)
            case ("abort", _):
                return replace(state, coordinator="aborted", abort=True)
            case ("hear", who):
                return replace(state, heard=state.heard | {who})
            case ("prepare", who):
                return replace(state, at=put(state.at, who, "prepared"), prepared=state.prepared | {who})
            case ("obey commit", who):
                return replace(state, at=put(state.at, who, "committed"))
            case (_, who):
                return replace(state, at=put(state.at, who, "aborted"))
        raise AssertionError(action)

    return evenhand.system(
        "two_phase_commit",
        config=Config,
        scope=SCOPE,
        initial=lambda config: [
            TwoPhase(each("working", config.nodes), "waits", frozenset(), frozenset(), False, False)
        ],
        actions=actions,
        step=step,
        types=(Config, TwoPhase),
    )


@evenhand.always("No two nodes decide differently.", name="two_phase_consistent")
def consistent(config: Config, state: TwoPhase) -> bool:
    """Consistency of the transaction."""
    committed = any(state.at[node] == "committed" for node in config.nodes)
    return not (committed and any(state.at[node] == "aborted" for node in config.nodes))


@dataclass(frozen=True)
class Transaction:
    """The specification of transaction commit (Gray and Lamport 2006): resource managers alone."""

    at: tuple[Literal["working", "prepared", "committed", "aborted"], ...]


def transaction_commit(faulty: bool) -> AnySystem:
    """Return the specification; in the faulty one a prepared node aborts although others have committed."""

    def actions(config: Config, state: Transaction) -> Iterator[Action]:
        for who in config.nodes:
            if state.at[who] == "working":
                yield ("prepare", who)
            if state.at[who] == "prepared" and all(state.at[n] in ("prepared", "committed") for n in config.nodes):
                yield ("commit", who)
            undecided = state.at[who] in ("working", "prepared")
            if undecided and (faulty or not any(state.at[n] == "committed" for n in config.nodes)):
                yield ("abort", who)

    def step(config: Config, state: Transaction, action: Action) -> Transaction:
        verb, who = action
        if verb == "prepare":
            return Transaction(put(state.at, who, "prepared"))
        return Transaction(put(state.at, who, "committed" if verb == "commit" else "aborted"))

    return evenhand.system(
        "transaction_commit",
        config=Config,
        scope=SCOPE,
        initial=lambda config: [Transaction(each("working", config.nodes))],
        actions=actions,
        step=step,
        types=(Config, Transaction),
    )


@evenhand.always("No two nodes decide differently.", name="transaction_consistent")
def transaction_consistent(state: Transaction) -> bool:
    """Consistency of the transaction."""
    return not ("committed" in state.at and "aborted" in state.at)


@dataclass(frozen=True)
class RicartAgrawala:
    """Ricart and Agrawala (1981), as in Ivy: who asked whom, who answered whom, who is inside."""

    asked: frozenset[tuple[Node, Node]]
    answered: frozenset[tuple[Node, Node]]
    inside: frozenset[Node]


def ricart_agrawala(faulty: bool) -> AnySystem:
    """Return the protocol; the faulty one answers although it has the other's answer."""

    def actions(config: Config, state: RicartAgrawala) -> Iterator[Action]:
        for who in config.nodes:
            for other in config.nodes:
                if who != other:
                    if (who, other) not in state.asked:
                        yield ("ask", who, other)
                    free = faulty or (who, other) not in state.answered
                    if (other, who) in state.asked and (other, who) not in state.answered and free:
                        yield ("answer", who, other)
            if who not in state.inside and all((who, n) in state.answered for n in config.nodes if n != who):
                yield ("enter", who, who)
            if who in state.inside:
                yield ("leave", who, who)

    def step(config: Config, state: RicartAgrawala, action: Action) -> RicartAgrawala:
        match action:
            case ("ask", who, other):
                return replace(state, asked=state.asked | {(who, other)})
            case ("answer", who, other):
                return replace(state, answered=state.answered | {(other, who)})
            case ("enter", who, _):
                return replace(state, inside=state.inside | {who})
            case (_, who, _):
                asked = frozenset((a, b) for a, b in state.asked if a != who)
                answered = frozenset((a, b) for a, b in state.answered if a != who)
                return RicartAgrawala(asked, answered, state.inside - {who})
        raise AssertionError(action)

    return evenhand.system(
        "ricart_agrawala",
        config=Config,
        scope={"nodes": 2},
        initial=lambda config: [RicartAgrawala(frozenset(), frozenset(), frozenset())],
        actions=actions,
        step=step,
        types=(Config, RicartAgrawala),
    )


@evenhand.always("At most one node is inside.", name="ricart_agrawala_exclusion")
def one_answered(state: RicartAgrawala) -> bool:
    """Mutual exclusion."""
    return len(state.inside) <= 1


@dataclass(frozen=True)
class LockService:
    """A lock server with messages, after Verdi's `lockserv`: requests, grants, the holder's word, and releases."""

    free: bool
    requests: frozenset[Node]
    grants: frozenset[Node]
    holds: frozenset[Node]
    releases: frozenset[Node]


def lock_service(faulty: bool) -> AnySystem:
    """Return the service; the faulty one grants without marking the lock as taken."""

    def actions(config: Config, state: LockService) -> Iterator[Action]:
        for who in config.nodes:
            yield ("request", who)
            if who in state.requests and state.free:
                yield ("grant", who)
            if who in state.grants:
                yield ("take", who)
            if who in state.holds:
                yield ("release", who)
            if who in state.releases:
                yield ("hear", who)

    def step(config: Config, state: LockService, action: Action) -> LockService:
        match action:
            case ("request", who):
                return replace(state, requests=state.requests | {who})
            case ("grant", who):
                left = state.requests - {who}
                return replace(state, free=faulty, requests=left, grants=state.grants | {who})
            case ("take", who):
                return replace(state, grants=state.grants - {who}, holds=state.holds | {who})
            case ("release", who):
                return replace(state, holds=state.holds - {who}, releases=state.releases | {who})
            case (_, who):
                return replace(state, releases=state.releases - {who}, free=True)
        raise AssertionError(action)

    none: frozenset[Node] = frozenset()
    return evenhand.system(
        "lock_service",
        config=Config,
        scope=SCOPE,
        initial=lambda config: [LockService(True, none, none, none, none)],
        actions=actions,
        step=step,
        types=(Config, LockService),
    )


@evenhand.always("At most one node holds the lock.", name="lock_service_exclusion")
def one_holds(state: LockService) -> bool:
    """Mutual exclusion."""
    return len(state.holds) <= 1


@dataclass(frozen=True)
class DecentralLock:
    """A lock that is passed by messages (Ivy's `decentralized lock`): who has it, and where it travels."""

    has: frozenset[Node]
    travels: frozenset[tuple[Node, Node]]


def decentral_lock(faulty: bool) -> AnySystem:
    """Return the lock; the faulty sender keeps it too."""

    def actions(config: Config, state: DecentralLock) -> Iterator[Action]:
        for who in config.nodes:
            for other in config.nodes:
                if who in state.has:
                    yield ("send", who, other)
                if (other, who) in state.travels:
                    yield ("receive", who, other)

    def step(config: Config, state: DecentralLock, action: Action) -> DecentralLock:
        verb, who, other = action
        if verb == "send":
            return DecentralLock(state.has if faulty else state.has - {who}, state.travels | {(who, other)})
        return DecentralLock(state.has | {who}, state.travels - {(other, who)})

    return evenhand.system(
        "decentral_lock",
        config=Config,
        scope=SCOPE,
        initial=lambda config: [DecentralLock(frozenset({config.nodes[0]}), frozenset())],
        actions=actions,
        step=step,
        types=(Config, DecentralLock),
    )


@evenhand.always("At most one node has the lock.", name="decentral_lock_exclusion")
def one_has(state: DecentralLock) -> bool:
    """Mutual exclusion."""
    return len(state.has) <= 1


@dataclass(frozen=True)
class Broadcast:
    """A message that is passed on: who sent it first, and who has it."""

    source: Node
    has: frozenset[Node]
    sent: frozenset[tuple[Node, Node]]


def broadcast(faulty: bool) -> AnySystem:
    """Return the broadcast; in the faulty one a node that has nothing passes something on."""

    def actions(config: Config, state: Broadcast) -> Iterator[Action]:
        for who in config.nodes:
            for other in config.nodes:
                if faulty or who in state.has:
                    yield ("send", who, other)
                if (who, other) in state.sent:
                    yield ("receive", other, who)

    def step(config: Config, state: Broadcast, action: Action) -> Broadcast:
        verb, who, other = action
        if verb == "send":
            return replace(state, sent=state.sent | {(who, other)})
        return replace(state, has=state.has | {who})

    return evenhand.system(
        "broadcast",
        config=Config,
        scope={"nodes": 2},
        initial=lambda config: [Broadcast(node, frozenset({node}), frozenset()) for node in config.nodes],
        actions=actions,
        step=step,
        types=(Config, Broadcast),
    )


@evenhand.always("Only a node that has the message has sent it.", name="broadcast_honest")
def honest(state: Broadcast) -> bool:
    """Nobody passes on what it does not have, and the source has it."""
    return all(sender in state.has for sender, _ in state.sent) and state.source in state.has


@dataclass(frozen=True)
class Barrier:
    """A barrier with a central count (textbook): who has arrived, who has passed, and whether it is open."""

    arrived: frozenset[Node]
    passed: frozenset[Node]
    open: bool


def barrier(faulty: bool) -> AnySystem:
    """Return the barrier; the faulty one opens when somebody is missing."""

    def actions(config: Config, state: Barrier) -> Iterator[Action]:
        for who in config.nodes:
            if who not in state.arrived:
                yield ("arrive", who)
            if state.open and who in state.arrived and who not in state.passed:
                yield ("pass", who)
        ready = state.arrived if faulty else all(who in state.arrived for who in config.nodes)
        if ready and not state.open:
            yield ("open", config.nodes[0])

    def step(config: Config, state: Barrier, action: Action) -> Barrier:
        match action:
            case ("arrive", who):
                return replace(state, arrived=state.arrived | {who})
            case ("pass", who):
                return replace(state, passed=state.passed | {who})
            case _:
                return replace(state, open=True)

    return evenhand.system(
        "barrier",
        config=Config,
        scope=SCOPE,
        initial=lambda config: [Barrier(frozenset(), frozenset(), False)],
        actions=actions,
        step=step,
        types=(Config, Barrier),
    )


@evenhand.always("Nobody passes before all have arrived.", name="barrier_waits")
def waits(config: Config, state: Barrier) -> bool:
    """The barrier's purpose."""
    return not state.passed or len(state.arrived) == len(config.nodes)


SYSTEMS = (
    Known("two-phase commit", "Gray 1978; TLA+ TwoPhase", "commits on one answer", two_phase, consistent),
    Known("transaction commit", "TLA+ TCommit", "aborts beside a commit", transaction_commit, transaction_consistent),
    Known("Ricart-Agrawala", "Ricart and Agrawala 1981; Ivy", "answers after an answer", ricart_agrawala, one_answered),
    Known("lock service", "Verdi lockserv", "the lock stays free", lock_service, one_holds),
    Known("decentralised lock", "Ivy", "the sender keeps the lock", decentral_lock, one_has),
    Known("broadcast", "flooding", "sends what it has not", broadcast, honest),
    Known("barrier", "textbook", "opens early", barrier, waits),
)
