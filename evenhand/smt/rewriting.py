"""Rewrite formulas: expand definitions as macros, and copy a formula to other symbols."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from evenhand.smt.logic import (
    And,
    Apply,
    Definition,
    Equal,
    Exists,
    Forall,
    Formula,
    Function,
    Holds,
    Iff,
    Implies,
    Ite,
    Not,
    Or,
    Relation,
    Sort,
    Term,
    Var,
    free,
    same,
    walk,
)


def symbols(formula: Formula) -> frozenset[str]:
    """Return the names of all functions and relations in a formula."""
    found = set[str]()
    for part in walk(formula):
        if isinstance(part, Holds):
            found.add(part.relation.name)
        waiting = [*part.arguments] if isinstance(part, Holds) else []
        waiting += (part.left, part.right) if isinstance(part, Equal) else ()
        while waiting:
            term = waiting.pop()
            if isinstance(term, Apply):
                found.add(term.function.name)
                waiting += term.arguments
    return frozenset(found)


def _rebuild(formula: Formula, change: Callable[[Formula], Formula]) -> Formula:
    """A connective with each part changed; quantifiers and atoms raise AssertionError."""
    match formula:
        case Not(body):
            return Not(change(body))
        case And(parts):
            return And(tuple(change(part) for part in parts))
        case Or(parts):
            return Or(tuple(change(part) for part in parts))
        case Implies(left, right):
            return Implies(change(left), change(right))
        case Iff(left, right):
            return Iff(change(left), change(right))
        case Ite(test, then, other):
            return Ite(change(test), change(then), change(other))
        case _:
            raise AssertionError(f"no connective: {formula!r}")


def expand(formula: Formula, definitions: Mapping[str, Definition]) -> Formula:
    """Return the formula with every defined relation expanded like a macro.

    Bound variables are renamed where two of one name would meet, so nothing is captured.  Raises ValueError for a
    definition that leads back to itself.
    """
    loose = free(formula)
    return _expand(formula, definitions, {v: v for v in loose}, (), frozenset(v.name for v in loose))


def _expand(
    formula: Formula,
    definitions: Mapping[str, Definition],
    bound: Mapping[Var, Term],
    inside: tuple[str, ...],
    taken: frozenset[str],
) -> Formula:
    match formula:
        case Holds(relation, arguments):
            values = tuple([_put(argument, bound) for argument in arguments])
            definition = definitions.get(relation.name)
            if definition is None:
                return Holds(relation, values)
            if relation.name in inside:
                raise ValueError(f"the definition of {relation.name} leads back to itself: {' -> '.join(inside)}")
            meaning = dict(zip(definition.variables, values, strict=True))
            return _expand(definition.body, definitions, meaning, (*inside, relation.name), taken)
        case Equal(left, right):
            return Equal(_put(left, bound), _put(right, bound))
        case Forall(names, body) | Exists(names, body):
            now = dict(bound)
            used = taken
            fresh: list[Var] = []
            for name in names:
                new = Var(_unused(name.name, used), name.sort)
                used |= {new.name}
                now[name] = new
                fresh.append(new)
            return type(formula)(tuple(fresh), _expand(body, definitions, now, inside, used))
        case Not(body):  # for speed: `Not`, `And` and `Or` are most of any formula
            return Not(_expand(body, definitions, bound, inside, taken))
        case And(parts) | Or(parts):
            return type(formula)(tuple([_expand(part, definitions, bound, inside, taken) for part in parts]))
        case _:
            return _rebuild(formula, lambda part: _expand(part, definitions, bound, inside, taken))


def _unused(name: str, taken: frozenset[str]) -> str:
    if name not in taken:
        return name
    number = 1
    while f"{name}_{number}" in taken:
        number += 1
    return f"{name}_{number}"


def _put(term: Term, bound: Mapping[Var, Term]) -> Term:
    if isinstance(term, Var):
        return bound[term]
    return Apply(term.function, tuple([_put(argument, bound) for argument in term.arguments]))


def translate(
    formula: Formula,
    *,
    sorts: Mapping[Sort, Sort],
    functions: Mapping[Function, Function],
    relations: Mapping[Relation, Relation],
) -> Formula:
    """Return the formula with its symbols mapped to others, as in the second copy of a theory; unmapped ones stay."""

    def term(given: Term) -> Term:
        if isinstance(given, Var):
            return Var(given.name, sorts.get(given.sort, given.sort))
        return functions.get(given.function, given.function)(*(term(argument) for argument in given.arguments))

    def change(given: Formula) -> Formula:
        match given:
            case Holds(relation, arguments):
                return relations.get(relation, relation)(*(term(argument) for argument in arguments))
            case Equal(left, right):
                return same(term(left), term(right))
            case Forall(names, body) | Exists(names, body):
                moved = tuple(Var(name.name, sorts.get(name.sort, name.sort)) for name in names)
                return type(given)(moved, change(body))
            case _:
                return _rebuild(given, change)

    return change(formula)
