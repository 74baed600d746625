"""A protocol with everything stated about it: model, claims, expectations, plans, generators, observers.

A claim about a misspelt system would be checked nowhere, and an expectation of a misspelt claim would match nothing;
the run would pass.  So a `Bundle` looks up all of its names when it is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from collections.abc import Generator as Generates
from contextlib import contextmanager
from dataclasses import dataclass, fields
from types import ModuleType
from typing import Any, TypeAlias, TypeVar, cast

from evenhand.core.ending import of_this
from evenhand.core.generator import Generator
from evenhand.core.lookup import UnknownName, named
from evenhand.core.observer import Observer
from evenhand.core.plan import Expectation, Plan
from evenhand.core.profile import ProfileQuestion
from evenhand.core.property import Property
from evenhand.core.system import AnyStep, AnySystem, Mutant, Protocol, Scope, reading_values
from evenhand.core.vector_plan import VectorPlan
from evenhand.core.verdict import Status

T = TypeVar("T")

PLANNED = ("explore", "fuzz")
ENGINES = (*PLANNED, "prove", "plan")
"""The sources of verdicts on claims; the verdict of `plan` is that no plan of the budget covers the claim."""


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
    Raises ValueError for a name that does not exist, because it would be left out silently.
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
        about = tuple(claim for claim in self.claims if not claim.systems or system in claim.systems)
        return of_this(self.model.systems[system], about) if system in self.model.systems else about

    def observers_of(self, system: str) -> tuple[Observer, ...]:
        """Return the observers of `system`."""
        return tuple(one for one in self.observers if not one.systems or system in one.systems)

    def generator_of(self, system: str) -> Generator | None:
        """Return the generator of `system`; None without one."""
        return next((one for one in self.generators if one.system == system), None)

    def mutant(self, name: str, system: str = "") -> Mutant[Any]:
        """Return the mutant of this name.  Raises UnknownName, and ValueError for a fault of another system."""
        mutants: dict[str, Mutant[Any]] = {one.name: one for one in self.model.mutants}
        found = named(f"mutant of {self.name}:", name, mutants)
        if system not in ("", found.system):
            raise ValueError(f"mutant {name!r} is a fault of system {found.system!r}, not of {system!r}")
        return found

    def scopes_of(self, system: str) -> tuple[Scope, ...]:
        """Return the scope of `system` and those that its mutants name, each once."""
        base = self.model.systems[system]
        others = (base.at(**dict(one.scope)).scope for one in self.model.mutants if one.system == system)
        return tuple(dict.fromkeys((base.scope, *others)))

    def expectation(self, claim: str, system: str, engine: str, readings: Mapping[str, Any]) -> Expectation:
        """Return the most specific expectation registered for such a verdict; HOLDS if there is none."""
        fitting = [e for e in self.expected if e.speaks_of(claim, system, engine, readings)]
        if not fitting:
            return Expectation(claim, Status.HOLDS)
        return max(fitting, key=lambda e: (e.readings is not None, e.system != "", e.engine != ""))


def check_names(bundle: Bundle) -> None:
    """Look up every name by which the parts of `bundle` refer to one another.

    Raises ValueError that names protocol, part, culprit and the known names: for an unknown name, reading or size, a
    claim in a system that it is not about, and two things of one name.
    """
    with _in(f"protocol {bundle.name}"):
        _Names(bundle).check()


@contextmanager
def _in(part: str) -> Generates[None]:
    """Put every ValueError that is raised inside under this part."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{part}: {error}") from error


