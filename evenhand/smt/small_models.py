"""Small countermodels: structures with two elements of each sort that satisfy a theory and a claim.

Quantifiers over few elements become conjunctions and disjunctions, so the query has none, and solvers that get lost in
instantiation decide it at once.  Defined relations stay symbols, with their definition stated for each tuple: expanded,
they would grow with every quantifier around them.

A small model is validated like any other model.  A search without result means nothing: larger models may exist.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial

from evenhand.smt import logic as fol
from evenhand.smt.arithmetic import NUMBER
from evenhand.smt.memo import Cache
from evenhand.smt.portfolio import Portfolio
from evenhand.smt.smtlib import Query
from evenhand.smt.solvers import SolverLimits
from evenhand.smt.structure import Structure
from evenhand.smt.theory import Theory, spoken

ELEMENTS = 2
"""Elements of each sort: enough for one to differ from another, which most faults need."""

SIZES = (ELEMENTS, 3)
"""Elements of each sort, in the order of trying, where a larger query would follow: three cost less than its model."""

Values = Mapping[fol.Var, fol.Term]

LIMITS = SolverLimits(rlimit=1_000_000, timeout_ms=10_000)
"""Limits of one query, low because small models should be quick."""


def small_model(
    theory: Theory, claim: fol.Formula, portfolio: Portfolio, *, elements: int = ELEMENTS
) -> tuple[Structure | None, Query]:
    """Return a structure of the theory with `elements` of each sort in which the claim holds, and its query.

    The structure is None if one solver finds none.  Raises NoSolver.
    """
    query = small(theory, claim, elements=elements)
    answered = portfolio.model(query, limits=LIMITS)
    found = answered.model
    if found is None:
        return None, query
    functions = {function.name: found.functions[function.name] for function in theory.functions}
    return Structure(found.universe, found.relations, functions).without(theory.meanings), query


def small(theory: Theory, claim: fol.Formula, *, elements: int = ELEMENTS) -> Query:
    """Return the query for a model of the theory with `elements` of each sort in which the claim holds.

    It has no quantifiers: element i of sort S is the constant `S.i`.
    """
    ground = _ground(theory.sorts, elements)
    axioms = [(axiom.name, ground.closed(axiom.formula)) for axiom in theory.axioms]
    needed = _spoken(theory, [claim, *(axiom.formula for axiom in theory.axioms)])
    words = [one for one in theory.definitions if one.name in needed]
    meanings = [(f"word.{one.name}", ground.meaning(one)) for one in words]
    constants = tuple(constant.function for those in ground.elements.values() for constant in those)
    return Query(
        theory.sorts,
        (*theory.functions, *constants),
        (*theory.relations, *(one.relation for one in words)),
        (
            ("elements", ground.apart),
            *((f"value.{function.name}", ground.total(function)) for function in theory.functions),
            *axioms,
            *meanings,
            ("claim", ground.formula(claim, {})),
        ),
    )


def _spoken(theory: Theory, formulas: Sequence[fol.Formula]) -> set[str]:
    """The defined relations on which the formulas depend."""
    found, waiting = set[str](), list(formulas)
    while waiting:
        for name in spoken(waiting.pop()):
            meaning = theory.meanings.get(name)
            if meaning is not None and name not in found:
                found.add(name)
                waiting.append(meaning.body)
    return found


class _Ground:
    """Grounds formulas over a small universe; axioms, definitions and functions are grounded once."""

    def __init__(self, sorts: Sequence[fol.Sort], elements: int) -> None:
        self.elements = {
            sort: tuple(fol.Function(f"{sort.name}.{place}", (), sort)() for place in range(elements)) for sort in sorts
        }
        self._known = {constant.function for those in self.elements.values() for constant in those}
        self._closed: Cache[fol.Formula] = Cache()
        self._meanings: Cache[fol.Formula] = Cache()
        self._total: Cache[fol.Formula] = Cache()
        self.apart = fol.conjunction(
            fol.differ(one, other)
            for those in self.elements.values()
            for one, other in itertools.combinations(those, 2)
        )

    def closed(self, formula: fol.Formula) -> fol.Formula:
        """Return a closed formula grounded; cached."""
        return self._closed.get((formula,), lambda: self.formula(formula, {}))

    def meaning(self, definition: fol.Definition) -> fol.Formula:
        """Return a definition stated for each tuple; cached."""
        return self._meanings.get((definition,), partial(self._meaning, definition))

    def _meaning(self, definition: fol.Definition) -> fol.Formula:
        return _all(
            fol.Iff(fol.Holds(definition.relation, tuple(values.values())), self.formula(definition.body, values))
            for values in self._picks(definition.variables, {})
        )

    def total(self, function: fol.Function) -> fol.Formula:
        """Return the formula that a function's values are elements; cached."""
        return self._total.get((function,), partial(self._values_of, function))

    def _values_of(self, function: fol.Function) -> fol.Formula:
        if function.codomain == NUMBER:
            return fol.TRUE
        return _all(
            fol.disjunction([fol.same(fol.Apply(function, row), one) for one in self.elements[function.codomain]])
            for row in itertools.product(*(self.elements[sort] for sort in function.domain))
        )

    def _picks(self, bound: Sequence[fol.Var], values: Values) -> Iterator[dict[fol.Var, fol.Term]]:
        for picked in itertools.product(*(self.elements[variable.sort] for variable in bound)):
            yield {**values, **dict(zip(bound, picked, strict=True))}

    def _term(self, term: fol.Term, values: Values) -> fol.Term:
        if isinstance(term, fol.Var):
            return values[term]
        return fol.Apply(term.function, tuple([self._term(argument, values) for argument in term.arguments]))

    def formula(self, formula: fol.Formula, values: Values) -> fol.Formula:
        """Return the formula with these values for its variables, simplified."""
        match formula:
            case fol.Holds(relation, arguments):
                return fol.Holds(relation, tuple([self._term(argument, values) for argument in arguments]))
            case fol.Equal(left, right):
                return self._equal(self._term(left, values), self._term(right, values))
            case fol.Not(body):
                return _not(self.formula(body, values))
            case fol.And(parts):
                return _all(self.formula(part, values) for part in parts)
            case fol.Or(parts):
                return _any(self.formula(part, values) for part in parts)
            case fol.Implies(left, right):
                return _any(iter((_not(self.formula(left, values)), self.formula(right, values))))
            case fol.Iff(left, right):
                return _iff(self.formula(left, values), self.formula(right, values))
            case fol.Ite(test, then, other):
                asked = self.formula(test, values)
                if asked is fol.TRUE or asked is fol.FALSE:
                    return self.formula(then if asked is fol.TRUE else other, values)
                return fol.Ite(asked, self.formula(then, values), self.formula(other, values))
            case fol.Forall(bound, body):
                return _all(self.formula(body, picked) for picked in self._picks(bound, values))
            case fol.Exists(bound, body):
                return _any(self.formula(body, picked) for picked in self._picks(bound, values))

    def _equal(self, left: fol.Term, right: fol.Term) -> fol.Formula:
        if left == right:
            return fol.TRUE
        both = all(isinstance(one, fol.Apply) and one.function in self._known for one in (left, right))
        return fol.FALSE if both else fol.Equal(left, right)


