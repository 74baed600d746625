"""Protocols with a set of all messages in their state, in the style of TLA+, as a newcomer writes them in Python.

No message is removed from a set, unless it is a lease or a lock: a set grows, and each rule asks what is in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import evenhand
from evenhand.core.system import AnySystem

Tagged = tuple[str, int]


class Commit(NamedTuple):
    """Two-phase commit: the state of each manager, that of the coordinator, and every message sent."""

    managers: tuple[str, ...]
    coordinator: str
    msgs: frozenset[tuple[str, ...] | Tagged]


def two_phase(count: int) -> AnySystem:
    """Two-phase commit: managers vote yes or no, and the coordinator asks which votes have been sent."""

    def actions(state: Commit) -> Iterator[tuple[str, int]]:
        votes = {m[1] for m in state.msgs if m[0] == "yes"}
        if state.coordinator == "init":
            if len(votes) == count:
                yield "commit", 0
            if any(m[0] == "no" for m in state.msgs):
                yield "abort", 0
        for manager in range(count):
            if state.managers[manager] == "working":
                yield "vote yes", manager
                yield "vote no", manager
            elif state.managers[manager] == "prepared":
                for m in sorted(state.msgs):
                    if m[0] in ("committed", "aborted"):
                        yield m[0], manager

    def step(state: Commit, action: tuple[str, int]) -> Commit:
        what, who = action
        if what == "commit":
            return state._replace(coordinator="committed", msgs=state.msgs | {("committed", -1)})
        if what == "abort":
            return state._replace(coordinator="aborted", msgs=state.msgs | {("aborted", -1)})
        managers = list(state.managers)
        if what == "vote yes":
            managers[who] = "prepared"
            return state._replace(managers=tuple(managers), msgs=state.msgs | {("yes", who)})
        if what == "vote no":
            managers[who] = "aborted"
            return state._replace(managers=tuple(managers), msgs=state.msgs | {("no", who)})
        managers[who] = what
        return state._replace(managers=tuple(managers))

    start = Commit(("working",) * count, "init", frozenset())
    return evenhand.system("two_phase_messages", initial=[start], actions=actions, step=step)


@evenhand.always("No manager commits where another aborts.")
def consistent(state: Commit) -> bool:
    """The claim of two-phase commit."""
    return not ("committed" in state.managers and "aborted" in state.managers)


@dataclass(frozen=True, order=True)
class Message:
    """A message of single-decree Paxos."""

    kind: str
    ballot: int
    acceptor: int = -1
    voted: int = -1
    value: int = -1


@dataclass(frozen=True)
class Paxos:
    """Of each acceptor the highest ballot it has seen, and its last vote; and every message sent."""

    promised: tuple[int, ...]
    voted: tuple[tuple[int, int], ...]
    messages: frozenset[Message]


def paxos(acceptors: int, ballots: int, values: int) -> AnySystem:
    """Single-decree Paxos as in Lamport's TLA+ module: phases 1a, 1b, 2a, 2b."""
    quorum = acceptors // 2 + 1

    def actions(state: Paxos) -> Iterator[Message]:
        for ballot in range(ballots):
            yield from from_leader(state, ballot)
        for m in sorted(state.messages):
            for who in range(acceptors):
                if m.kind == "1a" and m.ballot > state.promised[who]:
                    yield Message("1b", m.ballot, who, *state.voted[who])
                if m.kind == "2a" and m.ballot >= state.promised[who]:
                    yield Message("2b", m.ballot, who, value=m.value)

    def from_leader(state: Paxos, ballot: int) -> Iterator[Message]:
        if not any(m.kind == "1a" and m.ballot == ballot for m in state.messages):
            yield Message("1a", ballot)
        if any(m.kind == "2a" and m.ballot == ballot for m in state.messages):
            return
        for value in range(values):
            if safe(state, ballot, value):
                yield Message("2a", ballot, value=value)

    def safe(state: Paxos, ballot: int, value: int) -> bool:
        heard = {m.acceptor for m in state.messages if m.kind == "1b" and m.ballot == ballot}
        if len(heard) < quorum:
            return False
        votes = {(m.voted, m.value) for m in state.messages if m.kind == "1b" and m.ballot == ballot and m.voted >= 0}
        return not votes or max(votes)[1] == value

    def step(state: Paxos, m: Message) -> Paxos:
        promised, voted = list(state.promised), list(state.voted)
        if m.kind in ("1b", "2b"):
            promised[m.acceptor] = m.ballot
        if m.kind == "2b":
            voted[m.acceptor] = (m.ballot, m.value)
        return Paxos(tuple(promised), tuple(voted), state.messages | {m})

    start = Paxos((-1,) * acceptors, ((-1, -1),) * acceptors, frozenset())
    return evenhand.system("paxos_messages", initial=[start], actions=actions, step=step)


@evenhand.always("Two ballots choose one value.")
def one_value(state: Paxos) -> bool:
    """The claim of Paxos, for three acceptors."""
    chosen = {
        m.value
        for m in state.messages
        if m.kind == "2b"
        and sum(1 for n in state.messages if n.kind == "2b" and (n.ballot, n.value) == (m.ballot, m.value)) >= 2
    }
    return len(chosen) < 2


class Ring(NamedTuple):
    """A ring on which each node sends its own number, and passes on higher ones; messages are (to, number)."""

    begun: tuple[bool, ...]
    leader: tuple[bool, ...]
    net: frozenset[tuple[int, int]]


