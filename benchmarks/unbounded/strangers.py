"""Systems as people write them who have read the documents alone: named tuples, changed lists, early returns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Literal, NamedTuple, NewType

import evenhand
from benchmarks.unbounded.known import Action, Known
from evenhand.core.system import AnySystem

Process = NewType("Process", int)


@dataclass(frozen=True)
class Config:
    """The processes, clients, philosophers or bidders."""

    processes: tuple[Process, ...]


class Flags(NamedTuple):
    """Szymanski's flags, 0 to 4, and who is inside."""

    flag: tuple[int, ...]
    critical: frozenset[Process]


AFTER = {"knock": 1, "door": 3, "wait": 2, "close": 4, "leave": 0}


def szymanski(faulty: bool) -> AnySystem:
    """Return the algorithm; faulty processes do not wait for those before them."""

    def actions(config: Config, state: Flags) -> Iterator[Action]:
        for p in config.processes:
            flags = [state.flag[q] for q in config.processes if q != p]
            ahead = [state.flag[q] for q in config.processes if q < p]
            match state.flag[p]:
                case 0:
                    yield ("knock", p)
                case 1 if all(f < 3 for f in flags):
                    yield ("door", p)
                case 3 if any(f == 1 for f in flags):
                    yield ("wait", p)
                case 3:
                    yield ("close", p)
                case 2 if 4 in flags:
                    yield ("close", p)
                case 4 if p not in state.critical and (faulty or all(f < 2 for f in ahead)):
                    yield ("enter", p)
                case 4 if p in state.critical and all(state.flag[q] in (0, 1, 4) for q in config.processes if q > p):
                    yield ("leave", p)

    def step(config: Config, state: Flags, action: Action) -> Flags:
        verb, p = action
        if verb == "enter":
            return state._replace(critical=state.critical | {p})
        flag = state.flag[:p] + (AFTER[verb],) + state.flag[p + 1 :]  # noqa: RUF005 - as people write it
        return Flags(flag, state.critical - {p} if verb == "leave" else state.critical)

    return evenhand.system(
        "szymanski",
        config=Config,
        scope={"processes": 3},
        initial=lambda config: [Flags((0,) * len(config.processes), frozenset())],
        actions=actions,
        step=step,
        types=(Config, Flags),
    )


@evenhand.always("Two processes are never inside together.", name="szymanski_exclusion")
def one_critical(config: Config, state: Flags) -> bool:
    """Mutual exclusion."""
    inside = [p for p in config.processes if p in state.critical]
    return len(inside) <= 1


class Msg(Enum):
    """What a channel holds, or which command the home node works on."""

    EMPTY = 0
    REQ_SHARED = 1
    REQ_EXCLUSIVE = 2
    INVALIDATE = 3
    ACK = 4
    GRANT_SHARED = 5
    GRANT_EXCLUSIVE = 6


class Cache(Enum):
    """The states of a line."""

    INVALID = "I"
    SHARED = "S"
    EXCLUSIVE = "E"


@dataclass(frozen=True)
class Line:
    """A client's cache, its three channels, and what the home node notes of it."""

    cache: Cache = Cache.INVALID
    request: Msg = Msg.EMPTY
    to_client: Msg = Msg.EMPTY
    ack: Msg = Msg.EMPTY
    sharer: bool = False
    to_invalidate: bool = False


@dataclass(frozen=True)
class Home:
    """German's protocol: the lines, and the command that the home node works on."""

    lines: tuple[Line, ...]
    command: Msg = Msg.EMPTY
    client: Process | None = None
    exclusive: bool = False

    def change(self, c: Process, **fields: Any) -> Home:
        """Return the state with some fields of one line changed."""
        return replace(
            self, lines=tuple(replace(line, **fields) if i == c else line for i, line in enumerate(self.lines))
        )


