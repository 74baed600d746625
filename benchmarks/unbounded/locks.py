"""Mutual exclusion with shared memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, NewType

import evenhand
from benchmarks.unbounded.known import Action, Known, each, put
from evenhand.core.system import AnySystem

Process = NewType("Process", int)


@dataclass(frozen=True)
class Config:
    """The processes."""

    processes: tuple[Process, ...]


SCOPE = {"processes": 3}


@dataclass(frozen=True)
class Spin:
    """A test-and-set lock: the bit, and who is inside."""

    taken: bool
    inside: frozenset[Process]


def test_and_set(faulty: bool) -> AnySystem:
    """Return the lock; the faulty one sets the bit in a step after the test."""

    def actions(config: Config, state: Spin) -> Iterator[Action]:
        for who in config.processes:
            if who in state.inside:
                yield ("leave", who)
            elif not state.taken:
                yield ("enter", who)

    def step(config: Config, state: Spin, action: Action) -> Spin:
        verb, who = action
        if verb == "enter":
            return Spin(taken=not faulty, inside=state.inside | {who})
        return Spin(taken=False, inside=state.inside - {who})

    return evenhand.system(
        "test_and_set",
        config=Config,
        scope=SCOPE,
        initial=lambda config: [Spin(taken=False, inside=frozenset())],
        actions=actions,
        step=step,
        types=(Config, Spin),
    )


@evenhand.always("At most one process is inside.", name="test_and_set_exclusion")
def one_spins_inside(state: Spin) -> bool:
    """Mutual exclusion."""
    return len(state.inside) <= 1


@dataclass(frozen=True)
class Tickets:
    """A ticket lock (Mellor-Crummey and Scott): the next ticket, the one that is served, and each process' own."""

    at: tuple[Literal["rest", "waiting", "inside"], ...]
    ticket: tuple[int, ...]
    next: int
    served: int


def ticket_lock(faulty: bool) -> AnySystem:
    """Return the lock; the faulty one gives the ticket that it will give next without counting on."""

    def actions(config: Config, state: Tickets) -> Iterator[Action]:
        for who in config.processes:
            if state.at[who] == "rest":
                yield ("ask", who)
            if state.at[who] == "waiting" and state.ticket[who] == state.served:
                yield ("enter", who)
            if state.at[who] == "inside":
                yield ("leave", who)

    def step(config: Config, state: Tickets, action: Action) -> Tickets:
        match action:
            case ("ask", who):
                ticket, at = put(state.ticket, who, state.next), put(state.at, who, "waiting")
                return replace(state, ticket=ticket, at=at, next=state.next + (0 if faulty else 1))
            case ("enter", who):
                return replace(state, at=put(state.at, who, "inside"))
            case (_, who):
                return replace(state, at=put(state.at, who, "rest"), served=state.served + 1)
        raise AssertionError(action)

    return evenhand.system(
        "ticket_lock",
        config=Config,
        scope=SCOPE,
        initial=lambda config: [Tickets(each("rest", config.processes), (0,) * len(config.processes), 0, 0)],
        actions=actions,
        step=step,
        types=(Config, Tickets),
    )


@evenhand.always("At most one process is inside.", name="ticket_lock_exclusion")
def one_ticket_inside(config: Config, state: Tickets) -> bool:
    """Mutual exclusion."""
    return len({who for who in config.processes if state.at[who] == "inside"}) <= 1


@dataclass(frozen=True)
class Bakery:
    """Lamport's bakery with an atomic choice of a number: who waits, who is inside, and the numbers."""

    waiting: frozenset[Process]
    inside: frozenset[Process]
    number: tuple[int, ...]
    most: int