def election(count: int) -> AnySystem:
    """Leader election after Chang and Roberts, over a set of messages on their way."""
    number = [(3 * place + 1) % count for place in range(count)]

    def actions(state: Ring) -> list[tuple[str, int, int]]:
        starts = [("start", place, 0) for place in range(count) if not state.begun[place]]
        return starts + [("take", to, what) for to, what in sorted(state.net)]

    def step(state: Ring, action: tuple[str, int, int]) -> Ring:
        kind, place, what = action
        after = (place + 1) % count
        if kind == "start":
            begun = (*state.begun[:place], True, *state.begun[place + 1 :])
            return state._replace(begun=begun, net=state.net | {(after, number[place])})
        net = state.net - {(place, what)}
        if what == number[place]:
            return state._replace(leader=(*state.leader[:place], True, *state.leader[place + 1 :]), net=net)
        return state._replace(net=net | {(after, what)} if what > number[place] else net)

    start = Ring((False,) * count, (False,) * count, frozenset())
    return evenhand.system("election_messages", initial=[start], actions=actions, step=step)


@evenhand.always("There is at most one leader.")
def one_leader(state: Ring) -> bool:
    """The claim of leader election."""
    return sum(state.leader) <= 1


class Broadcast(NamedTuple):
    """Bracha's reliable broadcast: what each node has sent; and whether it has accepted."""

    sent: tuple[str, ...]
    accepted: tuple[bool, ...]
    msgs: frozenset[Tagged]


def broadcast(count: int, faulty: int) -> AnySystem:
    """Echo broadcast: nodes echo on `init` or enough echoes, and are ready on enough of these."""

    def enough(state: Broadcast, kind: str, least: int) -> bool:
        return len([m for m in state.msgs if m[0] == kind]) >= least

    def actions(state: Broadcast) -> Iterator[tuple[str, int]]:
        if ("init", 0) not in state.msgs:
            yield "init", 0
        for node in range(count):
            if state.sent[node] == "" and ("init", 0) in state.msgs:
                yield "echo", node
            if state.sent[node] != "ready" and enough(state, "echo", count - faulty):
                yield "ready", node
            if state.sent[node] != "ready" and enough(state, "ready", faulty + 1):
                yield "ready", node
            if not state.accepted[node] and enough(state, "ready", count - faulty):
                yield "accept", node

    def step(state: Broadcast, action: tuple[str, int]) -> Broadcast:
        kind, node = action
        if kind == "accept":
            return state._replace(accepted=(*state.accepted[:node], True, *state.accepted[node + 1 :]))
        state = state._replace(msgs=state.msgs | frozenset({(kind, node)}))
        if kind == "init":
            return state
        return state._replace(sent=(*state.sent[:node], kind, *state.sent[node + 1 :]))

    start = Broadcast(("",) * count, (False,) * count, frozenset())
    return evenhand.system("broadcast_messages", initial=[start], actions=actions, step=step)


@evenhand.always("Nothing is accepted that was not sent.")
def was_sent(state: Broadcast) -> bool:
    """The claim of broadcast."""
    return not any(state.accepted) or any(kind == "init" for kind, _ in state.msgs)


class Locks(NamedTuple):
    """A lock server: who holds it; what each client does; messages with how many of each are on their way."""

    holder: int
    clients: tuple[str, ...]
    bag: frozenset[tuple[str, int, int]]


def lock_server(count: int, most: int) -> AnySystem:
    """Clients ask, perhaps again, are granted the lock, and release it; messages are (kind, client, how many)."""

    def many(bag: frozenset[tuple[str, int, int]], kind: str, who: int) -> int:
        return max((n for k, w, n in bag if k == kind and w == who), default=0)

    def changed(bag: frozenset[tuple[str, int, int]], kind: str, who: int, by: int) -> frozenset[tuple[str, int, int]]:
        old = many(bag, kind, who)
        without = bag - {(kind, who, old)}
        return without | {(kind, who, old + by)} if old + by else without

    def actions(state: Locks) -> Iterator[tuple[str, int]]:
        for who in range(count):
            if state.clients[who] != "holds" and many(state.bag, "request", who) < most:
                yield "request", who
            if state.clients[who] == "holds":
                yield "release", who
        for kind, who, _ in sorted(state.bag):
            if kind != "request" or state.holder < 0:
                yield "take " + kind, who

    def step(state: Locks, action: tuple[str, int]) -> Locks:
        what, who = action
        holder, clients, bag = state
        if what == "request":
            return Locks(holder, (*clients[:who], "waits", *clients[who + 1 :]), changed(bag, "request", who, 1))
        if what == "release":
            return Locks(holder, (*clients[:who], "idle", *clients[who + 1 :]), changed(bag, "release", who, 1))
        if what == "take request":
            return Locks(who, clients, changed(changed(bag, "request", who, -1), "grant", who, 1))
        bag = changed(bag, what.removeprefix("take "), who, -1)
        if what == "take release":
            return Locks(-1, clients, bag)
        return Locks(holder, (*clients[:who], "holds", *clients[who + 1 :]), bag)

    start = Locks(-1, ("idle",) * count, frozenset())
    return evenhand.system("lock_server_messages", initial=[start], actions=actions, step=step)


@evenhand.always("At most one client holds the lock.")
def one_holder(state: Locks) -> bool:
    """The claim of the lock server."""
    return state.clients.count("holds") <= 1
