"""Numbers in formulas: real numbers, printed as SMT-LIB reals and evaluated exactly as fractions.

`NUMBER` and the symbols below have a fixed meaning, so theories and structures do not list them; a number is written as
the fraction in lowest terms (`"3/2"`), so that equal numbers are equal texts.  A theory's functions may have numbers as
values, never as arguments, and formulas do not quantify over numbers: a proof is about finitely many numbers at a time,
for any number of elements that have them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache, partial, reduce
from math import floor
from typing import Any

from evenhand.smt.logic import Apply, Equal, Formula, Function, Holds, Relation, Sort, Term, Var, same, walk
from evenhand.smt.memo import Cache

NUMBER = Sort("Number")
"""The sort of the reals."""

_PLUS, _MINUS, _TIMES = (Function(f"number.{name}", (NUMBER, NUMBER), NUMBER) for name in ("plus", "minus", "times"))
_FLOOR = Function("number.floor", (NUMBER,), NUMBER)
_AT_MOST, _BELOW = (Relation(f"number.{name}", (NUMBER, NUMBER)) for name in ("at_most", "below"))


def _whole(one: Fraction) -> Fraction:
    return Fraction(floor(one))


FLOOR = "number_floor"
"""What the whole part of a number is called in a query, which has to define it."""

_CALCULATED: Mapping[str, tuple[str, Callable[..., Fraction]]] = {
    _PLUS.name: ("+", operator.add),
    _MINUS.name: ("-", operator.sub),
    _TIMES.name: ("*", operator.mul),
    _FLOOR.name: (FLOOR, _whole),
}
_COMPARED: Mapping[str, tuple[str, Callable[[Fraction, Fraction], bool]]] = {
    _AT_MOST.name: ("<=", operator.le),
    _BELOW.name: ("<", operator.lt),
}
_NUMERAL = "number.is."


def number(value: int | Fraction) -> Term:
    """Return the numeral of a rational number."""
    exact = Fraction(value)
    sign = "m" if exact < 0 else "p"
    return Function(f"{_NUMERAL}{sign}{abs(exact.numerator)}.{exact.denominator}", (), NUMBER)()


def is_numeral(term: Term) -> bool:
    """Return whether a term is a numeral."""
    return isinstance(term, Apply) and term.function.name.startswith(_NUMERAL)


def plus(*terms: Term) -> Term:
    """Return the sum; 0 without terms."""
    return reduce(_PLUS, terms) if terms else number(0)


def minus(one: Term, *others: Term) -> Term:
    """Return the first minus the others."""
    return reduce(_MINUS, others, one)


def times(*terms: Term) -> Term:
    """Return the product; 1 without terms."""
    return reduce(_TIMES, terms) if terms else number(1)


def divided(one: Term, by: int) -> Term:
    """Return the whole part of a quotient, rounded down as Python does; `by` is positive."""
    return _FLOOR(times(number(Fraction(1, by)), one))


def undivided(term: Term) -> Term | None:
    """Return the quotient of which a term is the whole part, if it is one."""
    return term.arguments[0] if isinstance(term, Apply) and term.function == _FLOOR else None


def at_most(one: Term, other: Term) -> Formula:
    """Return the formula `one` ≤ `other`."""
    return _AT_MOST(one, other)


def at_least(one: Term, other: Term) -> Formula:
    """Return the formula `one` ≥ `other`."""
    return _AT_MOST(other, one)


def below(one: Term, other: Term) -> Formula:
    """Return the formula `one` < `other`."""
    return _BELOW(one, other)


def zero(term: Term) -> Formula:
    """Return the formula that the term is 0."""
    return same(term, number(0))


# For the printer, the evaluator and the reader of models.


def element(value: int | Fraction) -> str:
    """Return a number as an element of a structure."""
    return str(Fraction(value))


@lru_cache(maxsize=65_536)
def value_of(written: str) -> Fraction:
    """Return the number that an element denotes.  Raises ValueError for other text."""
    return Fraction(written)


def is_element(written: Any) -> bool:
    """Return whether this is a number, written as elements are."""
    try:
        return isinstance(written, str) and element(value_of(written)) == written
    except (ValueError, ZeroDivisionError):
        return False


def _numeral(name: str) -> Fraction | None:
    if not name.startswith(_NUMERAL):
        return None
    above, _, under = name.removeprefix(_NUMERAL)[1:].partition(".")
    return Fraction(int(above) * (-1 if name.startswith(_NUMERAL + "m") else 1), int(under))


def printed(name: str) -> str | None:
    """Return a symbol of this module in SMT-LIB 2; None for a symbol of a theory."""
    for known in (_CALCULATED, _COMPARED):
        if name in known:
            return known[name][0]
    exact = _numeral(name)
    if exact is None:
        return None
    text = f"(/ {abs(exact.numerator)}.0 {exact.denominator}.0)"
    text = f"{abs(exact.numerator)}.0" if exact.denominator == 1 else text
    return f"(- {text})" if exact < 0 else text


def calculated(name: str) -> Callable[[Sequence[str]], str] | None:
    """Return the evaluation of a function of this module on elements; None for a function of a theory."""
    exact = _numeral(name)
    if exact is None and name not in _CALCULATED:
        return None

    def value(elements: Sequence[str]) -> str:
        numbers = map(value_of, elements)
        return element(_CALCULATED[name][1](*numbers) if exact is None else exact)

    return value


def compared(name: str) -> Callable[[str, str], bool] | None:
    """Return the test of a relation of this module on two elements; None for a relation of a theory."""
    if name not in _COMPARED:
        return None
    test = _COMPARED[name][1]

    def said(one: str, other: str) -> bool:
        return test(value_of(one), value_of(other))

    return said


def numeric(functions: Iterable[Function], formulas: Iterable[Formula]) -> str:
    """Return the arithmetic a query needs, as SMT-LIB's logics are called.

    None is empty, `LRA` linear, `NRA` with products of unknowns; with whole parts `LIRA` and `NIRA`.
    """
    needed = [_NEEDED.get((formula,), partial(_needed, formula)) for formula in formulas]
    if not any(needed) and all(function.codomain != NUMBER for function in functions):
        return ""
    return f"{'N' if any('N' in one for one in needed) else 'L'}{'I' if any('I' in one for one in needed) else ''}RA"


_NEEDED: Cache[str] = Cache()


def _needed(formula: Formula) -> str:
    """Letters of the logic that a formula needs: R for numbers, N for products of unknowns, I for whole parts."""
    found: set[str] = set()
    for part in walk(formula):
        terms = part.arguments if isinstance(part, Holds) else ()
        for term in (part.left, part.right) if isinstance(part, Equal) else terms:
            found |= _letters(term)
            if term.sort.name == NUMBER.name:
                found.add("R")
    return "".join(sorted(found))


def _letters(term: Term) -> set[str]:
    if isinstance(term, Var):
        return set()
    found = set[str]().union(*map(_letters, term.arguments))
    if term.function == _TIMES and not any(map(_is_numeral, term.arguments)):
        found.add("N")
    return found | {"I"} if term.function == _FLOOR else found


def _is_numeral(term: Term) -> bool:
    return isinstance(term, Apply) and term.function.name.startswith(_NUMERAL)