@cache
def _ground(sorts: tuple[fol.Sort, ...], elements: int) -> _Ground:
    """The grounding shared by all theories of the same sorts."""
    return _Ground(sorts, elements)


def _all(parts: Iterator[fol.Formula]) -> fol.Formula:
    kept: list[fol.Formula] = []
    for part in parts:
        if part is fol.FALSE:
            return fol.FALSE
        if part is not fol.TRUE:
            kept.append(part)
    return kept[0] if len(kept) == 1 else fol.And(tuple(kept)) if kept else fol.TRUE


def _any(parts: Iterator[fol.Formula]) -> fol.Formula:
    kept: list[fol.Formula] = []
    for part in parts:
        if part is fol.TRUE:
            return fol.TRUE
        if part is not fol.FALSE:
            kept.append(part)
    return kept[0] if len(kept) == 1 else fol.Or(tuple(kept)) if kept else fol.FALSE


def _not(part: fol.Formula) -> fol.Formula:
    return fol.FALSE if part is fol.TRUE else fol.TRUE if part is fol.FALSE else fol.Not(part)


def _iff(left: fol.Formula, right: fol.Formula) -> fol.Formula:
    for one, other in ((left, right), (right, left)):
        if one is fol.TRUE:
            return other
        if one is fol.FALSE:
            return _not(other)
    return fol.Iff(left, right)
