"""Formulas as SMT-LIB 2 text: one text for every solver, the same bytes for the same query.

Symbols stand in the order in which the theory declares them, assertions carry the names they have in the
theory, so that an unsat core speaks the theory's words.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from evenhand.proofs.smt.logic import (
    And,
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
)

__all__ = ["Query", "show", "text"]


@dataclass(frozen=True)
class Query:
    """Is there a structure of these symbols in which all assertions are true?

    `assertions` are (name, closed formula) without defined relations.
    """

    sorts: tuple[Sort, ...]
    functions: tuple[Function, ...]
    relations: tuple[Relation, ...]
    assertions: tuple[tuple[str, Formula], ...]


def text(query: Query) -> str:
    """The query as SMT-LIB 2, ending in `(check-sat)`.  Raises ValueError for a formula with free variables."""
    lines = ["(set-option :produce-models true)", "(set-option :produce-unsat-cores true)", "(set-logic UF)"]
    lines += [f"(declare-sort {sort.name} 0)" for sort in query.sorts]
    for function in query.functions:
        lines.append(f"(declare-fun {function.name} ({_names(function.domain)}) {function.codomain.name})")
    for relation in query.relations:
        lines.append(f"(declare-fun {relation.name} ({_names(relation.domain)}) Bool)")
    for name, formula in query.assertions:
        loose = sorted(variable.name for variable in free(formula))
        if loose:
            raise ValueError(f"assertion {name} leaves {', '.join(loose)} free")
        lines.append(f"(assert (! {show(formula)} :named {name}))")
    return "\n".join([*lines, "(check-sat)", ""])


def _names(sorts: Iterable[Sort]) -> str:
    return " ".join(sort.name for sort in sorts)


def _term(term: Term) -> str:
    if isinstance(term, Var):
        return term.name
    return _apply(term.function.name, [_term(argument) for argument in term.arguments])


def _apply(head: str, parts: list[str]) -> str:
    return f"({head} {' '.join(parts)})" if parts else head


def _bound(variables: tuple[Var, ...]) -> str:
    return " ".join(f"({variable.name} {variable.sort.name})" for variable in variables)


def show(formula: Formula) -> str:
    """A formula as SMT-LIB 2."""
    match formula:
        case Holds(relation, arguments):
            return _apply(relation.name, [_term(argument) for argument in arguments])
        case Equal(left, right):
            return f"(= {_term(left)} {_term(right)})"
        case Not(body):
            return f"(not {show(body)})"
        case And(parts):
            return _apply("and", [show(part) for part in parts]) if parts else "true"
        case Or(parts):
            return _apply("or", [show(part) for part in parts]) if parts else "false"
        case Implies(left, right):
            return f"(=> {show(left)} {show(right)})"
        case Iff(left, right):
            return f"(= {show(left)} {show(right)})"
        case Ite(test, then, other):
            return f"(ite {show(test)} {show(then)} {show(other)})"
        case Forall(variables, body):
            return f"(forall ({_bound(variables)}) {show(body)})"
        case Exists(variables, body):
            return f"(exists ({_bound(variables)}) {show(body)})"
