"""Lamport's mutual exclusion with logical clocks ("Time, clocks, and the ordering of events", 1978).

A process enters when all have acknowledged its request and it knows of no earlier one. Clocks stay at or below a bound.

`network[p][q]` is the channel from p to q, first in, first out.

Published: 724,274 distinct states (TLA+ examples, `MCLamportMutex`, three processes; the bound six gives this number).
The system of this file has two processes; the published one is `mutex("lamport_mutex", 3, 6)`.
"""

from dataclasses import make_dataclass, replace

import evenhand
from evenhand.core.plan import refuted

State = make_dataclass("State", ["clock", "requests", "acks", "network", "inside"], frozen=True)


def put(row, index, entry):
    return (*row[:index], entry, *row[index + 1 :])


def put2(grid, row, column, entry):
    return put(grid, row, put(grid[row], column, entry))


def told_all(network, sender, message):
    return put(network, sender, tuple(q if to == sender else (*q, message) for to, q in enumerate(network[sender])))


def step(state, action):
    verb, me, sender = action
    if verb == "request":
        time, network = state.clock[me], told_all(state.network, me, ("request", state.clock[me]))
        asked = put2(state.requests, me, me, time)
        return replace(state, requests=asked, acks=put(state.acks, me, frozenset({me})), network=network)
    if verb == "enter":
        return replace(state, inside=state.inside | {me})
    if verb == "exit":
        network = told_all(state.network, me, ("release", 0))
        acks, requests = put(state.acks, me, frozenset()), put2(state.requests, me, me, 0)
        return replace(state, inside=state.inside - {me}, network=network, acks=acks, requests=requests)
    (kind, time), *rest = state.network[sender][me]
    network = put2(state.network, sender, me, tuple(rest))
    if kind == "ack":
        return replace(state, acks=put(state.acks, me, state.acks[me] | {sender}), network=network)
    heard = replace(state, requests=put2(state.requests, me, sender, time), network=network)
    if kind == "release":
        return heard
    network = put2(network, me, sender, (*network[me][sender], ("ack", 0)))
    return replace(heard, clock=put(state.clock, me, max(time, state.clock[me]) + 1), network=network)


def mutex(name, count, bound, polite=True):
    def may_enter(state, me):
        times, mine = state.requests[me], (state.requests[me][me], me)
        earlier = any(time > 0 and (time, one) < mine for one, time in enumerate(times))
        return len(state.acks[me]) == count and not (polite and earlier)

    def actions(state):
        for me in range(count):
            if state.requests[me][me] == 0:
                yield ("request", me, me)
            if may_enter(state, me):
                yield ("enter", me, me)
            yield from [("exit", me, me)] if me in state.inside else []
            for sender, queue in enumerate(row[me] for row in state.network):
                if queue and (queue[0][0] != "request" or max(queue[0][1], state.clock[me]) < bound):
                    yield ("receive", me, sender)

    start = State((1,) * count, ((0,) * count,) * count, (frozenset(),) * count, (((),) * count,) * count, frozenset())
    return evenhand.system(name, initial=[start], actions=actions, step=step, types=(State,), ends=True)


@evenhand.always(
    "At most one process is inside.", expected=(refuted("earlier requests are ignored", system="impolite"),)
)
def mutual_exclusion(state):
    return len(state.inside) <= 1


@evenhand.always("No channel holds more than three messages.")
def channels_stay_short(state):
    return all(len(queue) <= 3 for queues in state.network for queue in queues)


lamport_mutex, impolite = mutex("lamport_mutex", 2, 4), mutex("impolite", 2, 4, polite=False)
