"""What a protocol says about its vectors: where runs are drawn, and what its one-step orbits are.

Nothing here is required: a protocol that says nothing gets vectors from its own systems at their own scopes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Orbits", "VectorPlan", "VectorScope"]


@dataclass(frozen=True)
class VectorScope:
    """A system at sizes that differ from its own, from which runs of at most `steps` actions are drawn."""

    system: str
    scope: Mapping[str, int] = field(default_factory=dict[str, int])
    steps: int = 3


@dataclass(frozen=True)
class Orbits:
    """Every first step of a system that is to have a vector, up to the quotients of that system.

    `cases` gives (configuration, action) from initial states; without it, everything on offer at `scope`.  `sentence`
    says what is listed, for the reader of the file.
    """

    system: str
    sentence: str
    scope: Mapping[str, int] = field(default_factory=dict[str, int])
    cases: Callable[[], Iterable[tuple[Any, Any]]] | None = None


def _no_runs() -> Iterable[tuple[str, Any]]:
    return ()


def _nothing() -> dict[str, tuple[Any, ...]]:
    return {}


@dataclass(frozen=True, kw_only=True)
class VectorPlan:
    """Where the vectors of a protocol come from.

    `places` are drawn from.  `runs` gives (system, configuration) pairs in which strategies choose: each is played to
    its end and may be longer than the rest.  `readings` gives values of readings whose legal values cannot be listed.
    """

    places: tuple[VectorScope, ...] = ()
    runs: Callable[[], Iterable[tuple[str, Any]]] = _no_runs
    orbits: Orbits | None = None
    readings: Mapping[str, tuple[Any, ...]] = field(default_factory=_nothing)
