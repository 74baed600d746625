"""A write-through cache with a queue to the memory, from the book `Specifying Systems` (chapter 5).

Published: `MCWriteThroughCache` of the TLA+ examples has 5,196 distinct states.  We remembered the number and not
its constants; it comes out with two processors, one address, two values and a queue of one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import evenhand
from tests.known.known import Known, put

PROCESSORS, ADDRESSES, VALUES = range(2), range(1), range(2)
LONGEST = 1
EMPTY = -1
NOTHING = ("nothing", 0, 0)
Word = tuple[str, int, int]
Action = tuple[str, int, Word]
REQUESTS = [
    *(("read", address, 0) for address in ADDRESSES),
    *(("write", address, value) for address in ADDRESSES for value in VALUES),
]


@dataclass(frozen=True)
class State:
    """As in the internal memory, plus each processor's cache and the queue of requests to the memory."""

    memory: tuple[int, ...]
    control: tuple[str, ...] = ("ready",) * len(PROCESSORS)
    buffer: tuple[Word, ...] = (NOTHING,) * len(PROCESSORS)
    interface: tuple[int, Word] = (0, NOTHING)
    caches: tuple[tuple[int, ...], ...] = ((EMPTY,) * len(ADDRESSES),) * len(PROCESSORS)
    queue: tuple[tuple[int, Word], ...] = ()


def actions_of(state: State, processor: int) -> list[Action]:
    """Yield the enabled actions of one processor."""
    control, word = state.control[processor], state.buffer[processor]
    verb, address, _value = word
    cache, acts = state.caches[processor], list[Action]()
    if control == "ready":
        acts += [("request", processor, request) for request in REQUESTS]
    if control == "done":
        acts.append(("respond", processor, word))
    if control in ("busy", "waiting") and verb == "read" and cache[address] != EMPTY:
        acts.append(("read", processor, word))
    if control == "busy" and verb == "read" and cache[address] == EMPTY and len(state.queue) < LONGEST:
        acts.append(("miss", processor, word))
    if control == "busy" and verb == "write" and len(state.queue) < LONGEST:
        acts.append(("write", processor, word))
    return acts + [
        ("evict", processor, ("address", other, 0))
        for other in ADDRESSES
        if cache[other] != EMPTY and not (control == "waiting" and address == other)
    ]


def actions(state: State) -> list[Action]:
    """The enabled actions of each processor; the memory takes the first request in the queue."""
    acts = [act for processor in PROCESSORS for act in actions_of(state, processor)]
    return [*acts, ("memory", *state.queue[0])] if state.queue else acts


def cached(state: State, processor: int, address: int, value: int) -> tuple[tuple[int, ...], ...]:
    """Return the caches, with one entry of one of them changed."""
    return put(state.caches, processor, put(state.caches[processor], address, value))


def written(state: State, processor: int, word: Word) -> State:
    """A write goes to the writer's cache, to every cache that has the address, and into the queue."""
    _verb, address, value = word
    caches = tuple(
        put(cache, address, value) if other == processor or cache[address] != EMPTY else cache
        for other, cache in enumerate(state.caches)
    )
    return replace(state, caches=caches, queue=(*state.queue, (processor, word)))


def taken(state: State, processor: int, word: Word) -> State:
    """The memory takes a request: a write changes it, a read fills the cache with the newest value on its way."""
    verb, address, value = word
    left = replace(state, queue=state.queue[1:])
    if verb == "write":
        return replace(left, memory=put(state.memory, address, value))
    queued = [(kind, where, what) for _who, (kind, where, what) in state.queue]
    newest = [what for kind, where, what in queued if kind == "write" and where == address]
    return replace(left, caches=cached(state, processor, address, [state.memory[address], *newest][-1]))


def step(state: State, action: Action) -> State:
    """Take one action of the specification."""
    verb, processor, word = action

    def turn(state: State, control: str, word: Word) -> State:
        return replace(state, control=put(state.control, processor, control), buffer=put(state.buffer, processor, word))

    match verb:
        case "request":
            return replace(turn(state, "busy", word), interface=(processor, word))
        case "respond":
            return replace(turn(state, "ready", word), interface=(processor, word))
        case "read":
            return turn(state, "done", ("value", 0, state.caches[processor][word[1]]))
        case "miss":
            return replace(turn(state, "waiting", word), queue=(*state.queue, (processor, word)))
        case "write":
            return turn(written(state, processor, word), "done", NOTHING)
        case "evict":
            return replace(state, caches=cached(state, processor, word[1], EMPTY))
        case _:
            return taken(state, processor, word)


@evenhand.always("Two caches that hold an address agree about it.")
def coherent(state: State) -> bool:
    """The invariant `Coherence` of the specification."""
    return all(len({cache[address] for cache in state.caches} - {EMPTY}) <= 1 for address in ADDRESSES)


@evenhand.reachable("Both processors can have the address in their caches.")
def shared(step: evenhand.Step[None, State, Action, None]) -> bool:
    """Without shared addresses, coherence would be trivial."""
    return all(EMPTY not in cache for cache in step.after.caches)


CACHE = evenhand.system(
    "write_through_cache", initial=[State((value,)) for value in VALUES], actions=actions, step=step
)
# A read and its miss go through the memory (three steps); then the other asks to write, and writes.
KNOWN = Known(CACHE, states=5_196, true=(coherent,), reached=((shared, 5),))
