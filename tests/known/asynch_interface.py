"""An asynchronous channel with a two-phase handshake, from the book `Specifying Systems` (chapter 3).

Published: `AsynchInterface` of the TLA+ examples has 12 distinct states with three values.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import evenhand
from tests.known.known import Known

DATA = (0, 1, 2)
Action = tuple[str, int]
Moment = evenhand.Step[None, "Channel", Action, None]


@dataclass(frozen=True)
class Channel:
    """The value on the wires; a value is on its way where `ready` and `acknowledged` differ."""

    value: int
    ready: int
    acknowledged: int

    @property
    def idle(self) -> bool:
        """Whether the last value was received."""
        return self.ready == self.acknowledged


IDLE = [Channel(value, bit, bit) for value in DATA for bit in (0, 1)]


def send(channel: Channel, value: int) -> Channel:
    """Put a value on the wires."""
    return replace(channel, value=value, ready=1 - channel.ready)


def receive(channel: Channel) -> Channel:
    """Acknowledge the value."""
    return replace(channel, acknowledged=1 - channel.acknowledged)


def actions(channel: Channel) -> list[Action]:
    """Sending and receiving take turns."""
    return [("send", value) for value in DATA] if channel.idle else [("receive", channel.value)]


def step(channel: Channel, action: Action) -> Channel:
    """Take one action of the specification."""
    verb, value = action
    return send(channel, value) if verb == "send" else receive(channel)


def on_its_way(step: Moment) -> bool:
    """A value is sent and not received."""
    return not step.before.idle


@evenhand.each_step("A value stays until it is received.", when=on_its_way)
def value_stays(step: Moment) -> bool:
    """The purpose of the handshake."""
    return step.after.value == step.before.value


@evenhand.always("Ready and acknowledged are bits.")
def bits(channel: Channel) -> bool:
    """The type invariant of the book."""
    return {channel.ready, channel.acknowledged} <= {0, 1} and channel.value in DATA


KNOWN = Known(
    evenhand.system("asynch_interface", initial=IDLE, actions=actions, step=step), states=12, true=(value_stays, bits)
)
