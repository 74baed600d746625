"""Check every name by which the parts of a protocol refer to one another.

A claim about a misspelt system would be checked nowhere, and an expectation of a misspelt claim would match nothing;
the run would pass.  So a `Bundle` looks up all of its names when it is made.
"""

from __future__ import annotations

from collections.abc import Generator as Yields
from collections.abc import Iterable, Mapping
from contextlib import contextmanager
from dataclasses import fields
from typing import Any, cast
from typing import Protocol as Interface

from evenhand.core.generator import Generator
from evenhand.core.observer import Observer
from evenhand.core.plan import Expectation, Plan
from evenhand.core.profile import ProfileQuestion
from evenhand.core.property import Property
from evenhand.core.system import AnySystem, Protocol, UnknownName, reading_values
from evenhand.core.vector_plan import VectorPlan

PLANNED = ("explore", "fuzz")
ENGINES = (*PLANNED, "prove", "plan")
"""The sources of verdicts on claims; the verdict of `plan` is that no plan of the budget covers the claim."""


class Parts(Interface):
    """The parts of a `Bundle`, which name one another."""

    @property
    def name(self) -> str: ...
    @property
    def model(self) -> Protocol: ...
    @property
    def claims(self) -> tuple[Property, ...]: ...
    @property
    def generators(self) -> tuple[Generator, ...]: ...
    @property
    def expected(self) -> tuple[Expectation, ...]: ...
    @property
    def plans(self) -> tuple[Plan, ...]: ...
    @property
    def observers(self) -> tuple[Observer, ...]: ...
    @property
    def vectors(self) -> VectorPlan | None: ...
    @property
    def profile(self) -> tuple[ProfileQuestion, ...]: ...


def check_names(bundle: Parts) -> None:
    """Look up every name by which the parts of `bundle` refer to one another.

    Raises ValueError that names protocol, part, culprit and the known names: for an unknown name, reading or size, a
    claim in a system that it is not about, and two things of one name.
    """
    with _in(f"protocol {bundle.name}"):
        _Names(bundle).check()


@contextmanager
def _in(part: str) -> Yields[None]:
    """Put every ValueError that is raised inside under this part."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{part}: {error}") from error


class _Names:
    def __init__(self, bundle: Parts) -> None:
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
                self.claim(asked.claim, asked.system)
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
        named = self.bundle.vectors
        if named is None:
            return
        for place in (*named.places, *((named.orbits,) if named.orbits is not None else ())):
            with _in(f"vectors of {place.system}"):
                self.place(place.system, place.scope, {})
        known = {name for system in self.systems.values() for name in reading_values(system.readings)}
        for name in named.readings:
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
