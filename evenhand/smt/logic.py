"""A small many-sorted first-order logic.

One abstract syntax, read in three ways: evaluated on a finite structure (`structure`), printed as
SMT-LIB 2 (`smtlib`), and filled by a solver's model (`portfolio`).  The readers share nothing but this
syntax, so that a fault in one shows against the others.

Formulas are built with `&`, `|`, `~`, `>>` (implies), `same`, `differ`, `iff`, `ite`, `forall`, `exists`, and by
applying a `Relation` to terms.  A formula has no truth value of its own: `if`, `and`, `not` and `==` between
terms are mistakes that a Python program makes silently, so they raise.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

__all__ = [
    "FALSE",
    "TRUE",
    "And",
    "Apply",
    "Definition",
    "Equal",
    "Exists",
    "Forall",
    "Formula",
    "Function",
    "Holds",
    "Iff",
    "IllSorted",
    "Implies",
    "Ite",
    "Not",
    "Or",
    "Relation",
    "Sort",
    "Term",
    "Var",
    "conjunction",
    "differ",
    "disjunction",
    "exists",
    "forall",
    "free",
    "iff",
    "ite",
    "same",
    "variables",
    "walk",
]

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.]*\Z")
_WORDS = """
    Bool Int Real String and as assert distinct div echo exists exit false forall is ite let match mod not or par
    pop push reset select store true xor
"""
_RESERVED = frozenset(_WORDS.split())


class IllSorted(TypeError):
    """A term or formula that does not fit its place; says which symbol wanted what."""


def _checked(name: str) -> None:
    if not _NAME.match(name) or name in _RESERVED:
        raise ValueError(f"{name!r} cannot name a symbol: letters, digits, '_' and '.', and no word of SMT-LIB")


@dataclass(frozen=True, slots=True)
class Sort:
    """A set of things; never empty."""

    name: str

    def __post_init__(self) -> None:
        _checked(self.name)

    def __hash__(self) -> int:
        return hash(self.name)

    def __call__(self, name: str) -> Var:
        """A variable of this sort."""
        return Var(name, self)


class _NoTruth:
    """What formulas have instead of a truth value."""

    __slots__ = ()

    def __bool__(self) -> bool:
        raise TypeError("a formula is neither true nor false by itself: use &, |, ~, >>, or evaluate it on a structure")


class _Connectives(_NoTruth):
    __slots__ = ()

    def __and__(self: Formula, other: Formula) -> Formula:  # type: ignore[misc]
        return conjunction((self, other))

    def __or__(self: Formula, other: Formula) -> Formula:  # type: ignore[misc]
        return disjunction((self, other))

    def __invert__(self: Formula) -> Formula:  # type: ignore[misc]
        return Not(_formula(self))

    def __rshift__(self: Formula, other: Formula) -> Formula:  # type: ignore[misc]
        return Implies(_formula(self), _formula(other))


@dataclass(frozen=True, slots=True)
class Var:
    """A variable; two are one if name and sort agree."""

    name: str
    sort: Sort

    def __post_init__(self) -> None:
        _checked(self.name)

    def __hash__(self) -> int:  # looked up all the time, and few variables of one name differ in sort
        return hash(self.name)


@dataclass(frozen=True, slots=True)
class Function:
    """A total function symbol; without arguments it is a constant."""

    name: str
    domain: tuple[Sort, ...]
    codomain: Sort

    def __post_init__(self) -> None:
        _checked(self.name)

    def __call__(self, *arguments: Term) -> Apply:
        """The function applied.  Raises IllSorted."""
        _fit(self.name, self.domain, arguments)
        return Apply(self, arguments)


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation symbol; without arguments it is a proposition."""

    name: str
    domain: tuple[Sort, ...]

    def __post_init__(self) -> None:
        _checked(self.name)

    def __call__(self, *arguments: Term) -> Holds:
        """The relation applied.  Raises IllSorted."""
        _fit(self.name, self.domain, arguments)
        return Holds(self, arguments)


@dataclass(frozen=True, slots=True)
class Apply:
    """A function applied to terms."""

    function: Function
    arguments: tuple[Term, ...]

    @property
    def sort(self) -> Sort:
        """The sort of the value."""
        return self.function.codomain


@dataclass(frozen=True, slots=True)
class Holds(_Connectives):
    """A relation applied to terms."""

    relation: Relation
    arguments: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Equal(_Connectives):
    """Two terms of one sort are the same thing."""

    left: Term
    right: Term


@dataclass(frozen=True, slots=True)
class Not(_Connectives):
    """Negation."""

    body: Formula


@dataclass(frozen=True, slots=True)
class And(_Connectives):
    """Conjunction; without parts it is true."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Or(_Connectives):
    """Disjunction; without parts it is false."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Implies(_Connectives):
    """Implication."""

    left: Formula
    right: Formula


@dataclass(frozen=True, slots=True)
class Iff(_Connectives):
    """Equivalence."""

    left: Formula
    right: Formula


@dataclass(frozen=True, slots=True)
class Ite(_Connectives):
    """If `test` then `then` else `other`, all formulas."""

    test: Formula
    then: Formula
    other: Formula


@dataclass(frozen=True, slots=True)
class Forall(_Connectives):
    """For every value of the variables."""

    variables: tuple[Var, ...]
    body: Formula


