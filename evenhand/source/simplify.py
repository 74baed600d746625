"""Build formulas, simplified where a part is known to be true or false.

A translated function asks many questions of which the answer is known (an action's verb, say), and what is left must
stay small enough for a person to read and for a solver to decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evenhand.smt.logic import (
    FALSE,
    TRUE,
    And,
    Apply,
    Equal,
    Exists,
    Forall,
    Formula,
    Holds,
    Iff,
    Implies,
    Ite,
    Not,
    Or,
    Term,
    Var,
    exists,
    forall,
    free,
)


def all_of(parts: Iterable[Formula]) -> Formula:
    """Return the conjunction; false if a part is the negation of another."""
    kept: dict[Formula, None] = {}
    for part in parts:
        for one in part.parts if isinstance(part, And) else (part,):
            if one == FALSE or negation(one) in kept:
                return FALSE
            kept.setdefault(one)
    return next(iter(kept)) if len(kept) == 1 else And(tuple(kept))


def any_of(parts: Iterable[Formula]) -> Formula:
    """Return the disjunction; true if a part is the negation of another."""
    kept: dict[Formula, None] = {}
    for part in parts:
        for one in part.parts if isinstance(part, Or) else (part,):
            if one == TRUE or negation(one) in kept:
                return TRUE
            kept.setdefault(one)
    return next(iter(kept)) if len(kept) == 1 else Or(tuple(kept))


def negation(formula: Formula) -> Formula:
    """Return the negation, without a double one."""
    if formula == TRUE:
        return FALSE
    if formula == FALSE:
        return TRUE
    return formula.body if isinstance(formula, Not) else Not(formula)


def implication(left: Formula, right: Formula) -> Formula:
    """Return the implication."""
    return right if left == TRUE else any_of((negation(left), right))


def equivalence(left: Formula, right: Formula) -> Formula:
    """Return the equivalence."""
    if left == right:
        return TRUE
    for one, other in ((left, right), (right, left)):
        if one == TRUE:
            return other
        if one == FALSE:
            return negation(other)
    return Iff(left, right)


def choice(test: Formula, then: Formula, other: Formula) -> Formula:
    """Return `then` where `test` is true, else `other`."""
    if test == TRUE or then == other:
        return then
    if test == FALSE:
        return other
    if then in (TRUE, FALSE) or other in (TRUE, FALSE):
        return all_of((implication(test, then), any_of((test, other))))
    return Ite(test, then, other)


def equal(left: Term, right: Term) -> Formula:
    """Return the equality of two terms of one sort."""
    return TRUE if left == right else Equal(left, right)


def some(variables: Sequence[Var], body: Formula) -> Formula:
    """Return that some values make the body true; a value that the body names is put in its place."""
    kept = list(variables)
    parts = list(body.parts) if isinstance(body, And) else [body]
    changed = True
    while changed:
        changed = False
        for part in parts:
            named = _names_value(part, kept)
            if named is not None:
                variable, term = named
                kept.remove(variable)
                put = all_of(replaced(one, {variable: term}) for one in parts if one is not part)
                parts = list(put.parts) if isinstance(put, And) else [put]
                changed = True
                break
    left = all_of(parts)
    if left in (TRUE, FALSE):  # a sort is never empty
        return left
    used = free(left)
    return exists([one for one in kept if one in used], left)


def every(variables: Sequence[Var], body: Formula) -> Formula:
    """Return that all values make the body true."""
    if body in (TRUE, FALSE):
        return body
    used = free(body)
    return forall([one for one in variables if one in used], body)


def _names_value(part: Formula, variables: Sequence[Var]) -> tuple[Var, Term] | None:
    """The variable that an equality gives a value, with the value, which does not mention it."""
    if isinstance(part, Equal):
        for one, other in ((part.left, part.right), (part.right, part.left)):
            if isinstance(one, Var) and one in variables and not _mentions(other, one):
                return one, other
    return None


def _mentions(term: Term, variable: Var) -> bool:
    if isinstance(term, Var):
        return term == variable
    return any(_mentions(argument, variable) for argument in term.arguments)


def placed(term: Term, values: dict[Var, Term]) -> Term:
    """Return the term with values in place of variables."""
    if isinstance(term, Var):
        return values.get(term, term)
    return Apply(term.function, tuple(placed(argument, values) for argument in term.arguments))


def replaced(formula: Formula, values: dict[Var, Term]) -> Formula:
    """Return the formula with values in place of free variables.

    Every bound variable of a translation has a name of its own, so nothing is captured.
    """
    match formula:
        case Holds(relation, arguments):
            return Holds(relation, tuple(placed(argument, values) for argument in arguments))
        case Equal(left, right):
            return equal(placed(left, values), placed(right, values))
        case Not(body):
            return negation(replaced(body, values))
        case And(parts):
            return all_of(replaced(part, values) for part in parts)
        case Or(parts):
            return any_of(replaced(part, values) for part in parts)
        case Implies(left, right):
            return implication(replaced(left, values), replaced(right, values))
        case Iff(left, right):
            return equivalence(replaced(left, values), replaced(right, values))
        case Ite(test, then, other):
            return choice(replaced(test, values), replaced(then, values), replaced(other, values))
        case Forall(variables, body):
            return Forall(variables, replaced(body, values))
        case Exists(variables, body):
            return Exists(variables, replaced(body, values))
