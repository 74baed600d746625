"""A buffer between two channels, from the book `Specifying Systems` (chapters 4 and 14).

Published: `MCInnerFIFO` of the TLA+ examples has 3,864 distinct states; the run of TLC that the book prints has
as many.  Three messages, and a constraint that keeps at most three in the buffer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import evenhand
from tests.known.asynch_interface import DATA, IDLE, Channel, receive, send
from tests.known.known import Known

LONGEST = 3
Action = tuple[str, int]
Moment = evenhand.Step[None, "State", Action, None]


@dataclass(frozen=True)
class State:
    """The channel from the sender, the buffer, the channel to the receiver."""

    enters: Channel
    leaves: Channel
    queue: tuple[int, ...] = ()


def actions(state: State) -> list[Action]:
    """Yield the enabled actions; a buffer beyond its bound would be outside the constraint."""
    acts = [("send", value) for value in DATA] if state.enters.idle else []
    if not state.enters.idle and len(state.queue) < LONGEST:
        acts.append(("buffer receives", state.enters.value))
    if state.queue and state.leaves.idle:
        acts.append(("buffer sends", state.queue[0]))
    if not state.leaves.idle:
        acts.append(("receive", state.leaves.value))
    return acts


def step(state: State, action: Action) -> State:
    """Take one action of the specification."""
    verb, value = action
    match verb:
        case "send":
            return replace(state, enters=send(state.enters, value))
        case "buffer receives":
            return replace(state, enters=receive(state.enters), queue=(*state.queue, value))
        case "buffer sends":
            return replace(state, leaves=send(state.leaves, value), queue=state.queue[1:])
        case _:
            return replace(state, leaves=receive(state.leaves))


@evenhand.always("The last message in the buffer is the last one received from the sender.")
def last_in(state: State) -> bool:
    """No message overtakes another."""
    return not (state.enters.idle and state.queue) or state.queue[-1] == state.enters.value


@evenhand.always("The buffer holds messages, as many as the constraint allows.")
def bounded(state: State) -> bool:
    """The type invariant of the book."""
    return len(state.queue) <= LONGEST and set(state.queue) <= set(DATA)


def keeps(before: Channel, after: Channel) -> bool:
    """An idle channel is not acknowledged, and a value on its way is not replaced."""
    if before.idle:
        return after.acknowledged == before.acknowledged
    return (after.value, after.ready) == (before.value, before.ready)


@evenhand.each_step("Sending and receiving take turns on either channel.")
def handshake(step: Moment) -> bool:
    """Both channels implement the asynchronous interface."""
    return keeps(step.before.enters, step.after.enters) and keeps(step.before.leaves, step.after.leaves)


FIFO = evenhand.system(
    "inner_fifo", initial=[State(enters, leaves) for enters in IDLE for leaves in IDLE], actions=actions, step=step
)
KNOWN = Known(FIFO, states=3_864, true=(last_in, bounded, handshake))
