"""Queries in the neutral form that a certificate states them in, and back into formulas that a solver is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.smt import logic as fol
from evenhand.smt.arithmetic import NUMBER
from evenhand.smt.smtlib import Query
from evenhand_certificates.formulas import Bank

Bound = tuple[fol.Var, ...]
_CONNECTIVES = {fol.Not: "not", fol.And: "and", fol.Or: "or", fol.Implies: "=>", fol.Iff: "iff", fol.Ite: "ite"}


def symbols_of(query: Query) -> tuple[list[str], list[Any], list[Any]]:
    """Return a query's sorts, functions and relations as a certificate lists them."""
    return (
        [sort.name for sort in query.sorts],
        [[f.name, [sort.name for sort in f.domain], f.codomain.name] for f in query.functions],
        [[r.name, [sort.name for sort in r.domain]] for r in query.relations],
    )


class Writer:
    """Adds formulas of the workbench's logic to a bank."""

    def __init__(self, bank: Bank) -> None:
        self.bank = bank

    def formula(self, formula: fol.Formula, bound: Bound = ()) -> int:
        """Return the number of a formula under binders of these variables, innermost last."""
        match formula:
            case fol.Holds(relation, arguments):
                return self.bank.add(("rel", relation.name, *(self.term(one, bound) for one in arguments)))
            case fol.Equal(left, right):
                return self.bank.add(("=", self.term(left, bound), self.term(right, bound)))
            case fol.Forall(names, body) | fol.Exists(names, body):
                tag = "all" if isinstance(formula, fol.Forall) else "some"
                inner = self.formula(body, (*bound, *names))
                return self.bank.add((tag, tuple(name.sort.name for name in names), inner))
            case fol.And(parts) | fol.Or(parts):
                return self.bank.add((_CONNECTIVES[type(formula)], *(self.formula(part, bound) for part in parts)))
            case fol.Not(body):
                return self.bank.add(("not", self.formula(body, bound)))
            case fol.Implies(left, right) | fol.Iff(left, right):
                both = self.formula(left, bound), self.formula(right, bound)
                return self.bank.add((_CONNECTIVES[type(formula)], *both))
            case fol.Ite(test, then, other):
                return self.bank.add(("ite", *(self.formula(part, bound) for part in (test, then, other))))

    def term(self, term: fol.Term, bound: Bound) -> int:
        """Return the number of a term under binders of these variables, innermost last."""
        if isinstance(term, fol.Var):
            return self.bank.add(("var", bound[::-1].index(term)))
        return self.bank.add(("app", term.function.name, *(self.term(one, bound) for one in term.arguments)))


class GroundReader:
    """Turns nodes of a bank into formulas of the workbench's logic.

    `ground` leaves closed quantified formulas as propositions, named by `proposition`; `opened` keeps quantifiers.
    Witnesses and elements of a sort are constants of their own, listed in `constants`.
    """

    def __init__(self, bank: Bank) -> None:
        self.bank = bank
        self.constants: dict[int, fol.Function] = {}
        self.propositions: dict[int, fol.Relation] = {}
        self._ground: dict[int, fol.Formula] = {}
        self._terms: dict[int, fol.Term] = {}
        self._sorts = {name: fol.Sort(name) for name in bank.sorts} | {NUMBER.name: NUMBER}

    def proposition(self, quantified: int) -> fol.Relation:
        """Return the proposition that stands for a closed quantified formula."""
        return self.propositions.setdefault(quantified, fol.Relation(f"quantified.{quantified}", ()))

    def sort(self, name: str) -> fol.Sort:
        """Return a sort by its name."""
        return self._sorts[name]

    def variables(self, sorts: Sequence[str], depth: int) -> tuple[fol.Var, ...]:
        """Return the variables of a quantifier below `depth` others."""
        return tuple(fol.Var(f"x{depth + place}", self._sorts[sort]) for place, sort in enumerate(sorts))

    def ground(self, number: int) -> fol.Formula:
        """Return a closed formula with propositions for what is quantified in it; one object for one number."""
        found = self._ground.get(number)
        if found is None:
            if self.bank.nodes[number][0] in ("all", "some"):
                found = fol.Holds(self.proposition(number), ())
            else:
                found = self._rebuilt(number, (), opened=False)
            self._ground[number] = found
        return found

    def opened(self, number: int, bound: Bound) -> fol.Formula:
        """Return a formula with its quantifiers, under binders of these variables."""
        tag, *rest = self.bank.nodes[number]
        if tag in ("all", "some"):
            names = self.variables(rest[0], len(bound))
            body = self.opened(rest[1], (*bound, *names))
            return fol.Forall(names, body) if tag == "all" else fol.Exists(names, body)
        return self._rebuilt(number, bound, opened=True)

    def _rebuilt(self, number: int, bound: Bound, *, opened: bool) -> fol.Formula:
        tag, *rest = self.bank.nodes[number]
        if tag == "rel":
            arguments = tuple(self.term(one, bound) for one in rest[1:])
            return fol.Holds(fol.Relation(rest[0], tuple(one.sort for one in arguments)), arguments)
        if tag == "=":
            return fol.Equal(self.term(rest[0], bound), self.term(rest[1], bound))
        parts = tuple(self.opened(part, bound) if opened else self.ground(part) for part in rest)
        match tag:
            case "and" | "or":
                return fol.And(parts) if tag == "and" else fol.Or(parts)
            case "not":
                return fol.Not(parts[0])
            case "=>":
                return fol.Implies(*parts)
            case "iff":
                return fol.Iff(*parts)
            case _:
                return fol.Ite(*parts)

    def term(self, number: int, bound: Bound = ()) -> fol.Term:
        """Return a term under binders of these variables."""
        node = self.bank.nodes[number]
        if node[0] == "var":
            return bound[-1 - int(node[1])]
        if self.bank.closed(number):
            found = self._terms.get(number)
            if found is None:
                found = self._terms[number] = self._applied(number, bound)
            return found
        return self._applied(number, bound)

    def _applied(self, number: int, bound: Bound) -> fol.Term:
        node = self.bank.nodes[number]
        if node[0] != "app":
            made = fol.Function(f"chosen.{number}", (), self._sorts[self.bank.sort(number)])
            return self.constants.setdefault(number, made)()
        arguments = tuple(self.term(one, bound) for one in node[2:])
        codomain = self.bank.functions[node[1]][1] if node[1] in self.bank.functions else NUMBER.name
        return fol.Apply(fol.Function(node[1], tuple(one.sort for one in arguments), self._sorts[codomain]), arguments)


def structure_value(term: fol.Term, functions: Mapping[str, Mapping[tuple[str, ...], str]]) -> str:
    """Return the element that a closed term of uninterpreted functions denotes."""
    assert isinstance(term, fol.Apply)
    return functions[term.function.name][tuple(structure_value(one, functions) for one in term.arguments)]