def of_client(state: Home, c: Process) -> list[Action]:
    """Return what may happen on a client's channels."""
    found: list[Action] = []
    line = state.lines[c]
    if line.request is Msg.EMPTY and line.cache is Cache.INVALID:
        found.append(("ask_shared", c))
    if line.request is Msg.EMPTY and line.cache is not Cache.EXCLUSIVE:
        found.append(("ask_exclusive", c))
    if state.command is Msg.EMPTY and line.request is not Msg.EMPTY:
        found.append(("pick", c))
    needed = state.command is Msg.REQ_EXCLUSIVE or (state.command is Msg.REQ_SHARED and state.exclusive)
    if line.to_invalidate and line.to_client is Msg.EMPTY and needed:
        found.append(("invalidate", c))
    if line.to_client is Msg.INVALIDATE and line.ack is Msg.EMPTY:
        found.append(("acknowledge", c))
    if line.ack is Msg.ACK and state.command is not Msg.EMPTY:
        found.append(("receive_ack", c))
    if line.to_client in (Msg.GRANT_SHARED, Msg.GRANT_EXCLUSIVE):
        found.append(("receive", c))
    return found


def offered(config: Config, state: Home) -> list[Action]:
    """Return what clients and the home node may do."""
    found: list[Action] = []
    for c in config.processes:
        found.extend(of_client(state, c))
    if state.client is not None and state.lines[state.client].to_client is Msg.EMPTY:
        if state.command is Msg.REQ_SHARED and not state.exclusive:
            found.append(("grant_shared", state.client))
        if state.command is Msg.REQ_EXCLUSIVE and not any(line.sharer for line in state.lines):
            found.append(("grant_exclusive", state.client))
    return found


def german(faulty: bool) -> AnySystem:
    """Return the protocol; the faulty home node forgets all sharers at the first answer."""

    def step(config: Config, state: Home, action: Action) -> Home:
        name, c = action
        line = state.lines[c]
        if name == "ask_shared":
            return state.change(c, request=Msg.REQ_SHARED)
        if name == "ask_exclusive":
            return state.change(c, request=Msg.REQ_EXCLUSIVE)
        if name == "pick":
            picked = replace(state.change(c, request=Msg.EMPTY), command=line.request, client=c)
            return replace(picked, lines=tuple(replace(one, to_invalidate=one.sharer) for one in picked.lines))
        if name == "invalidate":
            return state.change(c, to_client=Msg.INVALIDATE, to_invalidate=False)
        if name == "acknowledge":
            return state.change(c, to_client=Msg.EMPTY, ack=Msg.ACK, cache=Cache.INVALID)
        if name == "receive_ack":
            told = state.change(c, ack=Msg.EMPTY, sharer=False)
            if faulty:
                told = replace(told, lines=tuple(replace(one, sharer=False) for one in told.lines))
            return replace(told, exclusive=False)
        if name == "receive":
            got = Cache.SHARED if line.to_client is Msg.GRANT_SHARED else Cache.EXCLUSIVE
            return state.change(c, to_client=Msg.EMPTY, cache=got)
        if name == "grant_shared":
            return replace(state.change(c, to_client=Msg.GRANT_SHARED, sharer=True), command=Msg.EMPTY, client=None)
        granted = state.change(c, to_client=Msg.GRANT_EXCLUSIVE, sharer=True)
        return replace(granted, command=Msg.EMPTY, client=None, exclusive=True)

    return evenhand.system(
        "german",
        config=Config,
        scope={"processes": 2},
        initial=lambda config: [Home(tuple(Line() for _ in config.processes))],
        actions=offered,
        step=step,
        types=(Config, Home, Line, Msg, Cache),
    )


@evenhand.always("Where one cache is exclusive, all others are invalid.", name="german_coherent")
def coherent(config: Config, state: Home) -> bool:
    """Control of the property, as German's protocol is known for."""
    for c in config.processes:
        if state.lines[c].cache is Cache.EXCLUSIVE:
            for d in config.processes:
                if d != c and state.lines[d].cache is not Cache.INVALID:
                    return False
    return True


Pair = tuple[Process, Process]


