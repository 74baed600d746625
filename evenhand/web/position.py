"""A position of a walk: a system as it runs, and a run in it, named by the digest of both.

A position holds a whole run; how many of its steps are taken is a number beside it, so that going back loses
nothing.  Its address is a digest of content, so that a reload, a bookmark or a second window shows the same run.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property
from itertools import islice
from threading import Lock
from typing import Any

from msgspec import to_builtins

from evenhand.core.bundle import Bundle
from evenhand.core.canonical import Json, digest
from evenhand.core.codec import encode
from evenhand.core.system import AnySystem
from evenhand.core.trace import Lasso, Pair, Scenario
from evenhand.core.verdict import Evidence, runs
from evenhand.evidence.record import Record, encode_run
from evenhand.evidence.replay import Replayed
from evenhand.jobs.plan import Job, chosen_readings, chosen_scope, inhabited, system_for

COUNTED = 2_000
"""Configurations and initial states that are counted; beyond it the page says that there are more."""

KEPT = 4_000
"""Positions that a server remembers; the least recently used one goes first."""


@dataclass(frozen=True)
class Position:
    """A run in a system; `claim` and `origin` name its claim and the file that it came from, if any."""

    bundle: Bundle
    system: AnySystem
    evidence: Evidence
    claim: str = ""
    origin: str = ""

    @property
    def scenario(self) -> Scenario[Any, Any, Any]:
        """The run that is walked: a lasso's stem and one turn, the first run of a pair."""
        return runs(self.evidence)[0]

    @property
    def other(self) -> Scenario[Any, Any, Any] | None:
        """The second run of a pair, or None."""
        return self.evidence.right if isinstance(self.evidence, Pair) else None

    @property
    def loop(self) -> int:
        """The number of steps at the end that repeat for ever."""
        return len(self.evidence.loop) if isinstance(self.evidence, Lasso) else 0

    @property
    def steps(self) -> int:
        """The number of actions of the run."""
        return len(self.scenario.actions)

    @cached_property
    def address(self) -> str:
        """Sixteen hexadecimal digits of the digest of everything that is shown."""
        content: dict[str, Json] = {
            "protocol": self.bundle.name,
            "system": self.system.name,
            "scope": dict(self.system.scope),
            "readings": {name: encode(value) for name, value in self.readings.items()},
            "variant": self.system.variant,
            "claim": self.claim,
            "origin": self.origin,
            "run": to_builtins(encode_run(self.evidence)),
        }
        return digest(content).removeprefix("sha256:")[:16]

    @property
    def readings(self) -> Mapping[str, Any]:
        """Every reading and its value."""
        record = self.system.readings
        return {entry.name: getattr(record, entry.name) for entry in fields(record)} if is_dataclass(record) else {}

    @property
    def chosen(self) -> Mapping[str, Any]:
        """The readings that differ from their default."""
        record = self.bundle.model.systems[self.system.name].readings
        return {name: value for name, value in self.readings.items() if getattr(record, name) != value}

    def walked(self, actions: Sequence[Any]) -> Position:
        """Return the position with other actions from the same start: a plain run without claim or origin."""
        here = self.scenario
        return replace(self, evidence=Scenario(here.config, here.start, tuple(actions)), claim="", origin="")


class KnownPositions:
    """The positions that a server remembers, by address; the least recently used are dropped."""

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self._places: OrderedDict[str, Position] = OrderedDict()
        self._lock = Lock()

    def put(self, place: Position) -> str:
        """Keep a position and return its address.  Raises ValueError for a run whose values have no encoding."""
        with self._lock:
            self._places[place.address] = place
            self._places.move_to_end(place.address)
            while len(self._places) > self._kept:
                self._places.popitem(last=False)
        return place.address

    def get(self, address: str) -> Position | None:
        """Return the position at an address, or None."""
        with self._lock:
            place = self._places.get(address)
            if place is not None:
                self._places.move_to_end(address)
            return place


def opened(
    bundle: Bundle,
    system: str = "",
    *,
    scope: Iterable[str] = (),
    readings: Iterable[str] = (),
    variant: str = "",
    config: int = 1,
    start: int = 1,
) -> Position:
    """Return the empty run from the n-th initial state of the k-th configuration (both from 1) of a system.

    Scope and readings are written as on the command line.  Raises UnknownName or ValueError for an unknown name, a bad
    size, or a number out of range.
    """
    if variant not in ("", "reference") and not system:
        system = next((mutant.system for mutant in bundle.model.mutants if mutant.name == variant), "")
    job = Job(bundle.name, "explore", system, variant=variant)
    base = system_for(bundle, job)
    chosen = replace(
        job, scope=tuple(sorted(chosen_scope(scope).items())), readings=chosen_readings(base, tuple(readings))
    )
    made = inhabited(system_for(bundle, chosen))
    held = _nth(made.all_configs(), config, f"configuration of {made.name} at {made.scope}")
    first = _nth(made.initial(held), start, f"initial state of configuration {config}")
    return Position(bundle, made, Scenario(held, first))


def of_record(bundle: Bundle, record: Record, replayed: Replayed, origin: str) -> Position:
    """Return the run of a fixture, in the variant in which it was seen."""
    return Position(bundle, replayed.system, replayed.evidence, record.claim.name, origin)


def counted(values: Iterable[Any], limit: int = COUNTED) -> str:
    """Return the number of values, or `more than` the limit.

    >>> counted(range(3)), counted(range(30), 10)
    ('3', 'more than 10')
    """
    number = sum(1 for _ in islice(values, limit + 1))
    return f"{number:,}" if number <= limit else f"more than {limit:,}"


def _nth(values: Iterable[Any], number: int, what: str) -> Any:
    if number >= 1:
        for value in islice(values, number - 1, number):
            return value
    raise ValueError(f"there is no {what} with number {number}; they are counted from 1")