@dataclass(frozen=True, slots=True)
class Exists(_Connectives):
    """For some value of the variables."""

    variables: tuple[Var, ...]
    body: Formula


Term: TypeAlias = Var | Apply
Formula: TypeAlias = Holds | Equal | Not | And | Or | Implies | Iff | Ite | Forall | Exists

TRUE: Formula = And(())
FALSE: Formula = Or(())


@dataclass(frozen=True, slots=True)
class Definition:
    """`relation(variables)` means `body`.  It may use definitions made before it, never itself."""

    relation: Relation
    variables: tuple[Var, ...]
    body: Formula
    source: str = ""

    def __post_init__(self) -> None:
        _fit(self.relation.name, self.relation.domain, self.variables)
        _formula(self.body)
        loose = free(self.body) - set(self.variables)
        if loose:
            names = ", ".join(sorted(v.name for v in loose))
            raise IllSorted(f"the definition of {self.relation.name} leaves {names} free")

    @property
    def name(self) -> str:
        """The name of the relation it defines."""
        return self.relation.name


def _fit(name: str, domain: tuple[Sort, ...], arguments: Sequence[Term]) -> None:
    for argument in arguments:
        if not isinstance(argument, Var | Apply):
            raise IllSorted(f"{name} takes terms, not {argument!r}")
    found = tuple(argument.sort for argument in arguments)
    if found != domain:
        wanted, given = ([s.name for s in sorts] for sorts in (domain, found))
        raise IllSorted(f"{name} takes ({', '.join(wanted)}), not ({', '.join(given)})")


def _formula(value: object) -> Formula:
    if not isinstance(value, Holds | Equal | Not | And | Or | Implies | Iff | Ite | Forall | Exists):
        raise IllSorted(f"a formula is wanted here, not {value!r}")
    return value


def variables(sort: Sort, names: str) -> tuple[Var, ...]:
    """Variables of one sort, named by a text with blanks between."""
    return tuple(Var(name, sort) for name in names.split())


def same(left: Term, right: Term) -> Formula:
    """The two terms are the same thing.  Raises IllSorted for terms of two sorts."""
    if left.sort != right.sort:
        raise IllSorted(f"{left.sort.name} and {right.sort.name} are never the same thing")
    return Equal(left, right)


def differ(left: Term, right: Term) -> Formula:
    """The two terms are two things."""
    return Not(same(left, right))


def conjunction(parts: Iterable[Formula]) -> Formula:
    """All of the parts; nested conjunctions are made flat, a single part stands alone."""
    found: list[Formula] = []
    for part in parts:
        found.extend(part.parts if isinstance(part, And) else (_formula(part),))
    return found[0] if len(found) == 1 else And(tuple(found))


def disjunction(parts: Iterable[Formula]) -> Formula:
    """Some of the parts; nested disjunctions are made flat, a single part stands alone."""
    found: list[Formula] = []
    for part in parts:
        found.extend(part.parts if isinstance(part, Or) else (_formula(part),))
    return found[0] if len(found) == 1 else Or(tuple(found))


def iff(left: Formula, right: Formula) -> Formula:
    """Both or neither."""
    return Iff(_formula(left), _formula(right))


def ite(test: Formula, then: Formula, other: Formula) -> Formula:
    """`then` where `test`, else `other`."""
    return Ite(_formula(test), _formula(then), _formula(other))


def forall(bound: Iterable[Var], body: Formula) -> Formula:
    """For every value of `bound` (none: the body itself)."""
    names = tuple(bound)
    return Forall(names, _formula(body)) if names else _formula(body)


def exists(bound: Iterable[Var], body: Formula) -> Formula:
    """For some value of `bound` (none: the body itself)."""
    names = tuple(bound)
    return Exists(names, _formula(body)) if names else _formula(body)


def _parts(formula: Formula) -> tuple[Formula, ...]:
    match formula:
        case Holds() | Equal():
            return ()
        case Not(body) | Forall(_, body) | Exists(_, body):
            return (body,)
        case And(parts) | Or(parts):
            return parts
        case Implies(left, right) | Iff(left, right):
            return (left, right)
        case Ite(test, then, other):
            return (test, then, other)


def walk(formula: Formula) -> Iterator[Formula]:
    """The formula and every formula in it, outermost first."""
    waiting = [formula]
    while waiting:
        part = waiting.pop()
        yield part
        waiting.extend(reversed(_parts(part)))


def _loose(term: Term, bound: frozenset[Var], found: set[Var]) -> None:
    if isinstance(term, Apply):
        for argument in term.arguments:
            _loose(argument, bound, found)
    elif term not in bound:
        found.add(term)


def _collect(formula: Formula, bound: frozenset[Var], found: set[Var]) -> None:
    match formula:
        case Holds(_, arguments):
            for argument in arguments:
                _loose(argument, bound, found)
        case Equal(left, right):
            _loose(left, bound, found)
            _loose(right, bound, found)
        case Forall(names, body) | Exists(names, body):
            _collect(body, bound.union(names), found)
        case _:
            for part in _parts(formula):
                _collect(part, bound, found)


def free(formula: Formula) -> frozenset[Var]:
    """The variables that nothing binds."""
    found = set[Var]()
    _collect(formula, frozenset(), found)
    return frozenset(found)