def bakery(faulty: bool) -> AnySystem:
    """Return the bakery; in the faulty one a process looks at the numbers alone, and equal ones do not block."""

    def first(config: Config, state: Bakery, who: Process) -> bool:
        def before(other: Process) -> bool:
            if faulty:
                return state.number[other] < state.number[who]
            return (state.number[other], other) < (state.number[who], who)

        taken = state.waiting | state.inside
        return not any(before(other) for other in config.processes if other in taken and other != who)

    def actions(config: Config, state: Bakery) -> Iterator[Action]:
        for who in config.processes:
            if who not in state.waiting and who not in state.inside:
                yield ("choose", who)
                yield ("choose the same", who)
            if who in state.waiting and first(config, state, who):
                yield ("enter", who)
            if who in state.inside:
                yield ("leave", who)

    def step(config: Config, state: Bakery, action: Action) -> Bakery:
        verb, who = action
        if verb == "choose":
            number = put(state.number, who, state.most + 1)
            return replace(state, waiting=state.waiting | {who}, number=number, most=state.most + 1)
        if verb == "choose the same":  # two that looked at the same time; nobody may be inside with it
            if state.inside or any(other < who for other in state.waiting):
                return state
            return replace(state, waiting=state.waiting | {who}, number=put(state.number, who, state.most))
        if verb == "enter":
            return replace(state, waiting=state.waiting - {who}, inside=state.inside | {who})
        return replace(state, inside=state.inside - {who})

    return evenhand.system(
        "bakery",
        config=Config,
        scope=SCOPE,
        initial=lambda config: [Bakery(frozenset(), frozenset(), (0,) * len(config.processes), 0)],
        actions=actions,
        step=step,
        types=(Config, Bakery),
    )


@evenhand.always("At most one process is inside.", name="bakery_exclusion")
def one_bakes(state: Bakery) -> bool:
    """Mutual exclusion."""
    return len(state.inside) <= 1


@dataclass(frozen=True)
class Dijkstra:
    """Dijkstra's mutual exclusion (1965), the second part: a process raises its flag and looks at all others in turn.

    `seen` holds (process, other) where the process has found the other's flag down.
    """

    raised: frozenset[Process]
    seen: frozenset[tuple[Process, Process]]
    inside: frozenset[Process]


def dijkstra(faulty: bool) -> AnySystem:  # noqa: C901 - the guards of one protocol
    """Return the protocol; a faulty process forgets nothing when it lowers its flag and starts anew."""

    def actions(config: Config, state: Dijkstra) -> Iterator[Action]:
        for who in config.processes:
            if who not in state.raised:
                yield ("raise", who, who)
            if who in state.raised and who not in state.inside:
                for other in config.processes:
                    if other != who and other not in state.raised:
                        yield ("look", who, other)
                    if other != who and other in state.raised:
                        yield ("lower", who, other)
                if all((who, other) in state.seen for other in config.processes if other != who):
                    yield ("enter", who, who)
            if who in state.inside:
                yield ("leave", who, who)

    def without(state: Dijkstra, who: Process) -> frozenset[tuple[Process, Process]]:
        if faulty:
            return state.seen
        return frozenset((one, other) for one, other in state.seen if one != who)

    def step(config: Config, state: Dijkstra, action: Action) -> Dijkstra:
        match action:
            case ("raise", who, _):
                return replace(state, raised=state.raised | {who})
            case ("look", who, other):
                return replace(state, seen=state.seen | {(who, other)})
            case ("lower", who, _):
                return replace(state, raised=state.raised - {who}, seen=without(state, who))
            case ("enter", who, _):
                return replace(state, inside=state.inside | {who})
            case (_, who, _):
                down = state.raised - {who}
                return Dijkstra(raised=down, seen=without(state, who), inside=state.inside - {who})
        raise AssertionError(action)

    return evenhand.system(
        "dijkstra",
        config=Config,
        scope={"processes": 2},
        initial=lambda config: [Dijkstra(frozenset(), frozenset(), frozenset())],
        actions=actions,
        step=step,
        types=(Config, Dijkstra),
    )


