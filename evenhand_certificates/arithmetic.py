"""Lemmas of arithmetic over the reals, by weighted sums of facts.

With all literals of a lemma false, each comparison is a fact `p <= 0`, `p < 0` or `p = 0` for a polynomial p.  Two
facts multiply: the product of two that are at most 0 is at least 0, and the product of anything with 0 is 0.  A sum of
facts and products with weights (not negative, but for those that are 0) that leaves a number above 0, or 0 while a
strict fact has a weight, is a contradiction, so the lemma is true.  An equality among the literals is a fact `p != 0`:
then one sum refutes `p < 0` and a second one `-p < 0`.

A sum is a list of [factor, …, weight]: places of literals, and terms, by which only a fact `p = 0` may be multiplied.
"""

# SPDX-License-Identifier: MIT
# What is read may be anything, so its parts have no known type until they are looked at.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from evenhand_certificates.errors import Invalid
from evenhand_certificates.formulas import NUMBER, Bank

Monomial = tuple[int, ...]
Polynomial = dict[Monomial, Fraction]

_NUMERAL = re.compile(r"number\.is\.([pm])([0-9]{1,400})\.([0-9]{1,400})", re.ASCII)
MOST_MONOMIALS = 2_000
MOST_FACTORS = 16


def polynomial(bank: Bank, term: int) -> Polynomial:
    """Return a numeric term as monomials (sorted terms that are no sums or products) with factors.  Raises Invalid."""
    found = bank.polynomials.get(term)
    if found is None:
        found = bank.polynomials[term] = _polynomial(bank, term)
        bank.work.spend(10 * len(found) + 1)
    return found


def _polynomial(bank: Bank, term: int) -> Polynomial:
    node = bank.nodes[term]
    name = node[1]
    if node[0] == "app" and name in ("number.plus", "number.minus"):
        sign = 1 if name == "number.plus" else -1
        return added(polynomial(bank, node[2]), polynomial(bank, node[3]), Fraction(sign))
    if node[0] == "app" and name == "number.times":
        return _product(bank, polynomial(bank, node[2]), polynomial(bank, node[3]))
    if node[0] == "app" and name.startswith("number.is."):
        value = numeral(name)
        return {(): value} if value else {}
    return {(term,): Fraction(1)}


def _product(bank: Bank, left: Polynomial, right: Polynomial) -> Polynomial:
    degree = sum(max(map(len, one), default=0) for one in (left, right))
    if len(left) * len(right) > MOST_MONOMIALS or degree > MOST_FACTORS:
        raise Invalid("a product has too many monomials or factors")
    bank.work.spend(10 * len(left) * len(right))
    found: Polynomial = {}
    for one, factor in left.items():
        found = added(found, {tuple(sorted(one + other)): by for other, by in right.items()}, factor)
    return found


def numeral(name: str) -> Fraction:
    """Return the number that a numeral names.  Raises Invalid."""
    parts = _NUMERAL.fullmatch(name)
    if parts is None or int(parts[3]) == 0:
        raise Invalid(f"{name!r:.80} is no numeral")
    return Fraction(int(parts[2]), int(parts[3])) * (1 if parts[1] == "p" else -1)


def added(one: Polynomial, other: Polynomial, factor: Fraction) -> Polynomial:
    """Return `one` plus `factor` times `other`, without monomials whose factor is 0."""
    found = dict(one)
    for monomial, by in other.items():
        value = found.get(monomial, Fraction(0)) + factor * by
        if value:
            found[monomial] = value
        else:
            found.pop(monomial, None)
    return found


Fact = tuple[Polynomial, str]


def is_numeric_lemma(
    bank: Bank, atoms: Mapping[int, int], clause: Sequence[int], sums: Sequence[Any], term: Callable[[Any], int]
) -> bool:
    """Return whether a clause of comparisons is true by these sums; `term` reads a term.  Raises Invalid."""
    facts = [fact(bank, atoms, -literal) for literal in clause]
    split = [place for place, one in enumerate(facts) if one is not None and one[1] == "!="]
    if len(split) > 1 or len(sums) != 1 + len(split):
        return False
    for turn, terms in enumerate(sums):
        known = list(facts)
        for place in split:
            apart = facts[place]
            assert apart is not None
            known[place] = (apart[0] if turn == 0 else added({}, apart[0], Fraction(-1))), "<"
        if not _contradicts(bank, known, terms, term):
            return False
    return True


def _contradicts(bank: Bank, facts: Sequence[Fact | None], terms: Any, term: Callable[[Any], int]) -> bool:
    total, strict = Polynomial(), False
    for entry in terms if isinstance(terms, list) else ():
        match entry:
            case [first, *others, weight] if len(others) <= MOST_FACTORS:
                known = _fact_at(facts, first)
                for other in others:
                    known = product(bank, known, _factor(bank, facts, other, term))
            case _:
                raise Invalid("a part of a sum is not [factor, …, weight]")
        by = _fraction(weight)
        if known[1] == "any" or (known[1] != "=" and by < 0):
            return False
        strict |= known[1] == "<" and by > 0
        total = added(total, known[0], by)
        bank.work.spend(10 * len(total) + 10)
    constant = total.pop((), Fraction(0))
    return not total and (constant > 0 or (strict and constant == 0))


def _factor(bank: Bank, facts: Sequence[Fact | None], factor: Any, term: Callable[[Any], int]) -> Fact:
    if isinstance(factor, list):
        number = term(factor)
        if bank.sort(number) != NUMBER:
            raise Invalid("a fact is multiplied by what is no number")
        return polynomial(bank, number), "any"
    return _fact_at(facts, factor)


def _fact_at(facts: Sequence[Fact | None], place: Any) -> Fact:
    found = facts[place] if type(place) is int and 0 <= place < len(facts) else None
    if found is None:
        raise Invalid("a weight is given to what is no comparison of numbers")
    return found


def product(bank: Bank, one: Fact, other: Fact) -> Fact:
    """Return the fact that follows for the product of two facts.  Raises Invalid for polynomials that are too large."""
    both = _product(bank, one[0], other[0])
    for relation in ("=", "any"):  # 0 times anything is 0; the sign of anything is not known
        if relation in (one[1], other[1]):
            return both, relation
    return added({}, both, Fraction(-1)), "<" if one[1] == other[1] == "<" else "<="


def fact(bank: Bank, atoms: Mapping[int, int], literal: int) -> Fact | None:
    """Return a true literal as (polynomial, "<=", "<", "=" or "!=" to 0); None for what compares no numbers."""
    if abs(literal) not in atoms:
        return None
    node = bank.nodes[atoms[abs(literal)]]
    holds = literal > 0
    if node[0] == "=" and bank.sort(node[1]) == NUMBER:
        difference = added(polynomial(bank, node[1]), polynomial(bank, node[2]), Fraction(-1))
        return difference, "=" if holds else "!="
    if node[0] == "rel" and node[1] in ("number.at_most", "number.below"):
        left, right = (polynomial(bank, term) for term in node[2:])
        strict = (node[1] == "number.below") == holds
        difference = added(left, right, Fraction(-1)) if holds else added(right, left, Fraction(-1))
        return difference, "<" if strict else "<="
    return None


def _fraction(written: Any) -> Fraction:
    if not isinstance(written, str) or not re.fullmatch(r"-?[0-9]{1,400}(/[0-9]{1,400})?", written, re.ASCII):
        raise Invalid(f"{written!r:.80} is no fraction")
    if re.fullmatch(r"0*", written.partition("/")[2]) and "/" in written:
        raise Invalid(f"{written!r:.80} divides by zero")
    return Fraction(written)