class _Names:
    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self.systems: Mapping[str, AnySystem] = bundle.model.systems
        self.claims: dict[str, Property] = {claim.name: claim for claim in bundle.claims}

    def check(self) -> None:
        bundle, model = self.bundle, self.bundle.model
        for key, system in self.systems.items():
            if key != system.name:
                raise ValueError(f"system {system.name!r} stands under {key!r}; write it under its own name")
        _once("claims are called", (claim.name for claim in bundle.claims))
        _once("mutants are called", ("reference", *(mutant.name for mutant in model.mutants)))
        _once("observers are called", (one.name for one in bundle.observers))
        _once("generators are for system", (one.system for one in bundle.generators))
        for claim in bundle.claims:
            with _in(f"claim {claim.name}"):
                self.are_systems(claim.systems)
        for mutant in model.mutants:
            with _in(f"mutant {mutant.name}"):
                self.place(mutant.system, mutant.scope, dict(mutant.readings))
        for observer in bundle.observers:
            with _in(f"observer {observer.name}"):
                self.are_systems(observer.systems)
        with _in("generator"):
            self.are_systems(one.system for one in bundle.generators)
        for plan in bundle.plans:
            with _in(f"plan {_plan_text(plan)}"):
                self.plan(plan)
        _different(bundle.plans)
        for one in bundle.expected:
            with _in(f"expectation of {one.claim}"):
                self.expectation(one)
        _once("expectations are about", (f"{e.claim} {e.system} {e.engine} {e.readings}" for e in bundle.expected))
        for asked in bundle.profile:
            with _in(f"profile, {asked.aspect.value}"):
                if asked.claim:
                    self.claim(asked.claim, asked.system)
                for name in asked.steps:
                    self.claim(name)
        self.vectors()

    def are_systems(self, names: Iterable[str]) -> None:
        """Raise UnknownName for a system that does not exist."""
        for name in names:
            if name not in self.systems:
                raise UnknownName("system", name, self.systems)

    def place(self, system: str, scope: Mapping[str, int], readings: Mapping[str, Any]) -> AnySystem:
        """Return the system of this name at these sizes and readings.  Raises UnknownName or ValueError."""
        self.are_systems([system])
        made = self.systems[system].at(**scope).under(**readings)
        for name, values in reading_values(made.readings).items():
            usual = getattr(self.systems[system].readings, name)
            if name in readings and not values and type(readings[name]) is not type(usual):
                raise ValueError(f"reading {name!r} is a {type(usual).__name__}, not {readings[name]!r}")
        return made

    def claim(self, name: str, system: str = "") -> tuple[str, ...]:
        """Return the systems that a claim is about; `system`, if given, must be one of them."""
        if name not in self.claims:
            raise UnknownName("claim", name, self.claims)
        spoken = self.claims[name].systems or tuple(self.systems)
        if system:
            self.are_systems([system])
            if system not in spoken:
                raise ValueError(f"claim {name!r} does not speak of system {system!r}, but of: {', '.join(spoken)}")
        return spoken

    def plan(self, plan: Plan) -> None:
        """Check engine, place, claims and quotients of a plan."""
        if plan.engine not in PLANNED:
            raise UnknownName("engine", plan.engine, PLANNED)
        system = self.place(plan.system, plan.scope, plan.readings)
        for name in plan.claims:
            self.claim(name, plan.system)
        _once("claims of the plan are called", plan.claims)
        known = [*(one.name for one in system.quotients), *(one.name for one in system.abstractions)]
        for name in filter(None, plan.quotient.split("+")):
            if name not in known:
                raise UnknownName("quotient", name, known)

    def expectation(self, one: Expectation) -> None:
        """Check that the verdict of an expectation can occur."""
        spoken = self.claim(one.claim, one.system)
        if one.engine and one.engine not in ENGINES:
            raise UnknownName("engine", one.engine, ENGINES)
        wrong: ValueError | None = None
        for system in (one.system,) if one.system else spoken:
            try:
                usual = reading_values(self.place(system, {}, one.readings or {}).readings)
            except ValueError as error:
                wrong = wrong or error
                continue
            for name, value in (one.readings or {}).items():
                if value == (usual[name][0] if usual[name] else getattr(self.systems[system].readings, name)):
                    raise ValueError(f"reading {name}={value} is the default, which verdicts do not name; leave it out")
            return
        if wrong is not None:
            raise wrong

    def vectors(self) -> None:
        """Check the places of a vector plan, and the readings for which it gives values."""
        plan = self.bundle.vectors
        if plan is None:
            return
        for place in (*plan.places, *((plan.orbits,) if plan.orbits is not None else ())):
            with _in(f"vectors of {place.system}"):
                self.place(place.system, place.scope, {})
        known = {name for system in self.systems.values() for name in reading_values(system.readings)}
        for name in plan.readings:
            if name not in known:
                raise UnknownName("reading of its vectors:", name, known)


def _plan_text(plan: Plan) -> str:
    where = ",".join(f"{name}={value}" for name, value in (*plan.scope.items(), *plan.readings.items()))
    return " ".join(filter(None, (plan.engine, plan.system, where)))


def _once(what: str, names: Iterable[str]) -> None:
    """Raise ValueError for a name that occurs twice."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"two {what} {name!r}; the one would stand for the other, so rename or remove one")
        seen.add(name)


def _different(plans: tuple[Plan, ...]) -> None:
    """Refuse a plan that occurs twice under one budget: it would run twice and be shown once."""
    for budget in {budget for plan in plans for budget in plan.budgets}:
        seen: set[str] = set()
        for plan in plans:
            if budget not in plan.budgets:
                continue
            named = repr([_plain(getattr(plan, entry.name)) for entry in fields(plan) if entry.name != "budgets"])
            if named in seen:
                raise ValueError(f"plan {_plan_text(plan)} is there twice under budget {budget}; remove one")
            seen.add(named)


def _plain(value: Any) -> Any:
    return sorted(cast("Mapping[str, Any]", value).items()) if isinstance(value, Mapping) else value
