"""Translate a formula into a generalised Büchi automaton with acceptance on its transitions.

A state of the automaton is a set of formulas that the rest of the word must satisfy.  Each is taken apart into what
must be true now and what is left for the next position (Couvreur's tableau).  A transition that puts off the second
part of an until promises it; a word is accepted if, for each until, a run takes transitions without that promise again
and again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from evenhand.core.ltl import (
    Atom,
    Both,
    Constant,
    Either,
    Formula,
    Implies,
    Negation,
    Next,
    Release,
    Until,
)
from evenhand.search.csr import Flags
from evenhand.search.lasso import Edges, Need, fair_parts

LARGEST = 4_000
"""States up to which an automaton is built."""


class TooLarge(ValueError):
    """The formula needs a larger automaton than is built."""


@dataclass(frozen=True)
class Transition:
    """From `source` to `target` where all atoms in `true` are true and none in `false`; `promises` are put off."""

    source: int
    true: frozenset[Atom]
    false: frozenset[Atom]
    target: int
    promises: frozenset[Until]


@dataclass(frozen=True)
class Automaton:
    """State 0 is initial.  `untils` are the promises that an accepted word keeps."""

    size: int
    transitions: tuple[Transition, ...]
    untils: tuple[Until, ...]

    @cached_property
    def edges(self) -> Edges:
        """The transitions as edges."""
        source, target = (
            np.asarray([getattr(one, end) for one in self.transitions], dtype=np.int64) for end in ("source", "target")
        )
        return Edges(self.size, 1, source, target, np.arange(len(source)))

    @cached_property
    def needs(self) -> tuple[Need, ...]:
        """The needs of a loop that keeps every promise."""
        kept = ([until not in one.promises for one in self.transitions] for until in self.untils)
        nowhere = np.zeros(self.size, dtype=np.bool_)
        return tuple(Need("must", np.asarray(some, dtype=np.bool_), nowhere) for some in kept)

    @cached_property
    def lasting(self) -> Flags:
        """The transitions that such a loop may take."""
        found = np.zeros(len(self.transitions), dtype=np.bool_)
        for part in fair_parts(self.edges, ~found, self.needs):
            found[part] = True
        return found


@lru_cache(maxsize=64)
def automaton(formula: Formula) -> Automaton:
    """Return an automaton that accepts the words of a formula.  Raises TooLarge."""
    start = frozenset({normal(formula, positive=True)})
    numbers = {start: 0}
    queue = [start]
    made: list[Transition] = []
    for here in queue:
        for one in _least(_ways(here)):
            if one.rest not in numbers:
                if len(numbers) >= LARGEST:
                    raise TooLarge(f"the formula needs an automaton of more than {LARGEST} states")
                numbers[one.rest] = len(numbers)
                queue.append(one.rest)
            true, false = (frozenset(atom for atom, value in one.now if value is wanted) for wanted in (True, False))
            made.append(Transition(numbers[here], true, false, numbers[one.rest], one.promises))
    untils = dict.fromkeys(until for one in made for until in one.promises)
    return _merged(Automaton(len(numbers), tuple(made), tuple(untils)))


def _merged(made: Automaton) -> Automaton:
    """The same automaton with one state for all that have equal transitions."""
    while True:
        ways: dict[int, set[Transition]] = {state: set() for state in range(made.size)}
        for one in made.transitions:
            ways[one.source].add(replace(one, source=0))
        first: dict[frozenset[Transition], int] = {}
        number = [first.setdefault(frozenset(some), len(first)) for some in ways.values()]
        if len(first) == made.size:
            return made
        moved = (replace(one, source=number[one.source], target=number[one.target]) for one in made.transitions)
        made = Automaton(len(first), tuple(dict.fromkeys(moved)), made.untils)


def normal(formula: Formula, *, positive: bool) -> Formula:
    """Return a formula, or its denial, with denials at predicates alone."""
    match formula:
        case Constant(value):
            return Constant(value is positive)
        case Atom():
            return formula if positive else Negation(formula)
        case Negation(one):
            return normal(one, positive=not positive)
        case Implies(one, other):
            kinds = Either if positive else Both
            return kinds(normal(one, positive=not positive), normal(other, positive=positive))
        case Next(one):
            return Next(normal(one, positive=positive))
        case Both(one, other) | Either(one, other) | Until(one, other) | Release(one, other):
            kind: Callable[[Formula, Formula], Formula] = type(formula) if positive else _DUAL[type(formula)]
            return kind(normal(one, positive=positive), normal(other, positive=positive))
        case _:
            raise AssertionError(f"no normal form is given for {type(formula).__name__}")


_DUAL: dict[type, Callable[[Formula, Formula], Formula]] = {Both: Either, Either: Both, Until: Release, Release: Until}


@dataclass(frozen=True)
class _Way:
    """What must be true now, what is left for the next position, and what is put off."""

    now: frozenset[tuple[Atom, bool]] = frozenset()
    rest: frozenset[Formula] = frozenset()
    promises: frozenset[Until] = frozenset()

    def with_(
        self, now: Iterable[tuple[Atom, bool]] = (), rest: Iterable[Formula] = (), promises: Iterable[Until] = ()
    ) -> _Way:
        return _Way(self.now.union(now), self.rest.union(rest), self.promises.union(promises))


def _ways(formulas: frozenset[Formula]) -> Iterator[_Way]:
    """All ways to satisfy these formulas, position by position."""
    todo: list[tuple[tuple[Formula, ...], _Way]] = [(tuple(sorted(formulas, key=repr)), _Way())]
    while todo:
        (open_, way) = todo.pop()
        if not open_:
            yield way
            continue
        one, left = open_[0], open_[1:]
        match one:
            case Constant(value):
                if value:
                    todo.append((left, way))
            case Atom() | Negation():
                atom, value = (one, True) if isinstance(one, Atom) else (one.parts[0], False)
                assert isinstance(atom, Atom)
                if (atom, not value) not in way.now:
                    todo.append((left, way.with_(now=[(atom, value)])))
            case Both(a, b):
                todo.append(((a, b, *left), way))
            case Either(a, b):
                todo += [((b, *left), way), ((a, *left), way)]
            case Next(a):
                todo.append((left, way.with_(rest=[a])))
            case Until(a, b):
                todo += [((a, *left), way.with_(rest=[one], promises=[one])), ((b, *left), way)]
            case Release(a, b):
                todo += [((b, *left), way.with_(rest=[one])), ((a, b, *left), way)]
            case _:
                raise AssertionError(f"{type(one).__name__} is not in normal form")


def _least(ways: Iterable[_Way]) -> list[_Way]:
    """The ways without those that another makes superfluous: it asks for less, and leads to the same."""
    found: list[_Way] = []
    for way in dict.fromkeys(ways):
        if any(one.now <= way.now and one.rest == way.rest and one.promises <= way.promises for one in found):
            continue
        found = [
            one for one in found if not (way.now <= one.now and way.rest == one.rest and way.promises <= one.promises)
        ]
        found.append(way)
    return found
