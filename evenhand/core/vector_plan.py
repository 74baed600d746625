"""The origin of a protocol's vectors: scopes in which runs are drawn, and one-step orbits to list.

All of it is optional: without it a protocol gets vectors from its own systems at their own scopes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from evenhand.core.trace import AnyScenario


@dataclass(frozen=True)
class VectorScope:
    """A system at sizes of its own, from which runs of at most `steps` actions are drawn."""

    system: str
    scope: Mapping[str, int] = field(default_factory=dict[str, int])
    steps: int = 3


@dataclass(frozen=True)
class Registered:
    """A preregistered run with an outcome that was worked out by hand: `run` and its readings, in a system.

    `left_out` says why a run is no vector (its kernel is a mutant); empty: it is one.
    """

    name: str
    title: str
    source: str
    system: str
    run: AnyScenario
    readings: tuple[tuple[str, Any], ...] = ()
    left_out: str = ""


@dataclass(frozen=True)
class Orbits:
    """Every first step of a system that is to have a vector, up to the quotients of that system.

    `cases` gives (configuration, action) from initial states; by default everything on offer at `scope`.  `sentence`
    tells the reader of the file what is listed, `source` the paragraphs that it is about.
    """

    system: str
    sentence: str
    scope: Mapping[str, int] = field(default_factory=dict[str, int])
    cases: Callable[[], Iterable[tuple[Any, Any]]] | None = None
    source: str = ""


def _no_runs() -> Iterable[tuple[str, Any]]:
    return ()


def _none_registered() -> Iterable[Registered]:
    return ()


def _nothing() -> dict[str, tuple[Any, ...]]:
    return {}


@dataclass(frozen=True, kw_only=True)
class VectorPlan:
    """The sources of a protocol's vectors.

    Runs are drawn from `places`.  `runs` gives (system, configuration) pairs in which strategies choose: each is played
    to its end and may be longer than the rest.  `registered` gives the runs whose outcome was worked out by hand.
    `readings` gives values of readings whose legal values cannot be listed.
    """

    places: tuple[VectorScope, ...] = ()
    runs: Callable[[], Iterable[tuple[str, Any]]] = _no_runs
    registered: Callable[[], Iterable[Registered]] = _none_registered
    orbits: Orbits | None = None
    readings: Mapping[str, tuple[Any, ...]] = field(default_factory=_nothing)
