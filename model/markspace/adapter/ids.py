"""Ids and clock of the published package, controlled by a run: the explorer chooses both, and neither is random.

The package takes ids from `uuid.uuid4` and instants from a clock that can be set. While a kernel takes a step, the
package's space gets its ids from that kernel. They follow the order of writing; where a reading leaves ids to an
adversary, an id precedes as many ids of this instant as the action says.
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
"""The first instant of every run, in seconds; late enough that no interval begins before the epoch."""

_GAP = 2**64


def numbered(number: int) -> uuid.UUID:
    """Return the id that sorts like this number."""
    return uuid.UUID(int=number * _GAP)


class Ids:
    """The ids of one run."""

    UUID = uuid.UUID

    def __init__(self) -> None:
        self._last = 0
        self._before: Sequence[uuid.UUID] = ()
        self._slip = 0

    def uuid4(self) -> uuid.UUID:
        """Return the next id: after all others, or before the last `slip` ids of this instant."""
        place = len(self._before) - self._slip
        self._slip, self._before, slipped = 0, (), self._before
        if place >= len(slipped):
            self._last += 1
            return numbered(self._last)
        high: int = slipped[place].int
        low: int = slipped[place - 1].int if place else high - _GAP // 2
        return uuid.UUID(int=(low + high) // 2)

    def next_is(self, number: int) -> None:
        """Let the next id sort like this number."""
        self._last = number - 1

    @contextmanager
    def used(self, before: Sequence[uuid.UUID] = (), slip: int = 0) -> Generator[None]:
        """Let the package's space take its ids here; the first one precedes the last `slip` of `before`."""
        self._before, self._slip = before, min(slip, len(before))
        theirs = vars(markspace.space)["uuid"]
        setattr(markspace.space, "uuid", self)  # noqa: B010  (a module of the package, which we do not type)
        try:
            yield
        finally:
            setattr(markspace.space, "uuid", theirs)  # noqa: B010
            self._before, self._slip = (), 0


def agent_named(name: str, number: int, scopes: dict[str, list[str]], reads: frozenset[str] = frozenset()) -> Agent:
    """Return an agent of the package whose id is a function of its place."""
    return Agent(name=name, id=uuid.UUID(int=number), scopes=scopes, read_scopes=reads)


def name_of(agents: Mapping[str, Agent], wanted: uuid.UUID) -> str:
    """Return the name of the agent with this id; the id itself for an agent that the package made."""
    return next((name for name, agent in agents.items() if agent.id == wanted), str(wanted))
