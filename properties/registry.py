"""The protocols there are, found by walking the package and the entry points `evenhand.protocols`.

A module of `evenhand.model` that has a `PROTOCOL` is a protocol; the modules of the same name in
`evenhand.properties` (`CLAIMS`) and `evenhand.proofs` (`THEOREMS`) complete it.  Nothing is listed by hand.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from importlib.metadata import entry_points
from typing import Any, Literal, TypeAlias

import evenhand.model
from evenhand.model.system import Protocol, UnknownName
from evenhand.properties.generator import Generator
from evenhand.properties.observer import Observer
from evenhand.properties.profile import Asked
from evenhand.properties.property import AnyStep, Property
from evenhand.properties.vectoring import VectorPlan
from evenhand.properties.verdict import Status

__all__ = [
    "BUDGETS",
    "Bundle",
    "Claims",
    "Expectation",
    "Phases",
    "Plan",
    "ProtocolBroken",
    "find",
    "protocols",
    "rescan",
]

BUDGETS = ("quick", "standard", "deep")
"""The budgets a run can have, cheapest first."""


class ProtocolBroken(ImportError):
    """A protocol that fails to import: an error, never a shorter and greener report."""


@dataclass(frozen=True)
class Expectation:
    """A verdict registered before the run: for this claim, in this system, under these readings.

    An empty `system` means every system, an empty `engine` every engine.  `because` is the reason, which
    is required for everything but HOLDS.
    """

    claim: str
    expected: Status
    system: str = ""
    engine: str = ""
    readings: Mapping[str, Any] | None = None
    because: str = ""

    def speaks_of(self, claim: str, system: str, engine: str, readings: Mapping[str, Any]) -> bool:
        """Whether this expectation is about such a verdict; `readings` are those that are not default."""
        return (
            self.claim == claim
            and self.system in ("", system)
            and self.engine in ("", engine)
            and (self.readings is None or dict(self.readings) == dict(readings))
        )


def _default() -> dict[str, Any]:
    return {}


@dataclass(frozen=True)
class Plan:
    """One run of one engine on one system, and the budgets it belongs to.

    `scope` changes sizes of the system's own scope, `readings` its readings; `claims` names the claims to
    check (empty: every claim of the system).  `max_states` and `depth` bound the search, which then may end
    UNDECIDED; `examples` and `steps` size a run of the machine.  `quotient` asks for a quotient, which is
    used only under a licence (`a+b`: two abstractions, one after the other).  `part` k/n leaves all but each n-th
    configuration (or orbit) to other budgets.
    A system without a plan is run at its own scope under every budget.
    """

    system: str
    engine: Literal["explore", "fuzz"]
    budgets: tuple[str, ...] = BUDGETS
    scope: Mapping[str, int] = field(default_factory=_default)
    readings: Mapping[str, Any] = field(default_factory=_default)
    claims: tuple[str, ...] = ()
    max_states: int | None = None
    depth: int | None = None
    examples: int | None = None
    steps: int | None = None
    quotient: str = ""
    part: str = ""

    def __post_init__(self) -> None:
        unknown = [budget for budget in self.budgets if budget not in BUDGETS]
        if unknown:
            raise UnknownName("budget", unknown[0], BUDGETS)


Phases: TypeAlias = Callable[[AnyStep], Iterable[tuple[str, Iterable[str]]]]
"""How a protocol tells one of its steps to people: heading and lines of each phase."""


@dataclass(frozen=True)
class Claims:
    """The property side of a protocol: what a module of `evenhand.properties` offers as `CLAIMS`.

    `phases`, if given, tells a step in the protocol's own words; reports show that above what the step showed.
    `profile` names the claims that say what decides among agents.
    """

    claims: tuple[Property, ...]
    generators: tuple[Generator, ...] = ()
    expected: tuple[Expectation, ...] = ()
    plans: tuple[Plan, ...] = ()
    observers: tuple[Observer, ...] = ()
    vectors: VectorPlan | None = None
    phases: Phases | None = None
    profile: tuple[Asked, ...] = ()


@dataclass(frozen=True)
class Bundle:
    """One protocol with everything the registry found about it."""

    model: Protocol
    claims: tuple[Property, ...] = ()
    generators: tuple[Generator, ...] = ()
    expected: tuple[Expectation, ...] = ()
    plans: tuple[Plan, ...] = ()
    observers: tuple[Observer, ...] = ()
    vectors: VectorPlan | None = None
    phases: Phases | None = None
    profile: tuple[Asked, ...] = ()

    @property
    def name(self) -> str:
        """The protocol's name, as the command line takes it."""
        return self.model.name

    def claims_of(self, system: str) -> tuple[Property, ...]:
        """The claims that speak of `system`."""
        return tuple(claim for claim in self.claims if not claim.systems or system in claim.systems)

    def observers_of(self, system: str) -> tuple[Observer, ...]:
        """The observers that watch `system`."""
        return tuple(one for one in self.observers if not one.systems or system in one.systems)

    def expectation(self, claim: str, system: str, engine: str, readings: Mapping[str, Any]) -> Expectation:
        """What was registered for such a verdict; HOLDS where nothing was.  The most specific one wins."""
        fitting = [e for e in self.expected if e.speaks_of(claim, system, engine, readings)]
        if not fitting:
            return Expectation(claim, Status.HOLDS)
        return max(fitting, key=lambda e: (e.readings is not None, e.system != "", e.engine != ""))


def protocols() -> tuple[Bundle, ...]:
    """Every protocol, by name.  Raises ProtocolBroken when one does not import."""
    return tuple(sorted(_all(), key=lambda bundle: bundle.name))


def find(name: str) -> Bundle:
    """The protocol called `name`.  Raises UnknownName, or ProtocolBroken when any does not import."""
    bundles = protocols()
    for bundle in bundles:
        if bundle.name == name:
            return bundle
    raise UnknownName("protocol", name, (bundle.name for bundle in bundles))


def rescan() -> None:
    """Look for protocols anew when next asked: one was installed while this process runs."""
    _all.cache_clear()


@cache
def _all() -> tuple[Bundle, ...]:
    return (*_own(), *_installed())


def _own() -> Iterator[Bundle]:
    for found in pkgutil.iter_modules(evenhand.model.__path__):
        model = _load(f"evenhand.model.{found.name}")
        protocol = getattr(model, "PROTOCOL", None)
        if isinstance(protocol, Protocol):
            side = _optional(f"evenhand.properties.{found.name}", "CLAIMS")
            yield _bundle(protocol, side if isinstance(side, Claims) else Claims(()))


def _installed() -> Iterator[Bundle]:
    """Other people's protocols: an entry point names an object that is a `Bundle`."""
    for point in entry_points(group="evenhand.protocols"):
        try:
            bundle = point.load()
        except Exception as error:
            raise ProtocolBroken(f"protocol {point.name!r} ({point.value}) does not load: {error}") from error
        if not isinstance(bundle, Bundle):
            raise ProtocolBroken(f"protocol {point.name!r}: {point.value} is no evenhand.properties.registry.Bundle")
        yield bundle


def _bundle(protocol: Protocol, side: Claims) -> Bundle:
    return Bundle(protocol, **{entry.name: getattr(side, entry.name) for entry in fields(Claims)})


def _optional(module: str, attribute: str) -> Any:
    return getattr(_load(module), attribute, None) if importlib.util.find_spec(module) else None


def _load(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except Exception as error:
        raise ProtocolBroken(f"{module} does not import: {type(error).__name__}: {error}") from error
