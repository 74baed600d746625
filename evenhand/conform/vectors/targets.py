"""List the targets of vectors, every mutant and every reading, and decide whether a run separates them.

A target is a variant of some systems: other rules, or another reading.  A run separates it if its outcome differs from
the reference's: what steps show, what observers read, or the only action on offer next.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from evenhand.core.bundle import Bundle
from evenhand.core.codec import encode
from evenhand.core.observer import Seen, observing
from evenhand.core.system import AnySystem, Mutant, Scope, reading_values
from evenhand.core.trace import AnyScenario
from evenhand.core.vector_plan import VectorPlan
from evenhand.variants.separate import counterpart

By = Literal["shown", "observed", "raised"]
"""The way in which a variant differs: by its observations, by the values that observers read, or by raising."""


@dataclass(frozen=True)
class Target:
    """A mutant or a reading that a suite should separate from the reference.

    `readings` are those under which it is compared (a mutant may be a fault under some only); `value` is the reading's
    value.  `owed` is false for a mutant registered as equivalent or as an open gap.
    """

    kind: Literal["mutant", "reading"]
    name: str
    value: Any = None
    readings: tuple[tuple[str, Any], ...] = ()
    mutant: Mutant[Any] | None = None
    owed: bool = True

    @property
    def title(self) -> str:
        """The name in reports."""
        return self.name if self.kind == "mutant" else f"{self.name}={encode(self.value)}"

    def variant(self, bundle: Bundle, system: AnySystem) -> AnySystem | None:
        """Return this variant of a reference system; None if it is no variant of that system."""
        if self.mutant is None:
            return system.under(**{self.name: self.value})
        if bundle.model.systems[self.mutant.system].rules != system.rules:
            return None
        return replace(system, rules=self.mutant.rules, variant=self.name)


@dataclass(frozen=True)
class Candidate:
    """A run of the reference that may become a vector, and its origin."""

    system: str
    scope: Scope
    readings: tuple[tuple[str, Any], ...]
    scenario: AnyScenario
    origin: str

    @property
    def size(self) -> tuple[int, int]:
        """Number of actions, and length of the written scenario: smaller vectors are easier to read."""
        return len(self.scenario.actions), len(repr(self.scenario))

    def reference(self, bundle: Bundle) -> AnySystem:
        """Return the reference at this scope and under these readings."""
        return bundle.model.systems[self.system].at(**dict(self.scope)).under(**dict(self.readings))


@dataclass(frozen=True)
class SeparatedTarget:
    """A target that a run separates: after how many actions, and how."""

    target: Target
    step: int
    by: By


Outcome = tuple[Seen, ...]
"""The observation of each step of a run, and the values that observers read after it."""


def targets_of(bundle: Bundle) -> tuple[Target, ...]:
    """Return every mutant and every non-default value of every reading."""
    plan = bundle.vectors or VectorPlan()
    mutants = [
        Target("mutant", one.name, readings=one.readings, mutant=one, owed=one.expected == "killed")
        for one in bundle.model.mutants
    ]
    readings = [
        Target("reading", name, value)
        for name, legal in reading_values(bundle.model.readings).items()
        for value in (legal[1:] or plan.readings.get(name, ()))
    ]
    return (*mutants, *readings)


def watched(bundle: Bundle, system: AnySystem) -> AnySystem:
    """Return the system with its observers, and with the next action if only one is on offer."""
    return observing(system, bundle.observers_of(system.name), forced=True)


def outcome_of(bundle: Bundle, system: AnySystem, scenario: AnyScenario) -> Outcome:
    """Return the outcome of a run in a system: the reference, or a variant under its own readings."""
    return tuple(_steps(watched(bundle, system), scenario.config, scenario))


def _steps(both: AnySystem, config: Any, scenario: AnyScenario) -> Iterator[Seen]:
    start = next(iter(both.initial(config)))
    state = replace(start, state=scenario.start)
    for action in scenario.actions:
        step = both.take(config, state, action)
        state = step.after
        yield step.shown


def separated(
    bundle: Bundle, candidate: Candidate, targets: Sequence[Target], expected: Outcome | None = None
) -> tuple[SeparatedTarget, ...]:
    """Return the targets that a candidate separates; `expected` is its outcome, if known already."""
    reference = candidate.reference(bundle)
    known = expected or outcome_of(bundle, reference, candidate.scenario)
    found: list[SeparatedTarget] = []
    for target in targets:
        if dict(target.readings) != dict(candidate.readings):
            continue
        variant = target.variant(bundle, reference)
        if variant is None:
            continue
        config = counterpart(reference, variant)(candidate.scenario.config)
        apart = first_apart(bundle, variant, config, candidate.scenario, known)
        if apart is not None:
            found.append(SeparatedTarget(target, *apart))
    return tuple(found)


def depends_on(bundle: Bundle, candidate: Candidate, known: Outcome) -> tuple[str, ...]:
    """Return the readings of which another value alone gives a run another outcome than `known`, by name."""
    plan = bundle.vectors or VectorPlan()
    reference = candidate.reference(bundle)
    usual = bundle.model.systems[candidate.system].readings
    found: list[str] = []
    for name, legal in reading_values(reference.readings).items():
        now = getattr(reference.readings, name)
        for value in legal or (getattr(usual, name), *plan.readings.get(name, ())):
            if value == now:
                continue
            variant = reference.under(**{name: value})
            config = counterpart(reference, variant)(candidate.scenario.config)
            if first_apart(bundle, variant, config, candidate.scenario, known) is not None:
                found.append(name)
                break
    return tuple(sorted(found))


def first_apart(
    bundle: Bundle, variant: AnySystem, config: Any, scenario: AnyScenario, known: Outcome
) -> tuple[int, By] | None:
    """The first step that raises or shows something else, else the first after which other things are read."""
    state = scenario.start
    for number, (action, seen) in enumerate(zip(scenario.actions, known, strict=True), start=1):
        try:
            state, shown = variant.step(variant.rules, config, state, action)
        except Exception:
            return number, "raised"
        if shown != seen.shown:
            return number, "shown"
    read = [seen.read for seen in known]
    theirs = [seen.read for seen in _steps(watched(bundle, variant), config, scenario)]
    return next(((n, "observed") for n, (a, b) in enumerate(zip(read, theirs, strict=True), start=1) if a != b), None)
