"""Where theory and model are compared: every small situation, and drawn ones that must have shown what matters.

A situation is a configuration, a state and an action; which step it makes is for a variant's rules to say.  Drawing is
done by Hypothesis from strategies, one for each kind of thing that blind draws would miss; it is seeded, so the same
situations are drawn in every run.  `events` says what the drawn situations must show on the reference, and how often;
a run in which one falls short has compared too little, and the link does not carry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from hypothesis import HealthCheck, Phase, given, seed, settings

from evenhand.core.system import Step, System
from evenhand.smt.logic import TRUE, Formula, Var
from evenhand.smt.theory import Theory

if TYPE_CHECKING:  # slow to import, and most commands draw nothing
    from hypothesis.strategies import SearchStrategy

__all__ = ["Event", "Samples", "Situation", "draw"]

Situation: TypeAlias = tuple[Any, Any, Any]
Event: TypeAlias = tuple[Callable[[Step[Any, Any, Any, Any]], bool], int]
"""A test of a step, and on how many drawn steps it must be true."""

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
"""All that Hypothesis may find odd about a draw: here it draws, and tests nothing."""


def draw(strategies: Mapping[str, SearchStrategy[Any]], count: int) -> Iterator[Any]:
    """`count` examples of each strategy, the same ones in every run."""
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


@dataclass(frozen=True, eq=False)
class Samples:
    """What a theorem's link is tried on.

    `every(readings)` lists all situations of the size that `upto` states, `drawn(readings)` others.  `foils` are
    faulty rules by name, beside the protocol's mutants: for claims that no mutant breaks.  `restrictions` are axioms
    that leave steps out on purpose; any other axiom that is false of a step is a fault of the theory.  Of the
    situations that are listed, mutants take each `thin`-th.  `visible` says when a step shows these things at all: of a
    request that nobody submitted, no step says anything.  `whole` is a theory of which theorems may use a part of the
    axioms: corner cases are made from all of them.
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
        """What `system` is tried on, each with where it comes from: `every` or `drawn`."""
        listed = _all(self.every, system.readings)
        if system.variant != "reference":
            listed = listed[:: self.thin]
        drawn = _all(self.drawn, system.readings)
        return (*(("every", one) for one in listed), *(("drawn", one) for one in drawn))

    def __call__(self, system: System[Any, Any, Any, Any, Any]) -> Iterator[Step[Any, Any, Any, Any]]:
        """The steps that `system` takes."""
        for _, situation in self.situations(system):
            yield system.take(*situation)

    def fewer(self, of_every: int, of_drawn: int) -> Samples:
        """Each n-th of the situations, for claims that look at many twins of each step; nothing is asserted of them."""
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
