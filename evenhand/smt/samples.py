"""Samples on which theory and model are compared: every small situation, and drawn ones with coverage targets.

A situation is a configuration, a state and an action; the rules of a variant determine its step.  Hypothesis draws
from one strategy for each kind of situation that uniform draws would miss, with a fixed seed.  `events` says what the
drawn situations must show on the reference, and how often; if one falls short, conformance is not established.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from hypothesis import HealthCheck, Phase, given, seed, settings

from evenhand.core.system import Step, System
from evenhand.smt.logic import TRUE, Formula, Var
from evenhand.smt.theory import Theory

if TYPE_CHECKING:  # slow to import, and most commands draw nothing
    from hypothesis.strategies import SearchStrategy

Situation: TypeAlias = tuple[Any, Any, Any]
Event: TypeAlias = tuple[Callable[[Step[Any, Any, Any, Any]], bool], int]
"""A predicate of a step, and its floor: on how many drawn steps it must be true."""

_SEED = 20_261
_UNCHECKED = (
    "data_too_large",
    "differing_executors",
    "filter_too_much",
    "function_scoped_fixture",
    "large_base_example",
    "nested_given",
    "too_slow",
)
"""The health checks of Hypothesis, suppressed because it only draws here and tests nothing."""


def draw(strategies: Mapping[str, SearchStrategy[Any]], count: int) -> Iterator[Any]:
    """Yield `count` examples of each strategy, the same in every run."""
    for strategy in strategies.values():
        yield from _examples(strategy, count)


def _examples(strategy: SearchStrategy[Any], count: int) -> list[Any]:
    found: list[Any] = []

    @seed(_SEED)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck[name] for name in _UNCHECKED],
    )
    @given(strategy)
    def collect(example: Any) -> None:
        found.append(example)

    collect()
    return found[:count]


def _always(_variables: tuple[Var, ...]) -> Formula:
    return TRUE


def steps_of(
    situations: Callable[[], Iterable[Situation]],
) -> Callable[[System[Any, Any, Any, Any, Any]], Iterator[Step[Any, Any, Any, Any]]]:
    """Return the samples that are the steps of any variant in these situations."""
    return lambda system: (system.take(*situation) for situation in situations())


@dataclass(frozen=True, eq=False)
class Samples:
    """The samples on which the conformance of a theorem is checked.

    `every(readings)` lists all situations of the size that `upto` states, `drawn(readings)` others.  `sampled_readings`
    are faulty rules by name, beside the protocol's mutants: for claims that no mutant breaks.  `restrictions` are
    axioms that exclude steps on purpose; any other axiom that is false of a step is a fault of the theory.  Mutants
    take each `thin`-th of the listed situations.  `visible(variables)` says when a step shows these things: a step
    shows nothing of a request that was not submitted.  `whole` is the theory with all axioms, of which theorems may use
    some: boundary cases are made from all of them.
    """

    every: Callable[[Any], tuple[Situation, ...]]
    upto: str
    drawn: Callable[[Any], tuple[Situation, ...]]
    events: Mapping[str, Event] = field(default_factory=dict[str, Event])
    sampled_readings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    restrictions: frozenset[str] = frozenset()
    thin: int = 1
    whole: Theory | None = None
    visible: Callable[[tuple[Var, ...]], Formula] = _always

    def situations(self, system: System[Any, Any, Any, Any, Any]) -> tuple[tuple[str, Situation], ...]:
        """Return the situations for `system`, each with its origin: `every` or `drawn`."""
        listed = _all(self.every, system.readings)
        if system.variant != "reference":
            listed = listed[:: self.thin]
        drawn = _all(self.drawn, system.readings)
        return (*(("every", one) for one in listed), *(("drawn", one) for one in drawn))

    def __call__(self, system: System[Any, Any, Any, Any, Any]) -> Iterator[Step[Any, Any, Any, Any]]:
        """Yield the steps that `system` takes in its situations."""
        for _, situation in self.situations(system):
            yield system.take(*situation)

    def fewer(self, of_every: int, of_drawn: int) -> Samples:
        """Return each n-th situation without floors, for claims that examine many second traces of each step."""
        return replace(
            self,
            every=_each(of_every, self.every),
            drawn=_each(of_drawn, self.drawn),
            upto=f"each {of_every}. of {self.upto}",
            events={},
        )


def _each(nth: int, made: Callable[[Any], tuple[Situation, ...]]) -> Callable[[Any], tuple[Situation, ...]]:
    def chosen(readings: Any) -> tuple[Situation, ...]:
        return _all(made, readings)[::nth]

    return chosen


@cache
def _all(made: Callable[[Any], tuple[Situation, ...]], readings: Any) -> tuple[Situation, ...]:
    return made(readings)
