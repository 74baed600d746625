"""A linearizable memory that serves one request of each processor, from the book `Specifying Systems` (chapter 5).

Published: `MCInternalMemory` of the TLA+ examples has 4,408 distinct states: two processors, three addresses, two
values.  The interface remembers the last message over it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import evenhand
from tests.known.known import Known, put

PROCESSORS, ADDRESSES, VALUES = range(2), range(3), range(2)
NOTHING = ("nothing", 0, 0)
Word = tuple[str, int, int]
Action = tuple[str, int, Word]
Moment = evenhand.Step[None, "State", Action, None]
REQUESTS = [
    *(("read", address, 0) for address in ADDRESSES),
    *(("write", address, value) for address in ADDRESSES for value in VALUES),
]


@dataclass(frozen=True)
class State:
    """The memory; the state of each processor's request, and its buffer; the last message over the interface."""

    memory: tuple[int, ...]
    control: tuple[str, ...] = ("ready",) * len(PROCESSORS)
    buffer: tuple[Word, ...] = (NOTHING,) * len(PROCESSORS)
    interface: tuple[int, Word] = (0, NOTHING)


def actions(state: State) -> list[Action]:
    """A ready processor sends a request; the memory carries it out, and then responds."""
    verbs = {"ready": "request", "busy": "do", "done": "respond"}
    return [
        (verbs[control], processor, word)
        for processor, control in enumerate(state.control)
        for word in (REQUESTS if control == "ready" else [state.buffer[processor]])
    ]


def done(state: State, processor: int) -> State:
    """The answer of the memory, and the memory afterwards."""
    verb, address, value = state.buffer[processor]
    if verb == "write":
        return replace(state, memory=put(state.memory, address, value), buffer=put(state.buffer, processor, NOTHING))
    return replace(state, buffer=put(state.buffer, processor, ("value", 0, state.memory[address])))


def step(state: State, action: Action) -> State:
    """Take one action of the specification."""
    verb, processor, word = action

    def now(control: str) -> tuple[str, ...]:
        return put(state.control, processor, control)

    match verb:
        case "request":
            said = (processor, word)
            return replace(state, control=now("busy"), buffer=put(state.buffer, processor, word), interface=said)
        case "do":
            return replace(done(state, processor), control=now("done"))
        case _:
            return replace(state, control=now("ready"), interface=(processor, word))


@evenhand.always("A buffer holds a request while the memory is busy with it, and an answer afterwards.")
def buffers(state: State) -> bool:
    """The type invariant, sharpened."""
    return all(
        (word[0] in ("read", "write")) == (control == "busy")
        for control, word in zip(state.control, state.buffer, strict=True)
    )


def memory_changes(step: Moment) -> bool:
    """The step is a write of another value."""
    return step.before.memory != step.after.memory


@evenhand.each_step("Only a write that is done changes the memory.", when=memory_changes)
def only_writes(step: Moment) -> bool:
    """And it changes one address."""
    verb, processor, _word = step.action
    pairs = zip(step.before.memory, step.after.memory, strict=True)
    return verb == "do" and step.before.buffer[processor][0] == "write" and sum(a != b for a, b in pairs) == 1


MEMORIES = [State((a, b, c)) for a in VALUES for b in VALUES for c in VALUES]
MEMORY = evenhand.system("internal_memory", initial=MEMORIES, actions=actions, step=step)
KNOWN = Known(MEMORY, states=4_408, true=(buffers, only_writes))
