"""The interface of a kernel written in Python.

A *factory* receives the initial data of one scenario and returns a fresh kernel; the kernel's `step` receives one
action at a time and returns the observation.  All values are plain JSON data in the protocol's encoding, which
`evenhand.core.codec` writes: `{"$": "Request", …}` is a record, an array a tuple, `{"$set": […]}` a set.

    def factory(initial: Initial) -> Kernel: ...

A kernel has words of its own.  Wherever a value of the model may stand in what it shows, it may write

    {"$unknown": true}                   not shown, so not compared; a record may also lack one of its keys
    {"$opaque": "5f3a"}                  an id or hash of its own (a text or whole number), compared only with itself
    {"$near": "0.98", "within": "1/50"}  a number to a tolerance; JSON numbers are allowed, too
    {"$bag": [1, 2]}                     an array in any order
    {"$chosen": "a", "of": "names"}      chosen of a list of the action by a rule of its own, the same in any order

A kernel with a method `pass_on(message)`, through which it hands over what an agent writes, is also handed JSON values
that no action has.  It raises Unsupported for what is refused; any other exception is a finding.

A kernel needs no import from here and no base class: the shapes are enough.
"""

from __future__ import annotations

from typing import Protocol as Interface
from typing import TypedDict

from evenhand.core.canonical import Json


class Initial(TypedDict):
    """The initial data of one scenario.

    `protocol` and `system` are names as `evenhand verify` lists them; `config` is the encoded configuration (fixed
    during the run, readings included), `start` the encoded initial state.
    """

    protocol: str
    system: str
    config: Json
    start: Json


class Kernel(Interface):
    """One run of a user's kernel.  It is never copied or rewound, and serves one scenario only."""

    def step(self, action: Json, /) -> Json:
        """Take one encoded action and return the encoded observation.

        The action may be disabled or hostile; show a rejection instead of raising one.  Raise Unsupported for an
        action that this kernel cannot take at all.  Any other exception is a finding.
        """
        ...


class TellsState(Kernel, Interface):
    """A kernel that also reports its state; every claim is then judged on the kernel's own states."""

    def state(self) -> Json:
        """Return the encoded state after the last step.  One with gaps is compared as `facts` are."""
        ...


class TellsFacts(Kernel, Interface):
    """A kernel that also tells facts about its state: which fields it likes, such as that the run has ended."""

    def facts(self) -> Json:
        """Return an object with some fields of the encoded state after the last step; they are compared.

        `conclusion` stands for what the protocol concludes from the whole run, where it concludes something.
        """
        ...


class Factory(Interface):
    """A function that makes a kernel for one scenario.

    Raises Unsupported for a system or configuration that this kernel does not implement; that is no finding.
    """

    def __call__(self, initial: Initial, /) -> Kernel:
        """Return a fresh kernel at the start of the scenario."""
        ...


class Unsupported(Exception):
    """Raised by a factory or a step: this kernel does not implement the scenario, or cannot take the action.

    The report counts it as left out.
    """
