"""Arithmetic as nested tuples, read twice: printed for the solvers, and evaluated on numbers that a run gave.

    ("=", "b2", ("-", "b", "a"))

A text is a variable, an integer or fraction a number, a tuple an operator and its operands.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

__all__ = ["Expression", "both", "either", "evaluate", "implies", "show", "variables"]

Expression: TypeAlias = Any
"""A nested tuple; see above."""

_COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {"=": operator.eq, "<": operator.lt, "<=": operator.le}


def both(*parts: Expression) -> Expression:
    """All of them."""
    return ("and", *parts)


def either(*parts: Expression) -> Expression:
    """Some of them."""
    return ("or", *parts)


def implies(one: Expression, other: Expression) -> Expression:
    """The second, if the first."""
    return ("or", ("not", one), other)


def show(one: Expression) -> str:
    """The expression in SMT-LIB 2."""
    if isinstance(one, str):
        return one
    if isinstance(one, tuple):
        return f"({one[0]} {' '.join(map(show, one[1:]))})"  # pyright: ignore
    number = Fraction(one)
    text = (
        f"{abs(number.numerator)}.0" if number.denominator == 1 else f"(/ {abs(number.numerator)} {number.denominator})"
    )
    return f"(- {text})" if number < 0 else text


def variables(one: Expression) -> frozenset[str]:
    """The variables in it."""
    if isinstance(one, str):
        return frozenset((one,))
    parts: Any = one[1:] if isinstance(one, tuple) else ()  # pyright: ignore
    return frozenset[str]().union(*map(variables, parts))


def evaluate(one: Expression, values: Mapping[str, Any]) -> Any:
    """What the expression comes to.  Raises KeyError for a variable that has no value."""
    if isinstance(one, str):
        return values[one]
    if not isinstance(one, tuple):
        return one
    head = str(one[0])  # pyright: ignore
    parts = [evaluate(part, values) for part in one[1:]]  # pyright: ignore
    match head:
        case "and":
            return all(parts)
        case "or":
            return any(parts)
        case "not":
            return not parts[0]
        case "+":
            return sum(parts)
        case "-":
            return parts[0] - sum(parts[1:]) if len(parts) > 1 else -parts[0]
        case "*":
            product = Fraction(1)
            for part in parts:
                product *= part
            return product
        case "ite":
            return parts[1] if parts[0] else parts[2]
        case _:
            return _COMPARE[head](parts[0], parts[1])
