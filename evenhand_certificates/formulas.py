"""Formulas of many-sorted first-order logic: read, checked for sorts, stored once each, instantiated.

A node is a tuple whose first item is its tag; parts are the numbers of earlier nodes:

    ("var", k)                  the variable bound k binders further out (de Bruijn index, one per variable)
    ("app", name, *terms)       a function applied to terms; a constant has none
    ("any", sort)               some element of a sort: sorts are not empty
    ("wit", quantified, i)      the witness of variable i of a closed quantified formula (see `clauses`)
    ("rel", name, *terms)       a relation applied to terms
    ("=", term, term)           equality of terms of one sort
    ("not", f)  ("and", *f)  ("or", *f)  ("=>", f, f)  ("iff", f, f)  ("ite", f, f, f)
    ("all", sorts, f)  ("some", sorts, f)   variables of these sorts, the last one innermost (index 0)

Only the last two bind, and nothing binds a number.  A closed formula has one number whatever surrounds it.
"""

# SPDX-License-Identifier: MIT
# What is read may be anything, so its parts have no known type until they are looked at.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false

from __future__ import annotations

from fractions import Fraction
from typing import Any

from evenhand_certificates.errors import Invalid, Work

NUMBER = "Number"
"""The sort of the reals.  Its functions and relations have names that begin with `number.`."""

Node = tuple[Any, ...]
DEEPEST = 200
"""The most levels of a formula."""

MOST_NODES = 1_000_000
"""The most formulas and terms of a certificate, with all that its steps make."""

_ARITY = {"not": 1, "=>": 2, "iff": 2, "ite": 3, "=": 2}
_ARITHMETIC = {"number.plus": 2, "number.minus": 2, "number.times": 2}
_COMPARISONS = ("number.at_most", "number.below")


class Bank:
    """All formulas and terms of one certificate.  Equal ones have equal numbers."""

    def __init__(self, sorts: Any, functions: Any, relations: Any) -> None:
        """`sorts`: names; `functions`: [name, sorts, sort]; `relations`: [name, sorts].  Raises Invalid."""
        self.work = Work()
        self.polynomials: dict[int, dict[tuple[int, ...], Fraction]] = {}
        self.nodes: list[Node] = []
        self._known: dict[Node, int] = {}
        self._outer: list[int] = []
        self._depth: list[int] = []
        self._sorts_of: dict[tuple[int, tuple[str, ...]], str] = {}
        self._well: set[tuple[int, tuple[str, ...]]] = set()
        self.sorts = _names(sorts, "sorts")
        if NUMBER in self.sorts:
            raise Invalid(f"{NUMBER} is the sort of the reals and cannot be declared")
        self.functions: dict[str, tuple[tuple[str, ...], str]] = {}
        self.relations: dict[str, tuple[str, ...]] = {}
        for entry in _rows(functions, 3, "functions"):
            name, domain = self.symbol(entry[0]), self.domain(entry[1])
            if entry[2] != NUMBER and entry[2] not in self.sorts:
                raise Invalid(f"function {name} has values of an unknown sort")
            self.functions[name] = domain, entry[2]
        for entry in _rows(relations, 2, "relations"):
            name = self.symbol(entry[0])
            self.relations[name] = self.domain(entry[1])

    def symbol(self, name: Any) -> str:
        """Return a name that a new symbol may have.  Raises Invalid."""
        if not isinstance(name, str) or name.startswith("number.") or name in self.functions or name in self.relations:
            raise Invalid(f"{name!r} cannot name a symbol, or names two")
        return name

    def domain(self, sorts: Any) -> tuple[str, ...]:
        """Return the sorts that a symbol takes.  Raises Invalid."""
        domain = _names(sorts, "the arguments of a symbol", twice=True)
        if any(sort not in self.sorts for sort in domain):
            raise Invalid("a symbol takes arguments of an unknown sort")
        return domain

    def add(self, node: Node) -> int:
        """Return the number of a node whose parts have numbers; sorts are checked by `well_formed`."""
        found = self._known.get(node)
        if found is not None:
            return found
        if len(self.nodes) >= MOST_NODES:
            raise Invalid(f"it has more than {MOST_NODES} formulas and terms")
        self.work.spend(len(node))
        tag = node[0]
        if tag == "var":
            outer, depth = node[1] + 1, 1
        elif tag in ("any", "wit"):
            outer, depth = 0, 1
        else:
            parts = node[2:] if tag in ("app", "rel", "all", "some") else node[1:]
            outer = max((self._outer[part] for part in parts), default=0)
            depth = 1 + max((self._depth[part] for part in parts), default=0)
            if tag in ("all", "some"):
                outer = max(0, outer - len(node[1]))
        if depth > DEEPEST:
            raise Invalid(f"a formula has more than {DEEPEST} levels")
        self._known[node] = number = len(self.nodes)
        self.nodes.append(node)
        self._outer.append(outer)
        self._depth.append(depth)
        return number

    def closed(self, number: int) -> bool:
        """Return whether no variable of the node is free."""
        return self._outer[number] == 0

    def check_formula(self, number: int, bound: tuple[str, ...] = ()) -> None:
        """Check the sorts of a formula under binders of these sorts, innermost last.  Raises Invalid."""
        if (number, bound) in self._well:
            return
        self.work.spend(len(bound) + 1)
        node = self.nodes[number]
        tag = node[0]
        if tag in ("all", "some"):
            if not node[1] or any(sort not in self.sorts for sort in node[1]):
                raise Invalid("a quantifier binds nothing, or a variable of an unknown sort")
            self.check_formula(node[2], bound + node[1])
        elif tag == "rel":
            self._fit(self._relation(node[1]), node[2:], bound, node[1])
        elif tag == "=":
            if self.sort(node[1], bound) != self.sort(node[2], bound):
                raise Invalid("an equality of terms of two sorts")
        elif tag in ("not", "and", "or", "=>", "iff", "ite"):
            for part in node[1:]:
                self.check_formula(part, bound)
        else:
            raise Invalid(f"a formula is expected, not {tag!r}")
        self._well.add((number, bound))

    def sort(self, number: int, bound: tuple[str, ...] = ()) -> str:
        """Return the sort of a term under binders of these sorts, innermost last.  Raises Invalid."""
        known = self._sorts_of.get((number, bound))
        if known is None:
            self.work.spend(len(bound) + 1)
            known = self._sorts_of[number, bound] = self._sort(self.nodes[number], bound)
        return known

    def _sort(self, node: Node, bound: tuple[str, ...]) -> str:
        match node:
            case ("var", place):
                if place >= len(bound):
                    raise Invalid("a variable is free")
                return str(bound[-1 - place])
            case ("app", name, *arguments):
                domain, found = self._function(name)
                self._fit(domain, tuple(arguments), bound, name)
                return found
            case ("any", sort):
                if sort not in self.sorts:
                    raise Invalid(f"{sort!r} is no sort")
                return str(sort)
            case ("wit", quantified, place):
                return str(self.nodes[quantified][1][place])
            case _:
                raise Invalid(f"a term is expected, not {node[0]!r}")

    def _fit(self, domain: tuple[str, ...], arguments: Node, bound: tuple[str, ...], name: str) -> None:
        if tuple(self.sort(argument, bound) for argument in arguments) != domain:
            raise Invalid(f"{name} is applied to terms of other sorts than it takes")

    def _function(self, name: Any) -> tuple[tuple[str, ...], str]:
        if name in _ARITHMETIC:
            return (NUMBER,) * _ARITHMETIC[name], NUMBER
        if name in self.functions:
            return self.functions[name]
        if isinstance(name, str) and name.startswith("number.is."):
            return (), NUMBER
        raise Invalid(f"{name!r} is no function")

    def _relation(self, name: Any) -> tuple[str, ...]:
        if name in _COMPARISONS:
            return NUMBER, NUMBER
        if name in self.relations:
            return self.relations[name]
        raise Invalid(f"{name!r} is no relation")

    def instance(self, quantified: int, terms: tuple[int, ...]) -> int:
        """Return the body of a closed quantified formula with closed terms for its variables, in their order."""
        return self.put(self.nodes[quantified][2], terms)

    def put(self, formula: int, terms: tuple[int, ...]) -> int:
        """Return a formula with terms for its free variables, in their order; the terms' own variables stay free."""
        return self._put(formula, terms, 0, {})

    def _put(self, number: int, terms: tuple[int, ...], depth: int, done: dict[tuple[int, int], int]) -> int:
        if self._outer[number] <= depth:
            return number  # nothing in it is bound by the quantifier that is opened
        found = done.get((number, depth))
        if found is None:
            node = self.nodes[number]
            self.work.spend(len(node))
            if node[0] == "var":
                found = self._below(terms[-1 - (node[1] - depth)], depth)
            elif node[0] in ("all", "some"):
                inner = self._put(node[2], terms, depth + len(node[1]), done)
                found = self.add((node[0], node[1], inner))
            else:
                first = 2 if node[0] in ("app", "rel") else 1
                parts = (self._put(part, terms, depth, done) for part in node[first:])
                found = self.add((*node[:first], *parts))
            done[number, depth] = found
        return found

    def _below(self, term: int, binders: int) -> int:
        """A term under so many more binders."""
        node = self.nodes[term]
        if not binders or self.closed(term):
            return term
        if node[0] == "var":
            return self.add(("var", node[1] + binders))
        return self.add((*node[:2], *(self._below(part, binders) for part in node[2:])))


