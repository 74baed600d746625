"""Turn states into structures and back, by shape; and list all states of a size.

Written apart from `shapes`, which the translator uses, so that a fault of one shows against the other.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod
from typing import Any, cast

from evenhand.smt.structure import Structure
from evenhand.source.refusal import refuse
from evenhand.source.shapes import (
    Choice,
    Count,
    Element,
    Flag,
    Maybe,
    Members,
    Parts,
    Row,
    Shape,
    choice_name,
    combinations,
    none_name,
    set_name,
)

COUNTS = (0, 1, 2)
"""The numbers that stand for all in a listing of states."""


@dataclass
class Tables:
    """Relations and functions of a structure in the making; `sizes` are the numbers of elements by sort."""

    sizes: Mapping[str, int]
    relations: dict[str, set[tuple[str, ...]]] = field(default_factory=dict[str, set[tuple[str, ...]]])
    functions: dict[str, dict[tuple[str, ...], str]] = field(default_factory=dict[str, dict[tuple[str, ...], str]])

    def structure(self) -> Structure:
        """Return the structure, in which each sort has its order."""
        universe = {sort: tuple(f"{sort}.{i}" for i in range(size)) for sort, size in self.sizes.items()}
        ordered = {f"{sort}.before": frozenset(itertools.combinations(listed, 2)) for sort, listed in universe.items()}
        tables = {name: frozenset(rows) for name, rows in self.relations.items()}
        special: dict[str, dict[tuple[str, ...], str]] = {}
        for sort, listed in universe.items():
            special[f"{sort}.first"], special[f"{sort}.last"] = {(): listed[0]}, {(): listed[-1]}
            special[f"{sort}.next"] = {(one,): listed[(i + 1) % len(listed)] for i, one in enumerate(listed)}
            special[f"{sort}.previous"] = {(one,): listed[i - 1] for i, one in enumerate(listed)}
        return Structure(universe, {**ordered, **tables}, {**special, **self.functions})

    def encode(self, shape: Shape, name: str, value: Any, by: tuple[str, ...] = ()) -> None:
        """Enter a value into the tables.  Raises Unreadable for a value that is not of its type."""
        wrong = refuse(f"the value {value!r} of {name}", "give every part the value that its type says")
        match shape:
            case Flag():
                if type(value) is not bool:
                    raise wrong
                self._holds(name, by, value)
            case Choice(values):
                if not any(one == value and type(one) is type(value) for one in values):
                    raise wrong
                for place, one in enumerate(values):
                    self._holds(choice_name(name, place), by, one == value)
            case Element():
                self._element(shape, name, value, by, wrong)
            case Count():
                if type(value) is not int:
                    raise wrong
                self.functions.setdefault(name, {})[by] = str(Fraction(value))
            case Members(member):
                self._members(member, name, value, by, wrong)
            case Maybe(there):
                self._holds(none_name(name), by, value is None)
                self.encode(there, name, nth(there, self.sizes, 0) if value is None else value, by)
            case Row():
                self._row(shape, name, value, by)
            case Parts():
                if type(value) is not shape.cls or len(_parts(shape, value)) != len(shape.shapes):
                    raise wrong
                for part, one, given in zip(shape.names, shape.shapes, _parts(shape, value), strict=True):
                    self.encode(one, f"{name}.{part}", given, by)

    def _row(self, shape: Row, name: str, value: Any, by: tuple[str, ...]) -> None:
        sort = shape.sort.name
        if type(value) is not tuple or len(cast("tuple[Any, ...]", value)) != self.sizes[sort]:
            why = f"{name} is not one value for each {sort}, but {value!r}"
            raise refuse(why, f"a tuple without a fixed length has one entry for each {sort}")
        for place, one in enumerate(cast("tuple[Any, ...]", value)):
            self.encode(shape.entry, name, one, (*by, f"{sort}.{place}"))

    def _element(self, shape: Element, name: str, value: Any, by: tuple[str, ...], wrong: Exception) -> None:
        sort = shape.sort
        if shape.optional:
            self._holds(f"{name}.none", by, value is None)
        shown = 0 if shape.optional and value is None else value
        if type(shown) is not int or not 0 <= shown < self.sizes[sort.name]:
            raise wrong
        self.functions.setdefault(name, {})[by] = f"{sort.name}.{shown}"

    def _members(self, member: Shape, name: str, value: Any, by: tuple[str, ...], wrong: Exception) -> None:
        if type(value) is not frozenset:
            raise wrong
        keys = tuple(combinations(member))
        for place in range(len(keys)):
            self.relations.setdefault(set_name(name, place), set())
        for one in cast("frozenset[Any]", value):
            consts, elements = self._split(member, one, wrong)
            at = next((i for i, (known, _) in enumerate(keys) if known == consts), None)
            if at is None:
                raise wrong
            self.relations[set_name(name, at)].add((*by, *elements))

    def _holds(self, name: str, by: tuple[str, ...], value: bool) -> None:
        rows = self.relations.setdefault(name, set())
        if value:
            rows.add(by)

    def _split(self, shape: Shape, value: Any, wrong: Exception) -> tuple[tuple[Any, ...], tuple[str, ...]]:
        match shape:
            case Element(sort):
                if type(value) is not int or not 0 <= value < self.sizes[sort.name]:
                    raise wrong
                return (), (f"{sort.name}.{value}",)
            case Parts():
                if type(value) is not shape.cls:
                    raise wrong
                both = [self._split(s, v, wrong) for s, v in zip(shape.shapes, _parts(shape, value), strict=True)]
                return tuple(x for a, _ in both for x in a), tuple(x for _, b in both for x in b)
            case _:
                return (value,), ()


def _parts(shape: Parts, value: Any) -> Sequence[Any]:
    return value if shape.cls is tuple else [getattr(value, name) for name in shape.names]


def decode(shape: Shape, name: str, structure: Structure, by: tuple[str, ...] = ()) -> Any:
    """Return the value that a structure gives a shape; elements are numbered in the structure's order.

    Raises ValueError for a number that is not whole.
    """
    match shape:
        case Flag():
            return by in structure.relations[name]
        case Choice(values):
            return next(one for i, one in enumerate(values) if by in structure.relations[choice_name(name, i)])
        case Element(sort, optional):
            if optional and by in structure.relations[f"{name}.none"]:
                return None
            return positions(structure, sort.name)[structure.functions[name][by]]
        case Count():
            found = Fraction(structure.functions[name][by])
            if found.denominator != 1:
                raise ValueError(f"{name} is {found}")
            return int(found)
        case Maybe(there):
            return None if by in structure.relations[none_name(name)] else decode(there, name, structure, by)
        case Members(member):
            members: list[Any] = []
            for place, (consts, sorts) in enumerate(combinations(member)):
                for row in structure.relations[set_name(name, place)]:
                    if row[: len(by)] == by:
                        numbers = [positions(structure, s.name)[e] for s, e in zip(sorts, row[len(by) :], strict=True)]
                        members.append(_member(member, iter(consts), iter(numbers)))
            return frozenset(members)
        case Row(sort, entry):
            places = positions(structure, sort.name)
            return tuple(
                decode(entry, name, structure, (*by, element)) for element in sorted(places, key=places.__getitem__)
            )
        case Parts():
            parts = [
                decode(one, f"{name}.{part}", structure, by)
                for part, one in zip(shape.names, shape.shapes, strict=True)
            ]
            return tuple(parts) if shape.cls is tuple else shape.cls(**dict(zip(shape.names, parts, strict=True)))


def _member(shape: Shape, consts: Iterator[Any], numbers: Iterator[int]) -> Any:
    match shape:
        case Element():
            return next(numbers)
        case Parts():
            parts = [_member(one, consts, numbers) for one in shape.shapes]
            return tuple(parts) if shape.cls is tuple else shape.cls(**dict(zip(shape.names, parts, strict=True)))
        case _:
            return next(consts)


def positions(structure: Structure, sort: str) -> dict[str, int]:
    """Return the number of each element: how many come before it."""
    before, universe = structure.relations.get(f"{sort}.before"), structure.universe[sort]
    if before is None:
        return {element: place for place, element in enumerate(universe)}
    return {element: sum((other, element) in before for other in universe) for element in universe}


def how_many(shape: Shape, sizes: Mapping[str, int]) -> int:
    """Return how many values a shape has at these sizes, numbers counted as `COUNTS`."""
    match shape:
        case Flag():
            return 2
        case Choice(values):
            return len(values)
        case Element(sort, optional):
            return sizes[sort.name] + optional
        case Count():
            return len(COUNTS)
        case Maybe(there):
            return how_many(there, sizes) + 1
        case Members(member):
            return int(2 ** how_many(member, sizes))
        case Row(sort, entry):
            return int(how_many(entry, sizes) ** sizes[sort.name])
        case Parts():
            return prod(how_many(one, sizes) for one in shape.shapes)


def nth(shape: Shape, sizes: Mapping[str, int], place: int) -> Any:
    """Return the value of a shape at a place of the list of all, from 0 on."""
    match shape:
        case Flag():
            return bool(place)
        case Choice(values):
            return values[place]
        case Element(sort):
            return place if place < sizes[sort.name] else None
        case Count():
            return COUNTS[place]
        case Maybe(there):
            return nth(there, sizes, place - 1) if place else None
        case Members(member):
            most = how_many(member, sizes)
            return frozenset(nth(member, sizes, i) for i in range(most) if place >> i & 1)
        case Row(sort, entry):
            each = how_many(entry, sizes)
            return tuple(nth(entry, sizes, place // each**i % each) for i in range(sizes[sort.name]))
        case Parts():
            parts: list[Any] = []
            for one in shape.shapes:
                each = how_many(one, sizes)
                parts.append(nth(one, sizes, place % each))
                place //= each
            return tuple(parts) if shape.cls is tuple else shape.cls(**dict(zip(shape.names, parts, strict=True)))