@dataclass(frozen=True)
class Table:
    """Chandy and Misra's forks: (a, b) is in a set where a has the fork, the clean one, the request, shared with b."""

    mood: tuple[Literal["thinking", "hungry", "eating"], ...]
    fork: frozenset[Pair]
    clean: frozenset[Pair]
    token: frozenset[Pair]


def forks(faulty: bool) -> AnySystem:
    """Return the philosophers, all of them neighbours; faulty ones give forks away while they eat."""

    def initial(config: Config) -> Iterator[Table]:
        pairs = [(a, b) for a in config.processes for b in config.processes if a < b]
        yield Table(
            mood=tuple("thinking" for _ in config.processes),
            fork=frozenset(pairs),
            clean=frozenset(),
            token=frozenset((b, a) for a, b in pairs),
        )

    def actions(config: Config, state: Table) -> Iterator[Action]:
        for me in config.processes:
            others = [other for other in config.processes if other != me]
            if state.mood[me] == "thinking":
                yield ("hunger", me, me)
            elif state.mood[me] == "eating":
                yield ("stop", me, me)
            elif all((me, other) in state.fork for other in others):
                yield ("eat", me, me)
            for other in others:
                has = (me, other) in state.fork
                if (me, other) not in state.token:
                    continue
                if not has and state.mood[me] == "hungry":
                    yield ("ask", me, other)
                if has and (me, other) not in state.clean and (faulty or state.mood[me] != "eating"):
                    yield ("give", me, other)

    def step(config: Config, state: Table, action: Action) -> Table:
        verb, me, other = action
        if verb == "ask":
            return replace(state, token=(state.token - {(me, other)}) | {(other, me)})
        if verb == "give":
            given = (state.fork - {(me, other)}) | {(other, me)}
            return replace(state, fork=given, clean=state.clean | {(other, me)})
        mood: list[Any] = list(state.mood)
        mood[me] = {"hunger": "hungry", "eat": "eating", "stop": "thinking"}[verb]
        dirty = {(me, one) for one in config.processes} if verb == "eat" else frozenset()
        return replace(state, mood=tuple(mood), clean=state.clean - dirty)

    return evenhand.system(
        "forks",
        config=Config,
        scope={"processes": 3},
        initial=initial,
        actions=actions,
        step=step,
        types=(Config, Table),
    )


@evenhand.always("Neighbours never eat at the same time.", name="forks_exclusive")
def no_two_eat(config: Config, state: Table) -> bool:
    """All are neighbours."""
    eating = [p for p in config.processes if state.mood[p] == "eating"]
    return len(eating) <= 1


@dataclass(frozen=True)
class Clocks:
    """Vector clocks, and the last stamp that is on its way to each process."""

    clock: tuple[tuple[int, ...], ...]
    mail: tuple[tuple[int, ...] | None, ...]


LIMIT = 2
"""Events of each process, so that the search ends."""


def tick(vector: tuple[int, ...], me: Process) -> tuple[int, ...]:
    """Return the clock after one more event of a process."""
    return tuple(n + 1 if i == me else n for i, n in enumerate(vector))


def clocks(faulty: bool) -> AnySystem:
    """Return the clocks; a faulty sender counts an event of the receiver's."""

    def initial(config: Config) -> list[Clocks]:
        zero = (0,) * len(config.processes)
        return [Clocks(tuple(zero for _ in config.processes), tuple(None for _ in config.processes))]

    def actions(config: Config, state: Clocks) -> Iterator[Action]:
        for me in config.processes:
            if state.clock[me][me] >= LIMIT:
                continue
            yield ("local", me, me)
            if state.mail[me] is not None:
                yield ("receive", me, me)
            for to in config.processes:
                if to != me and state.mail[to] is None:
                    yield ("send", me, to)

    def step(config: Config, state: Clocks, action: Action) -> Clocks:
        kind, me, to = action
        clock, mail = list(state.clock), list(state.mail)
        stamp = state.mail[me]
        if kind == "receive" and stamp is not None:
            clock[me] = tuple(max(mine, theirs) for mine, theirs in zip(clock[me], stamp, strict=True))
            mail[me] = None
        clock[me] = tick(clock[me], to if faulty else me)
        if kind == "send":
            mail[to] = clock[me]
        return Clocks(tuple(clock), tuple(mail))

    return evenhand.system(
        "clocks",
        config=Config,
        scope={"processes": 2},
        initial=initial,
        actions=actions,
        step=step,
        types=(Config, Clocks),
    )