def _names(given: Any, what: str, *, twice: bool = False) -> tuple[str, ...]:
    if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
        raise Invalid(f"{what}: a list of names is expected")
    if not twice and len(set(given)) < len(given):
        raise Invalid(f"{what}: a name stands twice")
    return tuple(given)


def _rows(given: Any, width: int, what: str) -> list[list[Any]]:
    if not isinstance(given, list) or any(not isinstance(row, list) or len(row) != width for row in given):
        raise Invalid(f"{what}: a list of lists of {width} items is expected")
    return given


def _node(entry: Any, places: list[int]) -> Node:
    """An entry of a file as a node.  Raises Invalid."""

    def parts(given: list[Any]) -> tuple[int, ...]:
        if any(type(part) is not int or not 0 <= part < len(places) for part in given):
            raise Invalid(f"node {len(places)}: a part is no earlier node")
        return tuple(places[part] for part in given)

    match entry:
        case ["var", place] if type(place) is int and 0 <= place < DEEPEST:
            return ("var", place)
        case ["any", str(sort)]:
            return ("any", sort)
        case ["app" | "rel" as tag, str(name), *rest]:
            return (tag, name, *parts(rest))
        case ["and" | "or" as tag, *rest]:
            return (tag, *parts(rest))
        case ["all" | "some" as tag, list(sorts), body]:
            return (tag, _names(sorts, f"node {len(places)}", twice=True), *parts([body]))
        case [str(tag), *rest] if _ARITY.get(tag) == len(rest):
            return (tag, *parts(rest))
        case _:
            raise Invalid(f"node {len(places)}: no such form of formula or term")


def read_nodes(bank: Bank, entries: list[Any]) -> list[int]:
    """Return the numbers of nodes written as lists, whose parts are places of earlier entries.  Raises Invalid."""
    places: list[int] = []
    for entry in entries:
        places.append(bank.add(_node(entry, places)))
    return places
