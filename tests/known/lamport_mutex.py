"""Lamport's mutual exclusion with logical clocks ("Time, clocks, and the ordering of events", 1978).

Published: `MCLamportMutex` of the TLA+ examples has 724,274 distinct states for three processes.  The constraint keeps
all clocks at or below a bound; we remembered the number, and it comes out with the bound six.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import evenhand
from tests.known.known import Known, put

Message = tuple[str, int]
Action = tuple[str, int, int]
Grid = tuple[tuple[int, ...], ...]
Network = tuple[tuple[tuple[Message, ...], ...], ...]
ACK, RELEASE = ("ack", 0), ("release", 0)


class State(NamedTuple):
    """Clocks; the known requests of each process, and their times; acknowledgements; channels; the processes inside.

    `network[p][q]` is the channel from p to q, first in, first out; no request has the time zero.
    """

    clock: tuple[int, ...]
    requests: Grid
    acks: tuple[frozenset[int], ...]
    network: Network
    inside: frozenset[int]


def start(processes: int) -> State:
    """No process has made a request."""
    nobody: frozenset[int] = frozenset()
    silent = ((),) * processes
    return State(
        (1,) * processes, ((0,) * processes,) * processes, (nobody,) * processes, (silent,) * processes, nobody
    )


def told_all(network: Network, sender: int, message: Message) -> Network:
    """Return the message in every channel from the sender to another process."""
    row = tuple(queue if to == sender else (*queue, message) for to, queue in enumerate(network[sender]))
    return put(network, sender, row)


def sent(network: Network, sender: int, to: int, message: Message) -> Network:
    """Return the message in one channel."""
    return put(network, sender, put(network[sender], to, (*network[sender][to], message)))


def delivered(network: Network, sender: int, to: int) -> Network:
    """Return the channel without its first message."""
    return put(network, sender, put(network[sender], to, network[sender][to][1:]))


def asked(requests: Grid, process: int, of: int, time: int) -> Grid:
    """Return the knowledge of a process about a request."""
    return put(requests, process, put(requests[process], of, time))


def may_enter(state: State, process: int) -> bool:
    """All have acknowledged, and no request that it knows of is earlier than its own."""
    times = state.requests[process]
    if len(state.acks[process]) < len(times):
        return False
    mine = (times[process], process)
    return all(time == 0 or mine <= (time, other) for other, time in enumerate(times))


def actions(bound: int, state: State) -> Iterator[Action]:
    """The actions that the specification enables within the constraint: only a received request moves a clock."""
    for process in range(len(state.clock)):
        if state.requests[process][process] == 0:
            yield ("request", process, process)
        if may_enter(state, process):
            yield ("enter", process, process)
        if process in state.inside:
            yield ("exit", process, process)
        for sender, queues in enumerate(state.network):
            if queues[process]:
                kind, time = queues[process][0]
                if kind != "request" or max(time, state.clock[process]) < bound:
                    yield ("receive", process, sender)


def step(state: State, action: Action) -> State:
    """Take one action of the specification."""
    verb, process, sender = action
    clock, requests, acks, network, inside = state
    match verb:
        case "request":
            time = clock[process]
            requests = asked(requests, process, process, time)
            heard = frozenset((process,))
            return State(
                clock, requests, put(acks, process, heard), told_all(network, process, ("request", time)), inside
            )
        case "enter":
            return State(clock, requests, acks, network, inside | {process})
        case "exit":
            requests, network = asked(requests, process, process, 0), told_all(network, process, RELEASE)
            return State(clock, requests, put(acks, process, frozenset()), network, inside - {process})
        case _:
            return received(state, process, sender)


def received(state: State, process: int, sender: int) -> State:
    """A process takes the first message of a channel."""
    clock, requests, acks, network, inside = state
    kind, time = network[sender][process][0]
    network = delivered(network, sender, process)
    match kind:
        case "request":
            clock = put(clock, process, max(time, clock[process]) + 1)
            return State(
                clock, asked(requests, process, sender, time), acks, sent(network, process, sender, ACK), inside
            )
        case "ack":
            return State(clock, requests, put(acks, process, acks[process] | {sender}), network, inside)
        case _:
            return State(clock, asked(requests, process, sender, 0), acks, network, inside)


@evenhand.always("At most one process is inside.")
def mutual_exclusion(state: State) -> bool:
    """The invariant `Mutex` of the specification."""
    return len(state.inside) <= 1


@evenhand.always("No channel holds more than three messages.")
def channels_stay_short(state: State) -> bool:
    """The invariant `BoundedNetwork` of the specification."""
    return all(len(queue) <= 3 for queues in state.network for queue in queues)


def mutex(processes: int, bound: int) -> evenhand.System[None, State, Action, None, None]:
    """Return the system with so many processes, whose clocks stay at or below a bound."""
    return evenhand.system(
        "lamport_mutex", initial=[start(processes)], actions=lambda state: actions(bound, state), step=step
    )


KNOWN = Known(mutex(3, 6), states=724_274, true=(mutual_exclusion, channels_stay_short))
