"""Search for a run of the model that a log may be a record of.

Breadth-first over the states consistent with the record so far.  A fully recorded action is taken, whatever it is; one
with gaps is matched with those on offer.  The first event that no candidate explains is reported with the nearest
outcomes that the model allows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from evenhand.conform.adapters.wire import UNKNOWN
from evenhand.conform.checking.comparing import Difference, differences, normal
from evenhand.conform.checking.logs import BadLog, Event, Log
from evenhand.conform.checking.words import Dictionary, Malformed, Reader, gaps
from evenhand.core.answers import ModelError
from evenhand.core.canonical import Json
from evenhand.core.codec import decode, encode
from evenhand.core.freedom import FREE
from evenhand.core.system import AnyStep, AnySystem
from evenhand.core.trace import AnyTrace, Scenario, Trace

CANDIDATES = 5_000
"""States followed at a time."""

TRIED = 50_000
"""Actions tried for one event."""

NEAREST = 3
"""Allowed outcomes shown beside an unexplained event."""


@dataclass(frozen=True)
class Near:
    """An outcome that the model allows where the log differs, and the differences."""

    step: AnyStep
    differences: tuple[Difference, ...]


@dataclass(frozen=True)
class Explained:
    """The result of the search.

    `trace` is one run that matches the first `matched` events of the log.  `failed` is the first event without an
    explanation, with the `nearest` outcomes, or None.  `whole` says that no bound was hit, so a failure is certain.
    `candidates` counts the states followed at the end.  `recorded` says that nothing was missing, so the matching run
    is the only one.
    """

    trace: AnyTrace | None
    matched: int
    failed: Event | None
    nearest: tuple[Near, ...]
    whole: bool
    candidates: int
    recorded: bool


@dataclass
class _Candidate:
    """A state that the log may be in, one path to it, and the meaning of the log's tokens on it."""

    config: Any
    state: Any
    start: Any
    came: tuple[_Candidate, AnyStep] | None = None
    known: Dictionary = field(default_factory=Dictionary)

    def steps(self) -> tuple[AnyStep, ...]:
        """Return the path from the start."""
        made: list[AnyStep] = []
        here = self
        while here.came is not None:
            made.append(here.came[1])
            here = here.came[0]
        return tuple(reversed(made))


@dataclass
class _Search:
    system: AnySystem
    log: Log
    whole: bool = True
    recorded: bool = True
    nearest: list[Near] = field(default_factory=list[Near])

    def __post_init__(self) -> None:
        self.reader = Reader(self.system.types, FREE)

    def mismatches(self, recorded: Json, value: Any, known: Dictionary, line: int = 1) -> tuple[Difference, ...]:
        """Return where a value differs from its record; unrecorded parts never differ."""
        expected = encode(value)
        try:
            told = self.reader.reading(recorded, expected, known).told
        except Malformed as error:
            raise BadLog(f"line {line}: {error}.") from error
        return tuple(differences(normal(expected), normal(told)))

    def starts(self) -> list[_Candidate]:
        """Return the initial states of every configuration that fits.  Raises BadLog if there is none."""
        found: list[_Candidate] = []
        for config, starts in self._configs():
            for start in starts:
                known = Dictionary()
                if not self.mismatches(self.log.head.config, config, known) and not self.mismatches(
                    self.log.head.start, start, known
                ):
                    found.append(_Candidate(config, start, start, known=known))
        if not found:
            raise BadLog(
                f"no configuration of {self.log.head.protocol} {self.system.name} at {self.system.scope} begins as "
                "recorded"
            )
        self.recorded = len(found) == 1
        return self._bounded(found)

    def _configs(self) -> Iterable[tuple[Any, Iterable[Any]]]:
        """Each configuration that the log may begin with, and its initial states."""
        if self.log.head.config != UNKNOWN and not gaps(self.log.head.config):
            with suppress(ValueError):  # fields were left out, or it is of no class here: look for one that fits
                config = decode(normal(self.log.head.config), *self.system.types)
                if any(type(config) is type(one) for one in self.system.all_configs()):
                    return [(config, self.system.initial(config))]
        return ((config, self.system.initial(config)) for config in self.system.all_configs())

    def follow(self, here: list[_Candidate], event: Event) -> list[_Candidate]:
        """Return the candidates after an event; if nothing explains it, none, and `nearest` is filled."""
        after: dict[tuple[Any, Any, Any], _Candidate] = {}
        near: list[Near] = []
        tried = 0
        for one in here:
            for action, known in self._actions(one, event):
                tried += 1
                if tried > TRIED:
                    self.whole = False
                    break
                step = self._taken(one, action, event)
                wrong = self.mismatches(event.shown, step.shown, known, event.line)
                if not wrong:
                    after.setdefault(
                        (one.config, step.after, known.key),
                        _Candidate(one.config, step.after, one.start, (one, step), known),
                    )
                elif not after:
                    near.append(Near(step, wrong))
                    near = sorted(near, key=lambda found: len(found.differences))[:NEAREST]
        self.nearest = [] if after else near
        return self._bounded(list(after.values()))

    def _taken(self, one: _Candidate, action: Any, event: Event) -> AnyStep:
        """Return the step of the model.  Raises BadLog where the recorded action is none of the system's."""
        try:
            return self.system.take(one.config, one.state, action)
        except ModelError as error:
            if self._offered(one, action):
                raise
            raise BadLog(f"line {event.line}: {action!r:.80} is no action of {self.system.name}.") from error

    def _offered(self, one: _Candidate, action: Any) -> bool:
        """Return whether the model offers an action; not if it cannot even compare it."""
        try:
            return self.system.is_enabled(one.config, one.state, action)
        except Exception:
            return False

    def _actions(self, one: _Candidate, event: Event) -> Iterator[tuple[Any, Dictionary]]:
        """The actions that the event may record, each with the tokens known then."""
        whole = self._decoded(event.action)
        if whole is not None:
            yield whole, one.known.copy()
            return
        self.recorded = False
        for action in self.system.enabled(one.config, one.state):
            known = one.known.copy()
            if not self.mismatches(event.action, action, known, event.line):
                yield action, known

    def _decoded(self, action: Json) -> Any:
        """The action, if it was fully recorded."""
        if gaps(action):
            return None
        try:
            return decode(normal(action), *self.system.types)
        except ValueError:
            return None

    def _bounded(self, found: list[_Candidate]) -> list[_Candidate]:
        if len(found) > CANDIDATES:
            self.whole = False
        return list(islice(found, CANDIDATES))


def explain(system: AnySystem, log: Log) -> Explained:
    """Search for a run of `system` that matches `log`.

    Raises BadLog if not even the initial data fit.
    """
    search = _Search(system, log)
    here = search.starts()
    for number, event in enumerate(log.events):
        after = search.follow(here, event)
        if not after:
            return _explained(search, here, number, event)
        here = after
    return _explained(search, here, len(log.events), None)


def _explained(search: _Search, here: list[_Candidate], matched: int, failed: Event | None) -> Explained:
    one = here[0]
    steps = one.steps()
    trace = Trace(Scenario(one.config, one.start, tuple(step.action for step in steps)), steps)
    return Explained(trace, matched, failed, tuple(search.nearest), search.whole, len(here), search.recorded)
