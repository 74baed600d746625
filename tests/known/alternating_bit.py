"""The alternating bit protocol over queues that lose messages, from the book `Specifying Systems` (chapter 14).

Published: `MCAlternatingBit` of the TLA+ examples has 240 distinct states: two values, and a constraint that keeps
at most two messages and two acknowledgements on their way.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import evenhand
from tests.known.known import Known

DATA = (0, 1)
LONGEST = 2
Action = tuple[str, int]
Moment = evenhand.Step[None, "State", Action, None]


@dataclass(frozen=True)
class State:
    """The sender's bit, the last bit acknowledged to it, the receiver's bit, both values, the messages on their way."""

    bit: int
    acknowledged: int
    received_bit: int
    sent: int
    received: int
    messages: tuple[tuple[int, int], ...] = ()
    acks: tuple[int, ...] = ()


def actions(state: State) -> list[Action]:
    """Yield the actions that the specification enables within the constraint."""
    acts: list[Action] = []
    if len(state.messages) < LONGEST:
        acts += [("send", value) for value in DATA] if state.acknowledged == state.bit else [("resend", state.sent)]
    if len(state.acks) < LONGEST:
        acts.append(("acknowledge", state.received_bit))
    if state.messages:
        acts.append(("receive message", 0))
    if state.acks:
        acts.append(("receive ack", 0))
    acts += [("lose message", place) for place in range(len(state.messages))]
    return acts + [("lose ack", place) for place in range(len(state.acks))]


def step(state: State, action: Action) -> State:
    """Take one action of the specification."""
    verb, what = action
    match verb:
        case "send":
            bit = 1 - state.bit
            return replace(state, bit=bit, sent=what, messages=(*state.messages, (bit, what)))
        case "resend":
            return replace(state, messages=(*state.messages, (state.bit, what)))
        case "acknowledge":
            return replace(state, acks=(*state.acks, what))
        case "receive message":
            bit, value = state.messages[0]
            return replace(state, received_bit=bit, received=value, messages=state.messages[1:])
        case "receive ack":
            return replace(state, acknowledged=state.acks[0], acks=state.acks[1:])
        case "lose message":
            return replace(state, messages=state.messages[:what] + state.messages[what + 1 :])
        case _:
            return replace(state, acks=state.acks[:what] + state.acks[what + 1 :])


def does(verb: str) -> evenhand.Fairness[State, Action]:
    """An action that may be delayed, and lost to the queue's losses, but not for ever."""
    return evenhand.Fairness("strong", lambda state, action: action[0] == verb)


def sends(step: Moment) -> bool:
    """The sender sends a new value."""
    return step.action[0] == "send"


@evenhand.leads_to(
    "What is sent is received.", trigger=sends, fairness=("resend", "acknowledge", "receive message", "receive ack")
)
def received(step: Moment) -> bool:
    """The sender sends no other value before, so the receiver gets this one."""
    return step.after.received_bit == step.after.bit and step.after.received == step.after.sent


def acknowledged(step: Moment) -> bool:
    """The sender takes an acknowledgement."""
    return step.action[0] == "receive ack"


@evenhand.each_step("The sender goes on after the receiver has its value.", when=acknowledged)
def no_early_ack(step: Moment) -> bool:
    """A value that the sender takes for acknowledged has reached the receiver."""
    return step.after.acknowledged != step.after.bit or step.after.received_bit == step.after.bit


STARTS = [State(bit, bit, bit, sent, received) for bit in (0, 1) for sent in DATA for received in DATA]
PROTOCOL = evenhand.system(
    "alternating_bit",
    initial=STARTS,
    actions=actions,
    step=step,
    fair={verb: does(verb) for verb in ("resend", "acknowledge", "receive message", "receive ack")},
)
KNOWN = Known(PROTOCOL, states=240, true=(received, no_early_ack))