@evenhand.always("Nobody knows of more events of another than there were.", name="clocks_honest")
def known_happened(config: Config, state: Clocks) -> bool:
    """A clock is at most the other's own."""
    return all(state.clock[a][b] <= state.clock[b][b] for a in config.processes for b in config.processes)


START = 3


@dataclass(frozen=True)
class Account:
    """What a bidder has, and may withdraw."""

    cash: int = START
    pending: int = 0


@dataclass(frozen=True)
class Auction:
    """An open auction with escrow."""

    accounts: tuple[Account, ...]
    leader: Process | None = None
    highest: int = 0
    ended: bool = False


def with_account(auction: Auction, bidder: Process, account: Account) -> Auction:
    """Return the auction with one account changed."""
    accounts = list(auction.accounts)
    accounts[bidder] = account
    return replace(auction, accounts=tuple(accounts))


def auctions(faulty: bool) -> AnySystem:
    """Return the auction; the faulty one pays out and still owes."""

    def actions(config: Config, auction: Auction) -> list[Action]:
        out: list[Action] = []
        for bidder in config.processes:
            account = auction.accounts[bidder]
            if not auction.ended and bidder != auction.leader:
                for amount in (1, 2, 3):
                    if auction.highest < amount <= account.cash:
                        out.append(("bid", bidder, amount))
            if account.pending > 0:
                out.append(("withdraw", bidder, 0))
        if auction.leader is not None and not auction.ended:
            out.append(("end", auction.leader, 0))
        return out

    def step(config: Config, auction: Auction, action: Action) -> Auction:
        kind, bidder, amount = action
        account = auction.accounts[bidder]
        if kind == "end":
            return replace(auction, ended=True)
        if kind == "withdraw":
            left = account.pending if faulty else 0
            return with_account(auction, bidder, Account(account.cash + account.pending, left))
        if auction.leader is not None:
            loser = auction.accounts[auction.leader]
            back = replace(loser, pending=loser.pending + auction.highest)
            auction = with_account(auction, auction.leader, back)
        auction = with_account(auction, bidder, replace(account, cash=account.cash - amount))
        return replace(auction, leader=bidder, highest=amount)

    return evenhand.system(
        "auction",
        config=Config,
        scope={"processes": 2},
        initial=lambda config: [Auction(tuple(Account() for _ in config.processes))],
        actions=actions,
        step=step,
        types=(Config, Auction, Account),
    )


@evenhand.always("Nobody loses or gains money by bidding.", name="auction_balanced")
def nobody_loses(config: Config, auction: Auction) -> bool:
    """What a bidder has, may withdraw, and has in the auction, is what there was."""
    for bidder in config.processes:
        account = auction.accounts[bidder]
        held = auction.highest if bidder == auction.leader else 0
        if account.cash + account.pending + held != START:
            return False
    return True


SYSTEMS = (
    Known("Szymanski's waiting room", "Szymanski 1988", "does not wait for those before it", szymanski, one_critical),
    Known("German's caches", "German 2000", "one answer counts for all", german, coherent),
    Known("clean and dirty forks", "Chandy and Misra 1984", "gives a fork away while it eats", forks, no_two_eat),
    Known("vector clocks", "Fidge 1988, Mattern 1989", "counts an event of the other", clocks, known_happened),
    Known("auction with escrow", "Ethereum's Simple Open Auction", "pays out and still owes", auctions, nobody_loses),
)
