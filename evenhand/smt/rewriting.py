"""Rewrite formulas: expand definitions as macros, and copy a formula to other symbols."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from evenhand.smt import logic as fol


def used(formula: fol.Formula) -> dict[fol.Function | fol.Relation, None]:
    """Return all functions and relations in a formula, in the order of their first use."""
    found: dict[fol.Function | fol.Relation, None] = {}
    for part in fol.walk(formula):
        if isinstance(part, fol.Holds):
            found[part.relation] = None
        waiting = [*part.arguments] if isinstance(part, fol.Holds) else []
        waiting += (part.left, part.right) if isinstance(part, fol.Equal) else ()
        while waiting:
            term = waiting.pop(0)
            if isinstance(term, fol.Apply):
                found[term.function] = None
                waiting += term.arguments
    return found


def symbols(formula: fol.Formula) -> frozenset[str]:
    """Return the names of all functions and relations in a formula."""
    return frozenset(one.name for one in used(formula))


def rebuilt(formula: fol.Formula, change: Callable[[fol.Formula], fol.Formula]) -> fol.Formula:
    """Return a connective with each part changed.  Quantifiers and atoms raise AssertionError."""
    match formula:
        case fol.Not(body):
            return fol.Not(change(body))
        case fol.And(parts):
            return fol.And(tuple(change(part) for part in parts))
        case fol.Or(parts):
            return fol.Or(tuple(change(part) for part in parts))
        case fol.Implies(left, right):
            return fol.Implies(change(left), change(right))
        case fol.Iff(left, right):
            return fol.Iff(change(left), change(right))
        case fol.Ite(test, then, other):
            return fol.Ite(change(test), change(then), change(other))
        case _:
            raise AssertionError(f"no connective: {formula!r}")


def expand(formula: fol.Formula, definitions: Mapping[str, fol.Definition]) -> fol.Formula:
    """Return the formula with every defined relation expanded like a macro.

    Bound variables are renamed where two of one name would meet, so nothing is captured.  Raises ValueError for a
    definition that leads back to itself.
    """
    loose = fol.free(formula)
    return _expand(formula, definitions, {v: v for v in loose}, (), frozenset(v.name for v in loose))


def _expand(
    formula: fol.Formula,
    definitions: Mapping[str, fol.Definition],
    bound: Mapping[fol.Var, fol.Term],
    inside: tuple[str, ...],
    taken: frozenset[str],
) -> fol.Formula:
    match formula:
        case fol.Holds(relation, arguments):
            values = tuple([_put(argument, bound) for argument in arguments])
            definition = definitions.get(relation.name)
            if definition is None:
                return fol.Holds(relation, values)
            if relation.name in inside:
                raise ValueError(f"the definition of {relation.name} leads back to itself: {' -> '.join(inside)}")
            meaning = dict(zip(definition.variables, values, strict=True))
            return _expand(definition.body, definitions, meaning, (*inside, relation.name), taken)
        case fol.Equal(left, right):
            return fol.Equal(_put(left, bound), _put(right, bound))
        case fol.Forall(names, body) | fol.Exists(names, body):
            now = dict(bound)
            used = taken
            fresh: list[fol.Var] = []
            for name in names:
                new = fol.Var(_unused(name.name, used), name.sort)
                used |= {new.name}
                now[name] = new
                fresh.append(new)
            return type(formula)(tuple(fresh), _expand(body, definitions, now, inside, used))
        case fol.Not(body):  # for speed: `Not`, `And` and `Or` are most of any formula
            return fol.Not(_expand(body, definitions, bound, inside, taken))
        case fol.And(parts) | fol.Or(parts):
            return type(formula)(tuple([_expand(part, definitions, bound, inside, taken) for part in parts]))
        case _:
            return rebuilt(formula, lambda part: _expand(part, definitions, bound, inside, taken))


def _unused(name: str, taken: frozenset[str]) -> str:
    if name not in taken:
        return name
    number = 1
    while f"{name}_{number}" in taken:
        number += 1
    return f"{name}_{number}"


def _put(term: fol.Term, bound: Mapping[fol.Var, fol.Term]) -> fol.Term:
    if isinstance(term, fol.Var):
        return bound[term]
    return fol.Apply(term.function, tuple([_put(argument, bound) for argument in term.arguments]))


def translate(
    formula: fol.Formula,
    *,
    sorts: Mapping[fol.Sort, fol.Sort],
    functions: Mapping[fol.Function, fol.Function],
    relations: Mapping[fol.Relation, fol.Relation],
) -> fol.Formula:
    """Return the formula with its symbols mapped to others, as in the second copy of a theory; unmapped ones stay."""

    def term(given: fol.Term) -> fol.Term:
        if isinstance(given, fol.Var):
            return fol.Var(given.name, sorts.get(given.sort, given.sort))
        return functions.get(given.function, given.function)(*(term(argument) for argument in given.arguments))

    def change(given: fol.Formula) -> fol.Formula:
        match given:
            case fol.Holds(relation, arguments):
                return relations.get(relation, relation)(*(term(argument) for argument in arguments))
            case fol.Equal(left, right):
                return fol.same(term(left), term(right))
            case fol.Forall(names, body) | fol.Exists(names, body):
                moved = tuple(fol.Var(name.name, sorts.get(name.sort, name.sort)) for name in names)
                return type(given)(moved, change(body))
            case _:
                return rebuilt(given, change)

    return change(formula)
