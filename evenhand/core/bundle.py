"""A protocol with everything stated about it: model, claims, expectations, plans, generators, observers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeAlias, TypeVar, cast

from evenhand.core.generator import Generator
from evenhand.core.naming import check_names
from evenhand.core.observer import Observer
from evenhand.core.plan import Expectation, Plan
from evenhand.core.profile import ProfileQuestion
from evenhand.core.property import Property
from evenhand.core.system import AnyStep, Mutant, Protocol
from evenhand.core.vector_plan import VectorPlan
from evenhand.core.verdict import Status

T = TypeVar("T")


class ProtocolBroken(ImportError):
    """A protocol that does not import or names a missing part; raised so that no report omits it silently."""


Phases: TypeAlias = Callable[[AnyStep], Iterable[tuple[str, Iterable[str]]]]
"""How a protocol formats one of its steps for people: heading and lines of each phase."""


@dataclass(frozen=True)
class Claims:
    """The property side of a protocol: `CLAIMS` in a module of `evenhand.properties`.

    `phases` formats a step in the protocol's own words; reports show it above the observation.  `profile` names the
    claims that say what decides among agents.
    """

    claims: tuple[Property, ...]
    generators: tuple[Generator, ...] = ()
    plans: tuple[Plan, ...] = ()
    observers: tuple[Observer, ...] = ()
    vectors: VectorPlan | None = None
    phases: Phases | None = None
    profile: tuple[ProfileQuestion, ...] = ()


def claims_in(*modules: ModuleType) -> tuple[Property, ...]:
    """Return the claims that modules define, in order of definition; a tuple of claims counts as its members."""
    return _defined_in(Property, modules)


def mutants_in(*modules: ModuleType) -> tuple[Mutant[Any], ...]:
    """Return the mutants that modules define, as `claims_in` does."""
    kind: type[Mutant[Any]] = Mutant
    return _defined_in(kind, modules)


def _defined_in(kind: type[T], modules: Iterable[ModuleType]) -> tuple[T, ...]:
    bound = [value for module in modules for value in vars(module).values()]
    listed = [
        one for value in bound for one in (cast("tuple[Any, ...]", value) if isinstance(value, tuple) else (value,))
    ]
    found = {id(one): one for one in listed if isinstance(one, kind)}
    return tuple(found.values())


@dataclass(frozen=True)
class Bundle:
    """One protocol with everything the registry found about it.

    `own` marks a user's own system (see `own_file`); `written` is the name by which it was found: `FILE.py:name`.
    Raises ValueError for a name that does not exist (see `naming`), because it would be left out silently.
    """

    model: Protocol
    claims: tuple[Property, ...] = ()
    generators: tuple[Generator, ...] = ()
    expected: tuple[Expectation, ...] = ()
    plans: tuple[Plan, ...] = ()
    observers: tuple[Observer, ...] = ()
    vectors: VectorPlan | None = None
    phases: Phases | None = None
    profile: tuple[ProfileQuestion, ...] = ()
    own: bool = False
    written: str = ""

    def __post_init__(self) -> None:
        carried = (one for claim in self.claims for one in claim.expected if one not in self.expected)
        object.__setattr__(self, "expected", (*self.expected, *carried))
        check_names(self)

    @property
    def name(self) -> str:
        """The protocol's name, as the command line takes it."""
        return self.written or self.model.name

    def claims_of(self, system: str) -> tuple[Property, ...]:
        """Return the claims about `system`."""
        return tuple(claim for claim in self.claims if not claim.systems or system in claim.systems)

    def observers_of(self, system: str) -> tuple[Observer, ...]:
        """Return the observers of `system`."""
        return tuple(one for one in self.observers if not one.systems or system in one.systems)

    def expectation(self, claim: str, system: str, engine: str, readings: Mapping[str, Any]) -> Expectation:
        """Return the most specific expectation registered for such a verdict; HOLDS if there is none."""
        fitting = [e for e in self.expected if e.speaks_of(claim, system, engine, readings)]
        if not fitting:
            return Expectation(claim, Status.HOLDS)
        return max(fitting, key=lambda e: (e.readings is not None, e.system != "", e.engine != ""))