@evenhand.always("At most one process is inside.", name="dijkstra_exclusion")
def one_dijkstra(state: Dijkstra) -> bool:
    """Mutual exclusion."""
    return len(state.inside) <= 1


@dataclass(frozen=True)
class ReadersWriters:
    """Readers and writers of one document (Courtois, Heymans, Parnas 1971)."""

    reading: frozenset[Process]
    writing: frozenset[Process]


def readers_writers(faulty: bool) -> AnySystem:
    """Return the protocol; the faulty one lets a writer in while others read."""

    def actions(config: Config, state: ReadersWriters) -> Iterator[Action]:
        for who in config.processes:
            if who in state.reading or who in state.writing:
                yield ("stop", who)
            elif not state.writing:
                yield ("read", who)
                if faulty or not state.reading:
                    yield ("write", who)

    def step(config: Config, state: ReadersWriters, action: Action) -> ReadersWriters:
        verb, who = action
        match verb:
            case "read":
                return replace(state, reading=state.reading | {who})
            case "write":
                return replace(state, writing=state.writing | {who})
            case _:
                return ReadersWriters(state.reading - {who}, state.writing - {who})

    return evenhand.system(
        "readers_writers",
        config=Config,
        scope=SCOPE,
        initial=lambda config: [ReadersWriters(frozenset(), frozenset())],
        actions=actions,
        step=step,
        types=(Config, ReadersWriters),
    )


@evenhand.always("Nobody reads while somebody writes, and at most one writes.", name="readers_writers_safe")
def read_or_write(state: ReadersWriters) -> bool:
    """Safety of the document."""
    return not (state.reading and state.writing) and len(state.writing) <= 1


@dataclass(frozen=True)
class Semaphore:
    """A binary semaphore with a set of sleepers: a process that leaves hands it to one that sleeps."""

    holder: Process | None
    asleep: frozenset[Process]


def semaphore(faulty: bool) -> AnySystem:
    """Return the semaphore; the faulty one wakes a sleeper and leaves it asleep as well."""

    def actions(config: Config, state: Semaphore) -> Iterator[Action]:
        for who in config.processes:
            if who != state.holder and who not in state.asleep:
                yield ("down", who)
            if who == state.holder and not state.asleep:
                yield ("up", who)
            if state.holder is not None and who in state.asleep:
                yield ("hand over", who)

    def step(config: Config, state: Semaphore, action: Action) -> Semaphore:
        verb, who = action
        if verb == "down":
            if state.holder is None:
                return replace(state, holder=who)
            return replace(state, asleep=state.asleep | {who})
        if verb == "up":
            return replace(state, holder=None)
        return Semaphore(who, state.asleep if faulty else state.asleep - {who})

    return evenhand.system(
        "semaphore",
        config=Config,
        scope=SCOPE,
        initial=lambda config: [Semaphore(None, frozenset())],
        actions=actions,
        step=step,
        types=(Config, Semaphore),
    )


@evenhand.always("The holder does not sleep, and somebody holds it where somebody sleeps.", name="semaphore_awake")
def awake(state: Semaphore) -> bool:
    """No sleeper is forgotten."""
    return state.holder not in state.asleep and (state.holder is not None or not state.asleep)


SYSTEMS = (
    Known("test-and-set lock", "textbook", "the bit is not set", test_and_set, one_spins_inside),
    Known("ticket lock", "Mellor-Crummey and Scott 1991", "the counter stands still", ticket_lock, one_ticket_inside),
    Known("bakery", "Lamport 1974, atomic choice", "equal numbers do not block", bakery, one_bakes),
    Known("Dijkstra's mutual exclusion", "Dijkstra 1965, checks in turn", "old looks count", dijkstra, one_dijkstra),
    Known(
        "readers and writers", "Courtois et al. 1971", "a writer enters beside readers", readers_writers, read_or_write
    ),
    Known("semaphore", "textbook, with hand-over", "who is woken stays asleep", semaphore, awake),
)
