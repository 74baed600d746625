"""Systems that count: semaphores, counters of readers, majorities of votes, and money that is only moved."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import Literal, NamedTuple, NewType

import evenhand
from benchmarks.unbounded.known import Action, Known, each, put
from evenhand.core.system import AnySystem

Process = NewType("Process", int)


@dataclass(frozen=True)
class Config:
    """The processes, voters or accounts."""

    processes: tuple[Process, ...]


class Mode(Enum):
    """What a process does with the data."""

    OUT = 0
    READING = 1
    WRITING = 2


@dataclass(frozen=True)
class Room:
    """What each process does, how many read, and whether one writes."""

    mode: tuple[Mode, ...]
    readers: int
    writing: bool


def counted_readers(faulty: bool) -> AnySystem:
    """Return the lock; in the faulty one whoever stops reading forgets the others."""

    def actions(config: Config, state: Room) -> Iterator[Action]:
        for p in config.processes:
            if state.mode[p] == Mode.OUT and not state.writing:
                yield ("read", p)
                if state.readers == 0:
                    yield ("write", p)
            elif state.mode[p] != Mode.OUT:
                yield ("stop", p)

    def step(config: Config, state: Room, action: Action) -> Room:
        verb, p = action
        if verb == "read":
            return replace(state, mode=put(state.mode, p, Mode.READING), readers=state.readers + 1)
        if verb == "write":
            return replace(state, mode=put(state.mode, p, Mode.WRITING), writing=True)
        left = state.readers
        if state.mode[p] == Mode.READING:
            left = 0 if faulty else left - 1
        return Room(put(state.mode, p, Mode.OUT), left, False)

    return evenhand.system(
        "counted_readers",
        config=Config,
        scope={"processes": 3},
        initial=lambda config: [Room((Mode.OUT,) * len(config.processes), 0, False)],
        actions=actions,
        step=step,
        types=(Config, Room),
    )


@evenhand.always("Nobody reads or writes beside a writer.", name="counted_readers_exclude")
def writer_alone(config: Config, state: Room) -> bool:
    """Mutual exclusion of a writer and all others."""
    return all(
        state.mode[p] == Mode.OUT or state.mode[q] != Mode.WRITING
        for p in config.processes
        for q in config.processes
        if p != q
    )


class Vote(NamedTuple):
    """Who voted for whom."""

    voter: Process
    candidate: Process


@dataclass(frozen=True)
class Election:
    """The votes that were sent, and who saw a majority of them."""

    votes: frozenset[Vote]
    leads: tuple[bool, ...]


def majority(faulty: bool) -> AnySystem:
    """Return the election; faulty leaders are content with half of the votes."""

    def actions(config: Config, state: Election) -> Iterator[Action]:
        for voter in config.processes:
            if all(vote.voter != voter for vote in state.votes):
                for candidate in config.processes:
                    yield ("vote", voter, candidate)
        for candidate in config.processes:
            mine = {vote.voter for vote in state.votes if vote.candidate == candidate}
            half = len(config.processes) // 2
            if len(mine) > half or (faulty and len(mine) == half):
                yield ("lead", candidate)

    def step(config: Config, state: Election, action: Action) -> Election:
        if action[0] == "vote":
            return replace(state, votes=state.votes | {Vote(action[1], action[2])})
        return replace(state, leads=put(state.leads, action[1], True))

    return evenhand.system(
        "majority",
        config=Config,
        scope={"processes": 3},
        initial=lambda config: [Election(frozenset(), (False,) * len(config.processes))],
        actions=actions,
        step=step,
        types=(Config, Election, Vote),
    )


@evenhand.always("There is at most one leader.", name="majority_one_leader")
def at_most_one_leads(config: Config, state: Election) -> bool:
    """Two majorities have a voter in common."""
    return sum(state.leads) <= 1


class Buffer(NamedTuple):
    """Two semaphores, and what each process is about to do."""

    slots: int
    items: int
    doing: tuple[Literal["nothing", "putting", "taking"], ...]


def buffer(faulty: bool) -> AnySystem:
    """Return a buffer of two places; in the faulty one a place is free before what was in it is taken."""

    def actions(config: Config, state: Buffer) -> Iterator[Action]:
        for p in config.processes:
            if state.doing[p] != "nothing":
                yield ("end", p)
            if state.doing[p] == "nothing" and state.slots > 0:
                yield ("put", p)
            if state.doing[p] == "nothing" and state.items > 0:
                yield ("take", p)

    def step(config: Config, state: Buffer, action: Action) -> Buffer:
        verb, p = action
        if verb == "put":
            return state._replace(slots=state.slots - 1, doing=put(state.doing, p, "putting"))
        if verb == "take":
            free = state.slots + (1 if faulty else 0)
            return state._replace(slots=free, items=state.items - 1, doing=put(state.doing, p, "taking"))
        ended = state._replace(doing=put(state.doing, p, "nothing"))
        if state.doing[p] == "putting":
            return ended._replace(items=state.items + 1)
        return ended._replace(slots=state.slots + 1)

    return evenhand.system(
        "buffer",
        config=Config,
        scope={"processes": 3},
        initial=lambda config: [Buffer(2, 0, each("nothing", config.processes))],
        actions=actions,
        step=step,
        types=(Config, Buffer),
    )


@evenhand.always("The buffer never holds more than two.", name="buffer_within_capacity")
def within_capacity(state: Buffer) -> bool:
    """Nothing is overwritten."""
    return 0 <= state.items <= 2


class Transfer(NamedTuple):
    """A coin on its way."""

    source: Process
    target: Process


@dataclass(frozen=True)
class Bank:
    """What each account has, and the coins on their way."""

    balance: tuple[int, ...]
    sent: frozenset[Transfer]


def bank(faulty: bool) -> AnySystem:
    """Return the bank; the faulty one may pay out a coin twice."""

    def actions(config: Config, state: Bank) -> Iterator[Action]:
        for source in config.processes:
            for target in config.processes:
                if state.balance[source] > 0 and Transfer(source, target) not in state.sent:
                    yield ("send", Transfer(source, target))
        for transfer in state.sent:
            yield ("receive", transfer)

    def step(config: Config, state: Bank, action: Action) -> Bank:
        transfer: Transfer = action[1]
        if action[0] == "send":
            paid = put(state.balance, transfer.source, state.balance[transfer.source] - 1)
            return Bank(paid, state.sent | {transfer})
        got = put(state.balance, transfer.target, state.balance[transfer.target] + 1)
        return Bank(got, state.sent if faulty else state.sent - {transfer})

    return evenhand.system(
        "bank",
        config=Config,
        scope={"processes": 2},
        initial=lambda config: [Bank((1,) * len(config.processes), frozenset())],
        actions=actions,
        step=step,
        types=(Config, Bank, Transfer),
    )


@evenhand.always("No coin is made or lost.", name="bank_conserves")
def conserved(config: Config, state: Bank) -> bool:
    """The total stays."""
    return sum(state.balance) + len(state.sent) == len(config.processes)


SYSTEMS = (
    Known("counted readers", "Courtois and others 1971", "one reader leaves for all", counted_readers, writer_alone),
    Known(
        "majority of votes", "Gifford 1979, Thomas 1979", "half of the votes are enough", majority, at_most_one_leads
    ),
    Known("bounded buffer", "Dijkstra 1965", "a place is free too early", buffer, within_capacity),
    Known("coins on their way", "Chandy and Lamport 1985", "a coin is paid out twice", bank, conserved),
)
