"""Tables of a finite structure: views write them for a model's step, and realisations read them for a scenario."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from fractions import Fraction
from typing import Any, TypeAlias, cast

from evenhand.core.system import AnyStep
from evenhand.smt.arithmetic import element
from evenhand.smt.structure import Structure

Rows: TypeAlias = frozenset[tuple[str, ...]]
Table: TypeAlias = dict[tuple[str, ...], str]


def prop(true: object) -> Rows:
    """Return a relation without arguments."""
    return frozenset([()] if true else [])


def props(truths: Mapping[str, object]) -> dict[str, Rows]:
    """Return relations without arguments, by name."""
    return {name: prop(true) for name, true in truths.items()}


def ones(elements: Iterable[str]) -> Rows:
    """Return a relation of these elements."""
    return frozenset((one,) for one in elements)


def line(elements: Sequence[str]) -> Rows:
    """Return the order of a list: each element before all that follow it."""
    return frozenset((one, two) for place, one in enumerate(elements) for two in elements[place + 1 :])


def constant(value: Fraction | int | str) -> Table:
    """Return a constant: a number, or the element so called."""
    return {(): value if isinstance(value, str) else element(value)}


def pictured(universe: Mapping[str, Iterable[str]], told: Mapping[str, Any]) -> Structure:
    """Return the structure of these values: a truth, a set for a relation, a dictionary for a function, a constant.

    Members and keys are elements or tuples of elements, values numbers or elements.
    """
    relations: dict[str, Rows] = {}
    functions: dict[str, Table] = {}
    for name, value in told.items():
        if isinstance(value, bool):
            relations[name] = prop(value)
        elif isinstance(value, AbstractSet):
            relations[name] = frozenset(map(_row, cast("AbstractSet[Any]", value)))
        else:
            table = cast("Mapping[Any, Any]", value if isinstance(value, Mapping) else {(): value})
            functions[name] = {_row(key): one if isinstance(one, str) else element(one) for key, one in table.items()}
    return Structure({sort: tuple(elements) for sort, elements in universe.items()}, relations, functions)


def around(step: AnyStep, read: Callable[[Any], Mapping[str, Any]], *ends: str) -> dict[str, Any]:
    """Return what is read of the states before and after a step, each name with the ending of its state."""
    states = zip(ends or ("", ".after"), (step.before, step.after), strict=True)
    return {f"{name}{end}": value for end, state in states for name, value in read(state).items()}


def _row(key: str | tuple[str, ...]) -> tuple[str, ...]:
    return (key,) if isinstance(key, str) else key


def rank(rows: Iterable[tuple[str, ...]], elements: Iterable[str]) -> dict[str, int]:
    """Return how many stand before each element in an order."""
    known = tuple(rows)
    return {one: sum(row[1] == one for row in known) for one in elements}


def beside(view: Callable[[Any], Structure | None], *moved: str) -> Callable[[tuple[Any, Any]], Structure | None]:
    """Return the view of two steps as one structure, in which `moved` relations have a second copy.

    None outside the theory, and where the two have other elements or functions.
    """

    def viewed(case: tuple[Any, Any]) -> Structure | None:
        one, two = map(view, case)
        if one is None or two is None or one.functions != two.functions or _elements(one) != _elements(two):
            return None
        copies = {f"{name}2": two.relations[name] for name in moved if name in two.relations}
        return Structure(one.universe, {**one.relations, **copies}, one.functions)

    return viewed


def _elements(structure: Structure) -> Hashable:
    return tuple((sort, frozenset(elements)) for sort, elements in structure.universe.items())
