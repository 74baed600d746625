"""Ids and clock of the published package in the hands of a run: both are choices of the explorer, never random.

The package takes ids from `uuid.uuid4` and instants from a clock that can be set.  While a kernel takes a step, the
space's module gets its ids from that kernel: in the order of writing, or, where a reading leaves ids to an adversary,
before as many of this instant's as the action says.
"""

from __future__ import annotations

import uuid
from contextlib import contextmanager
from typing import TYPE_CHECKING

import markspace.space
from markspace.core import Agent

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

BEGIN = 1_000.0
"""The first instant of every run, in seconds: late enough that no interval reaches back to before the epoch."""

_GAP = 2**64


def numbered(number: int) -> uuid.UUID:
    """The id that sorts as this number does."""
    return uuid.UUID(int=number * _GAP)


class Ids:
    """The ids of one run."""

    UUID = uuid.UUID

    def __init__(self) -> None:
        self._last = 0
        self._before: Sequence[uuid.UUID] = ()
        self._slip = 0

    def uuid4(self) -> uuid.UUID:
        """The next id: after all others, or before `slip` of those of this instant."""
        place = len(self._before) - self._slip
        self._slip, self._before, slipped = 0, (), self._before
        if place >= len(slipped):
            self._last += 1
            return numbered(self._last)
        high: int = slipped[place].int
        low: int = slipped[place - 1].int if place else high - _GAP // 2
        return uuid.UUID(int=(low + high) // 2)

    def next_is(self, number: int) -> None:
        """Let the next id sort as this number does."""
        self._last = number - 1

    @contextmanager
    def used(self, before: Sequence[uuid.UUID] = (), slip: int = 0) -> Generator[None]:
        """Let the package's space take its ids here; the first one slips before the last `slip` of `before`."""
        self._before, self._slip = before, min(slip, len(before))
        theirs = vars(markspace.space)["uuid"]
        setattr(markspace.space, "uuid", self)  # noqa: B010  (a module of theirs, not ours to type)
        try:
            yield
        finally:
            setattr(markspace.space, "uuid", theirs)  # noqa: B010
            self._before, self._slip = (), 0


def agent_named(name: str, number: int, scopes: dict[str, list[str]], reads: frozenset[str] = frozenset()) -> Agent:
    """An agent of the package whose id is a function of its place."""
    return Agent(name=name, id=uuid.UUID(int=number), scopes=scopes, read_scopes=reads)


def name_of(agents: Mapping[str, Agent], wanted: uuid.UUID) -> str:
    """The name of the agent with this id; the id itself for a stranger of the package's own making."""
    return next((name for name, agent in agents.items() if agent.id == wanted), str(wanted))
