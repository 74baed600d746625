"""Small statements written by hand, and a naive meaning of formulas to compare the checker's clauses with."""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass, field
from typing import Any

from evenhand_certificates.formulas import Bank

SORTS = ["A", "B"]
FUNCTIONS: list[Any] = [["c", [], "A"], ["d", [], "B"], ["f", ["A"], "B"], ["g", ["A", "B"], "B"]]
RELATIONS: list[Any] = [["p", ["A"]], ["q", ["A", "B"]], ["r", ["B", "B"]], ["s", []]]


def bank() -> Bank:
    """Return an empty bank of these symbols."""
    return Bank(SORTS, FUNCTIONS, RELATIONS)


def drawn_term(rng: random.Random, made: Bank, sort: str, bound: tuple[str, ...], depth: int = 2) -> int:
    """Return a random term of a sort."""
    places = [place for place in range(len(bound)) if bound[-1 - place] == sort]
    if places and rng.random() < 0.7:
        return made.add(("var", rng.choice(places)))
    known = [one for one in FUNCTIONS if one[2] == sort and (depth or not one[1])]
    name, domain, _ = rng.choice(known)
    return made.add(("app", name, *(drawn_term(rng, made, one, bound, depth - 1) for one in domain)))


def drawn(rng: random.Random, made: Bank, depth: int, bound: tuple[str, ...] = ()) -> int:
    """Return a random well-sorted formula, with quantifiers at every level."""
    tags = ["rel", "="] if depth == 0 else ["not", "and", "or", "=>", "iff", "ite", "all", "some", "all", "some"]
    tag = rng.choice(tags)
    if tag == "rel":
        name, domain = rng.choice(RELATIONS)
        return made.add(("rel", name, *(drawn_term(rng, made, sort, bound) for sort in domain)))
    if tag == "=":
        sort = rng.choice(SORTS)
        return made.add(("=", *(drawn_term(rng, made, sort, bound) for _ in range(2))))
    if tag in ("all", "some"):
        sorts = tuple(rng.choice(SORTS) for _ in range(rng.choice((1, 1, 2))))
        return made.add((tag, sorts, drawn(rng, made, depth - 1, bound + sorts)))
    count = {"not": 1, "=>": 2, "iff": 2, "ite": 3}.get(tag, rng.choice((0, 1, 2, 3)))
    return made.add((tag, *(drawn(rng, made, depth - 1, bound) for _ in range(count))))


@dataclass
class World:
    """A random finite structure, in which witnesses get the values that their formula asks for."""

    made: Bank
    universe: dict[str, list[int]]
    functions: dict[tuple[Any, ...], int] = field(default_factory=dict[tuple[Any, ...], int])
    relations: set[tuple[Any, ...]] = field(default_factory=set[tuple[Any, ...]])
    witnesses: dict[int, tuple[int, ...]] = field(default_factory=dict[int, tuple[int, ...]])

    @classmethod
    def drawn(cls, rng: random.Random, made: Bank) -> World:
        """Return a random structure of at most three elements a sort."""
        universe = {sort: list(range(rng.choice((1, 2, 3)))) for sort in SORTS}
        found = cls(made, universe)
        for name, domain, sort in FUNCTIONS:
            for row in itertools.product(*(universe[one] for one in domain)):
                found.functions[name, *row] = rng.choice(universe[sort])
        for name, domain in RELATIONS:
            for row in itertools.product(*(universe[one] for one in domain)):
                if rng.random() < 0.5:
                    found.relations.add((name, *row))
        return found

    def term(self, number: int, values: tuple[int, ...] = ()) -> int:
        """Return the value of a term; `values` are those of the variables, innermost last."""
        tag, *rest = self.made.nodes[number]
        if tag == "var":
            return int(values[-1 - rest[0]])
        if tag == "any":
            return self.universe[str(rest[0])][0]
        if tag == "wit":
            return self._witness(int(rest[0]))[int(rest[1])]
        return self.functions[rest[0], *(self.term(part, values) for part in rest[1:])]

    def _witness(self, quantified: int) -> tuple[int, ...]:
        if quantified not in self.witnesses:
            tag, sorts, body = self.made.nodes[quantified]
            rows = list(itertools.product(*(self.universe[sort] for sort in sorts)))
            wanted = tag == "some"
            fitting = [row for row in rows if self.true(body, row) == wanted]
            self.witnesses[quantified] = (fitting or rows)[0]
        return self.witnesses[quantified]

    def true(self, number: int, values: tuple[int, ...] = ()) -> bool:
        """Return whether a formula is true, by its definition."""
        tag, *rest = self.made.nodes[number]
        match str(tag):
            case "rel":
                return (rest[0], *(self.term(part, values) for part in rest[1:])) in self.relations
            case "=":
                return self.term(rest[0], values) == self.term(rest[1], values)
            case "all" | "some":
                rows = itertools.product(*(self.universe[sort] for sort in rest[0]))
                found = [self.true(rest[1], values + row) for row in rows]
                return all(found) if tag == "all" else any(found)
            case _:
                pass
        parts = [self.true(part, values) for part in rest]
        match tag:
            case "not":
                return not parts[0]
            case "=>":
                return not parts[0] or parts[1]
            case "iff":
                return parts[0] == parts[1]
            case "ite":
                return parts[1] if parts[0] else parts[2]
            case _:
                return all(parts) if tag == "and" else any(parts)
