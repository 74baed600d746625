"""Tables of a finite structure: views write them for a model's step, and realisations read them for a scenario."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias, cast

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


def structure(universe: Mapping[str, Iterable[str]], told: Mapping[str, Any]) -> Structure:
    """Return a structure of what is `told` by name: truths, elements and rows are relations, other values functions.

    A function is the value of a constant, or a mapping from arguments to values; values are elements or numbers.  A
    sort without elements gets one, of which nothing is told.
    """
    relations: dict[str, Rows] = {}
    functions: dict[str, Table] = {}
    for name, what in told.items():
        if isinstance(what, bool):
            relations[name] = prop(what)
        elif isinstance(what, str | int | Fraction):
            functions[name] = constant(what)
        elif isinstance(what, Mapping):
            table = cast("Mapping[Any, Any]", what)
            functions[name] = {_row(one): constant(value)[()] for one, value in table.items()}
        else:
            relations[name] = frozenset(map(_row, what))
    return Structure({sort: tuple(those) or ("nothing",) for sort, those in universe.items()}, relations, functions)


def _row(one: str | tuple[str, ...]) -> tuple[str, ...]:
    return (one,) if isinstance(one, str) else one


def rank(rows: Iterable[tuple[str, ...]], elements: Iterable[str]) -> dict[str, int]:
    """Return how many stand before each element in an order."""
    known = tuple(rows)
    return {one: sum(row[1] == one for row in known) for one in elements}


def beside(view: Callable[[Any], Structure | None], *moved: str) -> Callable[[tuple[Any, Any]], Structure | None]:
    """Return the view of two steps as one structure, in which `moved` relations have a second copy.

    None outside the theory, and where the two differ in more.
    """

    def viewed(case: tuple[Any, Any]) -> Structure | None:
        one, two = map(view, case)
        if one is None or two is None or one.functions != two.functions or _elements(one) != _elements(two):
            return None
        if any(rows != two.relations[name] for name, rows in one.relations.items() if name not in moved):
            return None
        copies = {f"{name}2": two.relations[name] for name in moved if name in two.relations}
        return Structure(one.universe, {**one.relations, **copies}, one.functions)

    return viewed


def called(found: Structure, name: Callable[[str], str]) -> Structure:
    """Return a structure with other names of its elements."""

    def row(elements: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(map(name, elements))

    return Structure(
        {sort: row(elements) for sort, elements in found.universe.items()},
        {one: frozenset(map(row, rows)) for one, rows in found.relations.items()},
        {one: {row(told): name(value) for told, value in table.items()} for one, table in found.functions.items()},
    )


def doubled(one: Structure, two: Structure, shared: Collection[str]) -> Structure:
    """Return a structure with what another one says of all but the `shared` symbols, as second copies."""
    relations = {f"{name}2": rows for name, rows in two.relations.items() if name not in shared}
    functions = {f"{name}2": table for name, table in two.functions.items() if name not in shared}
    return Structure(one.universe, {**one.relations, **relations}, {**one.functions, **functions})


def _elements(structure: Structure) -> Hashable:
    return tuple((sort, frozenset(elements)) for sort, elements in structure.universe.items())
