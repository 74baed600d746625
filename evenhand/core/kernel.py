"""What a kernel written in Python must offer, and what it may.

A *factory* receives the initial data of one scenario and returns a fresh kernel; the kernel's `step` receives one
action at a time and returns what that step shows.  Everything is plain JSON data as `evenhand.core.codec` writes
it, the protocol's own encoding: `{"$": "Request", …}` is a record, an array a tuple, `{"$set": […]}` a set.

    def factory(initial: Initial) -> Kernel: ...

Nothing needs to be imported from here or subclassed: the shapes are enough.
"""

from __future__ import annotations

from typing import Protocol as Interface
from typing import TypedDict

from evenhand.core.canonical import Json

__all__ = ["Factory", "Initial", "Kernel", "TellsState", "Unsupported"]


class Initial(TypedDict):
    """The initial data of one scenario.

    `protocol` and `system` are names as `evenhand verify` lists them; `config` is the encoded configuration
    (fixed during the run, readings included), `start` the encoded initial state.
    """

    protocol: str
    system: str
    config: Json
    start: Json


class Kernel(Interface):
    """One run of somebody's kernel.  It is never copied, never rewound, and used for one scenario only."""

    def step(self, action: Json, /) -> Json:
        """Take one encoded action and return the encoded observable: all that the step shows.

        The action may be disabled or hostile; a rejection is shown, not raised.  Whatever is raised is a finding.
        """
        ...


class TellsState(Kernel, Interface):
    """A kernel that can also tell its state; then every claim is judged on the kernel's own states."""

    def state(self) -> Json:
        """The encoded state after the last step."""
        ...


class Factory(Interface):
    """Makes a kernel for one scenario.

    Raises Unsupported for a system or configuration that this kernel does not implement; that is no finding.
    """

    def __call__(self, initial: Initial, /) -> Kernel:
        """A fresh kernel at the start of the scenario."""
        ...


class Unsupported(Exception):
    """Raised by a factory: this kernel does not implement such a scenario.  The report counts it as left out."""
